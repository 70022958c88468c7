"""API 68, ConsumerGroupHeartbeat.

Made from spec/kafka/consumer_group_heartbeat.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Struct


class ConsumerGroupHeartbeatRequestTopicPartitions(Struct):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    LAYOUT = (
        ("topic_id", "uuid", None, 0, 1, 0, -1, -1, False, ZERO_UUID),
        ("partitions", "[]int32", None, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = FRESH,
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class ConsumerGroupHeartbeatRequest(Message):
    __slots__ = (
        "group_id",
        "instance_id",
        "member_epoch",
        "member_id",
        "rack_id",
        "rebalance_timeout_ms",
        "server_assignor",
        "subscribed_topic_names",
        "subscribed_topic_regex",
        "topic_partitions",
    )
    KEY = 68
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("group_id", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("member_id", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("member_epoch", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("instance_id", "string", None, 0, 1, 0, 1, -1, False, None),
        ("rack_id", "string", None, 0, 1, 0, 1, -1, False, None),
        ("rebalance_timeout_ms", "int32", None, 0, 1, 0, -1, -1, False, -1),
        ("subscribed_topic_names", "[]string", None, 0, 1, 0, 1, -1, False, None),
        ("subscribed_topic_regex", "string", None, 1, 1, 1, 1, -1, False, None),
        ("server_assignor", "string", None, 0, 1, 0, 1, -1, False, None),
        ("topic_partitions", "[]struct", ConsumerGroupHeartbeatRequestTopicPartitions, 0, 1, 0, 1, -1, False, None),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        subscribed_topic_names: list[str] | None = None,
        subscribed_topic_regex: str | None = None,
        server_assignor: str | None = None,
        topic_partitions: list[ConsumerGroupHeartbeatRequestTopicPartitions] | None = None,
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id
        self.member_epoch: int = member_epoch
        self.instance_id: str | None = instance_id
        self.rack_id: str | None = rack_id
        self.rebalance_timeout_ms: int = rebalance_timeout_ms
        self.subscribed_topic_names: list[str] | None = subscribed_topic_names
        self.subscribed_topic_regex: str | None = subscribed_topic_regex
        self.server_assignor: str | None = server_assignor
        self.topic_partitions: list[ConsumerGroupHeartbeatRequestTopicPartitions] | None = topic_partitions


class ConsumerGroupHeartbeatResponseTopicPartitions(Struct):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    LAYOUT = (
        ("topic_id", "uuid", None, 0, 1, 0, -1, -1, False, ZERO_UUID),
        ("partitions", "[]int32", None, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = FRESH,
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class ConsumerGroupHeartbeatResponseAssignment(Struct):
    __slots__ = ("topic_partitions",)
    LAYOUT = (
        ("topic_partitions", "[]struct", ConsumerGroupHeartbeatResponseTopicPartitions, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_partitions: list[ConsumerGroupHeartbeatResponseTopicPartitions] = FRESH,
    ) -> None:
        self.topic_partitions: list[ConsumerGroupHeartbeatResponseTopicPartitions] = (
            [] if topic_partitions is FRESH else topic_partitions
        )


class ConsumerGroupHeartbeatResponse(Message):
    __slots__ = (
        "assignment",
        "error_code",
        "error_message",
        "heartbeat_interval_ms",
        "member_epoch",
        "member_id",
        "throttle_time_ms",
    )
    KEY = 68
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 1, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 1, 0, 1, -1, False, None),
        ("member_id", "string", None, 0, 1, 0, 1, -1, False, None),
        ("member_epoch", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("heartbeat_interval_ms", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("assignment", "struct", ConsumerGroupHeartbeatResponseAssignment, 0, 1, 0, 1, -1, False, None),
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
        assignment: ConsumerGroupHeartbeatResponseAssignment | None = None,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.member_id: str | None = member_id
        self.member_epoch: int = member_epoch
        self.heartbeat_interval_ms: int = heartbeat_interval_ms
        self.assignment: ConsumerGroupHeartbeatResponseAssignment | None = assignment
