"""One transactional id's state, and its record in ``__transaction_state``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from twinlog.kafka.transactions.types import (
    EPOCH_LAST,
    NO_EPOCH,
    NO_PRODUCER,
    NO_TIME,
    Place,
    ProducerKey,
    TransactionState,
)
from twinlog.wire.kafka import records
from twinlog.wire.kafka.messages.transaction_records import PartitionsSchema, TransactionLogKey, TransactionLogValue

VALUE_VERSION: Final = 1


@dataclass(slots=True)
class Transaction:
    """What is stored of a transactional id, and, at the end, what only this process knows."""

    id: str
    producer_id: int
    epoch: int
    timeout_ms: int
    state: TransactionState
    partitions: dict[Place, None] = field(default_factory=dict)
    started_ms: int = NO_TIME
    updated_ms: int = NO_TIME
    previous_producer_id: int = NO_PRODUCER
    next_producer_id: int = NO_PRODUCER  # takes over when the transaction that used up the epochs is complete
    version: int = 0  # of the protocol by which the client ended or extended it last

    last_epoch: int = NO_EPOCH  # the epoch before, if its owner raised it: its retry gets the same answer
    adding: dict[Place, None] = field(default_factory=dict)  # partitions whose record is not yet durable
    joining: int = 0  # produce requests that wait to be let in, and may not be overtaken
    alarm_ms: int | None = None  # when somebody will look whether its time is over

    @property
    def is_exhausted(self) -> bool:
        return self.epoch >= EPOCH_LAST

    @property
    def due_ms(self) -> int | None:
        """When it is aborted by itself."""
        return self.started_ms + self.timeout_ms if self.state is TransactionState.ONGOING else None

    @property
    def next_key(self) -> ProducerKey:
        """What the producer is to go on with."""
        if self.next_producer_id != NO_PRODUCER:
            return ProducerKey(self.next_producer_id, 0)
        return ProducerKey(self.producer_id, self.epoch)

    def has(self, producer_id: int, epoch: int, place: Place) -> bool:
        """Whether the producer may write to the place now."""
        return (
            self.state is TransactionState.ONGOING
            and self.producer_id == producer_id
            and self.epoch == epoch
            and place in self.partitions
        )

    def record(self, **changes: object) -> tuple[bytes, bytes]:
        """The record of this transaction with some fields changed."""
        return encode(replace(self, **changes))  # type: ignore[arg-type]

    def take(self, other: Transaction) -> None:
        """What the newest record says. The rest stays as far as it still means something."""
        if other.producer_id != self.producer_id or other.epoch != self.epoch:
            self.last_epoch = NO_EPOCH
        self.producer_id, self.epoch, self.state = other.producer_id, other.epoch, other.state
        self.timeout_ms, self.partitions = other.timeout_ms, other.partitions
        self.started_ms, self.updated_ms = other.started_ms, other.updated_ms
        self.previous_producer_id, self.next_producer_id = other.previous_producer_id, other.next_producer_id
        self.version = other.version


def encode(transaction: Transaction) -> tuple[bytes, bytes]:
    topics: dict[str, list[int]] = {}
    for topic, index in transaction.partitions:
        topics.setdefault(topic, []).append(index)
    value = TransactionLogValue(
        producer_id=transaction.producer_id,
        previous_producer_id=transaction.previous_producer_id,
        next_producer_id=transaction.next_producer_id,
        producer_epoch=transaction.epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=transaction.state,
        transaction_partitions=None
        if transaction.state is TransactionState.EMPTY
        else [PartitionsSchema(topic=topic, partition_ids=indexes) for topic, indexes in topics.items()],
        transaction_last_update_timestamp_ms=transaction.updated_ms,
        transaction_start_timestamp_ms=transaction.started_ms,
        client_transaction_version=transaction.version,
    )
    return encode_key(transaction.id), records.encode_value(value, VALUE_VERSION)


def encode_key(transactional_id: str) -> bytes:
    return records.encode_key(TransactionLogKey(transactional_id=transactional_id))


def decode(transactional_id: str, value: TransactionLogValue) -> Transaction:
    return Transaction(
        transactional_id,
        value.producer_id,
        value.producer_epoch,
        value.transaction_timeout_ms,
        TransactionState(value.transaction_status),
        {(topic.topic, index): None for topic in value.transaction_partitions or [] for index in topic.partition_ids},
        value.transaction_start_timestamp_ms,
        value.transaction_last_update_timestamp_ms,
        value.previous_producer_id,
        value.next_producer_id,
        value.client_transaction_version,
    )
