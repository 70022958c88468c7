"""Keeps the logs of a node within their bounds: old segments go, logs that grew are compacted.

It looks at all logs by turns, a few at a time, so that no number of them holds up the loop; logs that rest are woken a
few at a time, too. One log is compacted at a time, the one with the largest share of new data first. What went wrong
with one log is told once and leaves that log alone until the next start; the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Protocol

from twinlog.base import DiskFull, HostFault
from twinlog.base.logs import Log
from twinlog.host import Host, Timer
from twinlog.storage.compaction import Compaction, Outcome, is_harmless
from twinlog.storage.compaction_plan import Plan, plan_compaction, roll_is_due
from twinlog.storage.log import PartitionLog
from twinlog.storage.metrics import StorageMetrics
from twinlog.storage.retention import first_offset_to_keep
from twinlog.storage.settings import StorageSettings

LOGS_PER_TURN: Final = 100
WOKEN_PER_TURN: Final = 10
TURN_PAUSE_MS: Final = 20
FULL_DISK_PAUSE_MS: Final = 60_000


class Home(Protocol):
    """The data directories, as the keeper sees them."""

    def all_logs(self) -> Iterable[PartitionLog]: ...
    def fail(self, log: PartitionLog, fault: HostFault) -> None:
        """A write failed: the log's directory goes offline."""


class LogKeeper:
    """See above. ``stable_offset`` says up to where a log's records are committed and decided for good."""

    def __init__(self, host: Host, home: Home, settings: StorageSettings, metrics: StorageMetrics, log: Log) -> None:
        self._host = host
        self._home = home
        self._settings = settings
        self._chance = host.chance.fork("compaction")
        self._log = log
        self._turn: Iterator[PartitionLog] = iter(())
        self._timer: Timer | None = None
        self._stopped = False
        self._compaction: Compaction | None = None
        self._compacted: PartitionLog | None = None
        self._next_compaction_ms = 0
        self._best: tuple[Plan, PartitionLog] | None = None
        self._given_up: dict[PartitionLog, None] = {}
        self.metrics = metrics
        self.stable_offset: Callable[[PartitionLog], int] = lambda log: log.offset_synced

    def start(self) -> None:
        self._timer = self._host.tasks.later(self._pause_ms(), self._begin_round)

    def stop(self) -> None:
        """Ends what is under way; nothing is half done on disk by it."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._compaction is not None:
            self._compaction.stop()

    def _pause_ms(self) -> int:
        return min(self._settings.retention_check_interval_ms, self._settings.compaction_check_interval_ms)

    # Looking at the logs.

    def _begin_round(self) -> None:
        self._turn = iter(list(self._home.all_logs()))
        self._best = None
        self._next_turn()

    def _next_turn(self) -> None:
        if self._stopped:
            return
        woken = 0
        for _ in range(LOGS_PER_TURN):
            log = next(self._turn, None)
            if log is None:
                self._end_round()
                return
            if log.offline is not None or log.is_new:
                continue
            if log.is_resting:
                if not self._is_worth_waking(log):
                    continue
                woken += 1
            self._look_at(log)
            if woken >= WOKEN_PER_TURN:
                break
        self._timer = self._host.tasks.later(TURN_PAUSE_MS, self._next_turn)

    def _is_worth_waking(self, log: PartitionLog) -> bool:
        settings = log.settings
        if not log.size_bytes:
            return False
        if settings.compacts:
            return True
        return settings.deletes and (settings.retention_ms >= 0 or 0 <= settings.retention_bytes < log.size_bytes)

    def _look_at(self, log: PartitionLog) -> None:
        now_ms = self._host.clock.now_ms()
        try:
            self.retain(log, now_ms)
            self._weigh(log, now_ms)
        except DiskFull:
            pass  # a roll found no room; the next round tries again
        except HostFault:
            pass  # the log said so itself, and is offline now

    def retain(self, log: PartitionLog, now_ms: int) -> None:
        """Drops what is too old or too much."""
        settings = log.settings
        if not settings.deletes or (settings.retention_ms < 0 and settings.retention_bytes < 0):
            return
        below = min(self.stable_offset(log), log.offset_synced)
        facts = log.segment_facts()
        keep_from = first_offset_to_keep(facts, log.offset_start, below, settings, now_ms)
        if keep_from <= log.offset_start:
            return
        active = facts[-1]
        if keep_from == active.offset_end and active.size_bytes:
            log.roll(now_ms)
        gone = [each for each in facts if log.offset_start < each.offset_end <= keep_from]
        self.metrics.segments_expired += len(gone)
        self.metrics.bytes_expired += sum(each.size_bytes for each in gone)
        log.delete_to(keep_from)

    def _weigh(self, log: PartitionLog, now_ms: int) -> None:
        if not log.settings.compacts or log in self._given_up or log is self._compacted:
            return
        facts = log.segment_facts()
        if facts and roll_is_due(facts[-1], log.settings, now_ms):
            log.roll(now_ms)
        below = min(self.stable_offset(log), log.compactable_to)
        plan = plan_compaction(facts, log.offset_start, log.compacted, below, log.settings, now_ms)
        if plan is not None and (self._best is None or _urgency(plan) > _urgency(self._best[0])):
            self._best = plan, log

    def _end_round(self) -> None:
        pause_ms = self._pause_ms()
        best, self._best = self._best, None
        if best is not None and best[1].offline is not None:
            best = None  # deleted since it was looked at, or its directory failed
        if best is not None and self._compaction is None and self._host.clock.now_ms() >= self._next_compaction_ms:
            self._compact(*best)
        self._timer = self._host.tasks.later(pause_ms, self._begin_round)

    # Compacting.

    def _compact(self, plan: Plan, log: PartitionLog) -> None:
        seed = int.from_bytes(self._chance.bytes(8), "big")
        self._compacted = log
        self._compaction = Compaction(self._host, log, plan, self._settings, seed, self._on_compacted)
        self._compaction.start()

    def _on_compacted(self, outcome: Outcome) -> None:
        log, self._compaction, self._compacted = self._compacted, None, None
        assert log is not None
        metrics = self.metrics
        metrics.compaction_bytes_before += outcome.bytes_before
        metrics.compaction_bytes_after += outcome.bytes_after
        metrics.compaction_records_read += outcome.records_read
        metrics.compaction_records_kept += outcome.records_kept
        fault = outcome.fault
        if fault is None:
            metrics.compactions += 1
        else:
            metrics.compactions_failed += 1
            self._log.warning("a log could not be compacted", log=log.path, fault=str(fault))
            if isinstance(fault, DiskFull):
                self._next_compaction_ms = self._host.clock.now_ms() + FULL_DISK_PAUSE_MS
            elif is_harmless(fault):
                self._given_up[log] = None
                metrics.logs_uncompactable = len(self._given_up)
            else:
                self._home.fail(log, fault)
        if not self._stopped and fault is None:
            # Others may wait; the next one is chosen with fresh facts.
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._host.tasks.later(TURN_PAUSE_MS, self._begin_round)


def _urgency(plan: Plan) -> tuple[bool, float]:
    return plan.is_due, plan.dirty_ratio
