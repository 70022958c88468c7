"""Empties the oldest file of the journal: what is still wanted moves to segments, then the file goes.

The order makes it safe to be cut off anywhere: segments are synced, then acks and the index that names the segments,
under their own names; only then the journal's file is deleted. Until then a start finds everything in the
journal, and takes from segments only what the index names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from twinlog.amqp.store.queue import QueueLog
from twinlog.amqp.store.records import (
    PLACE_ONE_BYTES,
    Index,
    QueueFact,
    SegmentFact,
    encode_acks,
    encode_index,
    encode_place,
    scan_runs,
    segment_head,
)
from twinlog.amqp.store.segments import Segment
from twinlog.base import DiskFull, HostFault
from twinlog.base.units import MIB
from twinlog.host import File
from twinlog.storage import Damaged

if TYPE_CHECKING:
    from twinlog.amqp.store.store import QueueStore

STEP_BYTES: Final = MIB
AGAIN_MS: Final = 1000


class Mover:
    """At work on at most one file."""

    def __init__(self, store: QueueStore) -> None:
        self._store = store
        self._busy = False
        self._queues: list[QueueLog] = []
        self._touched: dict[Segment, None] = {}
        self._files: list[File] = []
        self._acks_left: list[str] = []

    def wake(self) -> None:
        """Begins if there is a file too many, and it is durable as a whole."""
        journal = self._store.journal
        if self._busy or self._is_over or len(journal.files) <= self._store.settings.journal_files_max:
            return
        if journal.files[0].end > journal.end_synced:
            return
        self._busy = True
        end = journal.files[0].end
        self._queues = [queue for queue in self._store.queues.values() if queue.runs_before(end)]
        self._store.tasks.soon(self._step)

    @property
    def _is_over(self) -> bool:
        """It may stop anywhere: the next start finds what was not finished."""
        return self._store.fault is not None or self._store.is_closed

    def _step(self) -> None:
        if self._is_over:
            return
        try:
            bytes_left = STEP_BYTES
            while self._queues and bytes_left > 0:
                bytes_left -= self._move(self._queues[-1], bytes_left)
        except DiskFull:
            self._give_up()
            return
        except Damaged as fault:
            self._store.on_damage(fault)
            return
        except HostFault as fault:
            self._store.fail(fault)
            return
        if self._queues:
            self._store.tasks.soon(self._step)
        else:
            self._sync_segments()

    def _move(self, queue: QueueLog, bytes_max: int) -> int:
        """Moves some of a queue's runs; returns how many bytes that was. Takes the queue off the list at its end."""
        journal = self._store.journal
        runs = queue.runs_before(journal.files[0].end)
        moved_high = queue.moved_high
        moved = 0
        number = 0
        if self._store.queues.get(queue.id) is not queue:
            runs = 0
        for at in range(runs):
            first, count = queue.numbers[at], queue.counts[at]
            last = first + count - 1
            number = at + 1
            if last <= moved_high or queue.settled.covers(first, last):
                continue
            self._copy(queue, first, last, queue.positions[at], queue.sizes[at], queue.arrived[at])
            moved += queue.sizes[at]
            if moved >= bytes_max:
                break
        queue.drop_runs(number)
        if number == runs:
            self._queues.pop()
        return moved or 1

    def _copy(self, queue: QueueLog, first: int, last: int, position: int, size: int, arrived_ms: int) -> None:
        data = self._store.journal.read(position, size)
        runs, _ = scan_runs(data, 0, len(data))
        if len(runs) != 1:
            raise Damaged(self._store.journal.files[0].path, f"cannot be read at {position}")
        blob = data[runs[0].run_at :]
        place = encode_place(blob, last - first + 1, arrived_ms, 0, [(queue.id, first)])
        segment = self._segment_for(queue, first)
        file = self._store.pool.open(segment)
        segment.touched = segment.unsynced = True
        file.append((place, blob))
        queue.note_gap(segment.last + 1, first - 1)
        segment.last = last
        segment.size_bytes += PLACE_ONE_BYTES + len(blob)
        segment.acks_unsaved = True
        self._touched[segment] = None

    def _segment_for(self, queue: QueueLog, first: int) -> Segment:
        segments = queue.segments
        if segments and segments[-1].size_bytes < self._store.settings.segment_bytes:
            return segments[-1]
        kind = "segment" if queue.durable else "spill"
        path = f"{self._store.directory}/{queue.id:016x}-{first:020d}.{kind}"
        segment = Segment(path, first, first - 1, 0)
        file = self._store.pool.open(segment, create=True)
        head = segment_head(queue.id, first)
        file.truncate(0)
        file.append((head,))
        segment.size_bytes = len(head)
        if segments:
            queue.note_gap(segments[-1].last + 1, first - 1)
        segments.append(segment)
        return segment

    def _give_up(self) -> None:
        """The disk is full. What was moved stays moved; the rest is tried again."""
        self._store.tasks.later(AGAIN_MS, self._step)

    # ---- making it count --------------------------------------------------------------------------------------

    def _sync_segments(self) -> None:
        files = [segment.file for segment in self._touched if segment.file is not None]
        self._store.disk.start_sync(files, [self._store.directory], self._on_segments_synced)

    def _on_segments_synced(self, error: Exception | None) -> None:
        if self._failed(error):
            return
        for segment in self._touched:
            segment.unsynced = False
        self._touched.clear()
        self._write_index()

    def _write_index(self) -> None:
        if self._is_over:
            return
        try:
            self._acks_left = self._store.acks_left
            self._files = self._store.write_index(self._store.journal.files[0].end)
        except DiskFull:
            self._store.tasks.later(AGAIN_MS, self._write_index)
            return
        except HostFault as fault:
            self._store.fail(fault)
            return
        files = [*self._files, *self._store.journal.unsynced_files]
        self._store.disk.start_sync(files, [self._store.directory], self._on_index_synced)

    def _on_index_synced(self, error: Exception | None) -> None:
        for file in self._files:
            file.close()
        if self._failed(error):
            return
        # Acks first, and durably: an index that counts without them would lose what only they tell.
        *acks, _ = self._files
        if self._rename(acks):
            self._store.disk.start_sync([], [self._store.directory], self._on_acks_named)

    def _rename(self, files: list[File]) -> bool:
        try:
            for file in files:
                self._store.disk.rename(file.path, file.path.removesuffix(".new"))
        except HostFault as fault:
            self._store.fail(fault)
            return False
        return True

    def _on_acks_named(self, error: Exception | None) -> None:
        if not self._failed(error) and self._rename(self._files[-1:]):
            self._store.disk.start_sync([], [self._store.directory], self._on_named)

    def _on_named(self, error: Exception | None) -> None:
        if self._failed(error):
            return
        try:
            self._store.journal.delete_first()
            self._store.delete_acks(self._acks_left)
        except HostFault as fault:
            self._store.fail(fault)
            return
        self._busy = False
        self.wake()

    def _failed(self, error: Exception | None) -> bool:
        if error is not None:
            self._store.fail(error if isinstance(error, HostFault) else HostFault("sync", str(error)))
        return self._is_over


def index_of(queues: list[QueueLog], journal_from: int) -> Index:
    facts = [
        QueueFact(
            queue.id,
            queue.stored_high + 1,
            [SegmentFact(segment.first, segment.last, segment.size_bytes) for segment in queue.segments],
        )
        for queue in queues
        if queue.durable and queue.segments
    ]
    return Index(journal_from, facts)


def index_files(queues: list[QueueLog], journal_from: int) -> list[tuple[str, bytes, Segment | None]]:
    """(path, bytes, whose acks): the index and the acks that are newer than their files."""
    found: list[tuple[str, bytes, Segment | None]] = []
    for queue in queues:
        if not queue.durable:
            continue
        for segment in queue.segments:
            if segment.acks_unsaved:
                settled = queue.settled.within(segment.first, segment.last)
                if len(queue.spilled):
                    for low, high in queue.spilled.within(segment.first, segment.last):
                        settled.append((low, high))
                found.append((segment.acks_path, encode_acks(queue.id, segment.first, settled), segment))
    found.append(("index", encode_index(index_of(queues, journal_from)), None))
    return found
