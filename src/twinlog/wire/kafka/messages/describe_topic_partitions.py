"""API 75, DescribeTopicPartitions.

Made from spec/kafka/describe_topic_partitions.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Struct


class DescribeTopicPartitionsRequestTopic(Struct):
    __slots__ = ("name",)
    LAYOUT = (("name", "string", None, 0, 0, 0, -1, -1, False, ""),)

    def __init__(
        self,
        *,
        name: str = "",
    ) -> None:
        self.name: str = name


class DescribeTopicPartitionsRequestCursor(Struct):
    __slots__ = (
        "partition_index",
        "topic_name",
    )
    LAYOUT = (
        ("topic_name", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partition_index", "int32", None, 0, 0, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partition_index: int = 0,
    ) -> None:
        self.topic_name: str = topic_name
        self.partition_index: int = partition_index


class DescribeTopicPartitionsRequest(Message):
    __slots__ = (
        "cursor",
        "response_partition_limit",
        "topics",
    )
    KEY = 75
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("topics", "[]struct", DescribeTopicPartitionsRequestTopic, 0, 0, 0, -1, -1, False, FRESH),
        ("response_partition_limit", "int32", None, 0, 0, 0, -1, -1, False, 2000),
        ("cursor", "struct", DescribeTopicPartitionsRequestCursor, 0, 0, 0, 0, -1, False, None),
    )

    def __init__(
        self,
        *,
        topics: list[DescribeTopicPartitionsRequestTopic] = FRESH,
        response_partition_limit: int = 2000,
        cursor: DescribeTopicPartitionsRequestCursor | None = None,
    ) -> None:
        self.topics: list[DescribeTopicPartitionsRequestTopic] = [] if topics is FRESH else topics
        self.response_partition_limit: int = response_partition_limit
        self.cursor: DescribeTopicPartitionsRequestCursor | None = cursor


class DescribeTopicPartitionsResponsePartition(Struct):
    __slots__ = (
        "eligible_leader_replicas",
        "error_code",
        "isr_nodes",
        "last_known_elr",
        "leader_epoch",
        "leader_id",
        "offline_replicas",
        "partition_index",
        "replica_nodes",
    )
    LAYOUT = (
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("partition_index", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("leader_id", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("leader_epoch", "int32", None, 0, 0, 0, -1, -1, False, -1),
        ("replica_nodes", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
        ("isr_nodes", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
        ("eligible_leader_replicas", "[]int32", None, 0, 0, 0, 0, -1, False, None),
        ("last_known_elr", "[]int32", None, 0, 0, 0, 0, -1, False, None),
        ("offline_replicas", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: list[int] = FRESH,
        isr_nodes: list[int] = FRESH,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        offline_replicas: list[int] = FRESH,
    ) -> None:
        self.error_code: int = error_code
        self.partition_index: int = partition_index
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.replica_nodes: list[int] = [] if replica_nodes is FRESH else replica_nodes
        self.isr_nodes: list[int] = [] if isr_nodes is FRESH else isr_nodes
        self.eligible_leader_replicas: list[int] | None = eligible_leader_replicas
        self.last_known_elr: list[int] | None = last_known_elr
        self.offline_replicas: list[int] = [] if offline_replicas is FRESH else offline_replicas


class DescribeTopicPartitionsResponseTopic(Struct):
    __slots__ = (
        "error_code",
        "is_internal",
        "name",
        "partitions",
        "topic_authorized_operations",
        "topic_id",
    )
    LAYOUT = (
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("name", "string", None, 0, 0, 0, 0, -1, False, ""),
        ("topic_id", "uuid", None, 0, 0, 0, -1, -1, False, ZERO_UUID),
        ("is_internal", "bool", None, 0, 0, 0, -1, -1, False, False),
        ("partitions", "[]struct", DescribeTopicPartitionsResponsePartition, 0, 0, 0, -1, -1, False, FRESH),
        ("topic_authorized_operations", "int32", None, 0, 0, 0, -1, -1, False, -2147483648),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        is_internal: bool = False,
        partitions: list[DescribeTopicPartitionsResponsePartition] = FRESH,
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code: int = error_code
        self.name: str | None = name
        self.topic_id: bytes = topic_id
        self.is_internal: bool = is_internal
        self.partitions: list[DescribeTopicPartitionsResponsePartition] = [] if partitions is FRESH else partitions
        self.topic_authorized_operations: int = topic_authorized_operations


class DescribeTopicPartitionsResponseCursor(Struct):
    __slots__ = (
        "partition_index",
        "topic_name",
    )
    LAYOUT = (
        ("topic_name", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partition_index", "int32", None, 0, 0, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partition_index: int = 0,
    ) -> None:
        self.topic_name: str = topic_name
        self.partition_index: int = partition_index


class DescribeTopicPartitionsResponse(Message):
    __slots__ = (
        "next_cursor",
        "throttle_time_ms",
        "topics",
    )
    KEY = 75
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("topics", "[]struct", DescribeTopicPartitionsResponseTopic, 0, 0, 0, -1, -1, False, FRESH),
        ("next_cursor", "struct", DescribeTopicPartitionsResponseCursor, 0, 0, 0, 0, -1, False, None),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[DescribeTopicPartitionsResponseTopic] = FRESH,
        next_cursor: DescribeTopicPartitionsResponseCursor | None = None,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[DescribeTopicPartitionsResponseTopic] = [] if topics is FRESH else topics
        self.next_cursor: DescribeTopicPartitionsResponseCursor | None = next_cursor
