"""API 22, InitProducerId.

Made from spec/kafka/init_producer_id.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import Message


class InitProducerIdRequest(Message):
    __slots__ = (
        "enable2_pc",
        "keep_prepared_txn",
        "producer_epoch",
        "producer_id",
        "transaction_timeout_ms",
        "transactional_id",
    )
    KEY = 22
    VERSIONS = (0, 6)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("transactional_id", "string", None, 0, 6, 0, 6, -1, False, ""),
        ("transaction_timeout_ms", "int32", None, 0, 6, 0, -1, -1, False, 0),
        ("producer_id", "int64", None, 3, 6, 0, -1, -1, False, -1),
        ("producer_epoch", "int16", None, 3, 6, 0, -1, -1, False, -1),
        ("enable2_pc", "bool", None, 6, 6, 0, -1, -1, False, False),
        ("keep_prepared_txn", "bool", None, 6, 6, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        transactional_id: str | None = "",
        transaction_timeout_ms: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        enable2_pc: bool = False,
        keep_prepared_txn: bool = False,
    ) -> None:
        self.transactional_id: str | None = transactional_id
        self.transaction_timeout_ms: int = transaction_timeout_ms
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
        self.enable2_pc: bool = enable2_pc
        self.keep_prepared_txn: bool = keep_prepared_txn


class InitProducerIdResponse(Message):
    __slots__ = (
        "error_code",
        "ongoing_txn_producer_epoch",
        "ongoing_txn_producer_id",
        "producer_epoch",
        "producer_id",
        "throttle_time_ms",
    )
    KEY = 22
    VERSIONS = (0, 6)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 6, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 6, 0, -1, -1, False, 0),
        ("producer_id", "int64", None, 0, 6, 0, -1, -1, False, -1),
        ("producer_epoch", "int16", None, 0, 6, 0, -1, -1, False, 0),
        ("ongoing_txn_producer_id", "int64", None, 6, 6, 0, -1, -1, False, -1),
        ("ongoing_txn_producer_epoch", "int16", None, 6, 6, 0, -1, -1, False, -1),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = 0,
        ongoing_txn_producer_id: int = -1,
        ongoing_txn_producer_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
        self.ongoing_txn_producer_id: int = ongoing_txn_producer_id
        self.ongoing_txn_producer_epoch: int = ongoing_txn_producer_epoch
