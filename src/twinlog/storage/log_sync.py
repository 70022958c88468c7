"""How what a log wrote becomes durable: its side for the flusher and for the marks file.

Knows what was written since the last round, what the round under way covers and how far the log is durable, and lets
go of what then is not needed: segments that were replaced, once the names of the new ones are durable; segments below
the log's start, once that is marked; snapshots that no recovery will read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from twinlog.base import HostFault
from twinlog.host import File
from twinlog.storage.files import write_again
from twinlog.storage.marks import CLEAN, UNDECIDED, LogKey, Mark
from twinlog.storage.ports import LogHome
from twinlog.storage.segment import Segment
from twinlog.storage.small_rounds import Extent

if TYPE_CHECKING:
    from twinlog.storage.log import PartitionLog


class LogSync:
    """``Syncable`` and ``Marked`` of one log."""

    joins_small = False

    __slots__ = (
        "_deletes",
        "_directories",
        "_files",
        "_home",
        "_log",
        "_pending",
        "_replaced",
        "_replaced_unsynced",
        "_synced_at",
        "_unsynced",
        "closed_clean",
        "key",
        "mark_base",
        "mark_kept",
        "start_marked",
    )

    def __init__(self, log: PartitionLog, home: LogHome) -> None:
        self._log = log
        self._home = home
        self.key: LogKey = log.key
        self._unsynced: list[Segment] = []
        self._files: list[File] = []  # others to be synced, and closed then
        self._directories: list[str] = []
        self._deletes: list[tuple[int, Callable[[], None]]] = []  # who waits for a log start to be durable
        self._pending: tuple[int, int] | None = None  # segment and size that the round under way covers
        self._synced_at: tuple[int, int] | None = None  # segment and size at the log's offset_synced
        self._replaced_unsynced: list[Segment] = []  # by compacted ones whose names are not durable yet
        self._replaced: list[Segment] = []  # the same, and a round is under way that makes those names durable
        self.start_marked = 0  # the log start that is durable
        self.mark_base = 0  # the segment that the durable mark lies in: all before it is durable
        self.mark_kept: Mark | None = None  # of a log that rests or is damaged: it stays as it was found
        self.closed_clean = False

    # What was written.

    def wrote(self, segment: Segment, soon: bool) -> None:
        """``soon``: somebody waits for the sync."""
        if not segment.unsynced:
            segment.unsynced = True
            self._unsynced.append(segment)
        self._home.flusher.dirty(self, soon)

    def wrote_file(self, file: File) -> None:
        """Synced together with what is written next, and closed then."""
        self._files.append(file)

    def named(self, *directories: str) -> None:
        """Names in these directories changed."""
        self._directories += directories

    def ask(self, *, soon: bool) -> None:
        self._home.flusher.dirty(self, soon)

    def replaced(self, segments: Sequence[Segment]) -> None:
        """By a compacted one, which has its name. Their files go once that is durable."""
        self._replaced_unsynced += segments
        self.named(self._log.path)
        self.ask(soon=False)

    def dropped(self, segment: Segment) -> None:
        """It is of no interest any more."""
        if segment in self._unsynced:
            self._unsynced.remove(segment)

    def found_after_crash(self, segments: Sequence[Segment], paths: Sequence[str], mark: Mark | None) -> None:
        """Names, bytes and cuts of the last life may still be only in memory: they count once written and synced
        again."""
        log = self._log
        for segment in segments:
            known = mark is not None and segment.offset_base == mark.segment_base
            write_again(self._home.pool.open(segment), mark.segment_size if mark is not None and known else 0)
            segment.unsynced = True
            self._unsynced.append(segment)
        for path in paths:
            if self._home.disk.exists(path):
                file = self._home.disk.open(path)
                write_again(file)
                self._files.append(file)
        self.named(log.path, self._home.logs_path)
        self.ask(soon=log.offset_synced < log.offset_end)

    # Where it stands.

    def begin_at(self, mark: Mark | None) -> None:
        """The log was read anew, and is durable as far as the mark says."""
        self._synced_at = (mark.segment_base, mark.segment_size) if mark is not None else None
        self.start_marked = mark.offset_start if mark is not None else 0
        self.mark_base = mark.segment_base if mark is not None else 0
        self.mark_kept = None

    def cut(self, synced_at: tuple[int, int] | None) -> None:
        """The log is about to be shortened, to segment and size if that was durable; then it is read anew."""
        self._pending = None
        if synced_at is not None:
            self._synced_at = synced_at

    def forget(self) -> None:
        """All that was written and not synced: recovery sees to it."""
        self._unsynced.clear()
        self._replaced, self._replaced_unsynced = [], []

    def when_started(self, offset: int, done: Callable[[], None]) -> None:
        """``done`` is called once no crash can bring back what lies below ``offset``."""
        self._deletes.append((offset, done))

    def close_files(self) -> None:
        for file in self._files:
            file.close()
        self._files = []

    # Syncable.

    def sync_files(self, files: list[File], directories: list[str]) -> int:
        for segment in self._unsynced:
            assert segment.file is not None, "the pool keeps unsynced files open"
            files.append(segment.file)
            segment.unsynced = False
        self._unsynced.clear()
        for file in self._files:
            files.append(file)
            self._home.soon(file.close)
        self._files = []
        if self._directories:
            directories += self._directories
            self._directories = []
            self._replaced += self._replaced_unsynced
            self._replaced_unsynced = []
        return self.sync_extent()

    def extent(self) -> Extent | None:
        segment, synced_at = self._log.active, self._synced_at
        if self._files or self._directories or self._unsynced != [segment] or synced_at is None:
            return None
        assert segment is not None and segment.file is not None, "the pool keeps unsynced files open"
        base, size = synced_at
        if base != segment.offset_base or size > segment.size:
            return None
        return Extent(*self.key, base, size, segment.size - size, segment.file)

    def sync_extent(self) -> int:
        log = self._log
        active = log.active
        if active is not None:
            self._pending = (active.offset_base, active.size)
            log.segments.know(log.offset_end, active, active.size)
        return log.offset_end

    def synced(self, position: int) -> None:
        if self._replaced:
            self._discard_replaced()
        if self._pending is None:
            return  # cut meanwhile; a later round covers what is left
        self._synced_at, self._pending = self._pending, None
        self._home.marks.changed(self, soon=bool(self._deletes))
        log = self._log
        if position > log.offset_synced:
            log.offset_synced = position
            log.on_synced(position)

    def failed(self, fault: HostFault) -> None:
        self._log.failed(fault)

    def _discard_replaced(self) -> None:
        replaced, self._replaced = self._replaced, []
        paths = [path for segment in replaced for path in (segment.path, segment.index_path)]
        self._home.discard(paths, self._log.settings.file_delete_delay_ms)

    # Marked.

    def mark(self) -> Mark | None:
        """What the marks file is to say of the log."""
        if self.mark_kept is not None:
            return self.mark_kept
        if self._synced_at is None:
            return None
        log = self._log
        flags = CLEAN if self.closed_clean else 0
        if log.has_open_transactions:
            flags |= UNDECIDED
        start = min(log.offset_start, log.offset_synced)
        return Mark(*self.key, flags, start, log.offset_synced, *self._synced_at, log.size_bytes, log.epochs.latest)

    def marked(self, mark: Mark) -> None:
        """The mark is durable."""
        if self.mark_kept is not None or self.closed_clean:
            return
        self.start_marked = mark.offset_start
        self.mark_base = mark.segment_base
        # The segment that the mark names stays until another mark names one behind it: until then the name of that
        # one may be lost in a crash, and nothing would be left that ends where the log was durable.
        self._log.drop_segments(min(mark.offset_start, mark.segment_base))
        waiting, self._deletes = self._deletes, []
        for offset, done in waiting:
            if offset <= mark.offset_start:
                done()
            else:
                self._deletes.append((offset, done))
        self._log.snapshots.needed_from(mark.segment_base)
