"""Runs the machines of one coordinator topic: load, decide, append, replay, wait, reply."""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from itertools import repeat
from typing import Generic, TypeVar

from twinlog.base import HostFault, Refused
from twinlog.kafka.coordinator.ports import CoordinatorLog, StoredRecord, TimerPort
from twinlog.kafka.coordinator.types import Decision, Machine
from twinlog.wire.kafka.errors import ErrorCode

M = TypeVar("M", bound=Machine)
R = TypeVar("R")

LOAD_BYTES_A_TURN = 4 << 20  # one bounded piece of work between two turns of the loop
BATCH_RECORDS_MAX = 1000
FAILED_RETRY_MS = 1000


class Phase(enum.Enum):
    LOADING = "loading"
    ACTIVE = "active"
    FAILED = "failed"
    RESIGNED = "resigned"


class Shard(Generic[M]):
    """One partition's machine and what waits on it.

    Records of one turn of the loop are appended as one batch: a hundred commits that arrive together cost one write.
    State changes at once, replies wait for durability, and a failure to store makes the whole shard fail, so the
    state that ran ahead of the disk is thrown away and read again.
    """

    def __init__(self, index: int, log: CoordinatorLog, machine: M, timers: TimerPort) -> None:
        self.index = index
        self.log = log
        self.machine = machine
        self.phase = Phase.LOADING
        self._timers = timers
        self._load_offset = log.start_offset()
        self._pending: list[tuple[bytes, bytes | None]] = []
        self._replies: list[Callable[[Exception | None], None]] = []
        self._unanswered: deque[Callable[[Exception | None], None]] = deque()
        self._end_offset = 0
        self._settled_offset = -1  # known to be durable up to here
        self._flush_asked = False
        self._cancel_wake: Callable[[], object] | None = None
        self._wake_ms: int | None = None
        self.failed_at_ms: int | None = None
        self.on_loaded: Callable[[], None] | None = None

    # -- loading -------------------------------------------------------------------------------------------------

    def load_some(self) -> None:
        """Replays one bounded piece of the log; goes on by itself until the end."""
        if self.phase is not Phase.LOADING:
            return
        try:
            records, offset_next = self.log.read(self._load_offset, LOAD_BYTES_A_TURN)
        except (HostFault, Refused) as fault:
            self.fail(fault)
            return
        for record in records:
            self.machine.replay(record)
        if offset_next != self._load_offset:
            self._load_offset = offset_next
            self._timers.soon(self.load_some)
            return
        self._end_offset = offset_next
        self.phase = Phase.ACTIVE
        self.machine.loaded(self._timers.now_ms())
        self._arm()
        if self.on_loaded is not None:
            self.on_loaded()

    # -- requests ------------------------------------------------------------------------------------------------

    def check_active(self) -> None:
        if self.phase is Phase.LOADING:
            raise Refused(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "the coordinator still reads its log: retry")
        if self.phase is Phase.FAILED:
            raise Refused(ErrorCode.COORDINATOR_NOT_AVAILABLE, "the coordinator's log cannot be used just now: retry")
        if self.phase is not Phase.ACTIVE:
            raise Refused(ErrorCode.NOT_COORDINATOR, "this partition's coordinator is not here")

    def write(
        self, decide: Callable[[M, int], Decision[R]], done: Callable[[R | None, Exception | None], None]
    ) -> None:
        """Decides now; calls ``done(reply, None)`` when the records are durable, or ``done(None, fault)``.

        A ``Refused`` raised by ``decide`` goes to ``done`` at once and changes nothing.
        """
        try:
            self.check_active()
            decision = decide(self.machine, self._timers.now_ms())
        except Refused as refusal:
            done(None, refusal)
            return
        self._take(decision)
        if not decision.records and self._is_settled():
            done(decision.reply, None)
            return

        def answer(fault: Exception | None) -> None:
            done(None, fault) if fault is not None else done(decision.reply, None)

        self._replies.append(answer)
        self._ask_flush()

    def _is_settled(self) -> bool:
        """Is all that was ever decided durable? Then whatever it leads to may be told at once."""
        return (
            self.phase is Phase.ACTIVE
            and self._settled_offset == self._end_offset
            and not (self._pending or self._replies or self._unanswered)
        )

    def read(self, look: Callable[[M, int], R], done: Callable[[R | None, Exception | None], None]) -> None:
        """Looks now; answers when everything written before is durable, so that no answer can be taken back."""
        self.write(lambda machine, now_ms: Decision(look(machine, now_ms)), done)

    def _take(self, decision: Decision[R]) -> None:
        if decision.records:
            now_ms = self._timers.now_ms()
            if decision.producer_id >= 0:
                self._append_pending()  # order: what was decided before goes first
                if self.phase is Phase.ACTIVE:
                    self._append_transactional(decision, now_ms)
            else:
                self._pending.extend(decision.records)
            offset, producer_id, epoch = self._end_offset, decision.producer_id, decision.producer_epoch
            said = decision.said if decision.said is not None else repeat(None)
            for (key, value), known in zip(decision.records, said):
                self.machine.replay(StoredRecord(offset, now_ms, key, value, producer_id, epoch, None, known))
        if decision.after is not None:
            decision.after()
        self._arm()

    def _append_transactional(self, decision: Decision[R], now_ms: int) -> None:
        try:
            self._end_offset = self.log.append_transactional(
                decision.records, decision.producer_id, decision.producer_epoch, now_ms
            )
        except (HostFault, Refused) as fault:
            self.fail(fault)

    def _ask_flush(self) -> None:
        if len(self._pending) >= BATCH_RECORDS_MAX:
            self._flush()
        elif not self._flush_asked:
            self._flush_asked = True
            self._timers.soon(self._flush)

    def _append_pending(self) -> None:
        if not self._pending or self.phase is not Phase.ACTIVE:
            return
        records, self._pending = self._pending, []
        try:
            self._end_offset = self.log.append(records, self._timers.now_ms())
        except (HostFault, Refused) as fault:
            self.fail(fault)

    def _flush(self) -> None:
        self._flush_asked = False
        if self.phase is not Phase.ACTIVE:
            return
        self._append_pending()
        if self.phase is not Phase.ACTIVE or not self._replies:
            return
        replies, self._replies = self._replies, []
        self._unanswered.extend(replies)
        count, offset = len(replies), self._end_offset
        self.log.when_durable(offset, lambda fault: self._answer(count, offset, fault))

    def _answer(self, count: int, offset: int, fault: Exception | None) -> None:
        if fault is not None:
            self.fail(fault)
            return
        self._settled_offset = max(self._settled_offset, offset)
        for _ in range(min(count, len(self._unanswered))):
            self._unanswered.popleft()(None)

    # -- markers, timers, the end ----------------------------------------------------------------------------------

    def write_marker(self, append: Callable[[], None], producer_id: int, producer_epoch: int, *, commit: bool) -> None:
        """Lets ``append`` write a transaction's marker behind everything decided so far, and takes it in."""
        self._append_pending()
        append()
        self.replay_marker(producer_id, producer_epoch, commit=commit)

    def replay_marker(self, producer_id: int, producer_epoch: int, *, commit: bool) -> None:
        """A transaction marker landed on this partition: its pending records now count, or never will."""
        if self.phase is Phase.ACTIVE:
            offset = self._end_offset
            self.machine.replay(
                StoredRecord(offset, self._timers.now_ms(), None, None, producer_id, producer_epoch, commit)
            )
            self._arm()

    def _arm(self) -> None:
        wake_ms = self.machine.next_wake_ms()
        if wake_ms == self._wake_ms and self._cancel_wake is not None:
            return
        if self._cancel_wake is not None:
            self._cancel_wake()
            self._cancel_wake = None
        self._wake_ms = wake_ms
        if wake_ms is not None and self.phase is Phase.ACTIVE:
            delay_ms = max(0, wake_ms - self._timers.now_ms())
            self._cancel_wake = self._timers.later(delay_ms, self._wake)

    def rearm(self) -> None:
        """For machines whose soft state (heartbeats, waiting members) changed outside of ``write``."""
        self._arm()

    def _wake(self) -> None:
        self._cancel_wake = None
        self._wake_ms = None
        if self.phase is not Phase.ACTIVE:
            return
        for decision in self.machine.wake(self._timers.now_ms()):
            self._take(decision)
        self._ask_flush()
        self._arm()

    def fail(self, fault: Exception) -> None:
        """The log cannot be written: nothing unanswered is confirmed, and the state is not to be trusted."""
        # A log's own codes mean nothing to a member of a group: this one makes it look for the coordinator again.
        told = f"the coordinator's log cannot be written: {fault}"
        self._end(Phase.FAILED, Refused(ErrorCode.COORDINATOR_NOT_AVAILABLE, told))

    def resign(self) -> None:
        """Leadership went elsewhere, or the node stops."""
        self._end(Phase.RESIGNED, Refused(ErrorCode.NOT_COORDINATOR, "the coordinator moved: find it again"))

    def _end(self, phase: Phase, refusal: Refused) -> None:
        if self.phase in (Phase.FAILED, Phase.RESIGNED):
            return
        self.phase = phase
        if phase is Phase.FAILED:
            self.failed_at_ms = self._timers.now_ms()
        if self._cancel_wake is not None:
            self._cancel_wake()
            self._cancel_wake = None
        waiting = [*self._unanswered, *self._replies]
        self._unanswered.clear()
        self._replies.clear()
        self._pending.clear()
        for answer in waiting:
            answer(refusal)
        self.machine.ended(refusal.code)


class CoordinatorRuntime(Generic[M]):
    """All shards of one coordinator topic that this node leads."""

    def __init__(
        self,
        partition_count: int,
        open_log: Callable[[int], CoordinatorLog],
        make_machine: Callable[[int], M],
        timers: TimerPort,
    ) -> None:
        self.partition_count = partition_count
        self._open_log = open_log
        self._make_machine = make_machine
        self._timers = timers
        self.shards: dict[int, Shard[M]] = {}

    def lead(self, index: int) -> Shard[M]:
        """This node leads the partition now: read its log, then serve."""
        old = self.shards.get(index)
        if old is not None and old.phase in (Phase.LOADING, Phase.ACTIVE):
            return old
        shard = Shard(index, self._open_log(index), self._make_machine(index), self._timers)
        self.shards[index] = shard
        shard.load_some()
        return shard

    def resign(self, index: int) -> None:
        shard = self.shards.pop(index, None)
        if shard is not None:
            shard.resign()

    def resign_all(self) -> None:
        for index in sorted(self.shards):
            self.shards[index].resign()
        self.shards.clear()

    def partition_for(self, key: str) -> int:
        return (java_string_hash(key) & 0x7FFFFFFF) % self.partition_count

    def shard_for(self, key: str) -> Shard[M]:
        """The shard that answers for ``key``; raises ``Refused`` when it is not here."""
        shard = self.shards.get(self.partition_for(key))
        if shard is None or shard.phase is Phase.RESIGNED:
            raise Refused(ErrorCode.NOT_COORDINATOR, "this partition's coordinator is not here")
        if shard.failed_at_ms is not None and self._timers.now_ms() - shard.failed_at_ms >= FAILED_RETRY_MS:
            return self.lead(shard.index)  # a full disk may have room again; a log that is offline fails again
        return shard

    def active_shards(self) -> list[Shard[M]]:
        return [shard for _, shard in sorted(self.shards.items()) if shard.phase is Phase.ACTIVE]

    def is_loading(self) -> bool:
        return any(shard.phase is Phase.LOADING for shard in self.shards.values())


@lru_cache(maxsize=10_000)
def java_string_hash(text: str) -> int:
    """The hash by which Kafka spreads groups and transactional ids over the partitions of their topic."""
    value = 0
    encoded = text.encode("utf-16-be", "surrogatepass")
    for i in range(0, len(encoded), 2):
        value = (value * 31 + (encoded[i] << 8 | encoded[i + 1])) & 0xFFFFFFFF
    return value - (1 << 32) if value & 0x80000000 else value
