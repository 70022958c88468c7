"""API 37, CreatePartitions.

Made from spec/kafka/create_partitions.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class CreatePartitionsAssignment(Struct):
    __slots__ = ("broker_ids",)
    LAYOUT = (("broker_ids", "[]int32", None, 0, 3, 0, -1, -1, False, FRESH),)

    def __init__(
        self,
        *,
        broker_ids: list[int] = FRESH,
    ) -> None:
        self.broker_ids: list[int] = [] if broker_ids is FRESH else broker_ids


class CreatePartitionsTopic(Struct):
    __slots__ = (
        "assignments",
        "count",
        "name",
    )
    LAYOUT = (
        ("name", "string", None, 0, 3, 0, -1, -1, False, ""),
        ("count", "int32", None, 0, 3, 0, -1, -1, False, 0),
        ("assignments", "[]struct", CreatePartitionsAssignment, 0, 3, 0, 3, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        count: int = 0,
        assignments: list[CreatePartitionsAssignment] | None = FRESH,
    ) -> None:
        self.name: str = name
        self.count: int = count
        self.assignments: list[CreatePartitionsAssignment] | None = [] if assignments is FRESH else assignments


class CreatePartitionsRequest(Message):
    __slots__ = (
        "timeout_ms",
        "topics",
        "validate_only",
    )
    KEY = 37
    VERSIONS = (0, 3)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("topics", "[]struct", CreatePartitionsTopic, 0, 3, 0, -1, -1, False, FRESH),
        ("timeout_ms", "int32", None, 0, 3, 0, -1, -1, False, 0),
        ("validate_only", "bool", None, 0, 3, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        topics: list[CreatePartitionsTopic] = FRESH,
        timeout_ms: int = 0,
        validate_only: bool = False,
    ) -> None:
        self.topics: list[CreatePartitionsTopic] = [] if topics is FRESH else topics
        self.timeout_ms: int = timeout_ms
        self.validate_only: bool = validate_only


class CreatePartitionsTopicResult(Struct):
    __slots__ = (
        "error_code",
        "error_message",
        "name",
    )
    LAYOUT = (
        ("name", "string", None, 0, 3, 0, -1, -1, False, ""),
        ("error_code", "int16", None, 0, 3, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 3, 0, 3, -1, False, None),
    )

    def __init__(
        self,
        *,
        name: str = "",
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name: str = name
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class CreatePartitionsResponse(Message):
    __slots__ = (
        "results",
        "throttle_time_ms",
    )
    KEY = 37
    VERSIONS = (0, 3)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 3, 0, -1, -1, False, 0),
        ("results", "[]struct", CreatePartitionsTopicResult, 0, 3, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[CreatePartitionsTopicResult] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.results: list[CreatePartitionsTopicResult] = [] if results is FRESH else results
