"""Looks at a segment file as it lies on disk, without the log it belongs to and without changing anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from twinlog._kernel import Malformed, decode_records
from twinlog.host import Disk
from twinlog.storage.scanning import Scan
from twinlog.storage.segment import Segment, segment_of
from twinlog.storage.types import CONTROL, TRANSACTIONAL, Batch

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
INFLATED_MAX = 1 << 30


class SeenBatch(NamedTuple):
    """One batch, its records unread."""

    position: int
    batch: Batch
    data: bytes

    @property
    def kind(self) -> str:
        attributes = self.batch[5]
        names = [CODECS[attributes & 7] if attributes & 7 < len(CODECS) else f"codec {attributes & 7}"]
        if attributes & TRANSACTIONAL:
            names.append("transactional")
        if attributes & CONTROL:
            names.append("control")
        if attributes & 0x40:
            names.append("horizon")
        return " ".join(names)

    def records(self) -> list[tuple[int, int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]]:
        """(offset, timestamp, key, value, headers); raises ``Malformed``."""
        off, size = self.batch[0], self.batch[1]
        return decode_records(self.data, off, off + size, INFLATED_MAX)


class SegmentReading:
    """Iterates the batches of a segment file; afterwards ``faults`` says everything that is wrong with it."""

    def __init__(self, disk: Disk, path: str, *, read_records: bool = True) -> None:
        directory, _, name = path.rpartition("/")
        found = segment_of(directory or ".", name.removesuffix(".log")) if name.endswith(".log") else None
        if found is None:
            raise ValueError(f"{path} is not named like a segment")
        self.segment: Segment = found
        self.path = path
        self.faults: list[str] = []
        self.batches = 0
        self.records = 0
        self.size = disk.size(path)
        self._disk = disk
        self._read_records = read_records

    def __iter__(self) -> Iterator[SeenBatch]:
        segment = self.segment
        file = self._disk.open(self.path)
        try:
            scan = Scan(file, 0, self.size)
            for position, batch, data in scan:
                seen = SeenBatch(position, batch, data)
                self._check(seen)
                segment.note(batch[2], position, batch[1], batch[2] + batch[3] + 1, batch[7], 4096)
                self.batches += 1
                yield seen
            if scan.reason:
                self.faults.append(f"position {scan.position}: {REASONS.get(scan.reason, scan.reason)}")
            if segment.is_compacted and segment.offset_end != segment.offset_limit:
                self.faults.append(f"ends at offset {segment.offset_end}; its name says {segment.offset_limit}")
            self._check_index()
        finally:
            file.close()

    def _check(self, seen: SeenBatch) -> None:
        base_offset, end = seen.batch[2], self.segment.offset_end
        if base_offset < end or (base_offset > end and not self.segment.is_compacted):
            self.faults.append(f"position {seen.position}: offset {base_offset} where {end} belongs")
        if not self._read_records:
            self.records += seen.batch[4]
            return
        try:
            self.records += len(seen.records())
        except Malformed as broken:
            self.faults.append(f"position {seen.position}: {broken}")

    def _check_index(self) -> None:
        read = self.segment
        index = read.unread()
        index.path = self.path
        if not self._disk.exists(index.index_path):
            return
        if not index.load_index(self._disk):
            self.faults.append("the index is damaged; the next start after a crash makes it anew")
            return
        if (index.size, index.offset_end) != (read.size, read.offset_end):
            self.faults.append(
                f"the index describes {index.size} bytes up to offset {index.offset_end}; "
                f"the segment has {read.size} up to {read.offset_end}"
            )


REASONS = {
    "short": "the file ends inside a batch",
    "crc": "the checksum of the batch is wrong",
    "magic": "no batch of a known format begins here",
    "length": "the length of the batch is impossible",
}
