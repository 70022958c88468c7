"""API 8, OffsetCommit.

Made from spec/kafka/offset_commit.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Struct


class OffsetCommitRequestPartition(Struct):
    __slots__ = (
        "committed_leader_epoch",
        "committed_metadata",
        "committed_offset",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 2, 10, 0, -1, -1, False, 0),
        ("committed_offset", "int64", None, 2, 10, 0, -1, -1, False, 0),
        ("committed_leader_epoch", "int32", None, 6, 10, 0, -1, -1, True, -1),
        ("committed_metadata", "string", None, 2, 10, 2, 10, -1, False, ""),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        committed_metadata: str | None = "",
    ) -> None:
        self.partition_index: int = partition_index
        self.committed_offset: int = committed_offset
        self.committed_leader_epoch: int = committed_leader_epoch
        self.committed_metadata: str | None = committed_metadata


class OffsetCommitRequestTopic(Struct):
    __slots__ = (
        "name",
        "partitions",
        "topic_id",
    )
    LAYOUT = (
        ("name", "string", None, 2, 9, 0, -1, -1, True, ""),
        ("topic_id", "uuid", None, 10, 10, 0, -1, -1, True, ZERO_UUID),
        ("partitions", "[]struct", OffsetCommitRequestPartition, 2, 10, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[OffsetCommitRequestPartition] = FRESH,
    ) -> None:
        self.name: str = name
        self.topic_id: bytes = topic_id
        self.partitions: list[OffsetCommitRequestPartition] = [] if partitions is FRESH else partitions


class OffsetCommitRequest(Message):
    __slots__ = (
        "generation_id_or_member_epoch",
        "group_id",
        "group_instance_id",
        "member_id",
        "retention_time_ms",
        "topics",
    )
    KEY = 8
    VERSIONS = (2, 10)
    FLEXIBLE_FROM = 8
    LAYOUT = (
        ("group_id", "string", None, 2, 10, 0, -1, -1, False, ""),
        ("generation_id_or_member_epoch", "int32", None, 2, 10, 0, -1, -1, False, -1),
        ("member_id", "string", None, 2, 10, 0, -1, -1, False, ""),
        ("group_instance_id", "string", None, 7, 10, 7, 10, -1, False, None),
        ("retention_time_ms", "int64", None, 2, 4, 0, -1, -1, True, -1),
        ("topics", "[]struct", OffsetCommitRequestTopic, 2, 10, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id_or_member_epoch: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        retention_time_ms: int = -1,
        topics: list[OffsetCommitRequestTopic] = FRESH,
    ) -> None:
        self.group_id: str = group_id
        self.generation_id_or_member_epoch: int = generation_id_or_member_epoch
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id
        self.retention_time_ms: int = retention_time_ms
        self.topics: list[OffsetCommitRequestTopic] = [] if topics is FRESH else topics


class OffsetCommitResponsePartition(Struct):
    __slots__ = (
        "error_code",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 2, 10, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 2, 10, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code


class OffsetCommitResponseTopic(Struct):
    __slots__ = (
        "name",
        "partitions",
        "topic_id",
    )
    LAYOUT = (
        ("name", "string", None, 2, 9, 0, -1, -1, True, ""),
        ("topic_id", "uuid", None, 10, 10, 0, -1, -1, True, ZERO_UUID),
        ("partitions", "[]struct", OffsetCommitResponsePartition, 2, 10, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[OffsetCommitResponsePartition] = FRESH,
    ) -> None:
        self.name: str = name
        self.topic_id: bytes = topic_id
        self.partitions: list[OffsetCommitResponsePartition] = [] if partitions is FRESH else partitions


class OffsetCommitResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    KEY = 8
    VERSIONS = (2, 10)
    FLEXIBLE_FROM = 8
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 3, 10, 0, -1, -1, True, 0),
        ("topics", "[]struct", OffsetCommitResponseTopic, 2, 10, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[OffsetCommitResponseTopic] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[OffsetCommitResponseTopic] = [] if topics is FRESH else topics
