"""API 91, AlterShareGroupOffsets.

Made from spec/kafka/alter_share_group_offsets.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Struct


class AlterShareGroupOffsetsRequestPartition(Struct):
    __slots__ = (
        "partition_index",
        "start_offset",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("start_offset", "int64", None, 0, 0, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        start_offset: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.start_offset: int = start_offset


class AlterShareGroupOffsetsRequestTopic(Struct):
    __slots__ = (
        "partitions",
        "topic_name",
    )
    LAYOUT = (
        ("topic_name", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partitions", "[]struct", AlterShareGroupOffsetsRequestPartition, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[AlterShareGroupOffsetsRequestPartition] = FRESH,
    ) -> None:
        self.topic_name: str = topic_name
        self.partitions: list[AlterShareGroupOffsetsRequestPartition] = [] if partitions is FRESH else partitions


class AlterShareGroupOffsetsRequest(Message):
    __slots__ = (
        "group_id",
        "topics",
    )
    KEY = 91
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("topics", "[]struct", AlterShareGroupOffsetsRequestTopic, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[AlterShareGroupOffsetsRequestTopic] = FRESH,
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[AlterShareGroupOffsetsRequestTopic] = [] if topics is FRESH else topics


class AlterShareGroupOffsetsResponsePartition(Struct):
    __slots__ = (
        "error_code",
        "error_message",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 0, 0, 0, -1, False, None),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class AlterShareGroupOffsetsResponseTopic(Struct):
    __slots__ = (
        "partitions",
        "topic_id",
        "topic_name",
    )
    LAYOUT = (
        ("topic_name", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("topic_id", "uuid", None, 0, 0, 0, -1, -1, False, ZERO_UUID),
        ("partitions", "[]struct", AlterShareGroupOffsetsResponsePartition, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[AlterShareGroupOffsetsResponsePartition] = FRESH,
    ) -> None:
        self.topic_name: str = topic_name
        self.topic_id: bytes = topic_id
        self.partitions: list[AlterShareGroupOffsetsResponsePartition] = [] if partitions is FRESH else partitions


class AlterShareGroupOffsetsResponse(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "responses",
        "throttle_time_ms",
    )
    KEY = 91
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 0, 0, 0, -1, False, None),
        ("responses", "[]struct", AlterShareGroupOffsetsResponseTopic, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: list[AlterShareGroupOffsetsResponseTopic] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.responses: list[AlterShareGroupOffsetsResponseTopic] = [] if responses is FRESH else responses
