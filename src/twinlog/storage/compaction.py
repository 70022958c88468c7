"""One pass of compaction over one log: reads, maps and rewrites in a worker, step by step, and swaps on the loop.

The order on disk, for each new segment (docs/formats/compaction.md):

1. its batches are written to a file whose name ends in ``.new``, which a start deletes; then the file is synced;
2. it gets its name, which says which offsets it covers, and takes the place of the old segments in memory;
3. the directory is synced with the next round of the group commit: from here on a start takes the new segment;
4. only then the old files go.

A step works on a few MiB without the interpreter's lock and then waits for its turn, and for its share of
the disk. What is planned is void as soon as the log lost segments in another way: then the pass ends without harm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from twinlog._kernel import Compactor, Malformed
from twinlog.base import DiskFull, HostFault
from twinlog.base.units import MIB
from twinlog.host import Disk, File, Host
from twinlog.storage.compacted import Compacted, write_compacted
from twinlog.storage.compaction_plan import Plan
from twinlog.storage.log import PartitionLog
from twinlog.storage.scanning import declared_size
from twinlog.storage.segment import OFFSET_SPAN_MAX, Segment, column
from twinlog.storage.settings import StorageSettings

STEP_BYTES: Final = 2 * MIB
SYNC_EVERY_BYTES: Final = 8 * MIB  # so that nobody's small sync has to wait for much of ours

Work: TypeAlias = Callable[[], int]


class CannotCompact(HostFault):
    """What is stored cannot be read as it should be. Nothing was changed."""


class Outcome:
    """What a pass has done so far; ``fault`` says why it ended early."""

    __slots__ = ("bytes_after", "bytes_before", "fault", "key_count", "map_was_full", "records_kept", "records_read")

    def __init__(self) -> None:
        self.bytes_before = self.bytes_after = 0
        self.records_read = self.records_kept = 0
        self.key_count = 0
        self.map_was_full = False
        self.fault: HostFault | None = None


class Compaction:
    """``start`` once; ``done`` is called once, on the loop. ``stop`` ends it with the step under way."""

    def __init__(
        self,
        host: Host,
        log: PartitionLog,
        plan: Plan,
        settings: StorageSettings,
        seed: int,
        done: Callable[[Outcome], None],
    ) -> None:
        self.outcome = Outcome()
        self._host = host
        self._disk: Disk = host.disk
        self._log = log
        self._plan = plan
        self._settings = settings
        self._log_settings = log.settings
        self._done = done
        self._stopped = False
        self._changes = log.changes
        self._now_ms = host.clock.now_ms()
        self._seed = seed
        self._segments = log.segments_below(plan.offset_end)
        dirty = [number for number, each in enumerate(self._segments) if each.offset_end > plan.offset_dirty]
        self._dirty_number = dirty[0] if dirty else len(self._segments)
        self._producers = log.producers.last_batches()
        # A transaction may have been aborted behind what is compacted.
        self._aborted = log.aborted_between(log.offset_start, log.offset_end)
        self._reading: File | None = None
        self._writing: File | None = None
        self._unsynced_bytes = 0
        self._number = 0  # of the segment that is read
        self._position = 0
        self._group_base = 0
        self._group: list[Segment] = []  # what goes into the segment that is written
        self._map_full = False

    def start(self) -> None:
        self._go_on(self._prepare)

    def stop(self) -> None:
        self._stopped = True

    # The loop's side.

    def _go_on(self, work: Work) -> None:
        if self._stopped or self._log.offline is not None or self._log.changes != self._changes:
            self._host.tasks.blocking(self._clean_up, lambda result, error: self._end())
            return
        self._host.tasks.blocking(work, self._after_step)

    def _after_step(self, result: int, error: Exception | None) -> None:
        if error is not None:
            self._failed(error)
            return
        if self._stopped or self._log.offline is not None or self._log.changes != self._changes:
            self._go_on(self._next)  # which ends it
            return
        rate = self._settings.compaction_bytes_per_second_max
        if self._next == self._swap:
            try:
                self._swap()
            except HostFault as fault:
                self._failed(fault)
                return
        if self._next == self._finish:
            self._finish()
            return
        self._host.tasks.later(result * 1000 / rate if rate else 0, self._go_on, self._next)

    def _failed(self, error: Exception) -> None:
        if not isinstance(error, HostFault):
            raise error
        if self._log.offline is None and not self._stopped and self._log.changes == self._changes:
            self.outcome.fault = error  # else the files went away under us, and nobody minds
        self._host.tasks.blocking(self._clean_up, lambda result, error: self._end())

    def _end(self) -> None:
        done, self._done = self._done, lambda outcome: None
        done(self.outcome)

    def _swap(self) -> int:
        """A whole segment is written and synced: it takes its place."""
        old, new = self._group, self._new
        self._group = []
        self._log.replace_segments(old, new, self._temporary_path)
        self.outcome.bytes_before += sum(segment.size for segment in old)
        self.outcome.bytes_after += new.size
        self._next = self._rewrite_step if self._number < len(self._segments) else self._write_state
        return 0

    def _finish(self) -> int:
        read, kept, _ = self._compactor.facts()
        self._log.compacted = self._state
        self.outcome.records_read, self.outcome.records_kept = read, kept
        self.outcome.key_count = self._compactor.key_count
        self.outcome.map_was_full = self._map_full
        self._end()
        return 0

    # The worker's side: each step returns how many bytes it moved and sets what comes next.

    _next: Work
    _new: Segment
    _state: Compacted
    _compactor: Compactor

    def _prepare(self) -> int:
        dirty = self._segments[self._dirty_number :]
        self._compactor = Compactor(
            self._settings.compaction_map_bytes,
            sum(segment.offset_end - segment.offset_base for segment in dirty),
            self._seed,
            [(each.producer_id, each.offset_first, each.offset_last) for each in self._aborted],
            self._producers,
            self._log_settings.inflated_bytes_max,
        )
        self._compactor.begin(self._now_ms, self._log_settings.delete_retention_ms)
        self._number = self._dirty_number
        self._next = self._map_step if dirty else self._rewrite_from_start
        return 0

    def _read(self, segment: Segment) -> bytes:
        """The next whole batches of a segment; empty at its end."""
        if self._reading is None:
            self._reading = self._disk.open(segment.path)
            # Only what was compacted before may lack offsets.
            self._compactor.begin_reading(segment.offset_base, segment.offset_end, segment.generation > 0)
        wanted = min(STEP_BYTES, segment.size - self._position)
        data = self._reading.read_at(self._position, wanted)
        needed = declared_size(data)
        if needed > len(data):
            data = self._reading.read_at(self._position, min(needed, segment.size - self._position))
        return data

    def _close_reading(self) -> None:
        self._position = 0
        self._number += 1
        if self._reading is not None:
            self._reading.close()
            self._reading = None

    def _map_step(self) -> int:
        segment = self._segments[self._number]
        data = self._read(segment)
        try:
            rest, fits = self._compactor.map(data)
        except Malformed as broken:
            raise CannotCompact(segment.path, f"behind position {self._position}: {broken}") from broken
        self._position += rest
        self._next = self._map_step
        if not fits:
            self._map_full = True
            del self._segments[self._number + 1 :]  # what lies behind is for the next pass
        elif self._position < segment.size:
            if not rest:
                raise CannotCompact(segment.path, f"no whole batch at position {self._position}")
            return len(data)
        self._close_reading()
        if not fits or self._number == len(self._segments):
            self._next = self._rewrite_from_start
        return len(data)

    def _rewrite_from_start(self) -> int:
        self._number = 0
        self._next = self._rewrite_step if self._segments else self._write_state
        return 0

    @property
    def _temporary_path(self) -> str:
        return f"{self._log.path}/{self._group_base:020d}.compacted.new"

    def _rewrite_step(self) -> int:
        segment = self._segments[self._number]
        if self._writing is None:
            self._begin_output(segment)
        data = self._read(segment)
        try:
            rest, out = self._compactor.rewrite(data)
        except Malformed as broken:
            raise CannotCompact(segment.path, f"behind position {self._position}: {broken}") from broken
        self._write(out)
        self._position += rest
        self._next = self._rewrite_step
        if self._position < segment.size:
            if not rest:
                raise CannotCompact(segment.path, f"no whole batch at position {self._position}")
            return len(data) + len(out)
        self._group.append(segment)
        self._close_reading()
        if not self._takes_more():
            self._end_output()
        return len(data) + len(out)

    def _takes_more(self) -> bool:
        """Whether the next segment goes into the same file, which it does when it fits even if all of it stays."""
        if self._number == len(self._segments):
            return False
        assert self._writing is not None
        following = self._segments[self._number]
        return (
            self._writing.size + following.size <= self._log_settings.segment_bytes
            and following.offset_end - self._group_base <= OFFSET_SPAN_MAX
        )

    def _begin_output(self, segment: Segment) -> None:
        self._group_base = segment.offset_base
        self._writing = self._disk.open(self._temporary_path, create=True)
        self._writing.truncate(0)
        self._unsynced_bytes = 0
        self._compactor.begin_segment(segment.offset_base, self._log_settings.index_interval_bytes)

    def _write(self, data: bytes) -> None:
        assert self._writing is not None
        if data:
            self._writing.append((data,))
            self._unsynced_bytes += len(data)
            if self._unsynced_bytes >= SYNC_EVERY_BYTES:
                self._disk.sync_now(self._writing)
                self._unsynced_bytes = 0

    def _end_output(self) -> None:
        data, size, offset_end, max_timestamp, max_position, offsets, positions, times, epochs, markers, changed = (
            self._compactor.end_segment()
        )
        group, writing = self._group, self._writing
        assert writing is not None
        if not changed and len(group) == 1:
            self._drop_output()
            self._group = []
            self._next = self._rewrite_step if self._number < len(self._segments) else self._write_state
            return
        self._write(data)
        if (writing.size, offset_end) != (size, group[-1].offset_end):
            raise CannotCompact(self._temporary_path, f"has {writing.size} bytes up to offset {offset_end}")
        self._disk.sync_now(writing)
        writing.close()
        self._writing = None
        generation = 1 + max(segment.generation for segment in group)
        new = Segment(self._log.path, self._group_base, offset_end, generation)
        new.size, new.offset_end, new.sealed = size, offset_end, True
        new.max_timestamp, new.max_timestamp_position = max_timestamp, max_position
        new.first_ms = min(segment.first_ms for segment in group)
        new.offsets, new.positions, new.times = column("I", offsets), column("I", positions), column("q", times)
        new.epochs = epochs
        stayed = set(markers)
        new.aborted = [aborted for aborted in self._aborted if aborted.offset_last in stayed]
        new.save_index(self._disk)
        new.let_go()
        self._new = new
        self._next = self._swap

    def _write_state(self) -> int:
        _, _, horizon_ms = self._compactor.facts()
        reached = self._segments[-1].offset_end if self._segments else self._plan.offset_end
        if self._map_full:
            reached = self._compactor.map_end
        self._state = Compacted(reached, horizon_ms)
        write_compacted(self._disk, self._log.path, self._state)
        self._next = self._finish
        return 0

    def _drop_output(self) -> None:
        if self._writing is not None:
            self._writing.close()
            self._writing = None
        if self._disk.exists(self._temporary_path):
            self._disk.delete(self._temporary_path)

    def _clean_up(self) -> None:
        if self._reading is not None:
            self._reading.close()
            self._reading = None
        try:
            self._drop_output()
        except HostFault:
            pass  # a start deletes it


def is_harmless(fault: HostFault) -> bool:
    """Nothing durable is in doubt: a full disk, or bytes that were wrong before."""
    return isinstance(fault, DiskFull | CannotCompact)
