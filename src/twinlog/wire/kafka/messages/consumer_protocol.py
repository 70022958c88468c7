"""Consumer protocol.

Made from spec/kafka/consumer_protocol.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, NEVER, Message, Struct


class ConsumerProtocolSubscriptionTopicPartition(Struct):
    __slots__ = (
        "partitions",
        "topic",
    )
    LAYOUT = (
        ("topic", "string", None, 1, 3, 0, -1, -1, False, ""),
        ("partitions", "[]int32", None, 1, 3, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = FRESH,
    ) -> None:
        self.topic: str = topic
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class ConsumerProtocolSubscription(Message):
    __slots__ = (
        "generation_id",
        "owned_partitions",
        "rack_id",
        "topics",
        "user_data",
    )
    KEY = -1
    VERSIONS = (0, 3)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (
        ("topics", "[]string", None, 0, 3, 0, -1, -1, False, FRESH),
        ("user_data", "bytes", None, 0, 3, 0, 3, -1, False, None),
        ("owned_partitions", "[]struct", ConsumerProtocolSubscriptionTopicPartition, 1, 3, 0, -1, -1, True, FRESH),
        ("generation_id", "int32", None, 2, 3, 0, -1, -1, True, -1),
        ("rack_id", "string", None, 3, 3, 3, 3, -1, True, None),
    )

    def __init__(
        self,
        *,
        topics: list[str] = FRESH,
        user_data: bytes | None = None,
        owned_partitions: list[ConsumerProtocolSubscriptionTopicPartition] = FRESH,
        generation_id: int = -1,
        rack_id: str | None = None,
    ) -> None:
        self.topics: list[str] = [] if topics is FRESH else topics
        self.user_data: bytes | None = user_data
        self.owned_partitions: list[ConsumerProtocolSubscriptionTopicPartition] = (
            [] if owned_partitions is FRESH else owned_partitions
        )
        self.generation_id: int = generation_id
        self.rack_id: str | None = rack_id


class ConsumerProtocolAssignmentTopicPartition(Struct):
    __slots__ = (
        "partitions",
        "topic",
    )
    LAYOUT = (
        ("topic", "string", None, 0, 3, 0, -1, -1, False, ""),
        ("partitions", "[]int32", None, 0, 3, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = FRESH,
    ) -> None:
        self.topic: str = topic
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class ConsumerProtocolAssignment(Message):
    __slots__ = (
        "assigned_partitions",
        "user_data",
    )
    KEY = -1
    VERSIONS = (0, 3)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (
        ("assigned_partitions", "[]struct", ConsumerProtocolAssignmentTopicPartition, 0, 3, 0, -1, -1, False, FRESH),
        ("user_data", "bytes", None, 0, 3, 0, 3, -1, False, None),
    )

    def __init__(
        self,
        *,
        assigned_partitions: list[ConsumerProtocolAssignmentTopicPartition] = FRESH,
        user_data: bytes | None = None,
    ) -> None:
        self.assigned_partitions: list[ConsumerProtocolAssignmentTopicPartition] = (
            [] if assigned_partitions is FRESH else assigned_partitions
        )
        self.user_data: bytes | None = user_data
