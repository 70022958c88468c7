"""API 61, DescribeProducers.

Made from spec/kafka/describe_producers.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class DescribeProducersRequestTopic(Struct):
    __slots__ = (
        "name",
        "partition_indexes",
    )
    LAYOUT = (
        ("name", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partition_indexes", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partition_indexes: list[int] = FRESH,
    ) -> None:
        self.name: str = name
        self.partition_indexes: list[int] = [] if partition_indexes is FRESH else partition_indexes


class DescribeProducersRequest(Message):
    __slots__ = ("topics",)
    KEY = 61
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (("topics", "[]struct", DescribeProducersRequestTopic, 0, 0, 0, -1, -1, False, FRESH),)

    def __init__(
        self,
        *,
        topics: list[DescribeProducersRequestTopic] = FRESH,
    ) -> None:
        self.topics: list[DescribeProducersRequestTopic] = [] if topics is FRESH else topics


class ProducerState(Struct):
    __slots__ = (
        "coordinator_epoch",
        "current_txn_start_offset",
        "last_sequence",
        "last_timestamp",
        "producer_epoch",
        "producer_id",
    )
    LAYOUT = (
        ("producer_id", "int64", None, 0, 0, 0, -1, -1, False, 0),
        ("producer_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("last_sequence", "int32", None, 0, 0, 0, -1, -1, False, -1),
        ("last_timestamp", "int64", None, 0, 0, 0, -1, -1, False, -1),
        ("coordinator_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("current_txn_start_offset", "int64", None, 0, 0, 0, -1, -1, False, -1),
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        producer_epoch: int = 0,
        last_sequence: int = -1,
        last_timestamp: int = -1,
        coordinator_epoch: int = 0,
        current_txn_start_offset: int = -1,
    ) -> None:
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
        self.last_sequence: int = last_sequence
        self.last_timestamp: int = last_timestamp
        self.coordinator_epoch: int = coordinator_epoch
        self.current_txn_start_offset: int = current_txn_start_offset


class PartitionResponse(Struct):
    __slots__ = (
        "active_producers",
        "error_code",
        "error_message",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 0, 0, 0, -1, False, None),
        ("active_producers", "[]struct", ProducerState, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        active_producers: list[ProducerState] = FRESH,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.active_producers: list[ProducerState] = [] if active_producers is FRESH else active_producers


class TopicResponse(Struct):
    __slots__ = (
        "name",
        "partitions",
    )
    LAYOUT = (
        ("name", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partitions", "[]struct", PartitionResponse, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[PartitionResponse] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: list[PartitionResponse] = [] if partitions is FRESH else partitions


class DescribeProducersResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    KEY = 61
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("topics", "[]struct", TopicResponse, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[TopicResponse] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[TopicResponse] = [] if topics is FRESH else topics
