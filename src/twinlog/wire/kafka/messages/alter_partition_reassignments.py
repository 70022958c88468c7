"""API 45, AlterPartitionReassignments.

Made from spec/kafka/alter_partition_reassignments.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class ReassignablePartition(Struct):
    __slots__ = (
        "partition_index",
        "replicas",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("replicas", "[]int32", None, 0, 1, 0, 1, -1, False, None),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        replicas: list[int] | None = None,
    ) -> None:
        self.partition_index: int = partition_index
        self.replicas: list[int] | None = replicas


class ReassignableTopic(Struct):
    __slots__ = (
        "name",
        "partitions",
    )
    LAYOUT = (
        ("name", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("partitions", "[]struct", ReassignablePartition, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[ReassignablePartition] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: list[ReassignablePartition] = [] if partitions is FRESH else partitions


class AlterPartitionReassignmentsRequest(Message):
    __slots__ = (
        "allow_replication_factor_change",
        "timeout_ms",
        "topics",
    )
    KEY = 45
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("timeout_ms", "int32", None, 0, 1, 0, -1, -1, False, 60000),
        ("allow_replication_factor_change", "bool", None, 1, 1, 0, -1, -1, False, True),
        ("topics", "[]struct", ReassignableTopic, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        allow_replication_factor_change: bool = True,
        topics: list[ReassignableTopic] = FRESH,
    ) -> None:
        self.timeout_ms: int = timeout_ms
        self.allow_replication_factor_change: bool = allow_replication_factor_change
        self.topics: list[ReassignableTopic] = [] if topics is FRESH else topics


class ReassignablePartitionResponse(Struct):
    __slots__ = (
        "error_code",
        "error_message",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 1, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 1, 0, 1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class ReassignableTopicResponse(Struct):
    __slots__ = (
        "name",
        "partitions",
    )
    LAYOUT = (
        ("name", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("partitions", "[]struct", ReassignablePartitionResponse, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[ReassignablePartitionResponse] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: list[ReassignablePartitionResponse] = [] if partitions is FRESH else partitions


class AlterPartitionReassignmentsResponse(Message):
    __slots__ = (
        "allow_replication_factor_change",
        "error_code",
        "error_message",
        "responses",
        "throttle_time_ms",
    )
    KEY = 45
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("allow_replication_factor_change", "bool", None, 1, 1, 0, -1, -1, True, True),
        ("error_code", "int16", None, 0, 1, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 1, 0, 1, -1, False, ""),
        ("responses", "[]struct", ReassignableTopicResponse, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        allow_replication_factor_change: bool = True,
        error_code: int = 0,
        error_message: str | None = "",
        responses: list[ReassignableTopicResponse] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.allow_replication_factor_change: bool = allow_replication_factor_change
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.responses: list[ReassignableTopicResponse] = [] if responses is FRESH else responses
