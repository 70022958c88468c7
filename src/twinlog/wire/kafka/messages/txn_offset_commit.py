"""API 28, TxnOffsetCommit.

Made from spec/kafka/txn_offset_commit.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class TxnOffsetCommitRequestPartition(Struct):
    __slots__ = (
        "committed_leader_epoch",
        "committed_metadata",
        "committed_offset",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 0, 5, 0, -1, -1, False, 0),
        ("committed_offset", "int64", None, 0, 5, 0, -1, -1, False, 0),
        ("committed_leader_epoch", "int32", None, 2, 5, 0, -1, -1, True, -1),
        ("committed_metadata", "string", None, 0, 5, 0, 5, -1, False, ""),
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


class TxnOffsetCommitRequestTopic(Struct):
    __slots__ = (
        "name",
        "partitions",
    )
    LAYOUT = (
        ("name", "string", None, 0, 5, 0, -1, -1, False, ""),
        ("partitions", "[]struct", TxnOffsetCommitRequestPartition, 0, 5, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[TxnOffsetCommitRequestPartition] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: list[TxnOffsetCommitRequestPartition] = [] if partitions is FRESH else partitions


class TxnOffsetCommitRequest(Message):
    __slots__ = (
        "generation_id",
        "group_id",
        "group_instance_id",
        "member_id",
        "producer_epoch",
        "producer_id",
        "topics",
        "transactional_id",
    )
    KEY = 28
    VERSIONS = (0, 5)
    FLEXIBLE_FROM = 3
    LAYOUT = (
        ("transactional_id", "string", None, 0, 5, 0, -1, -1, False, ""),
        ("group_id", "string", None, 0, 5, 0, -1, -1, False, ""),
        ("producer_id", "int64", None, 0, 5, 0, -1, -1, False, 0),
        ("producer_epoch", "int16", None, 0, 5, 0, -1, -1, False, 0),
        ("generation_id", "int32", None, 3, 5, 0, -1, -1, False, -1),
        ("member_id", "string", None, 3, 5, 0, -1, -1, False, ""),
        ("group_instance_id", "string", None, 3, 5, 3, 5, -1, False, None),
        ("topics", "[]struct", TxnOffsetCommitRequestTopic, 0, 5, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        transactional_id: str = "",
        group_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        generation_id: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        topics: list[TxnOffsetCommitRequestTopic] = FRESH,
    ) -> None:
        self.transactional_id: str = transactional_id
        self.group_id: str = group_id
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
        self.generation_id: int = generation_id
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id
        self.topics: list[TxnOffsetCommitRequestTopic] = [] if topics is FRESH else topics


class TxnOffsetCommitResponsePartition(Struct):
    __slots__ = (
        "error_code",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 0, 5, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 5, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code


class TxnOffsetCommitResponseTopic(Struct):
    __slots__ = (
        "name",
        "partitions",
    )
    LAYOUT = (
        ("name", "string", None, 0, 5, 0, -1, -1, False, ""),
        ("partitions", "[]struct", TxnOffsetCommitResponsePartition, 0, 5, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[TxnOffsetCommitResponsePartition] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: list[TxnOffsetCommitResponsePartition] = [] if partitions is FRESH else partitions


class TxnOffsetCommitResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    KEY = 28
    VERSIONS = (0, 5)
    FLEXIBLE_FROM = 3
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 5, 0, -1, -1, False, 0),
        ("topics", "[]struct", TxnOffsetCommitResponseTopic, 0, 5, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[TxnOffsetCommitResponseTopic] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[TxnOffsetCommitResponseTopic] = [] if topics is FRESH else topics
