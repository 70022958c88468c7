"""API 65, DescribeTransactions.

Made from spec/kafka/describe_transactions.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class DescribeTransactionsRequest(Message):
    __slots__ = ("transactional_ids",)
    KEY = 65
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (("transactional_ids", "[]string", None, 0, 0, 0, -1, -1, False, FRESH),)

    def __init__(
        self,
        *,
        transactional_ids: list[str] = FRESH,
    ) -> None:
        self.transactional_ids: list[str] = [] if transactional_ids is FRESH else transactional_ids


class DescribeTransactionsResponseTopicData(Struct):
    __slots__ = (
        "partitions",
        "topic",
    )
    LAYOUT = (
        ("topic", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partitions", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = FRESH,
    ) -> None:
        self.topic: str = topic
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class DescribeTransactionsResponseTransactionState(Struct):
    __slots__ = (
        "error_code",
        "producer_epoch",
        "producer_id",
        "topics",
        "transaction_start_time_ms",
        "transaction_state",
        "transaction_timeout_ms",
        "transactional_id",
    )
    LAYOUT = (
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("transactional_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("transaction_state", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("transaction_timeout_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("transaction_start_time_ms", "int64", None, 0, 0, 0, -1, -1, False, 0),
        ("producer_id", "int64", None, 0, 0, 0, -1, -1, False, 0),
        ("producer_epoch", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("topics", "[]struct", DescribeTransactionsResponseTopicData, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        transactional_id: str = "",
        transaction_state: str = "",
        transaction_timeout_ms: int = 0,
        transaction_start_time_ms: int = 0,
        producer_id: int = 0,
        producer_epoch: int = 0,
        topics: list[DescribeTransactionsResponseTopicData] = FRESH,
    ) -> None:
        self.error_code: int = error_code
        self.transactional_id: str = transactional_id
        self.transaction_state: str = transaction_state
        self.transaction_timeout_ms: int = transaction_timeout_ms
        self.transaction_start_time_ms: int = transaction_start_time_ms
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
        self.topics: list[DescribeTransactionsResponseTopicData] = [] if topics is FRESH else topics


class DescribeTransactionsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "transaction_states",
    )
    KEY = 65
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("transaction_states", "[]struct", DescribeTransactionsResponseTransactionState, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        transaction_states: list[DescribeTransactionsResponseTransactionState] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.transaction_states: list[DescribeTransactionsResponseTransactionState] = (
            [] if transaction_states is FRESH else transaction_states
        )
