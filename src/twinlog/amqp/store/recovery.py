"""What a start makes of the files: the index and the acks, then the journal from where the index says.

At the first place of the journal that cannot be read: if the durable mark, or a later good record, proves that it had
been durable, that is damage and refused (or skipped, if the settings say so); else it is a torn tail and cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from twinlog._kernel import frame_scan, scan_log
from twinlog.amqp.ports import RecoveredQueue
from twinlog.amqp.store.journal import JournalFile
from twinlog.amqp.store.queue import QueueLog
from twinlog.amqp.store.records import (
    FRAME_HEAD_BYTES,
    GONE,
    GONE_TAG,
    JOURNAL_HEAD,
    JOURNAL_HEAD_BYTES,
    JOURNAL_MAGIC,
    PLACE,
    PLACE_TAG,
    QUEUE_ID,
    RANGE,
    SETTLED,
    SETTLED_TAG,
    TRANSIENT,
    VERSION,
    Index,
    decode_acks,
    decode_index,
    decode_place,
    decode_stop,
)
from twinlog.amqp.store.segments import Segment
from twinlog.amqp.store.settings import SKIP
from twinlog.storage import Damaged
from twinlog.storage.files import read_whole

if TYPE_CHECKING:
    from twinlog.amqp.store.store import QueueStore

STOP_NAME: Final = "stopped"
INDEX_NAME: Final = "index"


class Recovery:
    """Fills a store that is empty yet."""

    def __init__(self, store: QueueStore) -> None:
        self._store = store
        self._disk = store.disk
        self._directory = store.directory
        self._journal = store.journal
        self._gone: list[QueueLog] = []
        self._mark: int | None = None
        self._aside: set[str] = set()  # damaged segments, which stay where they are

    def run(self) -> dict[int, RecoveredQueue]:
        self._disk.make_directory(self._directory)
        names = self._disk.list(self._directory)
        bases = sorted(int(name[:20]) for name in names if name.endswith(".journal") and name[:20].isdecimal())
        self._mark = self._journal.mark.read()
        index = self._read_index(names)
        stop = decode_stop(read_whole(self._disk, f"{self._directory}/{STOP_NAME}") or b"")
        if not bases:
            if self._mark or index is not None:
                self._damaged(f"{self._directory}/journal", "its files are missing")
            self._begin(index)
            return {}
        self._read_segments(index, names)
        journal_from = index.journal_from if index is not None else 0
        cut = self._read_journal([base for base in bases if base >= journal_from], journal_from)
        # From here on things are changed.
        self._tidy(names, [base for base in bases if base < journal_from], journal_from)
        self._cut(*cut)
        self._make_durable()
        return self._found(stop)

    # ---- index and segments -----------------------------------------------------------------------------------

    def _read_index(self, names: list[str]) -> Index | None:
        data = read_whole(self._disk, f"{self._directory}/{INDEX_NAME}")
        if data is None:
            first = f"{0:020d}.journal"  # it goes only when there is an index
            if self._mark and first not in names:
                raise Damaged(f"{self._directory}/{INDEX_NAME}", "is missing; nothing was changed")
            return None
        index = decode_index(data)
        if index is None:
            raise Damaged(f"{self._directory}/{INDEX_NAME}", "cannot be read; nothing was changed")
        return index

    def _read_segments(self, index: Index | None, names: list[str]) -> None:
        for fact in index.queues if index is not None else ():
            queue = QueueLog(fact.queue_id, True, self._store.pool)
            queue.stored_high = fact.number_next - 1
            self._store.queues[queue.id] = queue
            end = 0
            for number, (first, last, size_bytes) in enumerate(fact.segments):
                path = f"{self._directory}/{queue.id:016x}-{first:020d}.segment"
                segment = Segment(path, first, last, size_bytes)
                queue.segments.append(segment)
                queue.note_gap(end if number else 0, first - 1)
                end = last + 1
                acks = read_whole(self._disk, segment.acks_path)
                if acks is not None:
                    ranges = decode_acks(acks, queue.id, first)
                    if ranges is None:
                        self._damaged(segment.acks_path, "cannot be read")
                    # They get their name before the index does. What they tell beyond it the journal tells too,
                    # unless it is of messages that went with their process: durable ones may have those numbers by now.
                    for low, high in ranges or ():
                        if low <= last:
                            queue.settled.add(low, min(high, last))

    # ---- journal ----------------------------------------------------------------------------------------------

    def _read_journal(self, bases: list[int], journal_from: int) -> tuple[int, int]:
        """Applies all records; returns (number of files kept, good bytes of the last of them)."""
        expected = journal_from
        for number, base in enumerate(bases):
            path = self._journal.path_of(base)
            if base != expected:
                if (self._mark or 0) > expected:
                    self._damaged(path, f"begins at {base}, after a gap from {expected}")
                else:
                    return self._torn(bases, number, 0, expected)
            data = read_whole(self._disk, path, 1 << 40) or b""
            good = self._apply_file(data, base)
            self._journal.files.append(JournalFile(base, path, self._disk.open(path)))
            expected = base + max(good - JOURNAL_HEAD_BYTES, 0)
            if good < len(data) or good < JOURNAL_HEAD_BYTES:
                return self._torn(bases, number, good, expected, data)
        if (self._mark or 0) > expected:
            self._damaged(self._journal.path_of(bases[-1]) if bases else self._directory, f"ends at {expected}")
        self._journal.end = self._journal.end_written = self._journal.end_synced = expected
        return len(bases), JOURNAL_HEAD_BYTES

    def _torn(self, bases: list[int], number: int, good: int, expected: int, data: bytes = b"") -> tuple[int, int]:
        """The journal counts up to ``expected``: is what comes then a torn tail, or was it durable once?"""
        proven = max(self._mark or 0, durable_in(data, good))
        for base in bases[number + 1 :]:
            proven = max(proven, durable_in(read_whole(self._disk, self._journal.path_of(base), 1 << 40) or b"", 0))
        path = self._journal.path_of(bases[number])
        if self._mark is None or proven > expected:
            self._damaged(path, f"cannot be read from {expected} on; up to {proven} it was durable")
            return self._skip(bases, number, data, good)
        self._journal.end = self._journal.end_written = self._journal.end_synced = expected
        return number + 1, good

    def _skip(self, bases: list[int], number: int, data: bytes, good: int) -> tuple[int, int]:
        """Takes what is good behind the damage, too. The files stay as they are, a new one begins behind them."""
        self._apply_behind(data, bases[number], good)
        end = bases[number] + max(len(data) - JOURNAL_HEAD_BYTES, 0)
        for base in bases[number + 1 :]:
            path = self._journal.path_of(base)
            data = read_whole(self._disk, path, 1 << 40) or b""
            good = self._apply_file(data, base)
            self._apply_behind(data, base, good)
            self._journal.files.append(JournalFile(base, path, self._disk.open(path)))
            end = base + max(len(data) - JOURNAL_HEAD_BYTES, 0)
        end = max(end, self._mark or 0)
        self._journal.end = self._journal.end_written = self._journal.end_synced = end
        self._journal.begin_file()
        return -1, 0

    def _apply_behind(self, data: bytes, base: int, good: int) -> None:
        at = good
        while (at := next_record(data, at + 1)) >= 0:
            at += self._apply(data, at, base - JOURNAL_HEAD_BYTES)

    def _apply_file(self, data: bytes, base: int) -> int:
        """Applies the good records of a file; returns how many bytes are good."""
        frames, _, _ = frame_scan(data, 0, min(JOURNAL_HEAD_BYTES, len(data)))
        if len(frames) != 1 or data[FRAME_HEAD_BYTES:JOURNAL_HEAD_BYTES] != JOURNAL_HEAD.pack(
            JOURNAL_MAGIC, VERSION, 0, base
        ):
            return 0
        return JOURNAL_HEAD_BYTES + self._apply(data, JOURNAL_HEAD_BYTES, base - JOURNAL_HEAD_BYTES)

    def _apply(self, data: bytes, start: int, shift: int) -> int:
        """Applies the good records from ``start`` on; returns how many bytes that was."""
        frames, _, _ = scan_log(data, start, len(data))
        good = start
        number = 0
        while number < len(frames):
            at, size, messages = frames[number]
            number += 1
            tag = data[at + FRAME_HEAD_BYTES : at + FRAME_HEAD_BYTES + 4]
            if tag == PLACE_TAG:
                place = decode_place(data, at + FRAME_HEAD_BYTES, size - FRAME_HEAD_BYTES)
                if place is None or number == len(frames):
                    break
                run_at, run_bytes, messages = frames[number]
                number += 1
                if messages != place.messages or data[run_at + 4 : run_at + 8] != place.checksum:
                    break
                for queue_id, first in place.targets:
                    if not queue_id & TRANSIENT:
                        self._placed(queue_id, first, messages, shift + at, size + run_bytes, place.arrived_ms)
                good = run_at + run_bytes
                continue
            if tag == SETTLED_TAG:
                self._settled(data, at + FRAME_HEAD_BYTES)
            elif tag == GONE_TAG:
                self._queues_gone(data, at + FRAME_HEAD_BYTES)
            else:
                break
            good = at + size
        return good - start

    def _placed(self, queue_id: int, first: int, messages: int, position: int, size: int, arrived_ms: int) -> None:
        queue = self._store.queues.get(queue_id)
        if queue is None:
            queue = self._store.queues[queue_id] = QueueLog(queue_id, True, self._store.pool)
        if first <= queue.moved_high:
            return  # it had been moved before the stop
        if first <= (queue.numbers[-1] + queue.counts[-1] - 1 if queue.numbers else -1):
            return
        stored_high = queue.stored_high
        queue.add_run(first, position, size, messages, arrived_ms)
        queue.stored_high = max(queue.stored_high, stored_high)

    def _settled(self, data: bytes, at: int) -> None:
        _, count, _ = SETTLED.unpack_from(data, at)
        for number in range(count):
            queue_id, low, high = RANGE.unpack_from(data, at + SETTLED.size + number * RANGE.size)
            queue = self._store.queues.get(queue_id)
            if queue is not None:
                queue.settled.add(low, high)
                queue.stored_high = max(queue.stored_high, high)
                if low <= queue.moved_high:
                    for segment in queue.segments_with(low, high):
                        segment.acks_unsaved = True

    def _queues_gone(self, data: bytes, at: int) -> None:
        _, count, _ = GONE.unpack_from(data, at)
        for number in range(count):
            queue_id = QUEUE_ID.unpack_from(data, at + GONE.size + number * QUEUE_ID.size)[0]
            queue = self._store.queues.pop(queue_id, None)
            if queue is not None:
                self._gone.append(queue)

    # ---- changing ---------------------------------------------------------------------------------------------

    def _write_index(self, journal_from: int) -> None:
        """Before anything goes that the index names, and before acks go that say why it may be missing."""
        for entry in self._journal.files:
            self._disk.sync_now(entry.file)
        files = self._store.write_index(journal_from)
        for file in files:
            self._disk.sync_now(file)
            file.close()
            if file is files[-1]:  # the index counts only when the acks have their names
                self._disk.sync_directory_now(self._directory)
            self._disk.rename(file.path, file.path.removesuffix(".new"))
        self._disk.sync_directory_now(self._directory)

    def _check_segments(self) -> bool:
        """Whether a segment is no longer there."""
        before = sum(len(queue.segments) for queue in self._store.queues.values()) + sum(
            len(queue.segments) for queue in self._gone
        )
        for queue in self._store.queues.values():
            for segment in list(queue.segments):
                if queue.settled.covers(segment.first, segment.last):
                    queue.segments.remove(segment)
                    continue
                size = self._disk.size(segment.path) if self._disk.exists(segment.path) else -1
                if size < segment.size_bytes:
                    self._damaged(segment.path, f"has {max(size, 0)} bytes, and had {segment.size_bytes}")
                    queue.segments.remove(segment)
                    queue.note_gap(segment.first, segment.last)
                    self._aside.add(segment.path)
        return before != sum(len(queue.segments) for queue in self._store.queues.values())

    def _tidy(self, names: list[str], bases_before: list[int], journal_from: int) -> None:
        if self._check_segments():
            self._write_index(journal_from)
            names = self._disk.list(self._directory)
        # What stays may carry a name that is only in memory: durable before what it stands for goes.
        self._disk.sync_directory_now(self._directory)
        named = {segment.path for queue in self._store.queues.values() for segment in queue.segments}
        acks = {path.rpartition(".")[0] + ".acks" for path in named}
        for name in names:
            path = f"{self._directory}/{name}"
            if path in self._aside:
                continue
            is_left = (name.endswith((".segment", ".spill")) and path not in named) or (
                name.endswith(".acks") and path not in acks
            )
            if is_left or name.endswith(".new"):
                self._disk.delete(path)
        for base in bases_before:
            self._disk.delete(self._journal.path_of(base))
        for queue in self._store.queues.values():
            for segment in queue.segments:
                if self._disk.size(segment.path) > segment.size_bytes:
                    file = self._store.pool.open(segment)
                    file.truncate(segment.size_bytes)
                    self._disk.sync_now(file)
        if self._disk.exists(f"{self._directory}/{STOP_NAME}"):
            self._disk.delete(f"{self._directory}/{STOP_NAME}")

    def _cut(self, files: int, good: int) -> None:
        if files < 0:
            return
        for entry in self._journal.files[files:]:
            entry.file.close()
        del self._journal.files[files:]
        for base in sorted(int(name[:20]) for name in self._disk.list(self._directory) if name.endswith(".journal")):
            if all(entry.base != base for entry in self._journal.files):
                self._disk.delete(self._journal.path_of(base))
        if not self._journal.files:
            self._journal.begin_file()
            return
        entry = self._journal.files[-1]
        wanted = JOURNAL_HEAD_BYTES + self._journal.end - entry.base
        if good < JOURNAL_HEAD_BYTES and files == len(self._journal.files):  # not even its head can be read
            entry.file.close()
            self._journal.files.pop()
            self._journal.begin_file()
        elif entry.file.size > wanted:
            self._store.log.info("torn tail of the queues' journal is cut", bytes=entry.file.size - wanted)
            entry.file.truncate(wanted)
            entry.end = self._journal.end

    def _begin(self, index: Index | None) -> None:
        # First: a journal without a mark is taken for one whose mark was lost.
        if self._mark is None:
            self._journal.mark.create()
        if index is not None:
            self._journal.end = self._journal.end_written = self._journal.end_synced = index.journal_from
        self._journal.begin_file()
        self._make_durable()

    def _make_durable(self) -> None:
        for entry in self._journal.files:
            self._disk.sync_now(entry.file)
        self._journal.mark.write_now(self._journal.end)
        self._disk.sync_directory_now(self._directory)

    def _found(self, stop: tuple[int, dict[int, int]] | None) -> dict[int, RecoveredQueue]:
        was_clean = stop is not None and stop[0] == self._journal.end
        found = {}
        for queue in self._store.queues.values():
            number_next = queue.stored_high + 1
            queue.delivered_below = stop[1].get(queue.id, 0) if stop is not None and was_clean else number_next
            size_bytes = sum(queue.sizes) + sum(segment.size_bytes for segment in queue.segments)
            found[queue.id] = RecoveredQueue(number_next, queue.ready(), queue.delivered_below, size_bytes)
        return found

    def _damaged(self, path: str, reason: str) -> None:
        if self._store.settings.damage != SKIP:
            raise Damaged(path, reason)
        self._store.log.error("messages of queues are lost, the file is left as it is", file=path, reason=reason)


def next_record(data: bytes, start: int) -> int:
    """Where the next good record begins, -1 if there is none."""
    at = start
    while True:
        candidates = [
            place - FRAME_HEAD_BYTES
            for tag in (PLACE_TAG, SETTLED_TAG, GONE_TAG)
            if (place := data.find(tag, at + FRAME_HEAD_BYTES)) >= 0
        ]
        if not candidates:
            return -1
        at = min(candidates)
        size = FRAME_HEAD_BYTES + int.from_bytes(data[at : at + 4], "little")
        if at + size <= len(data) and frame_scan(data, at, at + size)[0]:
            return at
        at += 1


def durable_in(data: bytes, start: int) -> int:
    """How far the journal was durable, as good records from ``start`` on say."""
    durable = 0
    at = start
    while (at := next_record(data, at)) >= 0:
        tag = data[at + FRAME_HEAD_BYTES : at + FRAME_HEAD_BYTES + 4]
        if tag == PLACE_TAG:
            durable = max(durable, PLACE.unpack_from(data, at + FRAME_HEAD_BYTES)[6])
        else:
            durable = max(durable, SETTLED.unpack_from(data, at + FRAME_HEAD_BYTES)[2])
        at += 1
    return durable
