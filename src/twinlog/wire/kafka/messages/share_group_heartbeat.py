"""API 76, ShareGroupHeartbeat.

Made from spec/kafka/share_group_heartbeat.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Struct


class ShareGroupHeartbeatRequest(Message):
    __slots__ = (
        "group_id",
        "member_epoch",
        "member_id",
        "rack_id",
        "subscribed_topic_names",
    )
    KEY = 76
    VERSIONS = (1, 1)
    FLEXIBLE_FROM = 1
    LAYOUT = (
        ("group_id", "string", None, 1, 1, 0, -1, -1, False, ""),
        ("member_id", "string", None, 1, 1, 0, -1, -1, False, ""),
        ("member_epoch", "int32", None, 1, 1, 0, -1, -1, False, 0),
        ("rack_id", "string", None, 1, 1, 1, 1, -1, False, None),
        ("subscribed_topic_names", "[]string", None, 1, 1, 1, 1, -1, False, None),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        rack_id: str | None = None,
        subscribed_topic_names: list[str] | None = None,
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id
        self.member_epoch: int = member_epoch
        self.rack_id: str | None = rack_id
        self.subscribed_topic_names: list[str] | None = subscribed_topic_names


class ShareGroupHeartbeatResponseTopicPartitions(Struct):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    LAYOUT = (
        ("topic_id", "uuid", None, 1, 1, 0, -1, -1, False, ZERO_UUID),
        ("partitions", "[]int32", None, 1, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = FRESH,
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class ShareGroupHeartbeatResponseAssignment(Struct):
    __slots__ = ("topic_partitions",)
    LAYOUT = (
        ("topic_partitions", "[]struct", ShareGroupHeartbeatResponseTopicPartitions, 1, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_partitions: list[ShareGroupHeartbeatResponseTopicPartitions] = FRESH,
    ) -> None:
        self.topic_partitions: list[ShareGroupHeartbeatResponseTopicPartitions] = (
            [] if topic_partitions is FRESH else topic_partitions
        )


class ShareGroupHeartbeatResponse(Message):
    __slots__ = (
        "assignment",
        "error_code",
        "error_message",
        "heartbeat_interval_ms",
        "member_epoch",
        "member_id",
        "throttle_time_ms",
    )
    KEY = 76
    VERSIONS = (1, 1)
    FLEXIBLE_FROM = 1
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 1, 1, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 1, 1, 0, -1, -1, False, 0),
        ("error_message", "string", None, 1, 1, 1, 1, -1, False, None),
        ("member_id", "string", None, 1, 1, 1, 1, -1, False, None),
        ("member_epoch", "int32", None, 1, 1, 0, -1, -1, False, 0),
        ("heartbeat_interval_ms", "int32", None, 1, 1, 0, -1, -1, False, 0),
        ("assignment", "struct", ShareGroupHeartbeatResponseAssignment, 1, 1, 1, 1, -1, False, None),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str | None = None,
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        assignment: ShareGroupHeartbeatResponseAssignment | None = None,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.member_id: str | None = member_id
        self.member_epoch: int = member_epoch
        self.heartbeat_interval_ms: int = heartbeat_interval_ms
        self.assignment: ShareGroupHeartbeatResponseAssignment | None = assignment
