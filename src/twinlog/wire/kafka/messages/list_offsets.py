"""API 2, ListOffsets.

Made from spec/kafka/list_offsets.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class ListOffsetsPartition(Struct):
    __slots__ = (
        "current_leader_epoch",
        "partition_index",
        "timestamp",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 1, 11, 0, -1, -1, False, 0),
        ("current_leader_epoch", "int32", None, 4, 11, 0, -1, -1, True, -1),
        ("timestamp", "int64", None, 1, 11, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        current_leader_epoch: int = -1,
        timestamp: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.current_leader_epoch: int = current_leader_epoch
        self.timestamp: int = timestamp


class ListOffsetsTopic(Struct):
    __slots__ = (
        "name",
        "partitions",
    )
    LAYOUT = (
        ("name", "string", None, 1, 11, 0, -1, -1, False, ""),
        ("partitions", "[]struct", ListOffsetsPartition, 1, 11, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[ListOffsetsPartition] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: list[ListOffsetsPartition] = [] if partitions is FRESH else partitions


class ListOffsetsRequest(Message):
    __slots__ = (
        "isolation_level",
        "replica_id",
        "timeout_ms",
        "topics",
    )
    KEY = 2
    VERSIONS = (1, 11)
    FLEXIBLE_FROM = 6
    LAYOUT = (
        ("replica_id", "int32", None, 1, 11, 0, -1, -1, False, 0),
        ("isolation_level", "int8", None, 2, 11, 0, -1, -1, False, 0),
        ("topics", "[]struct", ListOffsetsTopic, 1, 11, 0, -1, -1, False, FRESH),
        ("timeout_ms", "int32", None, 10, 11, 0, -1, -1, True, 0),
    )

    def __init__(
        self,
        *,
        replica_id: int = 0,
        isolation_level: int = 0,
        topics: list[ListOffsetsTopic] = FRESH,
        timeout_ms: int = 0,
    ) -> None:
        self.replica_id: int = replica_id
        self.isolation_level: int = isolation_level
        self.topics: list[ListOffsetsTopic] = [] if topics is FRESH else topics
        self.timeout_ms: int = timeout_ms


class ListOffsetsPartitionResponse(Struct):
    __slots__ = (
        "error_code",
        "leader_epoch",
        "offset",
        "partition_index",
        "timestamp",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 1, 11, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 1, 11, 0, -1, -1, False, 0),
        ("timestamp", "int64", None, 1, 11, 0, -1, -1, False, -1),
        ("offset", "int64", None, 1, 11, 0, -1, -1, False, -1),
        ("leader_epoch", "int32", None, 4, 11, 0, -1, -1, False, -1),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        timestamp: int = -1,
        offset: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.timestamp: int = timestamp
        self.offset: int = offset
        self.leader_epoch: int = leader_epoch


class ListOffsetsTopicResponse(Struct):
    __slots__ = (
        "name",
        "partitions",
    )
    LAYOUT = (
        ("name", "string", None, 1, 11, 0, -1, -1, False, ""),
        ("partitions", "[]struct", ListOffsetsPartitionResponse, 1, 11, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[ListOffsetsPartitionResponse] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: list[ListOffsetsPartitionResponse] = [] if partitions is FRESH else partitions


class ListOffsetsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    KEY = 2
    VERSIONS = (1, 11)
    FLEXIBLE_FROM = 6
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 2, 11, 0, -1, -1, True, 0),
        ("topics", "[]struct", ListOffsetsTopicResponse, 1, 11, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[ListOffsetsTopicResponse] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[ListOffsetsTopicResponse] = [] if topics is FRESH else topics
