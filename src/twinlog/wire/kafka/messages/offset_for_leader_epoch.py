"""API 23, OffsetForLeaderEpoch.

Made from spec/kafka/offset_for_leader_epoch.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class OffsetForLeaderPartition(Struct):
    __slots__ = (
        "current_leader_epoch",
        "leader_epoch",
        "partition",
    )
    LAYOUT = (
        ("partition", "int32", None, 2, 4, 0, -1, -1, False, 0),
        ("current_leader_epoch", "int32", None, 2, 4, 0, -1, -1, False, -1),
        ("leader_epoch", "int32", None, 2, 4, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        current_leader_epoch: int = -1,
        leader_epoch: int = 0,
    ) -> None:
        self.partition: int = partition
        self.current_leader_epoch: int = current_leader_epoch
        self.leader_epoch: int = leader_epoch


class OffsetForLeaderTopic(Struct):
    __slots__ = (
        "partitions",
        "topic",
    )
    LAYOUT = (
        ("topic", "string", None, 2, 4, 0, -1, -1, False, ""),
        ("partitions", "[]struct", OffsetForLeaderPartition, 2, 4, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[OffsetForLeaderPartition] = FRESH,
    ) -> None:
        self.topic: str = topic
        self.partitions: list[OffsetForLeaderPartition] = [] if partitions is FRESH else partitions


class OffsetForLeaderEpochRequest(Message):
    __slots__ = (
        "replica_id",
        "topics",
    )
    KEY = 23
    VERSIONS = (2, 4)
    FLEXIBLE_FROM = 4
    LAYOUT = (
        ("replica_id", "int32", None, 3, 4, 0, -1, -1, True, -2),
        ("topics", "[]struct", OffsetForLeaderTopic, 2, 4, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        replica_id: int = -2,
        topics: list[OffsetForLeaderTopic] = FRESH,
    ) -> None:
        self.replica_id: int = replica_id
        self.topics: list[OffsetForLeaderTopic] = [] if topics is FRESH else topics


class OffsetForLeaderEpochResponseEndOffset(Struct):
    __slots__ = (
        "end_offset",
        "error_code",
        "leader_epoch",
        "partition",
    )
    LAYOUT = (
        ("error_code", "int16", None, 2, 4, 0, -1, -1, False, 0),
        ("partition", "int32", None, 2, 4, 0, -1, -1, False, 0),
        ("leader_epoch", "int32", None, 2, 4, 0, -1, -1, False, -1),
        ("end_offset", "int64", None, 2, 4, 0, -1, -1, False, -1),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        partition: int = 0,
        leader_epoch: int = -1,
        end_offset: int = -1,
    ) -> None:
        self.error_code: int = error_code
        self.partition: int = partition
        self.leader_epoch: int = leader_epoch
        self.end_offset: int = end_offset


class OffsetForLeaderTopicResult(Struct):
    __slots__ = (
        "partitions",
        "topic",
    )
    LAYOUT = (
        ("topic", "string", None, 2, 4, 0, -1, -1, False, ""),
        ("partitions", "[]struct", OffsetForLeaderEpochResponseEndOffset, 2, 4, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[OffsetForLeaderEpochResponseEndOffset] = FRESH,
    ) -> None:
        self.topic: str = topic
        self.partitions: list[OffsetForLeaderEpochResponseEndOffset] = [] if partitions is FRESH else partitions


class OffsetForLeaderEpochResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    KEY = 23
    VERSIONS = (2, 4)
    FLEXIBLE_FROM = 4
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 2, 4, 0, -1, -1, False, 0),
        ("topics", "[]struct", OffsetForLeaderTopicResult, 2, 4, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[OffsetForLeaderTopicResult] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[OffsetForLeaderTopicResult] = [] if topics is FRESH else topics
