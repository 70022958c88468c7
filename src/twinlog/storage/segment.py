"""One segment file of a log, and its sparse index.

An index entry names a batch that starts at least ``index_interval_bytes`` after the one named before, its position
in the file, and the greatest timestamp of everything in front of it. The entries of the active segment grow in
memory as flat arrays; those of sealed segments are written once and read again when somebody asks. Whatever is
lost or looks wrong is made anew by reading the segment.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from struct import Struct
from typing import Final

from twinlog._kernel import crc32c
from twinlog.host import Disk, File
from twinlog.storage.files import FilePool, read_whole, write_cache
from twinlog.storage.types import (
    BATCH_HEADER,
    BATCH_HEADER_BYTES,
    BATCH_OVERHEAD_BYTES,
    NO_TIMESTAMP,
    AbortedTransaction,
    SegmentFacts,
    batch_size,
)

OFFSET_SPAN_MAX: Final = 0x7FFFFFFF  # index entries keep offsets relative to the segment's base, in 32 bits
POSITION_MAX: Final = 0xFFFFFFFF
WALK_BYTES: Final = 16 * 1024

INDEX_MAGIC: Final = b"TLIX"
INDEX_VERSION: Final = 1
INDEX_HEADER: Final = Struct("<4sHHqqQqQqIIII")
CRC: Final = Struct("<I")
ENTRY_BYTES: Final = 4 + 4 + 8
HEAD_BYTES: Final = INDEX_HEADER.size + CRC.size
EPOCH: Final = Struct("<iq")
ABORTED: Final = Struct("<qqqq")


def segment_name(offset_base: int, offset_limit: int, generation: int) -> str:
    """A file's name without its ending."""
    return f"{offset_base:020d}-{offset_limit:020d}-{generation}" if generation else f"{offset_base:020d}"


def segment_of(directory: str, name: str) -> Segment | None:
    """The segment that a name (without its ending) stands for."""
    base, *more = name.split("-")
    numbers = [base, *more]
    if len(numbers) not in (1, 3) or not all(number.isascii() and number.isdecimal() for number in numbers):
        return None
    segment = Segment(directory, int(base), *map(int, more))
    return segment if segment.path == f"{directory}/{name}.log" else None


class Segment:
    """A run of batches in one file. Knows where things are; decides nothing."""

    __slots__ = (
        "aborted",
        "epochs",
        "file",
        "first_ms",
        "generation",
        "index_from",
        "max_timestamp",
        "max_timestamp_position",
        "offset_base",
        "offset_end",
        "offset_limit",
        "offsets",
        "path",
        "positions",
        "reserved",
        "sealed",
        "size",
        "times",
        "touched",
        "unsynced",
    )

    def __init__(self, directory: str, offset_base: int, offset_limit: int = -1, generation: int = 0) -> None:
        """A compacted segment (``generation`` above 0) covers exactly the offsets up to ``offset_limit``."""
        self.path = f"{directory}/{segment_name(offset_base, offset_limit, generation)}.log"
        self.offset_base = offset_base
        self.offset_limit = offset_limit
        self.generation = generation
        self.offset_end = offset_base
        self.size = 0
        self.max_timestamp = NO_TIMESTAMP
        self.max_timestamp_position = 0
        self.first_ms = 0  # when its first batch was appended; retention by age counts from there
        self.sealed = False
        self.epochs: list[tuple[int, int]] = []  # (leader epoch, first offset) of each epoch in this segment
        self.aborted: list[AbortedTransaction] = []
        # None means: an index is on disk and not loaded. An empty one is what a small segment has.
        self.offsets: array[int] | None = EMPTY_OFFSETS
        self.positions: array[int] = EMPTY_OFFSETS
        self.times: array[int] = EMPTY_TIMES
        self.index_from = 0
        self.reserved = 0
        self.file: File | None = None
        self.touched = False
        self.unsynced = False

    @property
    def index_path(self) -> str:
        return self.path[:-4] + ".index"

    @property
    def is_compacted(self) -> bool:
        """Offsets may be missing in it, and nothing is ever appended to it."""
        return self.generation > 0

    def unread(self) -> Segment:
        """The same file, of which nothing is known yet."""
        return Segment(self.path.rpartition("/")[0], self.offset_base, self.offset_limit, self.generation)

    def facts(self) -> SegmentFacts:
        return SegmentFacts(
            self.offset_base, self.offset_end, self.size, self.max_timestamp, self.first_ms, self.sealed
        )

    def note(self, offset: int, position: int, size: int, offset_end: int, max_timestamp: int, interval: int) -> None:
        """A batch now lies at ``position``."""
        if position >= self.index_from:
            if position:
                self.add_entry(offset, position)
            self.index_from = position + interval
        self.size = position + size
        self.offset_end = offset_end
        if max_timestamp > self.max_timestamp:
            self.max_timestamp = max_timestamp
            self.max_timestamp_position = position

    def add_entry(self, offset: int, position: int) -> None:
        offsets = self.offsets
        assert offsets is not None, "only the active segment's index grows"
        if offsets is EMPTY_OFFSETS:
            offsets = self.offsets = array("I")
            self.positions = array("I")
            self.times = array("q")
        offsets.append(offset - self.offset_base)
        self.positions.append(position)
        self.times.append(self.max_timestamp)

    def let_go(self) -> None:
        self.file = None
        if self.sealed and self.offsets:
            self.offsets = None
            self.positions = EMPTY_OFFSETS
            self.times = EMPTY_TIMES

    # Looking up.

    def floor_position(self, offset: int) -> int:
        """The position of an indexed batch at or before ``offset``; the index must be loaded."""
        assert self.offsets is not None
        slot = bisect_right(self.offsets, offset - self.offset_base) - 1
        return self.positions[slot] if slot >= 0 else 0

    def floor_of_position(self, position: int) -> int:
        """The greatest indexed position that is not beyond ``position``."""
        assert self.offsets is not None
        slot = bisect_right(self.positions, position) - 1
        return self.positions[slot] if slot >= 0 else 0

    def position_before_time(self, timestamp: int) -> int:
        """A position before which no batch reaches ``timestamp``."""
        assert self.offsets is not None
        slot = bisect_left(self.times, timestamp)
        return self.positions[slot - 1] if slot > 0 else 0

    def walk(self, file: File, position: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The headers from ``position`` on, each with its position. Reads little at a time."""
        data = b""
        start = position
        while position + BATCH_HEADER_BYTES <= self.size:
            at = position - start
            if at + BATCH_HEADER_BYTES > len(data):
                start, at = position, 0
                data = file.read_at(position, min(WALK_BYTES, self.size - position))
                if len(data) < BATCH_HEADER_BYTES:
                    return
            header = BATCH_HEADER.unpack_from(data, at)
            yield position, header
            position += BATCH_OVERHEAD_BYTES + max(header[1], BATCH_HEADER_BYTES - BATCH_OVERHEAD_BYTES)

    # The index on disk.

    def load_facts(self, disk: Disk) -> bool:
        """Reads only the head of the index file. False: it is missing, or not to be trusted."""
        data = read_whole(disk, self.index_path, HEAD_BYTES)
        counts = self._decode_head(data) if data is not None else None
        if counts is None:
            return False
        if counts[2] and not self.load_index(disk):  # aborted transactions stay in memory: every reader asks
            return False
        self.sealed = True
        self.offsets = None
        self.positions = EMPTY_OFFSETS
        self.times = EMPTY_TIMES
        return True

    def load_index(self, disk: Disk) -> bool:
        """Reads all of the index file. False: it is missing, or not to be trusted."""
        data = read_whole(disk, self.index_path)
        return data is not None and self._decode(data)

    def save_index(self, disk: Disk) -> None:
        write_cache(disk, self.index_path, self.encode())

    def encode(self) -> bytes:
        assert self.offsets is not None
        body = b"".join(
            (
                column_bytes(self.offsets),
                column_bytes(self.positions),
                column_bytes(self.times),
                *(EPOCH.pack(*entry) for entry in self.epochs),
                *(ABORTED.pack(*entry) for entry in self.aborted),
            )
        )
        header = INDEX_HEADER.pack(
            INDEX_MAGIC,
            INDEX_VERSION,
            0,
            self.offset_base,
            self.offset_end,
            self.size,
            self.max_timestamp,
            self.max_timestamp_position,
            self.first_ms,
            len(self.offsets),
            len(self.epochs),
            len(self.aborted),
            crc32c(body),
        )
        return header + CRC.pack(crc32c(header)) + body

    def _decode_head(self, data: bytes) -> tuple[int, int, int, int] | None:
        """Takes over what the head says; returns the counts of entries, epochs, aborted, and the body's checksum."""
        if len(data) < HEAD_BYTES or CRC.unpack_from(data, INDEX_HEADER.size)[0] != crc32c(data[: INDEX_HEADER.size]):
            return None
        magic, version, _, base, end, size, max_timestamp, max_position, first_ms, *counts = INDEX_HEADER.unpack_from(
            data
        )
        if magic != INDEX_MAGIC or version != INDEX_VERSION or base != self.offset_base:
            return None
        self.offset_end, self.size, self.max_timestamp = end, size, max_timestamp
        self.max_timestamp_position, self.first_ms = max_position, first_ms
        entries, epochs, aborted, crc = counts
        return entries, epochs, aborted, crc

    def _decode(self, data: bytes) -> bool:
        counts = self._decode_head(data)
        if counts is None:
            return False
        entries, epochs, aborted, crc = counts
        body = data[HEAD_BYTES:]
        epochs_at = entries * ENTRY_BYTES
        aborted_at = epochs_at + epochs * EPOCH.size
        if len(body) != aborted_at + aborted * ABORTED.size or crc32c(body) != crc:
            return False
        self.offsets = column("I", body[: entries * 4])
        self.positions = column("I", body[entries * 4 : entries * 8])
        self.times = column("q", body[entries * 8 : epochs_at])
        self.epochs = [(epoch, start) for epoch, start in EPOCH.iter_unpack(body[epochs_at:aborted_at])]
        self.aborted = [AbortedTransaction(*entry) for entry in ABORTED.iter_unpack(body[aborted_at:])]
        self.index_from = (self.positions[-1] if entries else 0) + 1
        return True


def column(kind: str, data: bytes) -> array[int]:
    """A column of little-endian numbers."""
    numbers: array[int] = array(kind)
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def column_bytes(numbers: array[int]) -> bytes:
    if sys.byteorder == "big":
        numbers = array(numbers.typecode, numbers)
        numbers.byteswap()
    return numbers.tobytes()


EMPTY_OFFSETS: Final[array[int]] = array("I")
EMPTY_TIMES: Final[array[int]] = array("q")


def ensure_index(segment: Segment, disk: Disk, pool: FilePool) -> None:
    """Loads a sealed segment's index again after it was let go; reads the segment itself if need be."""
    if segment.offsets is not None:
        return
    facts = (segment.offset_end, segment.size)
    aborted = segment.aborted
    if segment.load_index(disk) and facts == (segment.offset_end, segment.size):
        return
    segment.offset_end, segment.size = facts
    segment.aborted = aborted
    rebuild_entries(segment, pool.open(segment))


def rebuild_entries(segment: Segment, file: File, interval: int = 4096) -> None:
    """Makes the sparse entries anew from the batch headers."""
    segment.offsets, segment.positions, segment.times = EMPTY_OFFSETS, EMPTY_OFFSETS, EMPTY_TIMES
    segment.index_from = 0
    segment.max_timestamp = NO_TIMESTAMP
    segment.max_timestamp_position = 0
    size, end = segment.size, segment.offset_end
    for position, header in segment.walk(file, 0):
        segment.note(header[0], position, batch_size(header), header[0] + header[6] + 1, header[8], interval)
        segment.size = size  # note() set it to this batch's end, and walk() goes by it
    segment.size, segment.offset_end = size, end
