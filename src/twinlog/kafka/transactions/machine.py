"""The machine on one partition of ``__transaction_state``: decides about its transactional ids.

Deciding methods return ``Decision``; only ``replay`` touches what a restart brings back. An end is decided by its
record and complete by another one, with the markers between them: the coordinator writes those, as soon as the first
record is durable.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import Protocol

from twinlog.base import Refused
from twinlog.kafka.coordinator import Decision, StoredRecord
from twinlog.kafka.transactions.settings import TransactionSettings
from twinlog.kafka.transactions.transaction import Transaction, decode, encode, encode_key
from twinlog.kafka.transactions.types import (
    EPOCH_AT_EVERY_END,
    EPOCH_LAST,
    EPOCH_MAX,
    NO_EPOCH,
    NO_PRODUCER,
    NO_TIME,
    EndReply,
    InitReply,
    Place,
    ProducerIdNeeded,
    ProducerKey,
    Step,
    TransactionState,
    move,
)
from twinlog.wire.kafka import records
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.transaction_records import TransactionLogKey, TransactionLogValue

S = TransactionState


class Watch(Protocol):
    """What the machine tells to whoever carries its decisions out."""

    def on_loaded(self) -> None:
        """All records were read; transactions that are decided wait for their markers."""

    def on_due(self, transactional_id: str) -> None:
        """Its time is over."""

    def on_ended(self, code: int) -> None:
        """The shard serves no longer."""


class TransactionMachine:
    """All transactional ids that hash to one partition."""

    def __init__(self, settings: TransactionSettings, watch: Watch) -> None:
        self.settings = settings
        self.transactions: dict[str, Transaction] = {}
        self._watch = watch
        self._alarms: list[tuple[int, str]] = []
        self._expiry_due_ms: int | None = None

    def find(self, transactional_id: str) -> Transaction:
        transaction = self.transactions.get(transactional_id)
        if transaction is None:
            raise Refused(ErrorCode.INVALID_PRODUCER_ID_MAPPING, "this transactional id has no producer")
        return transaction

    def _of(self, transactional_id: str, producer: ProducerKey) -> Transaction:
        """The transaction, if it is this producer's."""
        transaction = self.find(transactional_id)
        if transaction.producer_id != producer.producer_id:
            raise Refused(ErrorCode.INVALID_PRODUCER_ID_MAPPING, "this transactional id belongs to another producer id")
        if transaction.epoch != producer.epoch:
            raise Refused(
                ErrorCode.PRODUCER_FENCED,
                f"the producer has epoch {transaction.epoch}, the request has {producer.epoch}: a newer instance"
                " took over, or the transaction timed out",
            )
        return transaction

    # -- a producer takes the id -------------------------------------------------------------------------------------

    def init(
        self, transactional_id: str, timeout_ms: int, expected: ProducerKey | None, fresh_id: int | None, now_ms: int
    ) -> Decision[InitReply]:
        """``expected``: the producer goes on after an error, and must not have been replaced. ``fresh_id``: an unused
        producer id, if one was found to be needed."""
        transaction = self.transactions.get(transactional_id)
        if transaction is None:
            return self._first(transactional_id, timeout_ms, fresh_id, now_ms)
        if expected is not None:
            _check_expected(transaction, expected)
        if transaction.state.is_decided:
            raise under_way()
        if transaction.state is S.ONGOING:
            fenced = ProducerKey(transaction.producer_id, min(transaction.epoch + 1, EPOCH_MAX))
            return Decision(InitReply(*fenced, aborts=True), [self._fenced(transaction, now_ms)])
        producer_id, epoch, last_epoch = transaction.producer_id, transaction.epoch + 1, NO_EPOCH
        previous_id = transaction.previous_producer_id
        if expected is not None:
            last_epoch = transaction.epoch
            if expected.epoch != transaction.epoch:  # a retry: its first answer was lost
                epoch, last_epoch = transaction.epoch, transaction.last_epoch
        if epoch > EPOCH_LAST:
            if fresh_id is None:
                raise ProducerIdNeeded
            previous_id, producer_id, epoch = producer_id, fresh_id, 0
        record = transaction.record(
            producer_id=producer_id,
            epoch=epoch,
            previous_producer_id=previous_id,
            timeout_ms=timeout_ms,
            state=move(transaction.state, Step.INIT),
            partitions={},
            started_ms=NO_TIME,
            updated_ms=now_ms,
        )

        def after() -> None:
            transaction.last_epoch = last_epoch

        return Decision(InitReply(producer_id, epoch), [record], after=after)

    def _first(self, transactional_id: str, timeout_ms: int, fresh_id: int | None, now_ms: int) -> Decision[InitReply]:
        if fresh_id is None:
            raise ProducerIdNeeded
        fresh = Transaction(transactional_id, fresh_id, 0, timeout_ms, S.EMPTY, updated_ms=now_ms)
        self._plan_expiry(now_ms)
        return Decision(InitReply(fresh_id, 0), [encode(fresh)])

    def _fenced(self, transaction: Transaction, now_ms: int) -> tuple[bytes, bytes]:
        """Aborts with an epoch that no client ever gets: whoever wrote so far can write no more."""
        return transaction.record(
            state=move(transaction.state, Step.ABORT),
            epoch=min(transaction.epoch + 1, EPOCH_MAX),
            updated_ms=now_ms,
        )

    # -- within a transaction ----------------------------------------------------------------------------------------

    def add(
        self, transactional_id: str, producer: ProducerKey, places: Iterable[Place], version: int, now_ms: int
    ) -> Decision[list[Place]]:
        """The reply: which of the places are new."""
        transaction = self._of(transactional_id, producer)
        if transaction.state.is_decided:
            raise under_way()
        state = move(transaction.state, Step.ADD)
        begins = transaction.state is not S.ONGOING
        kept = {} if begins else transaction.partitions
        new = [place for place in dict.fromkeys(places) if place not in kept]
        if not new:
            return Decision([])
        record = transaction.record(
            state=state,
            partitions={**kept, **dict.fromkeys(new)},
            started_ms=now_ms if begins else transaction.started_ms,
            updated_ms=now_ms,
            version=version,
        )

        def after() -> None:
            transaction.adding.update(dict.fromkeys(new))
            if begins:
                self._set_alarm(transaction)

        return Decision(new, [record], after=after)

    def added(self, transactional_id: str, places: Iterable[Place]) -> None:
        """The record that added them is durable."""
        transaction = self.transactions.get(transactional_id)
        if transaction is not None:
            for place in places:
                transaction.adding.pop(place, None)

    def verify(self, transactional_id: str, producer: ProducerKey, place: Place) -> ErrorCode:
        """Whether the producer may write to the place now, as part of its transaction."""
        try:
            transaction = self._of(transactional_id, producer)
        except Refused as refused:
            return ErrorCode(refused.code)  # type: ignore[call-arg]
        has = transaction.state is S.ONGOING and place in transaction.partitions
        return ErrorCode.NONE if has else ErrorCode.INVALID_TXN_STATE

    # -- its end -----------------------------------------------------------------------------------------------------

    def end(
        self,
        transactional_id: str,
        producer: ProducerKey,
        version: int,
        fresh_id: int | None,
        now_ms: int,
        *,
        commit: bool,
    ) -> Decision[EndReply]:
        transaction = self.find(transactional_id)
        raises = version >= EPOCH_AT_EVERY_END
        if raises and _ended_before(transaction, producer):
            _check_direction(transaction, commit)
            return Decision(EndReply(*transaction.next_key))
        transaction = self._of(transactional_id, producer)
        if transaction.state is S.ONGOING:
            return self._decided(transaction, version, fresh_id, now_ms, commit=commit)
        if raises:
            if transaction.state.is_decided:
                raise under_way()  # the end of the one before: this producer has been told of it already
            return self._nothing(transaction, version, fresh_id, now_ms, commit=commit)
        if transaction.state is not S.EMPTY:
            _check_direction(transaction, commit)
        return Decision(EndReply(*producer))

    def _decided(
        self, transaction: Transaction, version: int, fresh_id: int | None, now_ms: int, *, commit: bool
    ) -> Decision[EndReply]:
        epoch, next_id = transaction.epoch, NO_PRODUCER
        if version >= EPOCH_AT_EVERY_END:
            if transaction.is_exhausted:
                if fresh_id is None:
                    raise ProducerIdNeeded
                next_id = fresh_id
            epoch += 1
        record = transaction.record(
            state=move(transaction.state, Step.COMMIT if commit else Step.ABORT),
            epoch=epoch,
            next_producer_id=next_id,
            updated_ms=now_ms,
            version=version,
        )
        reply = ProducerKey(next_id, 0) if next_id != NO_PRODUCER else ProducerKey(transaction.producer_id, epoch)
        return Decision(EndReply(*reply, decided=True), [record])

    def _nothing(
        self, transaction: Transaction, version: int, fresh_id: int | None, now_ms: int, *, commit: bool
    ) -> Decision[EndReply]:
        """The end of a transaction that no partition joined: there is nothing to mark, only the epoch goes on."""
        producer_id, epoch, previous_id = transaction.producer_id, transaction.epoch + 1, NO_PRODUCER
        if transaction.is_exhausted:
            if fresh_id is None:
                raise ProducerIdNeeded
            previous_id, producer_id, epoch = producer_id, fresh_id, 0
        record = transaction.record(
            state=move(transaction.state, Step.COMMIT_NOTHING if commit else Step.ABORT_NOTHING),
            producer_id=producer_id,
            epoch=epoch,
            previous_producer_id=previous_id,
            partitions={},
            started_ms=NO_TIME,
            updated_ms=now_ms,
            version=version,
        )
        return Decision(EndReply(producer_id, epoch), [record])

    def abort_due(self, transactional_id: str, now_ms: int) -> Decision[bool]:
        """Aborts the transaction if its time is over; says whether."""
        transaction = self.transactions.get(transactional_id)
        if transaction is None or transaction.due_ms is None or transaction.due_ms > now_ms:
            return Decision(False)
        return Decision(True, [self._fenced(transaction, now_ms)])

    def complete(self, transactional_id: str, now_ms: int) -> Decision[None]:
        """Every marker of a decided transaction is durable."""
        transaction = self.find(transactional_id)
        producer_id, epoch = transaction.next_key
        return Decision(
            None,
            [
                transaction.record(
                    state=move(transaction.state, Step.MARKED),
                    producer_id=producer_id,
                    epoch=epoch,
                    previous_producer_id=transaction.producer_id
                    if producer_id != transaction.producer_id
                    else transaction.previous_producer_id,
                    next_producer_id=NO_PRODUCER,
                    partitions={},
                    updated_ms=now_ms,
                )
            ],
        )

    # -- replay ------------------------------------------------------------------------------------------------------

    def replay(self, record: StoredRecord) -> None:
        if record.key is None:
            return
        key = records.decode_transaction_key(record.key)
        if not isinstance(key, TransactionLogKey):
            return  # of a kind that this release does not know: it stays in the log untouched
        if record.value is None:
            self.transactions.pop(key.transactional_id, None)
            return
        value: TransactionLogValue | None = records.decode_value(key, record.value)
        if value is None:
            return
        found = decode(key.transactional_id, value)
        known = self.transactions.get(found.id)
        if known is None:
            self.transactions[found.id] = found
        else:
            known.take(found)

    def loaded(self, now_ms: int) -> None:
        for transaction in self.transactions.values():
            self._set_alarm(transaction)
        if self.transactions:
            self._plan_expiry(now_ms)
        self._watch.on_loaded()

    def ended(self, code: int) -> None:
        self._watch.on_ended(code)

    # -- time --------------------------------------------------------------------------------------------------------

    def _set_alarm(self, transaction: Transaction) -> None:
        """One alarm an id: most transactions end long before it rings, and the next one inherits it."""
        due_ms = transaction.due_ms
        if due_ms is not None and (transaction.alarm_ms is None or due_ms < transaction.alarm_ms):
            transaction.alarm_ms = due_ms
            heapq.heappush(self._alarms, (due_ms, transaction.id))

    def _plan_expiry(self, now_ms: int) -> None:
        if self._expiry_due_ms is None:
            self._expiry_due_ms = now_ms + self.settings.id_expiry_check_ms

    def next_wake_ms(self) -> int | None:
        alarm_ms = self._alarms[0][0] if self._alarms else None
        moments = [ms for ms in (alarm_ms, self._expiry_due_ms) if ms is not None]
        return min(moments, default=None)

    def wake(self, now_ms: int) -> list[Decision[None]]:
        while self._alarms and self._alarms[0][0] <= now_ms:
            alarm_ms, transactional_id = heapq.heappop(self._alarms)
            transaction = self.transactions.get(transactional_id)
            if transaction is None or transaction.alarm_ms != alarm_ms:
                continue  # a nearer alarm took its place
            transaction.alarm_ms = None
            if transaction.due_ms is not None and transaction.due_ms <= now_ms:
                self._watch.on_due(transactional_id)
            else:
                self._set_alarm(transaction)
        if self._expiry_due_ms is None or self._expiry_due_ms > now_ms:
            return []
        self._expiry_due_ms = now_ms + self.settings.id_expiry_check_ms if self.transactions else None
        unused = [
            (encode_key(transaction.id), None)
            for transaction in self.transactions.values()
            if transaction.state in (S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT)
            and transaction.updated_ms + self.settings.id_expiration_ms <= now_ms
        ]
        return [Decision(None, list(unused))] if unused else []


def under_way() -> Refused:
    return Refused(ErrorCode.CONCURRENT_TRANSACTIONS, "the end of the transaction before is under way: retry")


def _check_expected(transaction: Transaction, expected: ProducerKey) -> None:
    """Only the current producer may go on, or the one before it whose answer was lost."""
    is_current = transaction.producer_id == expected.producer_id and expected.epoch in (
        transaction.epoch,
        transaction.last_epoch,
    )
    rotated = (
        transaction.previous_producer_id == expected.producer_id
        and expected.epoch >= EPOCH_LAST
        and transaction.epoch == 0
    )
    if not is_current and not rotated:
        raise Refused(
            ErrorCode.PRODUCER_FENCED, f"the producer has epoch {transaction.epoch}, the request has {expected.epoch}"
        )


def _ended_before(transaction: Transaction, producer: ProducerKey) -> bool:
    """Whether the producer asks again for the end that it has: then the epoch is one further than it knows. After an
    end that raised no epoch the one further is somebody else's."""
    if transaction.state in (S.EMPTY, S.ONGOING) or transaction.version < EPOCH_AT_EVERY_END:
        return False
    if transaction.producer_id == producer.producer_id:
        return transaction.epoch == producer.epoch + 1
    return (
        transaction.previous_producer_id == producer.producer_id
        and producer.epoch == EPOCH_LAST
        and transaction.epoch == 0
    )


def _check_direction(transaction: Transaction, commit: bool) -> None:
    committed = transaction.state in (S.PREPARE_COMMIT, S.COMPLETE_COMMIT)
    if committed != commit:
        ended = "committed" if committed else "aborted"
        raise Refused(ErrorCode.INVALID_TXN_STATE, f"the transaction was {ended} already")
