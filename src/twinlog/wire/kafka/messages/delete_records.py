"""API 21, DeleteRecords.

Made from spec/kafka/delete_records.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class DeleteRecordsPartition(Struct):
    __slots__ = (
        "offset",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 0, 2, 0, -1, -1, False, 0),
        ("offset", "int64", None, 0, 2, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        offset: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.offset: int = offset


class DeleteRecordsTopic(Struct):
    __slots__ = (
        "name",
        "partitions",
    )
    LAYOUT = (
        ("name", "string", None, 0, 2, 0, -1, -1, False, ""),
        ("partitions", "[]struct", DeleteRecordsPartition, 0, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[DeleteRecordsPartition] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: list[DeleteRecordsPartition] = [] if partitions is FRESH else partitions


class DeleteRecordsRequest(Message):
    __slots__ = (
        "timeout_ms",
        "topics",
    )
    KEY = 21
    VERSIONS = (0, 2)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("topics", "[]struct", DeleteRecordsTopic, 0, 2, 0, -1, -1, False, FRESH),
        ("timeout_ms", "int32", None, 0, 2, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        topics: list[DeleteRecordsTopic] = FRESH,
        timeout_ms: int = 0,
    ) -> None:
        self.topics: list[DeleteRecordsTopic] = [] if topics is FRESH else topics
        self.timeout_ms: int = timeout_ms


class DeleteRecordsPartitionResult(Struct):
    __slots__ = (
        "error_code",
        "low_watermark",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 0, 2, 0, -1, -1, False, 0),
        ("low_watermark", "int64", None, 0, 2, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 2, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        low_watermark: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.low_watermark: int = low_watermark
        self.error_code: int = error_code


class DeleteRecordsTopicResult(Struct):
    __slots__ = (
        "name",
        "partitions",
    )
    LAYOUT = (
        ("name", "string", None, 0, 2, 0, -1, -1, False, ""),
        ("partitions", "[]struct", DeleteRecordsPartitionResult, 0, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[DeleteRecordsPartitionResult] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: list[DeleteRecordsPartitionResult] = [] if partitions is FRESH else partitions


class DeleteRecordsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    KEY = 21
    VERSIONS = (0, 2)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 2, 0, -1, -1, False, 0),
        ("topics", "[]struct", DeleteRecordsTopicResult, 0, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[DeleteRecordsTopicResult] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[DeleteRecordsTopicResult] = [] if topics is FRESH else topics
