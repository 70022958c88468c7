"""API 88, StreamsGroupHeartbeat.

Made from spec/kafka/streams_group_heartbeat.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class StreamsGroupHeartbeatRequestKeyValue(Struct):
    __slots__ = (
        "key",
        "value",
    )
    LAYOUT = (
        ("key", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("value", "string", None, 0, 0, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key: str = key
        self.value: str = value


class StreamsGroupHeartbeatRequestTopicInfo(Struct):
    __slots__ = (
        "name",
        "partitions",
        "replication_factor",
        "topic_configs",
    )
    LAYOUT = (
        ("name", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partitions", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("replication_factor", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("topic_configs", "[]struct", StreamsGroupHeartbeatRequestKeyValue, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: list[StreamsGroupHeartbeatRequestKeyValue] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: int = partitions
        self.replication_factor: int = replication_factor
        self.topic_configs: list[StreamsGroupHeartbeatRequestKeyValue] = [] if topic_configs is FRESH else topic_configs


class StreamsGroupHeartbeatRequestCopartitionGroup(Struct):
    __slots__ = (
        "repartition_source_topics",
        "source_topic_regex",
        "source_topics",
    )
    LAYOUT = (
        ("source_topics", "[]int16", None, 0, 0, 0, -1, -1, False, FRESH),
        ("source_topic_regex", "[]int16", None, 0, 0, 0, -1, -1, False, FRESH),
        ("repartition_source_topics", "[]int16", None, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        source_topics: list[int] = FRESH,
        source_topic_regex: list[int] = FRESH,
        repartition_source_topics: list[int] = FRESH,
    ) -> None:
        self.source_topics: list[int] = [] if source_topics is FRESH else source_topics
        self.source_topic_regex: list[int] = [] if source_topic_regex is FRESH else source_topic_regex
        self.repartition_source_topics: list[int] = (
            [] if repartition_source_topics is FRESH else repartition_source_topics
        )


class StreamsGroupHeartbeatRequestSubtopology(Struct):
    __slots__ = (
        "copartition_groups",
        "repartition_sink_topics",
        "repartition_source_topics",
        "source_topic_regex",
        "source_topics",
        "state_changelog_topics",
        "subtopology_id",
    )
    LAYOUT = (
        ("subtopology_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("source_topics", "[]string", None, 0, 0, 0, -1, -1, False, FRESH),
        ("source_topic_regex", "[]string", None, 0, 0, 0, -1, -1, False, FRESH),
        ("state_changelog_topics", "[]struct", StreamsGroupHeartbeatRequestTopicInfo, 0, 0, 0, -1, -1, False, FRESH),
        ("repartition_sink_topics", "[]string", None, 0, 0, 0, -1, -1, False, FRESH),
        ("repartition_source_topics", "[]struct", StreamsGroupHeartbeatRequestTopicInfo, 0, 0, 0, -1, -1, False, FRESH),
        ("copartition_groups", "[]struct", StreamsGroupHeartbeatRequestCopartitionGroup, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        source_topics: list[str] = FRESH,
        source_topic_regex: list[str] = FRESH,
        state_changelog_topics: list[StreamsGroupHeartbeatRequestTopicInfo] = FRESH,
        repartition_sink_topics: list[str] = FRESH,
        repartition_source_topics: list[StreamsGroupHeartbeatRequestTopicInfo] = FRESH,
        copartition_groups: list[StreamsGroupHeartbeatRequestCopartitionGroup] = FRESH,
    ) -> None:
        self.subtopology_id: str = subtopology_id
        self.source_topics: list[str] = [] if source_topics is FRESH else source_topics
        self.source_topic_regex: list[str] = [] if source_topic_regex is FRESH else source_topic_regex
        self.state_changelog_topics: list[StreamsGroupHeartbeatRequestTopicInfo] = (
            [] if state_changelog_topics is FRESH else state_changelog_topics
        )
        self.repartition_sink_topics: list[str] = [] if repartition_sink_topics is FRESH else repartition_sink_topics
        self.repartition_source_topics: list[StreamsGroupHeartbeatRequestTopicInfo] = (
            [] if repartition_source_topics is FRESH else repartition_source_topics
        )
        self.copartition_groups: list[StreamsGroupHeartbeatRequestCopartitionGroup] = (
            [] if copartition_groups is FRESH else copartition_groups
        )


class StreamsGroupHeartbeatRequestTopology(Struct):
    __slots__ = (
        "epoch",
        "subtopologies",
    )
    LAYOUT = (
        ("epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("subtopologies", "[]struct", StreamsGroupHeartbeatRequestSubtopology, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        epoch: int = 0,
        subtopologies: list[StreamsGroupHeartbeatRequestSubtopology] = FRESH,
    ) -> None:
        self.epoch: int = epoch
        self.subtopologies: list[StreamsGroupHeartbeatRequestSubtopology] = (
            [] if subtopologies is FRESH else subtopologies
        )


class StreamsGroupHeartbeatRequestTaskIds(Struct):
    __slots__ = (
        "partitions",
        "subtopology_id",
    )
    LAYOUT = (
        ("subtopology_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partitions", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        partitions: list[int] = FRESH,
    ) -> None:
        self.subtopology_id: str = subtopology_id
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class StreamsGroupHeartbeatRequestEndpoint(Struct):
    __slots__ = (
        "host",
        "port",
    )
    LAYOUT = (
        ("host", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("port", "uint16", None, 0, 0, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.host: str = host
        self.port: int = port


class StreamsGroupHeartbeatRequestTaskOffset(Struct):
    __slots__ = (
        "offset",
        "partition",
        "subtopology_id",
    )
    LAYOUT = (
        ("subtopology_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partition", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("offset", "int64", None, 0, 0, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        partition: int = 0,
        offset: int = 0,
    ) -> None:
        self.subtopology_id: str = subtopology_id
        self.partition: int = partition
        self.offset: int = offset


class StreamsGroupHeartbeatRequest(Message):
    __slots__ = (
        "active_tasks",
        "client_tags",
        "endpoint_information_epoch",
        "group_id",
        "instance_id",
        "member_epoch",
        "member_id",
        "process_id",
        "rack_id",
        "rebalance_timeout_ms",
        "shutdown_application",
        "standby_tasks",
        "task_end_offsets",
        "task_offsets",
        "topology",
        "user_endpoint",
        "warmup_tasks",
    )
    KEY = 88
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("member_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("member_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("endpoint_information_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("instance_id", "string", None, 0, 0, 0, 0, -1, False, None),
        ("rack_id", "string", None, 0, 0, 0, 0, -1, False, None),
        ("rebalance_timeout_ms", "int32", None, 0, 0, 0, -1, -1, False, -1),
        ("topology", "struct", StreamsGroupHeartbeatRequestTopology, 0, 0, 0, 0, -1, False, None),
        ("active_tasks", "[]struct", StreamsGroupHeartbeatRequestTaskIds, 0, 0, 0, 0, -1, False, None),
        ("standby_tasks", "[]struct", StreamsGroupHeartbeatRequestTaskIds, 0, 0, 0, 0, -1, False, None),
        ("warmup_tasks", "[]struct", StreamsGroupHeartbeatRequestTaskIds, 0, 0, 0, 0, -1, False, None),
        ("process_id", "string", None, 0, 0, 0, 0, -1, False, None),
        ("user_endpoint", "struct", StreamsGroupHeartbeatRequestEndpoint, 0, 0, 0, 0, -1, False, None),
        ("client_tags", "[]struct", StreamsGroupHeartbeatRequestKeyValue, 0, 0, 0, 0, -1, False, None),
        ("task_offsets", "[]struct", StreamsGroupHeartbeatRequestTaskOffset, 0, 0, 0, 0, -1, False, None),
        ("task_end_offsets", "[]struct", StreamsGroupHeartbeatRequestTaskOffset, 0, 0, 0, 0, -1, False, None),
        ("shutdown_application", "bool", None, 0, 0, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        endpoint_information_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        topology: StreamsGroupHeartbeatRequestTopology | None = None,
        active_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None = None,
        standby_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None = None,
        warmup_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None = None,
        process_id: str | None = None,
        user_endpoint: StreamsGroupHeartbeatRequestEndpoint | None = None,
        client_tags: list[StreamsGroupHeartbeatRequestKeyValue] | None = None,
        task_offsets: list[StreamsGroupHeartbeatRequestTaskOffset] | None = None,
        task_end_offsets: list[StreamsGroupHeartbeatRequestTaskOffset] | None = None,
        shutdown_application: bool = False,
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id
        self.member_epoch: int = member_epoch
        self.endpoint_information_epoch: int = endpoint_information_epoch
        self.instance_id: str | None = instance_id
        self.rack_id: str | None = rack_id
        self.rebalance_timeout_ms: int = rebalance_timeout_ms
        self.topology: StreamsGroupHeartbeatRequestTopology | None = topology
        self.active_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None = active_tasks
        self.standby_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None = standby_tasks
        self.warmup_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None = warmup_tasks
        self.process_id: str | None = process_id
        self.user_endpoint: StreamsGroupHeartbeatRequestEndpoint | None = user_endpoint
        self.client_tags: list[StreamsGroupHeartbeatRequestKeyValue] | None = client_tags
        self.task_offsets: list[StreamsGroupHeartbeatRequestTaskOffset] | None = task_offsets
        self.task_end_offsets: list[StreamsGroupHeartbeatRequestTaskOffset] | None = task_end_offsets
        self.shutdown_application: bool = shutdown_application


class Status(Struct):
    __slots__ = (
        "status_code",
        "status_detail",
    )
    LAYOUT = (
        ("status_code", "int8", None, 0, 0, 0, -1, -1, False, 0),
        ("status_detail", "string", None, 0, 0, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        status_code: int = 0,
        status_detail: str = "",
    ) -> None:
        self.status_code: int = status_code
        self.status_detail: str = status_detail


class StreamsGroupHeartbeatResponseTaskIds(Struct):
    __slots__ = (
        "partitions",
        "subtopology_id",
    )
    LAYOUT = (
        ("subtopology_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partitions", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        partitions: list[int] = FRESH,
    ) -> None:
        self.subtopology_id: str = subtopology_id
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class StreamsGroupHeartbeatResponseEndpoint(Struct):
    __slots__ = (
        "host",
        "port",
    )
    LAYOUT = (
        ("host", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("port", "uint16", None, 0, 0, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.host: str = host
        self.port: int = port


class StreamsGroupHeartbeatResponseTopicPartition(Struct):
    __slots__ = (
        "partitions",
        "topic",
    )
    LAYOUT = (
        ("topic", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partitions", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = FRESH,
    ) -> None:
        self.topic: str = topic
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class EndpointToPartitions(Struct):
    __slots__ = (
        "active_partitions",
        "standby_partitions",
        "user_endpoint",
    )
    LAYOUT = (
        ("user_endpoint", "struct", StreamsGroupHeartbeatResponseEndpoint, 0, 0, 0, -1, -1, False, FRESH),
        ("active_partitions", "[]struct", StreamsGroupHeartbeatResponseTopicPartition, 0, 0, 0, -1, -1, False, FRESH),
        ("standby_partitions", "[]struct", StreamsGroupHeartbeatResponseTopicPartition, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        user_endpoint: StreamsGroupHeartbeatResponseEndpoint = FRESH,
        active_partitions: list[StreamsGroupHeartbeatResponseTopicPartition] = FRESH,
        standby_partitions: list[StreamsGroupHeartbeatResponseTopicPartition] = FRESH,
    ) -> None:
        self.user_endpoint: StreamsGroupHeartbeatResponseEndpoint = (
            StreamsGroupHeartbeatResponseEndpoint() if user_endpoint is FRESH else user_endpoint
        )
        self.active_partitions: list[StreamsGroupHeartbeatResponseTopicPartition] = (
            [] if active_partitions is FRESH else active_partitions
        )
        self.standby_partitions: list[StreamsGroupHeartbeatResponseTopicPartition] = (
            [] if standby_partitions is FRESH else standby_partitions
        )


class StreamsGroupHeartbeatResponse(Message):
    __slots__ = (
        "acceptable_recovery_lag",
        "active_tasks",
        "endpoint_information_epoch",
        "error_code",
        "error_message",
        "heartbeat_interval_ms",
        "member_epoch",
        "member_id",
        "partitions_by_user_endpoint",
        "standby_tasks",
        "status",
        "task_offset_interval_ms",
        "throttle_time_ms",
        "warmup_tasks",
    )
    KEY = 88
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 0, 0, 0, -1, False, None),
        ("member_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("member_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("heartbeat_interval_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("acceptable_recovery_lag", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("task_offset_interval_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("status", "[]struct", Status, 0, 0, 0, 0, -1, False, FRESH),
        ("active_tasks", "[]struct", StreamsGroupHeartbeatResponseTaskIds, 0, 0, 0, 0, -1, False, None),
        ("standby_tasks", "[]struct", StreamsGroupHeartbeatResponseTaskIds, 0, 0, 0, 0, -1, False, None),
        ("warmup_tasks", "[]struct", StreamsGroupHeartbeatResponseTaskIds, 0, 0, 0, 0, -1, False, None),
        ("endpoint_information_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("partitions_by_user_endpoint", "[]struct", EndpointToPartitions, 0, 0, 0, 0, -1, False, None),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str = "",
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        acceptable_recovery_lag: int = 0,
        task_offset_interval_ms: int = 0,
        status: list[Status] | None = FRESH,
        active_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None = None,
        standby_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None = None,
        warmup_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None = None,
        endpoint_information_epoch: int = 0,
        partitions_by_user_endpoint: list[EndpointToPartitions] | None = None,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.member_id: str = member_id
        self.member_epoch: int = member_epoch
        self.heartbeat_interval_ms: int = heartbeat_interval_ms
        self.acceptable_recovery_lag: int = acceptable_recovery_lag
        self.task_offset_interval_ms: int = task_offset_interval_ms
        self.status: list[Status] | None = [] if status is FRESH else status
        self.active_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None = active_tasks
        self.standby_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None = standby_tasks
        self.warmup_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None = warmup_tasks
        self.endpoint_information_epoch: int = endpoint_information_epoch
        self.partitions_by_user_endpoint: list[EndpointToPartitions] | None = partitions_by_user_endpoint
