"""API 90, DescribeShareGroupOffsets.

Made from spec/kafka/describe_share_group_offsets.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Struct


class DescribeShareGroupOffsetsRequestTopic(Struct):
    __slots__ = (
        "partitions",
        "topic_name",
    )
    LAYOUT = (
        ("topic_name", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("partitions", "[]int32", None, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[int] = FRESH,
    ) -> None:
        self.topic_name: str = topic_name
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class DescribeShareGroupOffsetsRequestGroup(Struct):
    __slots__ = (
        "group_id",
        "topics",
    )
    LAYOUT = (
        ("group_id", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("topics", "[]struct", DescribeShareGroupOffsetsRequestTopic, 0, 1, 0, 1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[DescribeShareGroupOffsetsRequestTopic] | None = FRESH,
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[DescribeShareGroupOffsetsRequestTopic] | None = [] if topics is FRESH else topics


class DescribeShareGroupOffsetsRequest(Message):
    __slots__ = ("groups",)
    KEY = 90
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 0
    LAYOUT = (("groups", "[]struct", DescribeShareGroupOffsetsRequestGroup, 0, 1, 0, -1, -1, False, FRESH),)

    def __init__(
        self,
        *,
        groups: list[DescribeShareGroupOffsetsRequestGroup] = FRESH,
    ) -> None:
        self.groups: list[DescribeShareGroupOffsetsRequestGroup] = [] if groups is FRESH else groups


class DescribeShareGroupOffsetsResponsePartition(Struct):
    __slots__ = (
        "error_code",
        "error_message",
        "lag",
        "leader_epoch",
        "partition_index",
        "start_offset",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("start_offset", "int64", None, 0, 1, 0, -1, -1, False, 0),
        ("leader_epoch", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("lag", "int64", None, 1, 1, 0, -1, -1, True, -1),
        ("error_code", "int16", None, 0, 1, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 1, 0, 1, -1, False, None),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        start_offset: int = 0,
        leader_epoch: int = 0,
        lag: int = -1,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition_index: int = partition_index
        self.start_offset: int = start_offset
        self.leader_epoch: int = leader_epoch
        self.lag: int = lag
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class DescribeShareGroupOffsetsResponseTopic(Struct):
    __slots__ = (
        "partitions",
        "topic_id",
        "topic_name",
    )
    LAYOUT = (
        ("topic_name", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("topic_id", "uuid", None, 0, 1, 0, -1, -1, False, ZERO_UUID),
        ("partitions", "[]struct", DescribeShareGroupOffsetsResponsePartition, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[DescribeShareGroupOffsetsResponsePartition] = FRESH,
    ) -> None:
        self.topic_name: str = topic_name
        self.topic_id: bytes = topic_id
        self.partitions: list[DescribeShareGroupOffsetsResponsePartition] = [] if partitions is FRESH else partitions


class DescribeShareGroupOffsetsResponseGroup(Struct):
    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "topics",
    )
    LAYOUT = (
        ("group_id", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("topics", "[]struct", DescribeShareGroupOffsetsResponseTopic, 0, 1, 0, -1, -1, False, FRESH),
        ("error_code", "int16", None, 0, 1, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 1, 0, 1, -1, False, None),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[DescribeShareGroupOffsetsResponseTopic] = FRESH,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[DescribeShareGroupOffsetsResponseTopic] = [] if topics is FRESH else topics
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class DescribeShareGroupOffsetsResponse(Message):
    __slots__ = (
        "groups",
        "throttle_time_ms",
    )
    KEY = 90
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("groups", "[]struct", DescribeShareGroupOffsetsResponseGroup, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[DescribeShareGroupOffsetsResponseGroup] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.groups: list[DescribeShareGroupOffsetsResponseGroup] = [] if groups is FRESH else groups
