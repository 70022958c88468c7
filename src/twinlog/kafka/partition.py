"""One partition as its leader sees it: who may append, what readers may see, who waits.

Promises: an append with ``acks=all`` is confirmed, and visible, only when it is on stable storage of every
in-sync replica; appends with weaker acks are visible at once, but never before an ``acks=all`` append that lies
in front of them (ADR 0006). The high watermark never goes back. Everything that waits here is released in the
order of the log: when a sync round ends, when the log fails, or when the partition leaves this node.
Pure: the caller brings the time, storage brings the bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from twinlog._kernel import build_batch, decode_records
from twinlog.base import Refused
from twinlog.kafka.ports import Waiter, Watcher
from twinlog.storage import Batch, PartitionLog
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.produce import PartitionProduceResponse
from twinlog.wire.kafka.records import CONTROL_ABORT, CONTROL_COMMIT, encode_control_key, encode_end_marker

TIMESTAMP_TYPE_BIT: Final = 0x08
TRANSACTIONAL_BIT: Final = 0x10
CONTROL_BIT: Final = 0x20
HORIZON_BIT: Final = 0x40  # set by compaction: the base timestamp then says when tombstones may go
BITS_NOT_FROM_CLIENTS: Final = TIMESTAMP_TYPE_BIT | TRANSACTIONAL_BIT | CONTROL_BIT | HORIZON_BIT
LONG_MAX: Final = 2**63 - 1
NO_EPOCH: Final = -1
NO_TIMESTAMP: Final = -1

# What a batch is refused with while the disk is low: every client waits and sends it again (docs/operate/limits.md).
NO_ROOM: Final = ErrorCode.KAFKA_STORAGE_ERROR
ACKS_ALL: Final = -1
ACKS_NONE: Final = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRules:
    """What a topic's settings mean for produce and fetch. One object serves all partitions of a topic."""

    message_max_bytes: int = 1048588
    compacted: bool = False
    deletes: bool = True  # cleanup.policy names delete: records may be dropped from the front
    log_append_time: bool = False
    timestamp_before_max_ms: int = LONG_MAX
    timestamp_after_max_ms: int = 3_600_000
    min_in_sync: int = 1
    flush_messages: int = LONG_MAX
    flush_soon: bool = False  # flush.ms asks for more than the background flush gives


class AppendResult(PartitionProduceResponse):
    """What became of one batch, in the form in which it is answered. ``waits``: it does not count yet."""

    __slots__ = ("waits",)

    in_transaction = False  # whether the transaction of a transactional batch is known to include the partition

    def __init__(self, index: int) -> None:
        # Not through the base class: this is made for each batch, and the defaults are known.
        self.index = index
        self.error_code = 0
        self.base_offset = -1
        self.log_append_time_ms = NO_TIMESTAMP  # only a topic that stamps records itself sets it
        self.log_start_offset = -1
        self.record_errors = []
        self.error_message = None
        self.current_leader = None
        self.waits = False

    def fail(self, code: int, message: str | None = None) -> None:
        self.error_code = code
        self.error_message = message or reason_of(code)
        self.base_offset = self.log_append_time_ms = self.log_start_offset = -1


class TransactionalResult(AppendResult):
    """The result of a batch whose transaction includes the partition, as its coordinator says."""

    __slots__ = ()

    in_transaction = True


def reason_of(code: int) -> str:
    return ErrorCode(code).message  # type: ignore[call-arg]


class InvalidRecord(Refused):
    """A refusal that names the record: (index in the batch, reason)."""

    def __init__(self, code: int, message: str, records: list[tuple[int, str]]) -> None:
        super().__init__(code, message)
        self.records = records


# An append that waits for stable storage: (end offset, base offset, bytes before it, waiter, token).
Pending: TypeAlias = tuple[int, int, int, Waiter, object]


class Partition:
    """The state of a partition on its leader."""

    __slots__ = (
        "_pending",
        "_stable_told",
        "_watchers",
        "bytes_appended",
        "bytes_visible",
        "closed",
        "high_watermark",
        "in_sync_count",
        "index",
        "leader_epoch",
        "leads",
        "log",
        "records_unsynced",
        "replica_count",
        "rules",
        "topic",
        "topic_id",
    )

    def __init__(
        self, topic: str, topic_id: bytes, index: int, log: PartitionLog, rules: TopicRules, leader_epoch: int
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.log = log
        self.rules = rules
        self.leader_epoch = leader_epoch
        self.leads = True
        self.in_sync_count = 1
        self.replica_count = 1
        self.closed: ErrorCode | None = None  # once set, it stays: a topic made anew is another partition
        self.high_watermark = log.offset_synced
        self.records_unsynced = 0
        # Two counters that only grow; their difference to an older value says how much a reader has gained.
        self.bytes_appended = 0
        self.bytes_visible = 0
        self._pending: deque[Pending] | None = None  # made when first needed: many partitions are never written
        self._watchers: dict[Watcher, None] = {}
        self._stable_told = -1  # while transactions are undecided: the stable offset that readers know of
        log.on_synced = self.on_synced
        if log.offset_end > log.offset_synced:
            # Found at start-up and not known to be stable. Its size is not known either: at least a byte a record.
            self.bytes_appended = log.offset_end - log.offset_synced
            self._pending = deque([(log.offset_end, log.offset_synced, 0, NOBODY, None)])

    # -- who may ask ---------------------------------------------------------------------------------------------

    def check_epoch(self, epoch: int) -> ErrorCode | None:
        """What to tell a client that believes ``epoch`` to be the leader's (-1: it does not know)."""
        if epoch == self.leader_epoch or epoch == NO_EPOCH:
            return None
        return ErrorCode.FENCED_LEADER_EPOCH if epoch < self.leader_epoch else ErrorCode.UNKNOWN_LEADER_EPOCH

    def refusal(self) -> ErrorCode | None:
        """Why this node cannot serve the partition now."""
        if self.closed is not None:
            return self.closed
        if not self.leads:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.KAFKA_STORAGE_ERROR if self.log.offline is not None else None

    # -- append --------------------------------------------------------------------------------------------------

    def append(
        self,
        buffer: bytearray,
        batch: Batch,
        null_key_at: int,
        acks: int,
        now_ms: int,
        waiter: Waiter,
        result: AppendResult,
    ) -> None:
        """Appends a checked batch that lies in ``buffer``, and puts where it went into ``result``.

        With ``acks=all`` the waiter is told when the result counts; otherwise it counts at once. A batch that the
        log already holds is not appended again: it gets its first offset, and waits as its first copy did.
        ``null_key_at`` is the index of the first record without a key, or -1. ``Refused`` says why not.
        """
        refusal = self.refusal()
        if refusal is not None:
            raise Refused(refusal)
        rules = self.rules
        log = self.log
        _, size, _, last_offset_delta, record_count, _, _, _, producer_id, _, _, _ = batch
        self._check_batch(buffer, batch, null_key_at, acks, now_ms, in_transaction=result.in_transaction)
        result.log_start_offset = log.offset_start
        records_unsynced = self.records_unsynced + record_count
        flush = records_unsynced >= rules.flush_messages
        strict = acks == ACKS_ALL or (flush and acks != ACKS_NONE)
        if producer_id >= 0:
            duplicate = log.check_producer(batch)
            if duplicate is not None:
                result.base_offset = duplicate.base_offset
                if rules.log_append_time:
                    result.log_append_time_ms = duplicate.timestamp
                if strict:
                    result.waits = self.when_stable(duplicate.base_offset + last_offset_delta + 1, waiter, result)
                return
        if log.is_short_of_room:
            log.refused_for_room()
            raise Refused(NO_ROOM, "The disk is nearly full. Records are taken again when there is room.")
        if rules.log_append_time:
            result.log_append_time_ms = now_ms
        result.base_offset = base_offset = log.append(
            buffer,
            batch,
            self.leader_epoch,
            now_ms,
            log_append_time=rules.log_append_time,
            soon=strict or flush or rules.flush_soon,
        )
        self.records_unsynced = records_unsynced
        bytes_before = self.bytes_appended
        self.bytes_appended = bytes_before + size
        pending = self._pending
        if strict:
            if pending is None:
                pending = self._pending = deque()
            pending.append((base_offset + last_offset_delta + 1, base_offset, bytes_before, waiter, result))
            result.waits = True
            waiter.waiting += 1
        elif not pending:
            self._raise_high_watermark(base_offset + last_offset_delta + 1, self.bytes_appended)

    def _check_batch(
        self, buffer: bytearray, batch: Batch, null_key_at: int, acks: int, now_ms: int, *, in_transaction: bool
    ) -> None:
        """Everything about a batch that the topic may refuse, in the order of what it costs to find out."""
        rules = self.rules
        if acks == ACKS_ALL and self.in_sync_count < rules.min_in_sync and self._lacks_replicas():
            raise Refused(ErrorCode.NOT_ENOUGH_REPLICAS)
        if batch[1] > rules.message_max_bytes:
            raise Refused(
                ErrorCode.MESSAGE_TOO_LARGE,
                f"The batch of {batch[1]} bytes is larger than the {rules.message_max_bytes} that the topic takes.",
            )
        if null_key_at >= 0 and rules.compacted:
            raise InvalidRecord(
                ErrorCode.INVALID_RECORD,
                "A compacted topic takes only records that have a key.",
                [(null_key_at, "The record has no key.")],
            )
        if batch[5] & BITS_NOT_FROM_CLIENTS:
            _check_attributes(batch, rules, acks, in_transaction)
        if batch[8] >= 0 and (batch[9] < 0 or batch[10] < 0):
            raise Refused(
                ErrorCode.INVALID_RECORD,
                f"Producer epoch {batch[9]} and sequence {batch[10]} cannot go with a producer id.",
            )
        if not rules.log_append_time and (
            batch[7] - now_ms > rules.timestamp_after_max_ms or rules.timestamp_before_max_ms != LONG_MAX
        ):
            _check_timestamps(buffer, batch, rules, now_ms)

    def _lacks_replicas(self) -> bool:
        """Fewer in sync than the topic wants, which is never more than it has (KIP-966)."""
        return self.in_sync_count < min(self.rules.min_in_sync, self.replica_count)

    def append_own(self, built: bytes, now_ms: int) -> int:
        """Appends a batch of the broker's own making, visible when it is stable; returns the offset behind it."""
        refusal = self.refusal()
        if refusal is not None:
            raise Refused(refusal)
        if self._lacks_replicas():
            raise Refused(ErrorCode.NOT_ENOUGH_REPLICAS)
        base_offset = self.log.append_built(built, self.leader_epoch, now_ms, soon=True)
        bytes_before = self.bytes_appended
        self.bytes_appended = bytes_before + len(built)
        if self._pending is None:
            self._pending = deque()
        self._pending.append((self.log.offset_end, base_offset, bytes_before, NOBODY, None))
        return self.log.offset_end

    def append_marker(
        self,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int,
        now_ms: int,
        *,
        commit: bool,
        waiter: Waiter,
        token: object,
    ) -> None:
        """Ends a producer's transaction here. The waiter is told when the marker is stable; then readers see it."""
        self.log.check_marker(producer_id, producer_epoch, coordinator_epoch)
        key = encode_control_key(CONTROL_COMMIT if commit else CONTROL_ABORT)
        built = build_batch(
            [(now_ms, key, encode_end_marker(coordinator_epoch), [])],
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            attributes=TRANSACTIONAL_BIT | CONTROL_BIT,
        )
        offset_end = self.append_own(built, now_ms)
        assert self._pending is not None
        _, base_offset, bytes_before, _, _ = self._pending.pop()
        self._pending.append((offset_end, base_offset, bytes_before, waiter, token))
        waiter.waiting += 1

    def when_stable(self, offset: int, waiter: Waiter, token: object) -> bool:
        """Makes the waiter wait until all below ``offset`` is stable; False if it is already."""
        if offset <= self.log.offset_synced:
            return False
        if self._pending is None:
            self._pending = deque()
        # It stands behind everything appended so far, so it hides nothing that readers could see.
        self._pending.append((offset, self.log.offset_end, self.bytes_appended, waiter, token))
        waiter.waiting += 1
        return True

    # -- completion ----------------------------------------------------------------------------------------------

    def on_synced(self, offset: int) -> None:
        """All below ``offset`` is stable here; with one replica that is stable everywhere."""
        pending = self._pending
        released: list[Pending] = []
        while pending and pending[0][0] <= offset:
            released.append(pending.popleft())
        self.records_unsynced = 0
        if pending:
            self._raise_high_watermark(pending[0][1], pending[0][2])
        else:
            self._raise_high_watermark(self.log.offset_end, self.bytes_appended)
        # Visible first, confirmed second: whoever was told sees it.
        for _, _, _, waiter, token in released:
            waiter.stored(token)

    def _raise_high_watermark(self, offset: int, bytes_visible: int) -> None:
        if offset <= self.high_watermark:
            return
        self.high_watermark = offset
        gained = bytes_visible - self.bytes_visible
        self.bytes_visible = bytes_visible
        undecided = self.log.undecided_from(offset)
        if undecided is not None or self._stable_told >= 0:
            self._tell_undecided(gained, undecided)
        elif self._watchers:
            self._tell_gained(gained)

    def log_failed(self) -> None:
        """The log went offline: nothing that waits will ever be stable, and readers have to know."""
        self._fail_pending(ErrorCode.KAFKA_STORAGE_ERROR)
        self._tell_changed()

    def lead(self, leader_epoch: int, in_sync_count: int, replica_count: int) -> None:
        """This node leads in ``leader_epoch``."""
        moved = leader_epoch != self.leader_epoch or not self.leads
        self.leads = True
        self.leader_epoch = leader_epoch
        self.in_sync_count = in_sync_count
        self.replica_count = replica_count
        if moved:
            self._tell_changed()

    def resign(self) -> None:
        """Somebody else leads from now on."""
        self.leads = False
        self._fail_pending(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        self._tell_changed()

    def close(self, code: ErrorCode) -> None:
        """The partition left this node for good."""
        self.closed = code
        self._fail_pending(code)
        self._tell_changed()

    def _fail_pending(self, code: ErrorCode) -> None:
        pending, self._pending = self._pending, None
        for _, _, _, waiter, token in pending or ():
            waiter.failed(token, code)

    # -- read ----------------------------------------------------------------------------------------------------

    @property
    def stable_offset(self) -> int:
        """Behind the last record whose transaction is decided, and its end visible. Without transactions: the high
        watermark."""
        undecided = self.log.undecided_from(self.high_watermark)
        return self.high_watermark if undecided is None else min(undecided, self.high_watermark)

    def epoch_end(self, epoch: int) -> tuple[int, int]:
        """The greatest epoch up to ``epoch`` that wrote here, and the offset behind it; (-1, -1) if unknown."""
        if epoch == self.leader_epoch:
            return epoch, self.log.offset_end
        if not 0 <= epoch < self.leader_epoch:
            return -1, -1
        return self.log.epoch_end(min(epoch, self.log.epoch_latest))

    def watch(self, watcher: Watcher) -> None:
        self._watchers[watcher] = None

    def unwatch(self, watcher: Watcher) -> None:
        self._watchers.pop(watcher, None)

    @property
    def watcher_count(self) -> int:
        return len(self._watchers)

    def delete_before(self, offset: int, done: Callable[[int], None]) -> None:
        """Records below ``offset`` (-1: all that are visible) are gone. ``done`` gets the new first offset, once no
        crash can bring them back."""
        refusal = self.refusal()
        if refusal is not None:
            raise Refused(refusal)
        if not self.rules.deletes:
            raise Refused(ErrorCode.POLICY_VIOLATION, "The topic's cleanup.policy does not delete records.")
        if offset == -1:
            offset = self.high_watermark
        if not 0 <= offset <= self.high_watermark:
            raise Refused(ErrorCode.OFFSET_OUT_OF_RANGE)
        self.log.delete_to(max(offset, self.log.offset_start), lambda: done(self.log.offset_start))
        self._tell_gained(0)  # wakes nobody: sessions report the new start with their next answer

    def _tell_gained(self, size_bytes: int) -> None:
        watchers, self._watchers = self._watchers, {}
        for watcher in watchers:
            if watcher.on_data(size_bytes):
                self._watchers[watcher] = None

    def _tell_undecided(self, gained: int, undecided: int | None) -> None:
        """Some transactions are open, or were until now. Readers of what is committed gain nothing by the high
        watermark; they look again when the stable offset moves."""
        stable = self.high_watermark if undecided is None else min(undecided, self.high_watermark)
        moved = stable > self._stable_told
        self._stable_told = stable if undecided is not None else -1
        watchers, self._watchers = self._watchers, {}
        for watcher in watchers:
            if not watcher.waits_for_committed:
                if watcher.on_data(gained):
                    self._watchers[watcher] = None
            elif moved:
                watcher.on_change()
            else:
                self._watchers[watcher] = None

    def _tell_changed(self) -> None:
        watchers, self._watchers = self._watchers, {}
        for watcher in watchers:
            watcher.on_change()


class _Nobody:
    """Holds a place in the order of the log that nobody waits for."""

    __slots__ = ("waiting",)

    def __init__(self) -> None:
        self.waiting = 0

    def stored(self, token: object) -> None:
        return None

    def failed(self, token: object, code: int) -> None:
        return None


NOBODY: Final = _Nobody()


def _check_attributes(batch: Batch, rules: TopicRules, acks: int, in_transaction: bool) -> None:
    attributes = batch[5]
    if attributes & CONTROL_BIT:
        raise Refused(ErrorCode.INVALID_RECORD, "Control batches are written by brokers only.")
    if attributes & HORIZON_BIT:
        raise Refused(ErrorCode.INVALID_RECORD, "Only compaction may mark a batch with a delete horizon.")
    if attributes & TRANSACTIONAL_BIT:
        if not in_transaction:
            raise Refused(ErrorCode.INVALID_TXN_STATE, "No transaction of this producer includes the partition.")
        if batch[8] < 0:
            raise Refused(ErrorCode.INVALID_RECORD, "A transactional batch names its producer.")
        if acks != ACKS_ALL:
            raise Refused(ErrorCode.INVALID_REQUIRED_ACKS, "Transactions are written with acks=all.")
    if attributes & TIMESTAMP_TYPE_BIT and not rules.log_append_time:
        raise Refused(ErrorCode.INVALID_TIMESTAMP, "Only the broker may mark a batch as carrying its append time.")


def _check_timestamps(buffer: bytearray, batch: Batch, rules: TopicRules, now_ms: int) -> None:
    """The exact check, record by record: reached when a limit was passed or an unusual one is set."""
    latest = now_ms + rules.timestamp_after_max_ms
    earliest = now_ms - rules.timestamp_before_max_ms
    records = decode_records(buffer, batch[0], batch[0] + batch[1], LONG_MAX)
    wrong = [
        (index, f"Timestamp {record[1]} is not between {earliest} and {latest}.")
        for index, record in enumerate(records)
        if record[1] != NO_TIMESTAMP and not earliest <= record[1] <= latest
    ]
    if wrong:
        raise InvalidRecord(
            ErrorCode.INVALID_TIMESTAMP, f"The batch holds {len(wrong)} timestamps outside the topic's limits.", wrong
        )
