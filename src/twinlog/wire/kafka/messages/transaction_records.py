"""Transaction records.

Made from spec/kafka/transaction_records.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, NEVER, Message, Struct


class TransactionLogKey(Message):
    __slots__ = ("transactional_id",)
    KEY = 0
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (("transactional_id", "string", None, 0, 0, 0, -1, -1, False, ""),)

    def __init__(
        self,
        *,
        transactional_id: str = "",
    ) -> None:
        self.transactional_id: str = transactional_id


class PartitionsSchema(Struct):
    __slots__ = (
        "partition_ids",
        "topic",
    )
    LAYOUT = (
        ("topic", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("partition_ids", "[]int32", None, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partition_ids: list[int] = FRESH,
    ) -> None:
        self.topic: str = topic
        self.partition_ids: list[int] = [] if partition_ids is FRESH else partition_ids


class TransactionLogValue(Message):
    __slots__ = (
        "client_transaction_version",
        "next_producer_epoch",
        "next_producer_id",
        "previous_producer_id",
        "producer_epoch",
        "producer_id",
        "transaction_last_update_timestamp_ms",
        "transaction_partitions",
        "transaction_start_timestamp_ms",
        "transaction_status",
        "transaction_timeout_ms",
    )
    KEY = 0
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 1
    LAYOUT = (
        ("producer_id", "int64", None, 0, 1, 0, -1, -1, False, 0),
        ("previous_producer_id", "int64", None, 1, 1, 0, -1, 0, False, -1),
        ("next_producer_id", "int64", None, 1, 1, 0, -1, 1, False, -1),
        ("producer_epoch", "int16", None, 0, 1, 0, -1, -1, False, 0),
        ("next_producer_epoch", "int16", None, 1, 1, 0, -1, 3, False, -1),
        ("transaction_timeout_ms", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("transaction_status", "int8", None, 0, 1, 0, -1, -1, False, 0),
        ("transaction_partitions", "[]struct", PartitionsSchema, 0, 1, 0, 1, -1, False, FRESH),
        ("transaction_last_update_timestamp_ms", "int64", None, 0, 1, 0, -1, -1, False, 0),
        ("transaction_start_timestamp_ms", "int64", None, 0, 1, 0, -1, -1, False, 0),
        ("client_transaction_version", "int16", None, 1, 1, 0, -1, 2, False, 0),
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        previous_producer_id: int = -1,
        next_producer_id: int = -1,
        producer_epoch: int = 0,
        next_producer_epoch: int = -1,
        transaction_timeout_ms: int = 0,
        transaction_status: int = 0,
        transaction_partitions: list[PartitionsSchema] | None = FRESH,
        transaction_last_update_timestamp_ms: int = 0,
        transaction_start_timestamp_ms: int = 0,
        client_transaction_version: int = 0,
    ) -> None:
        self.producer_id: int = producer_id
        self.previous_producer_id: int = previous_producer_id
        self.next_producer_id: int = next_producer_id
        self.producer_epoch: int = producer_epoch
        self.next_producer_epoch: int = next_producer_epoch
        self.transaction_timeout_ms: int = transaction_timeout_ms
        self.transaction_status: int = transaction_status
        self.transaction_partitions: list[PartitionsSchema] | None = (
            [] if transaction_partitions is FRESH else transaction_partitions
        )
        self.transaction_last_update_timestamp_ms: int = transaction_last_update_timestamp_ms
        self.transaction_start_timestamp_ms: int = transaction_start_timestamp_ms
        self.client_transaction_version: int = client_transaction_version


RECORDS: dict[int, tuple[type[Message], type[Message]]] = {
    0: (TransactionLogKey, TransactionLogValue),
}
