"""API 9, OffsetFetch.

Made from spec/kafka/offset_fetch.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Struct


class OffsetFetchRequestTopic(Struct):
    __slots__ = (
        "name",
        "partition_indexes",
    )
    LAYOUT = (
        ("name", "string", None, 1, 7, 0, -1, -1, False, ""),
        ("partition_indexes", "[]int32", None, 1, 7, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partition_indexes: list[int] = FRESH,
    ) -> None:
        self.name: str = name
        self.partition_indexes: list[int] = [] if partition_indexes is FRESH else partition_indexes


class OffsetFetchRequestTopics(Struct):
    __slots__ = (
        "name",
        "partition_indexes",
        "topic_id",
    )
    LAYOUT = (
        ("name", "string", None, 8, 9, 0, -1, -1, True, ""),
        ("topic_id", "uuid", None, 10, 10, 0, -1, -1, True, ZERO_UUID),
        ("partition_indexes", "[]int32", None, 8, 10, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_indexes: list[int] = FRESH,
    ) -> None:
        self.name: str = name
        self.topic_id: bytes = topic_id
        self.partition_indexes: list[int] = [] if partition_indexes is FRESH else partition_indexes


class OffsetFetchRequestGroup(Struct):
    __slots__ = (
        "group_id",
        "member_epoch",
        "member_id",
        "topics",
    )
    LAYOUT = (
        ("group_id", "string", None, 8, 10, 0, -1, -1, False, ""),
        ("member_id", "string", None, 9, 10, 9, 10, -1, True, None),
        ("member_epoch", "int32", None, 9, 10, 0, -1, -1, True, -1),
        ("topics", "[]struct", OffsetFetchRequestTopics, 8, 10, 8, 10, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str | None = None,
        member_epoch: int = -1,
        topics: list[OffsetFetchRequestTopics] | None = FRESH,
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str | None = member_id
        self.member_epoch: int = member_epoch
        self.topics: list[OffsetFetchRequestTopics] | None = [] if topics is FRESH else topics


class OffsetFetchRequest(Message):
    __slots__ = (
        "group_id",
        "groups",
        "require_stable",
        "topics",
    )
    KEY = 9
    VERSIONS = (1, 10)
    FLEXIBLE_FROM = 6
    LAYOUT = (
        ("group_id", "string", None, 1, 7, 0, -1, -1, False, ""),
        ("topics", "[]struct", OffsetFetchRequestTopic, 1, 7, 2, 7, -1, False, FRESH),
        ("groups", "[]struct", OffsetFetchRequestGroup, 8, 10, 0, -1, -1, False, FRESH),
        ("require_stable", "bool", None, 7, 10, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[OffsetFetchRequestTopic] | None = FRESH,
        groups: list[OffsetFetchRequestGroup] = FRESH,
        require_stable: bool = False,
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[OffsetFetchRequestTopic] | None = [] if topics is FRESH else topics
        self.groups: list[OffsetFetchRequestGroup] = [] if groups is FRESH else groups
        self.require_stable: bool = require_stable


class OffsetFetchResponsePartition(Struct):
    __slots__ = (
        "committed_leader_epoch",
        "committed_offset",
        "error_code",
        "metadata",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 1, 7, 0, -1, -1, False, 0),
        ("committed_offset", "int64", None, 1, 7, 0, -1, -1, False, 0),
        ("committed_leader_epoch", "int32", None, 5, 7, 0, -1, -1, True, -1),
        ("metadata", "string", None, 1, 7, 1, 7, -1, False, ""),
        ("error_code", "int16", None, 1, 7, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.committed_offset: int = committed_offset
        self.committed_leader_epoch: int = committed_leader_epoch
        self.metadata: str | None = metadata
        self.error_code: int = error_code


class OffsetFetchResponseTopic(Struct):
    __slots__ = (
        "name",
        "partitions",
    )
    LAYOUT = (
        ("name", "string", None, 1, 7, 0, -1, -1, False, ""),
        ("partitions", "[]struct", OffsetFetchResponsePartition, 1, 7, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[OffsetFetchResponsePartition] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: list[OffsetFetchResponsePartition] = [] if partitions is FRESH else partitions


class OffsetFetchResponsePartitions(Struct):
    __slots__ = (
        "committed_leader_epoch",
        "committed_offset",
        "error_code",
        "metadata",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 8, 10, 0, -1, -1, False, 0),
        ("committed_offset", "int64", None, 8, 10, 0, -1, -1, False, 0),
        ("committed_leader_epoch", "int32", None, 8, 10, 0, -1, -1, True, -1),
        ("metadata", "string", None, 8, 10, 8, 10, -1, False, ""),
        ("error_code", "int16", None, 8, 10, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.committed_offset: int = committed_offset
        self.committed_leader_epoch: int = committed_leader_epoch
        self.metadata: str | None = metadata
        self.error_code: int = error_code


class OffsetFetchResponseTopics(Struct):
    __slots__ = (
        "name",
        "partitions",
        "topic_id",
    )
    LAYOUT = (
        ("name", "string", None, 8, 9, 0, -1, -1, True, ""),
        ("topic_id", "uuid", None, 10, 10, 0, -1, -1, True, ZERO_UUID),
        ("partitions", "[]struct", OffsetFetchResponsePartitions, 8, 10, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[OffsetFetchResponsePartitions] = FRESH,
    ) -> None:
        self.name: str = name
        self.topic_id: bytes = topic_id
        self.partitions: list[OffsetFetchResponsePartitions] = [] if partitions is FRESH else partitions


class OffsetFetchResponseGroup(Struct):
    __slots__ = (
        "error_code",
        "group_id",
        "topics",
    )
    LAYOUT = (
        ("group_id", "string", None, 8, 10, 0, -1, -1, False, ""),
        ("topics", "[]struct", OffsetFetchResponseTopics, 8, 10, 0, -1, -1, False, FRESH),
        ("error_code", "int16", None, 8, 10, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[OffsetFetchResponseTopics] = FRESH,
        error_code: int = 0,
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[OffsetFetchResponseTopics] = [] if topics is FRESH else topics
        self.error_code: int = error_code


class OffsetFetchResponse(Message):
    __slots__ = (
        "error_code",
        "groups",
        "throttle_time_ms",
        "topics",
    )
    KEY = 9
    VERSIONS = (1, 10)
    FLEXIBLE_FROM = 6
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 3, 10, 0, -1, -1, True, 0),
        ("topics", "[]struct", OffsetFetchResponseTopic, 1, 7, 0, -1, -1, False, FRESH),
        ("error_code", "int16", None, 2, 7, 0, -1, -1, True, 0),
        ("groups", "[]struct", OffsetFetchResponseGroup, 8, 10, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[OffsetFetchResponseTopic] = FRESH,
        error_code: int = 0,
        groups: list[OffsetFetchResponseGroup] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[OffsetFetchResponseTopic] = [] if topics is FRESH else topics
        self.error_code: int = error_code
        self.groups: list[OffsetFetchResponseGroup] = [] if groups is FRESH else groups
