"""Group commit: one round at a time, every log that is dirty shares it, and all its waiters are released together.

A log says ``dirty(log, soon)`` after a write. ``soon`` means that somebody waits: a round starts a turn of the loop
later, or a turn after the round that is under way. Otherwise the data is synced within
``flush_interval_ms``. When a round begins, each log hands over its unsynced files and the position they cover;
when it has succeeded, each log hears ``synced(position)`` once, however many requests wait for it. A round of few bytes
goes to a journal instead of to the logs' own files (see ``small_rounds``); those follow within ``flush_interval_ms``.

A sync that failed is never tried again: from then on the flusher is dead, each log hears ``failed``, and so does
the directory, which goes offline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from twinlog.base import HostFault
from twinlog.base.metrics import Histogram
from twinlog.host import Disk, File, Tasks, Timer
from twinlog.storage.settings import StorageSettings
from twinlog.storage.small_rounds import Extent, SmallRounds, round_bytes_max

MANY_FILES = 5  # from here on the host syncs the whole file system, so whatever else is dirty comes for free


class Syncable(Protocol):
    """What the flusher makes durable."""

    joins_small: bool
    """It has a file of its own, which is synced beside the journal when the round's other bytes go there."""

    def sync_files(self, files: list[File], directories: list[str]) -> int:
        """Adds what is unsynced to the lists; returns the position that these syncs will cover."""

    def extent(self) -> Extent | None:
        """What is unsynced, if it is no more than bytes at the end of one file; None asks for a sync of its own."""

    def sync_extent(self) -> int:
        """The extent becomes durable through the journal; returns the position that it covers."""

    def synced(self, position: int) -> None: ...

    def failed(self, fault: HostFault) -> None: ...


class NeverSmall:
    """Takes part in rounds with files of its own only."""

    __slots__ = ()
    joins_small = False

    def extent(self) -> None:
        return None

    def sync_extent(self) -> int:
        raise AssertionError("it has no extent")


class Flusher:
    """The syncs of one data directory."""

    def __init__(
        self, disk: Disk, tasks: Tasks, settings: StorageSettings, small_rounds: SmallRounds | None = None
    ) -> None:
        self._small_rounds = small_rounds
        self._journaled: dict[Syncable, None] = {}  # durable in the journal alone
        self._all_due = False
        self._round_is_small = False
        self._disk = disk
        self._tasks = tasks
        self._settings = settings
        self._soon: dict[Syncable, None] = {}
        self._later: dict[Syncable, None] = {}
        self._round: list[tuple[Syncable, int]] | None = None
        self._scheduled = False
        self._timer: Timer | None = None
        self.fault: HostFault | None = None
        self.on_fault: Callable[[HostFault], None] = lambda fault: None
        self.rounds = 0
        self.files_synced = 0
        self.monotonic_us: Callable[[], int] = lambda: 0  # for figures only
        self.sync_times = Histogram()
        self._sync_began_us = 0

    def dirty(self, log: Syncable, soon: bool) -> None:
        """Remembers that ``log`` has unsynced data. Cheap enough to be called on every append."""
        if soon:
            self._soon[log] = None
            if self._round is None and not self._scheduled:
                self._plan_round()
        elif log not in self._soon:
            self._sync_later((log,))

    def _sync_later(self, logs: Iterable[Syncable]) -> None:
        self._later.update(dict.fromkeys(logs))
        if self._timer is None:
            self._timer = self._tasks.later(self._settings.flush_interval_ms, self._on_timer)

    def flush(self, done: Callable[[HostFault | None], None]) -> None:
        """Syncs everything that is dirty now, then calls ``done``."""
        if self.fault is not None:
            done(self.fault)
            return
        self._promote()
        self.dirty(_Barrier(done), True)

    def forget(self, log: Syncable) -> None:
        """The log is being deleted: it takes no part in further rounds, and a running one does not tell it."""
        self._soon.pop(log, None)
        self._later.pop(log, None)
        self._journaled.pop(log, None)
        if self._round is not None:
            self._round = [(other, position) for other, position in self._round if other is not log]

    def _on_timer(self) -> None:
        self._timer = None
        self._promote()
        if self._soon and self._round is None and not self._scheduled:
            self._start_round()

    def _plan_round(self) -> None:
        """The round begins one turn of the loop later. The answers of the last one leave first, and requests that wait
        in the sockets join: with five in flight that made two rounds out of five (measured: a third less CPU)."""
        self._scheduled = True
        self._tasks.soon(self._gather)

    def _gather(self) -> None:
        self._tasks.soon(self._start_round)

    def _promote(self) -> None:
        """Everything that is dirty takes part in the next round, with its own files."""
        self._all_due = True
        self._soon.update(self._later)
        self._later.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start_round(self) -> None:
        self._scheduled = False
        if self.fault is not None:
            late, self._soon = self._soon, {}
            for log in late:
                log.failed(self.fault)
            return
        if self._round is not None or not self._soon:
            return
        if not self._all_due and self._start_small_round():
            return
        if len(self._soon) >= MANY_FILES or self._all_due:
            self._promote()
        self._all_due = False
        logs, self._soon = self._soon, {}
        files: list[File] = []
        directories: list[str] = []
        self._round = []
        self._round_is_small = False
        for log in logs:
            self._later.pop(log, None)
            try:
                self._round.append((log, log.sync_files(files, directories)))
            except HostFault as fault:
                self._soon = logs | self._soon  # those whose turn had not come are told as well
                self.fail(fault)
                return
        if not files and not directories:
            self._tasks.soon(self._on_done, None)
            return
        self.rounds += 1
        self.files_synced += len(files)
        self._sync_began_us = self.monotonic_us()
        self._disk.start_sync(files, list(dict.fromkeys(directories)), self._on_done)

    def _start_small_round(self) -> bool:
        """Begins a round through the journal, if all that is due fits there, or has one file of its own."""
        journal = self._small_rounds
        if journal is None or not journal.ready():
            return False
        extents: list[Extent] = []
        joining: list[Syncable] = []
        size = 0
        size_max = round_bytes_max(len(self._soon))
        for log in self._soon:
            if log.joins_small:
                joining.append(log)
                continue
            extent = log.extent()
            if extent is None:
                return False
            size += extent.size
            if size > size_max:
                return False
            extents.append(extent)
        if not extents:
            return False
        if not journal.has_room(len(extents), size):
            self._all_due = True  # then a new generation begins
            return False
        logs, self._soon = self._soon, {}
        files: list[File] = []
        directories: list[str] = []
        try:
            for log in joining:
                self._later.pop(log, None)
            joined = [(log, log.sync_files(files, directories)) for log in joining]
            files.append(journal.write(extents))
            journaled = dict.fromkeys(log for log in logs if not log.joins_small) if joining else logs
            self._round = [(log, log.sync_extent()) for log in journaled] + joined
        except HostFault as fault:
            self._soon = logs | self._soon
            self.fail(fault)
            return True
        self._round_is_small = True
        self._journaled.update(journaled)
        self._sync_later(journaled)
        self.rounds += 1
        self.files_synced += len(files)
        self._sync_began_us = self.monotonic_us()
        self._disk.start_sync(files, directories, self._on_done, small=not joining)
        return True

    def _on_done(self, error: Exception | None) -> None:
        if self.fault is not None:
            return
        if error is not None:
            self.fail(error if isinstance(error, HostFault) else HostFault("sync", str(error)))
            return
        if self._sync_began_us:
            self.sync_times.observe(self.monotonic_us() - self._sync_began_us)
            self._sync_began_us = 0
        assert self._round is not None, "a sync ended that no round began"
        finished, self._round = self._round, None
        # Requests answered from here on may write at once; what they make dirty belongs to the next round.
        if self._small_rounds is not None and not self._round_is_small:
            for log, _ in finished:
                self._journaled.pop(log, None)
            if not self._journaled:
                self._small_rounds.restart()
        for log, position in finished:
            log.synced(position)
        if self._soon and self._round is None and not self._scheduled:
            self._plan_round()

    def fail(self, fault: HostFault) -> None:
        """The directory can no longer be trusted with a write. Nothing is synced through here ever again."""
        if self.fault is not None:
            return
        self.fault = fault
        told = dict.fromkeys([*(log for log, _ in self._round or []), *self._soon, *self._later])
        self._round = None
        self._soon.clear()
        self._later.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for log in told:
            log.failed(fault)
        self.on_fault(fault)


class _Barrier(NeverSmall):
    """Somebody who waits for a round without having written anything himself."""

    def __init__(self, done: Callable[[HostFault | None], None]) -> None:
        self._done = done

    def sync_files(self, files: Sequence[File], directories: Sequence[str]) -> int:
        return 0

    def synced(self, position: int) -> None:
        self._done(None)

    def failed(self, fault: HostFault) -> None:
        self._done(fault)
