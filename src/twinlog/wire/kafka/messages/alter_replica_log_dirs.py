"""API 34, AlterReplicaLogDirs.

Made from spec/kafka/alter_replica_log_dirs.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class AlterReplicaLogDirTopic(Struct):
    __slots__ = (
        "name",
        "partitions",
    )
    LAYOUT = (
        ("name", "string", None, 1, 2, 0, -1, -1, False, ""),
        ("partitions", "[]int32", None, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[int] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class AlterReplicaLogDir(Struct):
    __slots__ = (
        "path",
        "topics",
    )
    LAYOUT = (
        ("path", "string", None, 1, 2, 0, -1, -1, False, ""),
        ("topics", "[]struct", AlterReplicaLogDirTopic, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        path: str = "",
        topics: list[AlterReplicaLogDirTopic] = FRESH,
    ) -> None:
        self.path: str = path
        self.topics: list[AlterReplicaLogDirTopic] = [] if topics is FRESH else topics


class AlterReplicaLogDirsRequest(Message):
    __slots__ = ("dirs",)
    KEY = 34
    VERSIONS = (1, 2)
    FLEXIBLE_FROM = 2
    LAYOUT = (("dirs", "[]struct", AlterReplicaLogDir, 1, 2, 0, -1, -1, False, FRESH),)

    def __init__(
        self,
        *,
        dirs: list[AlterReplicaLogDir] = FRESH,
    ) -> None:
        self.dirs: list[AlterReplicaLogDir] = [] if dirs is FRESH else dirs


class AlterReplicaLogDirPartitionResult(Struct):
    __slots__ = (
        "error_code",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 1, 2, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code


class AlterReplicaLogDirTopicResult(Struct):
    __slots__ = (
        "partitions",
        "topic_name",
    )
    LAYOUT = (
        ("topic_name", "string", None, 1, 2, 0, -1, -1, False, ""),
        ("partitions", "[]struct", AlterReplicaLogDirPartitionResult, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[AlterReplicaLogDirPartitionResult] = FRESH,
    ) -> None:
        self.topic_name: str = topic_name
        self.partitions: list[AlterReplicaLogDirPartitionResult] = [] if partitions is FRESH else partitions


class AlterReplicaLogDirsResponse(Message):
    __slots__ = (
        "results",
        "throttle_time_ms",
    )
    KEY = 34
    VERSIONS = (1, 2)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("results", "[]struct", AlterReplicaLogDirTopicResult, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[AlterReplicaLogDirTopicResult] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.results: list[AlterReplicaLogDirTopicResult] = [] if results is FRESH else results
