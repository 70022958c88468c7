"""API 35, DescribeLogDirs.

Made from spec/kafka/describe_log_dirs.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class DescribableLogDirTopic(Struct):
    __slots__ = (
        "partitions",
        "topic",
    )
    LAYOUT = (
        ("topic", "string", None, 1, 5, 0, -1, -1, False, ""),
        ("partitions", "[]int32", None, 1, 5, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = FRESH,
    ) -> None:
        self.topic: str = topic
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class DescribeLogDirsRequest(Message):
    __slots__ = ("topics",)
    KEY = 35
    VERSIONS = (1, 5)
    FLEXIBLE_FROM = 2
    LAYOUT = (("topics", "[]struct", DescribableLogDirTopic, 1, 5, 1, 5, -1, False, FRESH),)

    def __init__(
        self,
        *,
        topics: list[DescribableLogDirTopic] | None = FRESH,
    ) -> None:
        self.topics: list[DescribableLogDirTopic] | None = [] if topics is FRESH else topics


class DescribeLogDirsPartition(Struct):
    __slots__ = (
        "is_future_key",
        "offset_lag",
        "partition_index",
        "partition_size",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 1, 5, 0, -1, -1, False, 0),
        ("partition_size", "int64", None, 1, 5, 0, -1, -1, False, 0),
        ("offset_lag", "int64", None, 1, 5, 0, -1, -1, False, 0),
        ("is_future_key", "bool", None, 1, 5, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        partition_size: int = 0,
        offset_lag: int = 0,
        is_future_key: bool = False,
    ) -> None:
        self.partition_index: int = partition_index
        self.partition_size: int = partition_size
        self.offset_lag: int = offset_lag
        self.is_future_key: bool = is_future_key


class DescribeLogDirsTopic(Struct):
    __slots__ = (
        "name",
        "partitions",
    )
    LAYOUT = (
        ("name", "string", None, 1, 5, 0, -1, -1, False, ""),
        ("partitions", "[]struct", DescribeLogDirsPartition, 1, 5, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[DescribeLogDirsPartition] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: list[DescribeLogDirsPartition] = [] if partitions is FRESH else partitions


class DescribeLogDirsResult(Struct):
    __slots__ = (
        "error_code",
        "is_cordoned",
        "log_dir",
        "topics",
        "total_bytes",
        "usable_bytes",
    )
    LAYOUT = (
        ("error_code", "int16", None, 1, 5, 0, -1, -1, False, 0),
        ("log_dir", "string", None, 1, 5, 0, -1, -1, False, ""),
        ("topics", "[]struct", DescribeLogDirsTopic, 1, 5, 0, -1, -1, False, FRESH),
        ("total_bytes", "int64", None, 4, 5, 0, -1, -1, True, -1),
        ("usable_bytes", "int64", None, 4, 5, 0, -1, -1, True, -1),
        ("is_cordoned", "bool", None, 5, 5, 0, -1, -1, True, False),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        log_dir: str = "",
        topics: list[DescribeLogDirsTopic] = FRESH,
        total_bytes: int = -1,
        usable_bytes: int = -1,
        is_cordoned: bool = False,
    ) -> None:
        self.error_code: int = error_code
        self.log_dir: str = log_dir
        self.topics: list[DescribeLogDirsTopic] = [] if topics is FRESH else topics
        self.total_bytes: int = total_bytes
        self.usable_bytes: int = usable_bytes
        self.is_cordoned: bool = is_cordoned


class DescribeLogDirsResponse(Message):
    __slots__ = (
        "error_code",
        "results",
        "throttle_time_ms",
    )
    KEY = 35
    VERSIONS = (1, 5)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 1, 5, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 3, 5, 0, -1, -1, True, 0),
        ("results", "[]struct", DescribeLogDirsResult, 1, 5, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results: list[DescribeLogDirsResult] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.results: list[DescribeLogDirsResult] = [] if results is FRESH else results
