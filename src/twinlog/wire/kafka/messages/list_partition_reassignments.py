"""API 46, ListPartitionReassignments.

Made from spec/kafka/list_partition_reassignments.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class ListPartitionReassignmentsTopics(Struct):
    __slots__ = (
        "name",
        "partition_indexes",
    )
    LAYOUT = (
        ("name", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partition_indexes", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partition_indexes: list[int] = FRESH,
    ) -> None:
        self.name: str = name
        self.partition_indexes: list[int] = [] if partition_indexes is FRESH else partition_indexes


class ListPartitionReassignmentsRequest(Message):
    __slots__ = (
        "timeout_ms",
        "topics",
    )
    KEY = 46
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("timeout_ms", "int32", None, 0, 0, 0, -1, -1, False, 60000),
        ("topics", "[]struct", ListPartitionReassignmentsTopics, 0, 0, 0, 0, -1, False, None),
    )

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        topics: list[ListPartitionReassignmentsTopics] | None = None,
    ) -> None:
        self.timeout_ms: int = timeout_ms
        self.topics: list[ListPartitionReassignmentsTopics] | None = topics


class OngoingPartitionReassignment(Struct):
    __slots__ = (
        "adding_replicas",
        "partition_index",
        "removing_replicas",
        "replicas",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("replicas", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
        ("adding_replicas", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
        ("removing_replicas", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        replicas: list[int] = FRESH,
        adding_replicas: list[int] = FRESH,
        removing_replicas: list[int] = FRESH,
    ) -> None:
        self.partition_index: int = partition_index
        self.replicas: list[int] = [] if replicas is FRESH else replicas
        self.adding_replicas: list[int] = [] if adding_replicas is FRESH else adding_replicas
        self.removing_replicas: list[int] = [] if removing_replicas is FRESH else removing_replicas


class OngoingTopicReassignment(Struct):
    __slots__ = (
        "name",
        "partitions",
    )
    LAYOUT = (
        ("name", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partitions", "[]struct", OngoingPartitionReassignment, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[OngoingPartitionReassignment] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: list[OngoingPartitionReassignment] = [] if partitions is FRESH else partitions


class ListPartitionReassignmentsResponse(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "throttle_time_ms",
        "topics",
    )
    KEY = 46
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 0, 0, 0, -1, False, ""),
        ("topics", "[]struct", OngoingTopicReassignment, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[OngoingTopicReassignment] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.topics: list[OngoingTopicReassignment] = [] if topics is FRESH else topics
