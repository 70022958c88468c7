"""Opens a log: trusts what a clean stop left, and after a crash reads the tail and decides what it is.

The rules, in the order they are asked at the first place where the log cannot be read on:

1. Below the durable mark, or with the mark unknown: **damage**. The log is refused as it is, nothing is changed.
2. Nothing valid follows: a **torn tail**, cut.
3. Valid batches follow, and the gap holds bytes that were never written (the file ends early, or a sector's share
   of the gap is all zeros): the power went while several unsynced writes were under way, and a later one got through
   first. Nobody was promised any of it, because one sync covers all of them: cut.
4. Valid batches follow, and the gap holds other bytes: **damage**.

A batch is valid when its checksum is right and what the checksum does not cover fits: its offset is the next one,
and its leader epoch is the one the epoch history names.
"""

from __future__ import annotations

from typing import Final

from twinlog._kernel import decode_records, scan_batches
from twinlog.base import DiskFull
from twinlog.host import Disk, File
from twinlog.storage.epochs import EpochHistory
from twinlog.storage.errors import Damaged
from twinlog.storage.files import read_whole
from twinlog.storage.marks import Mark
from twinlog.storage.producers import NO_OFFSET, ProducerStates
from twinlog.storage.scanning import CHUNK_BYTES, Scan, declared_size
from twinlog.storage.segment import Segment, rebuild_entries, segment_of
from twinlog.storage.settings import LogSettings
from twinlog.storage.types import (
    BATCH_HEADER_BYTES,
    CONTROL,
    NO_TIMESTAMP,
    TRANSACTIONAL,
    AbortedTransaction,
    Batch,
    batch_size,
)

SECTOR_BYTES: Final = 512
PIECE_BYTES_MIN: Final = 8  # a shorter run of zeros is too common at a batch's end
RUN_BYTES_MIN: Final = 16  # a batch's header alone has runs of 13
EPOCH_AT: Final = 12  # where leader epoch and magic lie in a batch
MARKER_BYTES_MAX: Final = 4096
ABORT: Final = 0  # the kind of marker


class Recovery:
    """Reads one log's directory into segments, epochs and producers. Used once."""

    def __init__(
        self,
        disk: Disk,
        path: str,
        settings: LogSettings,
        *,
        mark: Mark | None,
        mark_lost: bool,
        clean: bool,
        verify_all: bool,
        producers_max: int,
        now_ms: int,
    ) -> None:
        self._disk = disk
        self._path = path
        self._settings = settings
        self._mark = mark
        self._mark_lost = mark_lost
        self._clean = clean and mark is not None
        self._verify_all = verify_all
        self._now_ms = now_ms
        self._history: EpochHistory | None = None
        self._epoch = -1
        self._marked = False  # the segment being read holds transaction markers
        self._replay_from = 0
        self._history_of_aborts: AbortedFinder | None = None
        self.segments: list[Segment] = []
        self.producers = ProducerStates(producers_max)
        self.epochs = EpochHistory()
        self.snapshots: list[int] = []
        self.offset_start = mark.offset_start if mark else 0
        self.offset_end = self.offset_start
        self.cut_bytes = 0
        self.epochs_stale = False  # the file does not say what the batches say

    def run(self) -> None:
        """Raises ``Damaged`` when an operator has to decide."""
        self._clean_up(self._disk.list(self._path) if self._disk.exists(self._path) else [])
        data = read_whole(self._disk, f"{self._path}/epochs")
        self.epochs, whole = EpochHistory.decode(data or b"")
        self._history = self.epochs if whole else None
        self.epochs_stale = data is not None and not whole
        below = self._take_below_start()
        if not self.segments or self.segments[0].offset_base > self.offset_start:
            self._begin_anew()
            return
        self._read_segments(self._first_to_scan())
        self.offset_end = self.segments[-1].offset_end
        if self._mark is not None and self.offset_end < self._mark.offset_synced:
            raise Damaged(
                self._path, f"ends at offset {self.offset_end}; up to {self._mark.offset_synced} it was durable"
            )
        self._settle_epochs()
        self._drop_late_snapshots()
        for segment in below:
            delete_segment(self._disk, segment)

    def _begin_anew(self) -> None:
        """The segment that holds the log start is missing: its name was never durable, or it is damage."""
        if self._mark is not None and self._mark.offset_synced > self._mark.offset_start:
            raise Damaged(self._path, f"the segment of offset {self.offset_start} is missing")
        if self.segments and self._mark_lost:
            raise Damaged(self._path, f"begins at offset {self.segments[0].offset_base}, and its mark was lost")
        for segment in self.segments:
            self.cut_bytes += self._disk.size(segment.path)
            delete_segment(self._disk, segment)
        self.segments = []
        self._settle_epochs()
        self._drop_late_snapshots()

    def _take_below_start(self) -> list[Segment]:
        """Segments below the log start were being deleted; after a crash some may be back, and prove nothing."""
        holds_start = 0
        for number, segment in enumerate(self.segments):
            if segment.offset_base <= self.offset_start:
                holds_start = number
        below = self.segments[:holds_start]
        del self.segments[:holds_start]
        return below

    # What is there.

    def _clean_up(self, names: list[str]) -> None:
        for name in names:
            stem, _, kind = name.partition(".")
            if kind.endswith(("new", "deleted")):
                self._disk.delete(f"{self._path}/{name}")
            elif kind == "log":
                segment = segment_of(self._path, stem)
                if segment is not None:
                    self.segments.append(segment)
            elif kind == "producers" and len(stem) == 20 and stem.isdigit():
                self.snapshots.append(int(stem))
        self.segments.sort(key=lambda segment: (segment.offset_base, -segment.generation))
        if any(segment.is_compacted for segment in self.segments):
            self._drop_replaced(names)

    def _drop_replaced(self, names: list[str]) -> None:
        """A compacted segment stands for everything it was made from, as soon as its name is there."""
        kept: list[Segment] = []
        replaced: list[Segment] = []
        for segment in self.segments:
            (replaced if kept and segment.offset_base < kept[-1].offset_limit else kept).append(segment)
        if replaced:
            self._disk.sync_directory_now(self._path)  # a name we only see may be gone after the next crash
            for segment in replaced:
                delete_segment(self._disk, segment)
            self.segments = kept
        known = {segment.index_path for segment in self.segments}
        for name in names:
            path = f"{self._path}/{name}"
            if name.endswith(".index") and "-" in name and path not in known and self._disk.exists(path):
                self._disk.delete(path)

    def _first_to_scan(self) -> int:
        """From which segment on everything is read. Takes the facts of those before from their indexes."""
        last = len(self.segments) - 1
        for number, segment in enumerate(self.segments):
            size = self._disk.size(segment.path)
            if number < last or segment.is_compacted:
                offset_next = self.segments[number + 1].offset_base if number < last else segment.offset_limit
                if self._verify_all or not (self._clean or self._below_mark(offset_next)):
                    return number
                if segment.load_facts(self._disk) and (segment.size, segment.offset_end) == (size, offset_next):
                    continue
                self.segments[number] = self._scan_sealed(segment.unread(), size, offset_next)
            elif self._verify_all or not self._clean or not self._trust_last(segment, size):
                return number
        return len(self.segments)

    def _below_mark(self, offset: int) -> bool:
        return self._mark is not None and offset <= self._mark.offset_synced

    def _trust_last(self, segment: Segment, size: int) -> bool:
        mark = self._mark
        assert mark is not None
        if not segment.load_index(self._disk):
            return False
        segment.sealed = False
        return (segment.size, segment.offset_end) == (size, mark.offset_synced) and size == mark.segment_size

    def _scan_sealed(self, segment: Segment, size: int, offset_next: int) -> Segment:
        """A sealed segment below the mark whose index is lost, or is of an earlier time."""
        self._marked = False
        reason = self._scan(segment, size, note_producers=False)
        if segment.offset_end != offset_next:
            raise self._damage(segment, reason or f"ends where offset {offset_next} should")
        if reason:
            self._trim(segment, size)
        if self._marked:
            if self._history_of_aborts is None:
                self._history_of_aborts = AbortedFinder(self._disk)
            segment.aborted = self._history_of_aborts.in_segment(self.segments, segment)
        self._seal(segment)
        return segment

    def _trim(self, segment: Segment, size: int) -> None:
        """Cuts what lies behind the last batch of a segment. Synced before anything is appended: a second crash must
        not find the old tail behind new batches."""
        self.cut_bytes += size - segment.size
        file = self._disk.open(segment.path)
        try:
            file.truncate(segment.size)
            self._disk.sync_now(file)
        finally:
            file.close()

    def _seal(self, segment: Segment) -> None:
        segment.sealed = True
        try:
            segment.save_index(self._disk)
        except DiskFull:
            return  # it stays in memory
        segment.let_go()

    # Reading.

    def _read_segments(self, first: int) -> None:
        replay = self._restore_producers(first)
        for number in range(min(replay, first), len(self.segments)):
            segment = self.segments[number]
            size = self._disk.size(segment.path)
            if number < first:
                scratch = segment.unread()
                reason = self._scan(scratch, size, note_producers=True)
                if reason:
                    raise self._damage(scratch, reason)
                continue
            offset_next = self.segments[number - 1].offset_end if number else segment.offset_base
            if segment.offset_base > offset_next:  # the segment before lost its end, on a batch's boundary
                self._cut_or_refuse(number - 1, self.segments[number - 1].size, "short")
                return
            if segment.offset_base < offset_next:
                raise self._damage(segment, f"lies behind offset {offset_next}")
            fresh = self.segments[number] = segment.unread()
            reason = self._scan(fresh, size, note_producers=True)
            if fresh.is_compacted:  # its bytes were durable before its name was
                if fresh.offset_end != fresh.offset_limit:
                    raise self._damage(fresh, reason or f"ends where offset {fresh.offset_limit} should")
                if reason:
                    self._trim(fresh, size)
                self._seal(fresh)
                continue
            last = number == len(self.segments) - 1
            if reason and not last and fresh.offset_end == self.segments[number + 1].offset_base:
                self._trim(fresh, size)  # a write that met the full disk; the log went on in the next segment
            elif reason:
                self._cut_or_refuse(number, size, reason)
                return
            if not last:
                self._seal(fresh)

    def _restore_producers(self, first: int) -> int:
        """Takes the newest snapshot that is of use; returns the segment from which batches must be replayed."""
        if first < len(self.segments):
            limit = self.segments[first].offset_base
        else:
            limit = self.segments[-1].offset_end
        for offset in reversed(self.snapshots):
            if offset <= limit:
                data = read_whole(self._disk, f"{self._path}/{offset:020d}.producers")
                if data is not None and self.producers.restore(data, offset):
                    self._replay_from = offset
                    break
        else:
            return 0
        number = len(self.segments)
        while number and self.segments[number - 1].offset_end > self._replay_from:
            number -= 1
        return number

    def _scan(self, segment: Segment, size: int, *, note_producers: bool) -> str:
        """Reads a segment from its start; returns why it stopped early, or nothing."""
        file = self._disk.open(segment.path)
        try:
            scan = Scan(file, 0, size)
            self._epoch = -1
            for position, batch, data in scan:
                wrong = self._out_of_place(segment, batch)
                if wrong:
                    return wrong
                self._take_batch(segment, position, batch, data, note_producers)
            return scan.reason
        finally:
            file.close()

    def _out_of_place(self, segment: Segment, batch: Batch) -> str:
        base_offset, leader_epoch = batch[2], batch[11]
        if segment.is_compacted:
            if base_offset < segment.offset_end or base_offset + batch[3] >= segment.offset_limit:
                return f"offset {base_offset} between {segment.offset_end} and {segment.offset_limit}"
        elif base_offset != segment.offset_end:
            return f"offset {base_offset} where {segment.offset_end} belongs"
        if leader_epoch < self._epoch:
            return f"leader epoch {leader_epoch} after {self._epoch}"
        if not self._fits_history(batch):
            return f"leader epoch {leader_epoch}, which did not write offset {base_offset}"
        return ""

    def _fits_history(self, batch: Batch) -> bool:
        if self._history is None:
            return True
        epoch = self._history.epoch_at(batch[2])
        return epoch == batch[11] or (epoch == -1 and batch[2] < self.offset_start)

    def _take_batch(self, segment: Segment, position: int, batch: Batch, data: bytes, note_producers: bool) -> None:
        off, size, base_offset, delta, _, attributes, _, max_timestamp, producer_id, _, _, leader_epoch = batch
        if not segment.size:
            segment.first_ms = max_timestamp if 0 <= max_timestamp <= self._now_ms else self._now_ms
        if leader_epoch != self._epoch:
            self._epoch = leader_epoch
            segment.epochs.append((leader_epoch, base_offset))
        interval = self._settings.index_interval_bytes
        segment.note(base_offset, position, size, base_offset + delta + 1, max_timestamp, interval)
        if attributes & CONTROL:
            self._marked = True
        if producer_id >= 0 and note_producers and base_offset >= self._replay_from:
            if attributes & CONTROL and attributes & TRANSACTIONAL:
                note_marker(self.producers, segment, batch, base_offset, data[off : off + size], self._now_ms)
            else:
                self.producers.note(batch, base_offset, max_timestamp, self._now_ms)

    # Deciding.

    def _damage(self, segment: Segment, reason: str) -> Damaged:
        return Damaged(segment.path, f"at position {segment.size}, offset {segment.offset_end}: {reason}")

    def _cut_or_refuse(self, number: int, size: int, reason: str) -> None:
        segment = self.segments[number]
        if self._mark is not None and segment.offset_end < self._mark.offset_synced:
            raise self._damage(segment, reason + ", and it was durable")
        if self._mark_lost:
            raise self._damage(segment, reason + ", and how far it was durable is not known")
        file = self._disk.open(segment.path)
        try:
            later = self._find_later(file, segment.size + 1, size, segment.offset_end)
            torn = later is None and reason == "short"
            followed = later is not None or self._later_segments_hold_batches(number + 1, segment.offset_end)
            if followed and not torn and not has_unwritten_piece(file, segment.size, size if later is None else later):
                raise self._damage(segment, reason + ", and valid batches follow")
            for late in self.segments[number + 1 :]:
                self.cut_bytes += self._disk.size(late.path)
                delete_segment(self._disk, late)
            del self.segments[number + 1 :]
            if segment.sealed:  # it was cut at its very end, and will grow again
                segment.sealed = False
                rebuild_entries(segment, file, self._settings.index_interval_bytes)
            self._disk.sync_directory_now(self._path)
        finally:
            file.close()
        self._trim(segment, size)

    def _later_segments_hold_batches(self, number: int, offset: int) -> bool:
        for segment in self.segments[number:]:
            file = self._disk.open(segment.path)
            try:
                if self._find_later(file, 0, file.size, offset) is not None:
                    return True
            finally:
                file.close()
        return False

    def _find_later(self, file: File, start: int, size: int, offset: int) -> int | None:
        """The position of a valid batch from ``start`` on, with an offset beyond ``offset``."""
        epochs = {self._epoch, *(self._history.epochs[-3:] if self._history else ())}
        patterns = [epoch.to_bytes(4, "big", signed=True) + b"\x02" for epoch in sorted(epochs)]
        while start < size:
            data = file.read_at(start, min(CHUNK_BYTES, size - start))
            for pattern in patterns:
                at = data.find(pattern, EPOCH_AT)
                while at >= 0:
                    if self._is_batch(file, start + at - EPOCH_AT, size, offset):
                        return start + at - EPOCH_AT
                    at = data.find(pattern, at + 1)
            if len(data) < CHUNK_BYTES:
                return None
            start += len(data) - BATCH_HEADER_BYTES
        return None

    def _is_batch(self, file: File, position: int, size: int, offset_at_least: int) -> bool:
        head = file.read_at(position, BATCH_HEADER_BYTES)
        batch_bytes = declared_size(head)
        if not BATCH_HEADER_BYTES <= batch_bytes <= size - position:
            return False
        data = file.read_at(position, batch_bytes)
        batches, _, _ = scan_batches(data, 0, len(data))
        # One whose epoch the history does not name was never promised to anybody, and proves nothing.
        return bool(batches) and batches[0][2] >= offset_at_least and self._fits_history(batches[0])

    # Afterwards.

    def _settle_epochs(self) -> None:
        self.epochs_stale |= self.epochs.truncate_to(self.offset_end)
        if self._history is not None:
            return
        for segment in self.segments:
            if segment.sealed and not segment.epochs:
                segment.load_index(self._disk)
            for epoch, start in segment.epochs:
                if epoch > self.epochs.latest:
                    self.epochs.assign(epoch, start)
                    self.epochs_stale = True

    def _drop_late_snapshots(self) -> None:
        for offset in [offset for offset in self.snapshots if offset > self.offset_end]:
            self._disk.delete(f"{self._path}/{offset:020d}.producers")
            self.snapshots.remove(offset)


def delete_segment(disk: Disk, segment: Segment) -> None:
    """Its index goes with it."""
    disk.delete(segment.path)
    if disk.exists(segment.index_path):
        disk.delete(segment.index_path)


def note_marker(
    producers: ProducerStates, segment: Segment, batch: Batch, base_offset: int, data: bytes, now_ms: int
) -> None:
    """A commit or abort marker at ``base_offset``: ends the producer's transaction, and remembers what it aborted."""
    producer_id, epoch = batch[8], batch[9]
    marker = read_marker(data)
    if marker is None:
        producers.note(batch, base_offset, NO_TIMESTAMP, now_ms)  # emptied by compaction, kept for its epoch
        return
    kind, coordinator_epoch = marker
    first = producers.end_transaction(producer_id, epoch, coordinator_epoch, base_offset, now_ms)
    if kind == ABORT and first != NO_OFFSET:
        still_open = producers.first_open_offset
        stable = base_offset + 1 if still_open is None else min(still_open, base_offset + 1)
        segment.aborted.append(AbortedTransaction(producer_id, first, base_offset, stable))


def read_marker(data: bytes) -> tuple[int, int] | None:
    """What a control batch says: its kind (0: abort, 1: commit) and the coordinator's epoch."""
    records = decode_records(data, 0, len(data), MARKER_BYTES_MAX)
    key = records[0][2] if records else None
    value = records[0][3] if records else None
    if key is None or len(key) < 4:
        return None
    kind = int.from_bytes(key[2:4], "big", signed=True)
    return kind, int.from_bytes(value[2:6], "big", signed=True) if value and len(value) >= 6 else -1


class AbortedFinder:
    """Finds the aborted transactions of segments whose index was lost, from the batches themselves. A transaction may
    have begun segments earlier, so it goes through them in order, once."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._done = 0
        self._open: dict[int, int] = {}  # producer id -> first offset, in the order they began

    def in_segment(self, segments: list[Segment], wanted: Segment) -> list[AbortedTransaction]:
        """``segments``: all of the log, up to ``wanted`` with their sizes known; asked for in ascending order."""
        while segments[self._done].offset_base < wanted.offset_base:
            self._walk(segments[self._done])
            self._done += 1
        self._done += 1
        return self._walk(wanted)

    def _walk(self, segment: Segment) -> list[AbortedTransaction]:
        found: list[AbortedTransaction] = []
        file = self._disk.open(segment.path)
        try:
            for position, header in segment.walk(file, 0):
                attributes, producer_id = header[5], header[9]
                if not attributes & TRANSACTIONAL:
                    continue
                if not attributes & CONTROL:
                    self._open.setdefault(producer_id, header[0])
                    continue
                first = self._open.pop(producer_id, None)
                marker = read_marker(file.read_at(position, batch_size(header)))
                if first is not None and marker is not None and marker[0] == ABORT:
                    stable = min(next(iter(self._open.values()), header[0] + 1), header[0] + 1)
                    found.append(AbortedTransaction(producer_id, first, header[0], stable))
        finally:
            file.close()
        return found


def has_unwritten_piece(file: File, start: int, end: int) -> bool:
    """Whether some sector's share of the stretch is all zeros, which is how bytes read that never reached the disk, or
    ends in many of them, as a sector does that was written when the file was shorter."""
    while start < end:
        stop = min(start + CHUNK_BYTES - start % SECTOR_BYTES, end)
        data = file.read_at(start, stop - start)
        at = 0
        while at < len(data):
            next_at = min(at + SECTOR_BYTES - (start + at) % SECTOR_BYTES, len(data))
            piece = data[at:next_at]
            if len(piece) >= PIECE_BYTES_MIN and not any(piece):
                return True
            if (start + next_at) % SECTOR_BYTES == 0 and not any(piece[-RUN_BYTES_MIN:]) and len(piece) > RUN_BYTES_MIN:
                return True
            at = next_at
        start = stop
    return False
