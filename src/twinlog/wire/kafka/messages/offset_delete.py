"""API 47, OffsetDelete.

Made from spec/kafka/offset_delete.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, NEVER, Message, Struct


class OffsetDeleteRequestPartition(Struct):
    __slots__ = ("partition_index",)
    LAYOUT = (("partition_index", "int32", None, 0, 0, 0, -1, -1, False, 0),)

    def __init__(
        self,
        *,
        partition_index: int = 0,
    ) -> None:
        self.partition_index: int = partition_index


class OffsetDeleteRequestTopic(Struct):
    __slots__ = (
        "name",
        "partitions",
    )
    LAYOUT = (
        ("name", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partitions", "[]struct", OffsetDeleteRequestPartition, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[OffsetDeleteRequestPartition] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: list[OffsetDeleteRequestPartition] = [] if partitions is FRESH else partitions


class OffsetDeleteRequest(Message):
    __slots__ = (
        "group_id",
        "topics",
    )
    KEY = 47
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (
        ("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("topics", "[]struct", OffsetDeleteRequestTopic, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[OffsetDeleteRequestTopic] = FRESH,
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[OffsetDeleteRequestTopic] = [] if topics is FRESH else topics


class OffsetDeleteResponsePartition(Struct):
    __slots__ = (
        "error_code",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code


class OffsetDeleteResponseTopic(Struct):
    __slots__ = (
        "name",
        "partitions",
    )
    LAYOUT = (
        ("name", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partitions", "[]struct", OffsetDeleteResponsePartition, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[OffsetDeleteResponsePartition] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: list[OffsetDeleteResponsePartition] = [] if partitions is FRESH else partitions


class OffsetDeleteResponse(Message):
    __slots__ = (
        "error_code",
        "throttle_time_ms",
        "topics",
    )
    KEY = 47
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("throttle_time_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("topics", "[]struct", OffsetDeleteResponseTopic, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        throttle_time_ms: int = 0,
        topics: list[OffsetDeleteResponseTopic] = FRESH,
    ) -> None:
        self.error_code: int = error_code
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[OffsetDeleteResponseTopic] = [] if topics is FRESH else topics
