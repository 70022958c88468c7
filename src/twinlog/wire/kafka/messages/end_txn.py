"""API 26, EndTxn.

Made from spec/kafka/end_txn.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import Message


class EndTxnRequest(Message):
    __slots__ = (
        "committed",
        "producer_epoch",
        "producer_id",
        "transactional_id",
    )
    KEY = 26
    VERSIONS = (0, 5)
    FLEXIBLE_FROM = 3
    LAYOUT = (
        ("transactional_id", "string", None, 0, 5, 0, -1, -1, False, ""),
        ("producer_id", "int64", None, 0, 5, 0, -1, -1, False, 0),
        ("producer_epoch", "int16", None, 0, 5, 0, -1, -1, False, 0),
        ("committed", "bool", None, 0, 5, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        committed: bool = False,
    ) -> None:
        self.transactional_id: str = transactional_id
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
        self.committed: bool = committed


class EndTxnResponse(Message):
    __slots__ = (
        "error_code",
        "producer_epoch",
        "producer_id",
        "throttle_time_ms",
    )
    KEY = 26
    VERSIONS = (0, 5)
    FLEXIBLE_FROM = 3
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 5, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 5, 0, -1, -1, False, 0),
        ("producer_id", "int64", None, 5, 5, 0, -1, -1, True, -1),
        ("producer_epoch", "int16", None, 5, 5, 0, -1, -1, True, -1),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
