"""The store of all queues of a node: ``amqp.ports.Queues``."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from twinlog._kernel import frame_build
from twinlog.amqp.ports import RecoveredQueue, StoredRun
from twinlog.amqp.store.journal import Journal
from twinlog.amqp.store.mover import Mover, index_files
from twinlog.amqp.store.queue import QueueLog
from twinlog.amqp.store.records import (
    PLACE_ONE,
    PLACE_TAG,
    TRANSIENT,
    encode_gone,
    encode_place,
    encode_settled,
    encode_stop,
    scan_runs,
)
from twinlog.amqp.store.recovery import STOP_NAME, Recovery
from twinlog.amqp.store.segments import Segment, stored_run
from twinlog.amqp.store.settings import QueueStoreSettings
from twinlog.base import DiskFull, HostFault
from twinlog.base.logs import Log, Silence
from twinlog.host import Disk, File, Tasks, Timer
from twinlog.storage import Damaged, Flusher
from twinlog.storage.files import FilePool, write_whole

FILES_OPEN_MAX: Final = 256
RANGES_PER_RECORD: Final = 1000
FULL_AGAIN_MS: Final = 250


class QueueStore:
    """Keeps the promises of ``ports.Queues``; ``open`` it first, ``close`` it for a clean stop."""

    def __init__(
        self,
        disk: Disk,
        tasks: Tasks,
        flusher: Flusher,
        directory: str,
        settings: QueueStoreSettings | None = None,
        log: Log | None = None,
    ) -> None:
        self.disk = disk
        self.tasks = tasks
        self.directory = directory
        self.settings = settings or QueueStoreSettings()
        self.log: Log = log or Silence()
        self.pool = FilePool(disk, tasks, FILES_OPEN_MAX)
        self.queues: dict[int, QueueLog] = {}
        self.fault: HostFault | None = None
        self.held_bytes = 0
        self.is_closed = False
        self.on_offline: Callable[[HostFault], None] = lambda fault: None
        self._flusher = flusher
        self.journal = Journal(disk, flusher, directory, self.settings)
        self.journal.before_write = self._write_settled
        self.journal.on_synced = self._synced
        self.journal.on_failed = self.fail
        self.mover = Mover(self)
        self._unsaved: dict[QueueLog, None] = {}
        self._gone: list[int] = []
        self._dying: list[Segment] = []  # the reason is not in the journal yet
        self._doomed: deque[tuple[int, Segment]] = deque()  # with the place that must be durable before they go
        self._waiting: deque[tuple[int, Callable[[HostFault | None], None]]] = deque()
        self._acks_left: list[str] = []
        self._full_timer: Timer | None = None
        self._recovered: dict[int, RecoveredQueue] = {}

    # ---- life -------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Reads what there is. ``Damaged``: nothing was changed. Blocks."""
        self._recovered = Recovery(self).run()
        self.mover.wake()

    def close(self) -> None:
        """Syncs everything, and notes what is needed to go on as if nothing had happened. Blocks."""
        self.is_closed = True
        if self.fault is None:
            delivered = [(queue.id, queue.delivered_below) for queue in self.queues.values() if queue.durable]
            try:
                self._write_settled()
                self.journal.close()
                write_whole(self.disk, f"{self.directory}/{STOP_NAME}", encode_stop(self.journal.end_synced, delivered))
            except HostFault as fault:
                self.log.error("queues could not be closed cleanly", fault=str(fault))
        else:
            self.journal.close()
        if self._full_timer is not None:
            self._full_timer.cancel()
        for queue in self.queues.values():
            for segment in queue.segments:
                self.pool.close(segment)

    def fail(self, fault: HostFault) -> None:
        """Nothing is promised any more, until a restart."""
        if self.fault is not None:
            return
        self.fault = fault
        self._flusher.fail(fault)
        self.journal.failed(fault)
        waiting, self._waiting = self._waiting, deque()
        for _, done in waiting:
            done(fault)
        self.on_offline(fault)

    def on_damage(self, fault: Damaged) -> None:
        """Found while moving: the file stays as it is, and what is new goes on in others."""
        self.log.error("queue files are damaged", fault=str(fault))

    def recovered(self) -> Mapping[int, RecoveredQueue]:
        return self._recovered

    # ---- queues -----------------------------------------------------------------------------------------------

    def create(self, queue_id: int, *, durable: bool) -> None:
        if queue_id not in self.queues:
            self.queues[queue_id] = QueueLog(queue_id, durable, self.pool)

    def delete(self, queue_id: int) -> None:
        queue = self.queues.pop(queue_id, None)
        if queue is None:
            return
        self._unsaved.pop(queue, None)
        self._recovered.pop(queue_id, None)
        if queue.durable and queue.stored_high >= 0:
            self._gone.append(queue_id)
            self.journal.announce()
        for segment in queue.segments:
            self._doom(segment)

    def delivered_below(self, queue_id: int, number: int) -> None:
        queue = self.queues.get(queue_id)
        if queue is not None:
            queue.delivered_below = number

    # ---- messages ---------------------------------------------------------------------------------------------

    def append(self, blob: bytes, count: int, targets: Sequence[tuple[int, int]], *, durable: bool, now_ms: int) -> int:
        if self._flusher.fault is not None:
            self.fail(self._flusher.fault)
        if self.fault is not None:
            raise self.fault
        journal, queues = self.journal, self.queues
        if journal.is_full:
            journal.write()
        if len(targets) == 1:
            queue_id, number = targets[0]
            target = queue_id if durable and queues[queue_id].durable else queue_id | TRANSIENT
            place = frame_build(
                (PLACE_ONE.pack(PLACE_TAG, 1, 0, count, blob[4:8], now_ms, journal.end_synced, target, number),)
            )
        else:
            marked = [
                (queue_id if durable and queues[queue_id].durable else queue_id | TRANSIENT, number)
                for queue_id, number in targets
            ]
            place = encode_place(blob, count, now_ms, journal.end_synced, marked)
        position = journal.append(place, blob)
        size = len(place) + len(blob)
        for queue_id, number in targets:
            queue = queues[queue_id]
            assert number > queue.stored_high, (queue_id, number, queue.stored_high)
            queue.add_run(number, position, size, count, now_ms)
            if not durable and queue.durable:
                queue.spilled.add(number, number + count - 1)
        return journal.end

    def settle(self, queue_id: int, low: int, high: int) -> None:
        queue = self.queues.get(queue_id)
        if queue is None:
            return
        queue.settled.add(low, high)
        if low > queue.stored_high:
            return
        if queue.durable:
            unsaved = queue.unsaved
            if unsaved and unsaved[-1] == low - 1:
                unsaved[-1] = high
            else:
                if not unsaved:
                    self._unsaved[queue] = None
                    self.journal.announce()
                unsaved.append(low)
                unsaved.append(high)
        if queue.segments and low <= queue.segments[-1].last:
            self._settled_in_segments(queue, low, high)

    def _settled_in_segments(self, queue: QueueLog, low: int, high: int) -> None:
        for segment in queue.segments_with(low, high):
            segment.acks_unsaved = True
            if not segment.unsynced and queue.settled.covers(segment.first, segment.last):
                queue.segments.remove(segment)
                self._doom(segment)

    def _doom(self, segment: Segment) -> None:
        """It goes when the record of why is durable: else a crash would leave an index that names what is missing."""
        self._dying.append(segment)
        self.journal.announce()

    def when_durable(self, mark: int, done: Callable[[HostFault | None], None]) -> None:
        if self.fault is not None:
            done(self.fault)
        elif mark <= self.journal.end_synced:
            done(None)
        else:
            self._waiting.append((mark, done))
            self.journal.hurry()

    def read(self, queue_id: int, number: int, bytes_max: int) -> list[StoredRun]:
        queue = self.queues[queue_id]
        if queue.segments and number <= queue.segments[-1].last:
            found, number = queue.reader.read(queue.segments, queue.settled, number, bytes_max)
            if found:
                return found
        return self._read_journal(queue, number, bytes_max)

    def _read_journal(self, queue: QueueLog, number: int, bytes_max: int) -> list[StoredRun]:
        numbers, counts, positions, sizes = queue.numbers, queue.counts, queue.positions, queue.sizes
        at = max(bisect_right(numbers, number) - 1, 0)
        found: list[StoredRun] = []
        while at < len(numbers) and bytes_max > 0:
            first, last = numbers[at], numbers[at] + counts[at] - 1
            if last < number or not (pieces := queue.settled.gaps(max(number, first), last)):
                at += 1
                continue
            # One read for those that lie side by side.
            behind = at + 1
            start, end = positions[at], positions[at] + sizes[at]
            while behind < len(numbers) and positions[behind] == end and end - start + sizes[behind] <= bytes_max:
                end += sizes[behind]
                behind += 1
            data = self.journal.read(start, end - start)
            runs, valid_end = scan_runs(data, 0, len(data))
            if len(runs) != behind - at or valid_end != end - start:
                raise Damaged(self.directory, f"the journal cannot be read at {start + valid_end}")
            for run in runs:
                first, last = numbers[at], numbers[at] + counts[at] - 1
                pieces = queue.settled.gaps(max(number, first), last)
                if pieces:
                    blob = data[run.run_at : run.run_at + run.run_bytes]
                    for low, high in pieces:
                        found.append(stored_run(blob, first, low, high, queue.arrived[at]))
                at += 1
            bytes_max -= end - start
        return found

    # ---- memory -----------------------------------------------------------------------------------------------

    def has_room(self, size: int) -> bool:
        return self.held_bytes + size <= self.settings.memory_bytes

    def hold(self, size: int) -> None:
        self.held_bytes += size

    def drop(self, size: int) -> None:
        self.held_bytes -= size

    # ---- rounds -----------------------------------------------------------------------------------------------

    def _write_settled(self) -> None:
        """What was settled since the last round, and which queues went."""
        if self._gone:
            gone = encode_gone(self._gone, self.journal.end_synced)
            try:
                self.journal.append(gone)
            except DiskFull:
                return
            self._gone.clear()
        if self._unsaved:
            self._append_settled()
        if self._dying and not self._unsaved:
            self._doomed += [(self.journal.end, segment) for segment in self._dying]
            self._dying.clear()

    def _append_settled(self) -> None:
        ranges: list[tuple[int, int, int]] = []
        for queue in self._unsaved:
            unsaved = queue.unsaved
            ranges += [(queue.id, unsaved[at], unsaved[at + 1]) for at in range(0, len(unsaved), 2)]
        try:
            for at in range(0, len(ranges), RANGES_PER_RECORD):
                self.journal.append(encode_settled(ranges[at : at + RANGES_PER_RECORD], self.journal.end_synced))
        except DiskFull:
            return  # again in the next round; saying it twice does no harm
        for queue in self._unsaved:
            queue.unsaved.clear()
        self._unsaved.clear()

    def _synced(self, position: int) -> None:
        waiting = self._waiting
        while waiting and waiting[0][0] <= position:
            waiting.popleft()[1](None)
        while self._doomed and self._doomed[0][0] <= position:
            _, segment = self._doomed.popleft()
            self._delete(segment)
        if waiting and self.fault is None:
            if not self.journal.is_full:
                self.journal.hurry()
            elif self._full_timer is None:
                self._full_timer = self.tasks.later(FULL_AGAIN_MS, self._on_full_timer)
        self.mover.wake()

    def _on_full_timer(self) -> None:
        self._full_timer = None
        if self._waiting and self.fault is None:
            self.journal.hurry()

    def _delete(self, segment: Segment) -> None:
        try:
            self.pool.close(segment)
            if self.disk.exists(segment.path):
                self.disk.delete(segment.path)
            self._acks_left.append(segment.acks_path)
        except HostFault as fault:
            self.fail(fault)

    def delete_acks(self, paths: Sequence[str]) -> None:
        """Of segments that are gone, once no index names them: until then the acks say that nothing is missing."""
        for path in paths:
            if self.disk.exists(path):
                self.disk.delete(path)
            self._acks_left.remove(path)

    @property
    def acks_left(self) -> list[str]:
        return list(self._acks_left)

    def write_index(self, journal_from: int) -> list[File]:
        """Writes index and acks under temporary names, and returns the files, which are neither synced nor renamed.

        They tell what is settled now. So the journal has to be on stable storage up to here before they get their
        names: a dead letter may stand there that is the reason for which its message is settled."""
        self._write_settled()
        self.journal.write()
        files: list[File] = []
        queues = list(self.queues.values())
        contents = index_files(queues, journal_from)
        try:
            for name, data, _ in contents:
                path = name if name.startswith(self.directory) else f"{self.directory}/{name}"
                file = self.disk.open(f"{path}.new", create=True)
                files.append(file)
                file.truncate(0)
                file.append((data,))
        except HostFault:
            for file in files:
                file.close()
            raise
        for _, _, segment in contents:
            if segment is not None:
                segment.acks_unsaved = False
        return files
