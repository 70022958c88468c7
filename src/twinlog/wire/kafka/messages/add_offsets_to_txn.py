"""API 25, AddOffsetsToTxn.

Made from spec/kafka/add_offsets_to_txn.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import Message


class AddOffsetsToTxnRequest(Message):
    __slots__ = (
        "group_id",
        "producer_epoch",
        "producer_id",
        "transactional_id",
    )
    KEY = 25
    VERSIONS = (0, 4)
    FLEXIBLE_FROM = 3
    LAYOUT = (
        ("transactional_id", "string", None, 0, 4, 0, -1, -1, False, ""),
        ("producer_id", "int64", None, 0, 4, 0, -1, -1, False, 0),
        ("producer_epoch", "int16", None, 0, 4, 0, -1, -1, False, 0),
        ("group_id", "string", None, 0, 4, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        group_id: str = "",
    ) -> None:
        self.transactional_id: str = transactional_id
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
        self.group_id: str = group_id


class AddOffsetsToTxnResponse(Message):
    __slots__ = (
        "error_code",
        "throttle_time_ms",
    )
    KEY = 25
    VERSIONS = (0, 4)
    FLEXIBLE_FROM = 3
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 4, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 4, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
