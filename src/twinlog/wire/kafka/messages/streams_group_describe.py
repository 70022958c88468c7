"""API 89, StreamsGroupDescribe.

Made from spec/kafka/streams_group_describe.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class StreamsGroupDescribeRequest(Message):
    __slots__ = (
        "group_ids",
        "include_authorized_operations",
    )
    KEY = 89
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("group_ids", "[]string", None, 0, 0, 0, -1, -1, False, FRESH),
        ("include_authorized_operations", "bool", None, 0, 0, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        group_ids: list[str] = FRESH,
        include_authorized_operations: bool = False,
    ) -> None:
        self.group_ids: list[str] = [] if group_ids is FRESH else group_ids
        self.include_authorized_operations: bool = include_authorized_operations


class StreamsGroupDescribeResponseKeyValue(Struct):
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


class StreamsGroupDescribeResponseTopicInfo(Struct):
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
        ("topic_configs", "[]struct", StreamsGroupDescribeResponseKeyValue, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: list[StreamsGroupDescribeResponseKeyValue] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: int = partitions
        self.replication_factor: int = replication_factor
        self.topic_configs: list[StreamsGroupDescribeResponseKeyValue] = [] if topic_configs is FRESH else topic_configs


class StreamsGroupDescribeResponseSubtopology(Struct):
    __slots__ = (
        "repartition_sink_topics",
        "repartition_source_topics",
        "source_topics",
        "state_changelog_topics",
        "subtopology_id",
    )
    LAYOUT = (
        ("subtopology_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("source_topics", "[]string", None, 0, 0, 0, -1, -1, False, FRESH),
        ("repartition_sink_topics", "[]string", None, 0, 0, 0, -1, -1, False, FRESH),
        ("state_changelog_topics", "[]struct", StreamsGroupDescribeResponseTopicInfo, 0, 0, 0, -1, -1, False, FRESH),
        ("repartition_source_topics", "[]struct", StreamsGroupDescribeResponseTopicInfo, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        source_topics: list[str] = FRESH,
        repartition_sink_topics: list[str] = FRESH,
        state_changelog_topics: list[StreamsGroupDescribeResponseTopicInfo] = FRESH,
        repartition_source_topics: list[StreamsGroupDescribeResponseTopicInfo] = FRESH,
    ) -> None:
        self.subtopology_id: str = subtopology_id
        self.source_topics: list[str] = [] if source_topics is FRESH else source_topics
        self.repartition_sink_topics: list[str] = [] if repartition_sink_topics is FRESH else repartition_sink_topics
        self.state_changelog_topics: list[StreamsGroupDescribeResponseTopicInfo] = (
            [] if state_changelog_topics is FRESH else state_changelog_topics
        )
        self.repartition_source_topics: list[StreamsGroupDescribeResponseTopicInfo] = (
            [] if repartition_source_topics is FRESH else repartition_source_topics
        )


class StreamsGroupDescribeResponseTopology(Struct):
    __slots__ = (
        "epoch",
        "subtopologies",
    )
    LAYOUT = (
        ("epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("subtopologies", "[]struct", StreamsGroupDescribeResponseSubtopology, 0, 0, 0, 0, -1, False, None),
    )

    def __init__(
        self,
        *,
        epoch: int = 0,
        subtopologies: list[StreamsGroupDescribeResponseSubtopology] | None = None,
    ) -> None:
        self.epoch: int = epoch
        self.subtopologies: list[StreamsGroupDescribeResponseSubtopology] | None = subtopologies


class StreamsGroupDescribeResponseEndpoint(Struct):
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


class StreamsGroupDescribeResponseTaskOffset(Struct):
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


class StreamsGroupDescribeResponseTaskIds(Struct):
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


class StreamsGroupDescribeResponseAssignment(Struct):
    __slots__ = (
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
    )
    LAYOUT = (
        ("active_tasks", "[]struct", StreamsGroupDescribeResponseTaskIds, 0, 0, 0, -1, -1, False, FRESH),
        ("standby_tasks", "[]struct", StreamsGroupDescribeResponseTaskIds, 0, 0, 0, -1, -1, False, FRESH),
        ("warmup_tasks", "[]struct", StreamsGroupDescribeResponseTaskIds, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        active_tasks: list[StreamsGroupDescribeResponseTaskIds] = FRESH,
        standby_tasks: list[StreamsGroupDescribeResponseTaskIds] = FRESH,
        warmup_tasks: list[StreamsGroupDescribeResponseTaskIds] = FRESH,
    ) -> None:
        self.active_tasks: list[StreamsGroupDescribeResponseTaskIds] = [] if active_tasks is FRESH else active_tasks
        self.standby_tasks: list[StreamsGroupDescribeResponseTaskIds] = [] if standby_tasks is FRESH else standby_tasks
        self.warmup_tasks: list[StreamsGroupDescribeResponseTaskIds] = [] if warmup_tasks is FRESH else warmup_tasks


class StreamsGroupDescribeResponseMember(Struct):
    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "client_tags",
        "instance_id",
        "is_classic",
        "member_epoch",
        "member_id",
        "process_id",
        "rack_id",
        "target_assignment",
        "task_end_offsets",
        "task_offsets",
        "topology_epoch",
        "user_endpoint",
    )
    LAYOUT = (
        ("member_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("member_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("instance_id", "string", None, 0, 0, 0, 0, -1, False, None),
        ("rack_id", "string", None, 0, 0, 0, 0, -1, False, None),
        ("client_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("client_host", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("topology_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("process_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("user_endpoint", "struct", StreamsGroupDescribeResponseEndpoint, 0, 0, 0, 0, -1, False, None),
        ("client_tags", "[]struct", StreamsGroupDescribeResponseKeyValue, 0, 0, 0, -1, -1, False, FRESH),
        ("task_offsets", "[]struct", StreamsGroupDescribeResponseTaskOffset, 0, 0, 0, -1, -1, False, FRESH),
        ("task_end_offsets", "[]struct", StreamsGroupDescribeResponseTaskOffset, 0, 0, 0, -1, -1, False, FRESH),
        ("assignment", "struct", StreamsGroupDescribeResponseAssignment, 0, 0, 0, -1, -1, False, FRESH),
        ("target_assignment", "struct", StreamsGroupDescribeResponseAssignment, 0, 0, 0, -1, -1, False, FRESH),
        ("is_classic", "bool", None, 0, 0, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: StreamsGroupDescribeResponseEndpoint | None = None,
        client_tags: list[StreamsGroupDescribeResponseKeyValue] = FRESH,
        task_offsets: list[StreamsGroupDescribeResponseTaskOffset] = FRESH,
        task_end_offsets: list[StreamsGroupDescribeResponseTaskOffset] = FRESH,
        assignment: StreamsGroupDescribeResponseAssignment = FRESH,
        target_assignment: StreamsGroupDescribeResponseAssignment = FRESH,
        is_classic: bool = False,
    ) -> None:
        self.member_id: str = member_id
        self.member_epoch: int = member_epoch
        self.instance_id: str | None = instance_id
        self.rack_id: str | None = rack_id
        self.client_id: str = client_id
        self.client_host: str = client_host
        self.topology_epoch: int = topology_epoch
        self.process_id: str = process_id
        self.user_endpoint: StreamsGroupDescribeResponseEndpoint | None = user_endpoint
        self.client_tags: list[StreamsGroupDescribeResponseKeyValue] = [] if client_tags is FRESH else client_tags
        self.task_offsets: list[StreamsGroupDescribeResponseTaskOffset] = [] if task_offsets is FRESH else task_offsets
        self.task_end_offsets: list[StreamsGroupDescribeResponseTaskOffset] = (
            [] if task_end_offsets is FRESH else task_end_offsets
        )
        self.assignment: StreamsGroupDescribeResponseAssignment = (
            StreamsGroupDescribeResponseAssignment() if assignment is FRESH else assignment
        )
        self.target_assignment: StreamsGroupDescribeResponseAssignment = (
            StreamsGroupDescribeResponseAssignment() if target_assignment is FRESH else target_assignment
        )
        self.is_classic: bool = is_classic


class StreamsGroupDescribeResponseDescribedGroup(Struct):
    __slots__ = (
        "assignment_epoch",
        "authorized_operations",
        "error_code",
        "error_message",
        "group_epoch",
        "group_id",
        "group_state",
        "members",
        "topology",
    )
    LAYOUT = (
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 0, 0, 0, -1, False, None),
        ("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("group_state", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("group_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("assignment_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("topology", "struct", StreamsGroupDescribeResponseTopology, 0, 0, 0, 0, -1, False, None),
        ("members", "[]struct", StreamsGroupDescribeResponseMember, 0, 0, 0, -1, -1, False, FRESH),
        ("authorized_operations", "int32", None, 0, 0, 0, -1, -1, False, -2147483648),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        topology: StreamsGroupDescribeResponseTopology | None = None,
        members: list[StreamsGroupDescribeResponseMember] = FRESH,
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.group_id: str = group_id
        self.group_state: str = group_state
        self.group_epoch: int = group_epoch
        self.assignment_epoch: int = assignment_epoch
        self.topology: StreamsGroupDescribeResponseTopology | None = topology
        self.members: list[StreamsGroupDescribeResponseMember] = [] if members is FRESH else members
        self.authorized_operations: int = authorized_operations


class StreamsGroupDescribeResponse(Message):
    __slots__ = (
        "groups",
        "throttle_time_ms",
    )
    KEY = 89
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("groups", "[]struct", StreamsGroupDescribeResponseDescribedGroup, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[StreamsGroupDescribeResponseDescribedGroup] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.groups: list[StreamsGroupDescribeResponseDescribedGroup] = [] if groups is FRESH else groups
