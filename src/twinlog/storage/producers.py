"""What a log remembers of its idempotent producers: the last five batches of each, and who has a transaction open.

A batch that was appended before is recognised by its sequence numbers and answered with its first offset. A batch
that skips numbers is refused, and so is one from an older epoch. Sequences count records and wrap from 2^31-1 to 0.

**A producer this log does not know** has to begin at sequence 0. Otherwise two requests in flight that arrive in the
wrong order would lose the first one without an error (KAFKA-15591). Which code makes clients recover differs:

- On a log that never held a record, nobody can have been forgotten, so a request has overtaken another one:
  OUT_OF_ORDER_SEQUENCE_NUMBER, upon which the clients send both again in order.
- On any other log the producer may as well have been silent until it was forgotten: UNKNOWN_PRODUCER_ID, upon which
  they take a new epoch and begin at 0. The other code would be fatal for librdkafka there.
"""

from __future__ import annotations

from collections import deque
from struct import Struct
from typing import Final, NamedTuple

from twinlog._kernel import crc32c
from twinlog.base import Refused
from twinlog.storage.errors import (
    DUPLICATE_SEQUENCE_NUMBER,
    INVALID_PRODUCER_EPOCH,
    INVALID_TXN_STATE,
    OUT_OF_ORDER_SEQUENCE_NUMBER,
    TRANSACTION_COORDINATOR_FENCED,
    UNKNOWN_PRODUCER_ID,
)
from twinlog.storage.types import CONTROL, TRANSACTIONAL, Batch

BATCHES_KEPT: Final = 5
SEQUENCE_MAX: Final = 0x7FFFFFFF
NO_SEQUENCE: Final = -1
NO_OFFSET: Final = -1
NO_COORDINATOR: Final = -1

SNAPSHOT_MAGIC: Final = b"TLPS"
SNAPSHOT_VERSION: Final = 1
SNAPSHOT_HEADER: Final = Struct("<4sHHqI")
CRC: Final = Struct("<I")
PRODUCER: Final = Struct("<qhhiqq")  # id, epoch, batches, coordinator epoch, last append ms, transaction's first offset
APPENDED: Final = Struct("<iiqq")  # first and last sequence, base offset, timestamp


class Duplicate(NamedTuple):
    """The batch is in the log already, from ``base_offset`` on."""

    base_offset: int
    timestamp: int


class Appended(NamedTuple):
    """One of a producer's last batches."""

    sequence_first: int
    sequence_last: int
    base_offset: int
    timestamp: int


class Ended(NamedTuple):
    """A transaction whose marker is in the log, though perhaps not where readers may see it."""

    offset_first: int
    marker_offset: int


class Producer:
    """One producer as this log knows it."""

    __slots__ = ("batches", "coordinator_epoch", "epoch", "last_ms", "transaction_offset")

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.batches: list[Appended] = []  # oldest first; empty after an epoch began with a marker only
        self.last_ms = 0
        self.coordinator_epoch = -1
        self.transaction_offset = NO_OFFSET  # where its open transaction begins


def sequence_after(sequence: int, count: int) -> int:
    """``count`` records further on."""
    return (sequence + count) & SEQUENCE_MAX


class ProducerStates:
    """The producers of one log. ``check`` refuses or recognises, ``note`` remembers; nothing else changes it."""

    __slots__ = ("_limit", "by_id", "ended", "open_transactions")

    def __init__(self, limit: int = 100_000) -> None:
        self._limit = limit
        self.by_id: dict[int, Producer] = {}  # the longest silent first
        self.open_transactions: dict[int, int] = {}  # producer id -> first offset, in the order they began
        self.ended: deque[Ended] = deque()  # in the order of their markers, until readers may see those

    def __len__(self) -> int:
        return len(self.by_id)

    def check(self, batch: Batch, *, log_is_new: bool = False) -> Duplicate | None:
        """What a client's batch is: the next one (None), a duplicate, or refused. ``log_is_new``: no record was
        ever in this log."""
        _, _, _, delta, _, _, _, _, producer_id, epoch, sequence, _ = batch
        producer = self.by_id.get(producer_id)
        if producer is None:
            if sequence == 0:
                return None
            if log_is_new:
                raise Refused(
                    OUT_OF_ORDER_SEQUENCE_NUMBER,
                    f"producer {producer_id} begins with sequence {sequence} in a log that is new",
                )
            raise Refused(
                UNKNOWN_PRODUCER_ID, f"producer {producer_id} is not known here and begins with sequence {sequence}"
            )
        if epoch < producer.epoch:
            raise Refused(
                INVALID_PRODUCER_EPOCH, f"producer {producer_id} has epoch {producer.epoch}, the batch has {epoch}"
            )
        if producer.transaction_offset != NO_OFFSET and not batch[5] & TRANSACTIONAL:
            raise Refused(
                INVALID_TXN_STATE, f"producer {producer_id} has a transaction open, and the batch is not part of one"
            )
        batches = producer.batches
        if epoch > producer.epoch or not batches:
            if sequence == 0:
                return None
            raise Refused(
                OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"producer {producer_id} begins epoch {epoch} with sequence {sequence}",
            )
        if sequence == (batches[-1].sequence_last + 1) & SEQUENCE_MAX:
            return None
        sequence_last = (sequence + delta) & SEQUENCE_MAX
        for appended in batches:
            if appended.sequence_first == sequence and appended.sequence_last == sequence_last:
                return Duplicate(appended.base_offset, appended.timestamp)
        # Wrapping makes "older" a matter of the nearer side.
        if (batches[-1].sequence_last - sequence_last) & SEQUENCE_MAX <= SEQUENCE_MAX // 2:
            raise Refused(
                DUPLICATE_SEQUENCE_NUMBER,
                f"producer {producer_id} sends sequence {sequence} again; the last one was {batches[-1].sequence_last}",
            )
        raise Refused(
            OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"producer {producer_id} sends sequence {sequence} after {batches[-1].sequence_last}",
        )

    def note(self, batch: Batch, base_offset: int, timestamp: int, now_ms: int) -> None:
        """The batch now lies in the log at ``base_offset``. Also called for every batch that recovery reads."""
        _, _, _, delta, _, attributes, _, _, producer_id, epoch, sequence, _ = batch
        producer = self._take(producer_id, epoch, now_ms)
        if attributes & CONTROL:
            return
        if sequence != NO_SEQUENCE:
            producer.batches.append(Appended(sequence, (sequence + delta) & SEQUENCE_MAX, base_offset, timestamp))
            if len(producer.batches) > BATCHES_KEPT:
                del producer.batches[0]
        if attributes & TRANSACTIONAL and producer.transaction_offset == NO_OFFSET:
            producer.transaction_offset = base_offset
            self.open_transactions[producer_id] = base_offset

    def check_marker(self, producer_id: int, epoch: int, coordinator_epoch: int) -> None:
        """A marker may end what is not newer than itself."""
        producer = self.by_id.get(producer_id)
        if producer is None:
            return
        if epoch < producer.epoch:
            raise Refused(
                INVALID_PRODUCER_EPOCH, f"producer {producer_id} has epoch {producer.epoch}, the marker has {epoch}"
            )
        if NO_COORDINATOR < coordinator_epoch < producer.coordinator_epoch:
            raise Refused(
                TRANSACTION_COORDINATOR_FENCED,
                f"a coordinator of epoch {producer.coordinator_epoch} has spoken; this one has {coordinator_epoch}",
            )

    def end_transaction(
        self, producer_id: int, epoch: int, coordinator_epoch: int, marker_offset: int, now_ms: int
    ) -> int:
        """A marker was appended. Returns where the transaction began, ``NO_OFFSET`` when it wrote nothing here."""
        producer = self._take(producer_id, epoch, now_ms)
        producer.coordinator_epoch = coordinator_epoch
        offset_first, producer.transaction_offset = producer.transaction_offset, NO_OFFSET
        if self.open_transactions.pop(producer_id, None) is not None:
            self.ended.append(Ended(offset_first, marker_offset))
        return offset_first

    def undecided_from(self, offset_visible: int) -> int | None:
        """Where the oldest transaction begins whose end readers below ``offset_visible`` cannot know."""
        ended = self.ended
        while ended and ended[0].marker_offset < offset_visible:
            ended.popleft()
        first = self.first_open_offset
        for each in ended:
            if first is None or each.offset_first < first:
                first = each.offset_first
        return first

    @property
    def first_open_offset(self) -> int | None:
        """Where the oldest open transaction begins."""
        return next(iter(self.open_transactions.values()), None)

    def last_batches(self) -> list[tuple[int, int, int]]:
        """(producer, first offset of its last batch or -1, epoch): what compaction must not forget."""
        return [
            (producer_id, producer.batches[-1].base_offset if producer.batches else NO_OFFSET, producer.epoch)
            for producer_id, producer in self.by_id.items()
        ]

    def expire(self, now_ms: int, expiration_ms: int) -> int:
        """Forgets who was silent for that long and has no transaction open; returns how many."""
        gone = []
        for producer_id, producer in self.by_id.items():
            if now_ms - producer.last_ms < expiration_ms:
                break
            if producer.transaction_offset == NO_OFFSET:
                gone.append(producer_id)
        for producer_id in gone:
            del self.by_id[producer_id]
        return len(gone)

    def _take(self, producer_id: int, epoch: int, now_ms: int) -> Producer:
        producer = self.by_id.pop(producer_id, None)
        if producer is None:
            producer = Producer(epoch)
            if len(self.by_id) >= self._limit:
                self._drop_one()
        elif epoch != producer.epoch:
            producer.epoch = epoch
            producer.batches = []
        producer.last_ms = max(now_ms, producer.last_ms)
        self.by_id[producer_id] = producer
        return producer

    def _drop_one(self) -> None:
        for producer_id, producer in self.by_id.items():
            if producer.transaction_offset == NO_OFFSET:
                del self.by_id[producer_id]
                return

    # Snapshots.

    def encode(self, offset: int) -> bytes:
        """The state in front of ``offset``."""
        parts = []
        for producer_id, producer in self.by_id.items():
            parts.append(
                PRODUCER.pack(
                    producer_id,
                    producer.epoch,
                    len(producer.batches),
                    producer.coordinator_epoch,
                    producer.last_ms,
                    producer.transaction_offset,
                )
            )
            parts += [APPENDED.pack(*appended) for appended in producer.batches]
        body = b"".join(parts)
        header = SNAPSHOT_HEADER.pack(SNAPSHOT_MAGIC, SNAPSHOT_VERSION, 0, offset, len(self.by_id))
        return header + CRC.pack(crc32c(header + body)) + body

    def restore(self, data: bytes, offset: int) -> bool:
        """Takes over a snapshot made at ``offset``. False, and nothing changed, when it is not whole."""
        head_bytes = SNAPSHOT_HEADER.size
        if len(data) < head_bytes + CRC.size:
            return False
        header, body = data[:head_bytes], data[head_bytes + CRC.size :]
        magic, version, _, at_offset, count = SNAPSHOT_HEADER.unpack(header)
        if magic != SNAPSHOT_MAGIC or version != SNAPSHOT_VERSION or at_offset != offset:
            return False
        if CRC.unpack_from(data, head_bytes)[0] != crc32c(header + body):
            return False
        by_id: dict[int, Producer] = {}
        position = 0
        for _ in range(count):
            producer_id, epoch, batches, coordinator_epoch, last_ms, transaction = PRODUCER.unpack_from(body, position)
            position += PRODUCER.size
            producer = by_id[producer_id] = Producer(epoch)
            producer.coordinator_epoch, producer.last_ms = coordinator_epoch, last_ms
            producer.transaction_offset = transaction
            for _ in range(batches):
                producer.batches.append(Appended(*APPENDED.unpack_from(body, position)))
                position += APPENDED.size
        self.by_id = by_id
        begun = sorted((p.transaction_offset, producer_id) for producer_id, p in by_id.items())
        self.open_transactions = {producer_id: offset for offset, producer_id in begun if offset != NO_OFFSET}
        return True
