"""The segments of one log as one stretch of offsets: where a batch lies, what a read gets, what a time finds."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

from twinlog._kernel import decode_records, find_timestamp, max_timestamp_record
from twinlog.host import Disk, File, FileSlice
from twinlog.storage.errors import Damaged
from twinlog.storage.files import FilePool
from twinlog.storage.segment import OFFSET_SPAN_MAX, Segment, ensure_index
from twinlog.storage.types import (
    NO_TIMESTAMP,
    AbortedTransaction,
    LogRead,
    TimestampFound,
    batch_size,
)

KNOWN_MAX: Final = 16


class Segments:
    """Oldest first. Reading opens files through the pool, and changes nothing."""

    __slots__ = ("_bases", "_disk", "_known", "_pool", "all")

    def __init__(self, disk: Disk, pool: FilePool, segments: list[Segment]) -> None:
        self._disk = disk
        self._pool = pool
        self.all = segments
        self._bases = [segment.offset_base for segment in segments]
        # Positions of offsets that will be asked for: where readers stopped, where syncs ended.
        self._known: dict[int, tuple[Segment, int]] = {}

    def __len__(self) -> int:
        return len(self.all)

    @property
    def active(self) -> Segment | None:
        """The one that grows; None in a log that never held anything."""
        return self.all[-1] if self.all else None

    @property
    def size_bytes(self) -> int:
        return sum(segment.size for segment in self.all)

    def add(self, segment: Segment) -> None:
        self.all.append(segment)
        self._bases.append(segment.offset_base)

    def take_below(self, offset: int) -> list[Segment]:
        """Takes away the segments that lie wholly below ``offset``; the active one always stays."""
        count = 0
        while count < len(self.all) - 1 and self.all[count].offset_end <= offset:
            count += 1
        gone = self.all[:count]
        if gone:
            del self.all[:count], self._bases[:count]
            self._known.clear()
        return gone

    def replace(self, old: list[Segment], new: Segment) -> None:
        """Puts a compacted segment in the place of those it was made from."""
        slot = self.all.index(old[0])
        assert self.all[slot : slot + len(old)] == old, "only neighbours are compacted together"
        self.all[slot : slot + len(old)] = [new]
        self._bases[slot : slot + len(old)] = [new.offset_base]
        self._known.clear()

    def close(self) -> None:
        for segment in self.all:
            self._pool.close(segment)

    # Where things are.

    def know(self, offset: int, segment: Segment, position: int) -> None:
        """``offset`` begins at ``position``, which somebody will ask for."""
        known = self._known
        known.pop(offset, None)
        if len(known) >= KNOWN_MAX:
            del known[next(iter(known))]
        known[offset] = (segment, position)

    def file(self, segment: Segment) -> File:
        segment.touched = True
        return segment.file or self._pool.open(segment)

    def slot(self, offset: int) -> int:
        """The number of the segment that holds ``offset``, or would."""
        return max(bisect_right(self._bases, offset) - 1, 0)

    def locate(self, segment: Segment, offset: int) -> tuple[int, int]:
        """Position and first offset of the batch that holds ``offset``, or of the next one when compaction took it."""
        known = self._known.get(offset)
        if known is not None and known[0] is segment:
            return known[1], offset
        if offset == segment.offset_base and not segment.is_compacted:
            return 0, offset
        ensure_index(segment, self._disk, self._pool)
        for position, header in segment.walk(self.file(segment), segment.floor_position(offset)):
            if header[0] + header[6] >= offset:
                if header[0] > offset + OFFSET_SPAN_MAX or header[0] < segment.offset_base:
                    break
                return position, header[0]
        raise Damaged(segment.path, f"no batch holds offset {offset}")

    def end_below(self, segment: Segment, offset: int) -> tuple[int, int]:
        """Where to cut so that no batch holds ``offset`` or lies behind it: the position, and where the rest ends."""
        position, first = self.locate(segment, offset)
        if not segment.is_compacted:
            return position, first
        end = segment.offset_base
        for at, header in segment.walk(self.file(segment), segment.floor_of_position(max(position - 1, 0))):
            if at >= position:
                break
            end = header[0] + header[6] + 1
        return position, end

    def _stop(self, segment: Segment, position: int, room: int, limit: int, at_least_one: bool) -> tuple[int, int]:
        """The end of the last whole batch within ``room`` bytes, and the offset there."""
        ensure_index(segment, self._disk, self._pool)
        assert segment.offsets is not None
        slot = bisect_right(segment.positions, position + room) - 1
        if slot >= 0 and segment.positions[slot] > position:
            return segment.positions[slot], segment.offset_base + segment.offsets[slot]
        stop, offset_stop = position, -1
        for at, header in segment.walk(self.file(segment), position):
            after = at + batch_size(header)
            if after > limit or (after - position > room and not (at_least_one and at == position)):
                break
            stop, offset_stop = after, header[0] + header[6] + 1
        return stop, offset_stop

    def read(self, offset: int, bytes_max: int, below: int, whole_first: bool) -> LogRead:
        """Whole batches from the one that holds ``offset``, which lies in the log and below ``below``."""
        slot = self.slot(offset)
        segment = self.all[slot]
        position, first = self.locate(segment, offset)
        parts: list[FileSlice] = []
        size, offset_next = 0, first
        while True:
            whole = below >= segment.offset_end
            limit, offset_limit = (segment.size, segment.offset_end) if whole else self.locate(segment, below)
            offset_limit = min(offset_limit, below)
            take = limit - position
            if take <= 0:
                break
            if take > bytes_max - size:
                must = whole_first and not parts
                limit, offset_limit = self._stop(segment, position, bytes_max - size, limit, must)
                take = limit - position
                if not take:
                    break
                whole = False
            parts.append(FileSlice(self.file(segment), position, take))
            size += take
            offset_next = offset_limit
            self.know(offset_next, segment, limit)
            slot += 1
            if not whole or slot == len(self.all) or size >= bytes_max:
                break
            segment, position = self.all[slot], 0
            if segment.offset_base >= below:
                break
        return LogRead(parts, size, first, offset_next)

    # Times.

    def offset_for_time(self, timestamp: int, offset_start: int, inflated_max: int) -> TimestampFound | None:
        """The first record from ``offset_start`` on that is not older than ``timestamp``."""
        for segment in self.all:
            if segment.max_timestamp < timestamp or segment.offset_end <= offset_start:
                continue
            ensure_index(segment, self._disk, self._pool)
            file = self.file(segment)
            for position, header in segment.walk(file, segment.position_before_time(timestamp)):
                if header[8] < timestamp or header[0] + header[6] < offset_start:
                    continue
                data = file.read_at(position, batch_size(header))
                if header[0] >= offset_start:
                    found = find_timestamp(data, 0, len(data), timestamp, inflated_max)
                else:  # the batch begins below the log start
                    found = next(
                        (
                            (offset, time)
                            for offset, time, *_ in decode_records(data, 0, len(data), inflated_max)
                            if offset >= offset_start and time >= timestamp
                        ),
                        None,
                    )
                if found is not None:
                    return TimestampFound(*found, header[2])
        return None

    def max_timestamp(self, offset_start: int, inflated_max: int) -> TimestampFound | None:
        """The first record from ``offset_start`` on with the greatest timestamp."""
        best: TimestampFound | None = None
        for segment in self.all:
            if segment.offset_end <= offset_start or segment.max_timestamp == NO_TIMESTAMP:
                continue
            if best is not None and segment.max_timestamp <= best.timestamp:
                continue
            if segment.offset_base >= offset_start:
                positions = [segment.max_timestamp_position]
            else:
                positions = self._from_start(segment, offset_start)
            for position in positions:
                found = self._greatest_in(segment, position, offset_start, inflated_max)
                if found is not None and (best is None or found.timestamp > best.timestamp):
                    best = found
        return best

    def _from_start(self, segment: Segment, offset_start: int) -> list[int]:
        """Where to look in the segment that the log start lies in: the batch it cuts, and the best one behind."""
        start, _ = self.locate(segment, offset_start)
        greatest, best = NO_TIMESTAMP, start
        for position, header in segment.walk(self.file(segment), start):
            if header[8] > greatest and position != start:
                greatest, best = header[8], position
        return [start] if best == start else [start, best]

    def _greatest_in(
        self, segment: Segment, position: int, offset_start: int, inflated_max: int
    ) -> TimestampFound | None:
        file = self.file(segment)
        _, header = next(segment.walk(file, position))
        data = file.read_at(position, batch_size(header))
        if header[0] >= offset_start:
            found = max_timestamp_record(data, 0, len(data), inflated_max)
        else:
            records = decode_records(data, 0, len(data), inflated_max)
            kept = [(-time, offset) for offset, time, *_ in records if offset >= offset_start]
            found = (min(kept)[1], -min(kept)[0]) if kept else None
        if found is None or found[1] == NO_TIMESTAMP:
            return None
        return TimestampFound(*found, header[2])

    # Transactions.

    def aborted_between(self, offset: int, offset_below: int) -> list[AbortedTransaction]:
        """Aborted transactions with records in the range, in the order of their markers."""
        found: list[AbortedTransaction] = []
        for segment in self.all[self.slot(offset) :]:
            for aborted in segment.aborted:
                if aborted.offset_last >= offset and aborted.offset_first < offset_below:
                    found.append(aborted)
                if aborted.offset_last_stable >= offset_below:
                    return found
        return found
