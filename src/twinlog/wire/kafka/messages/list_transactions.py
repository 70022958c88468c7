"""API 66, ListTransactions.

Made from spec/kafka/list_transactions.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class ListTransactionsRequest(Message):
    __slots__ = (
        "duration_filter",
        "producer_id_filters",
        "state_filters",
        "transactional_id_pattern",
    )
    KEY = 66
    VERSIONS = (0, 2)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("state_filters", "[]string", None, 0, 2, 0, -1, -1, False, FRESH),
        ("producer_id_filters", "[]int64", None, 0, 2, 0, -1, -1, False, FRESH),
        ("duration_filter", "int64", None, 1, 2, 0, -1, -1, False, -1),
        ("transactional_id_pattern", "string", None, 2, 2, 2, 2, -1, False, None),
    )

    def __init__(
        self,
        *,
        state_filters: list[str] = FRESH,
        producer_id_filters: list[int] = FRESH,
        duration_filter: int = -1,
        transactional_id_pattern: str | None = None,
    ) -> None:
        self.state_filters: list[str] = [] if state_filters is FRESH else state_filters
        self.producer_id_filters: list[int] = [] if producer_id_filters is FRESH else producer_id_filters
        self.duration_filter: int = duration_filter
        self.transactional_id_pattern: str | None = transactional_id_pattern


class ListTransactionsResponseTransactionState(Struct):
    __slots__ = (
        "producer_id",
        "transaction_state",
        "transactional_id",
    )
    LAYOUT = (
        ("transactional_id", "string", None, 0, 2, 0, -1, -1, False, ""),
        ("producer_id", "int64", None, 0, 2, 0, -1, -1, False, 0),
        ("transaction_state", "string", None, 0, 2, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        transaction_state: str = "",
    ) -> None:
        self.transactional_id: str = transactional_id
        self.producer_id: int = producer_id
        self.transaction_state: str = transaction_state


class ListTransactionsResponse(Message):
    __slots__ = (
        "error_code",
        "throttle_time_ms",
        "transaction_states",
        "unknown_state_filters",
    )
    KEY = 66
    VERSIONS = (0, 2)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 2, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 2, 0, -1, -1, False, 0),
        ("unknown_state_filters", "[]string", None, 0, 2, 0, -1, -1, False, FRESH),
        ("transaction_states", "[]struct", ListTransactionsResponseTransactionState, 0, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_state_filters: list[str] = FRESH,
        transaction_states: list[ListTransactionsResponseTransactionState] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.unknown_state_filters: list[str] = [] if unknown_state_filters is FRESH else unknown_state_filters
        self.transaction_states: list[ListTransactionsResponseTransactionState] = (
            [] if transaction_states is FRESH else transaction_states
        )
