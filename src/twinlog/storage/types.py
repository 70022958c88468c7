"""The words the room shares: a batch as the kernel reads it, what a read gives, what a segment tells about itself."""

from __future__ import annotations

from struct import Struct
from typing import Final, NamedTuple, TypeAlias

from twinlog.host import FileSlice

# (off, size, base_offset, last_offset_delta, record_count, attributes, base_timestamp, max_timestamp,
#  producer_id, producer_epoch, base_sequence, leader_epoch); a plain tuple, because the kernel makes one per batch.
Batch: TypeAlias = tuple[int, int, int, int, int, int, int, int, int, int, int, int]

# The header of a record batch v2: base_offset, length, leader_epoch, magic, crc, attributes, last_offset_delta,
# base_timestamp, max_timestamp, producer_id, producer_epoch, base_sequence, record_count.
BATCH_HEADER: Final = Struct(">qiibIhiqqqhii")
BATCH_HEADER_BYTES: Final = BATCH_HEADER.size
BATCH_OVERHEAD_BYTES: Final = 12  # what the length field does not count

TRANSACTIONAL: Final = 0x10
CONTROL: Final = 0x20

NO_TIMESTAMP: Final = -1


class LogRead(NamedTuple):
    """Whole batches, as slices of segment files. ``offset_first`` is where the first batch begins, at or below the
    offset asked for; ``offset_next`` is where the next read goes on. Empty when nothing is there yet."""

    parts: list[FileSlice]
    size: int
    offset_first: int
    offset_next: int


class TimestampFound(NamedTuple):
    """The first record at or after a time, or the one with the greatest time."""

    offset: int
    timestamp: int
    leader_epoch: int


class EpochEnd(NamedTuple):
    """Where a leader epoch ended; (-1, -1) when it is not known."""

    epoch: int
    offset_end: int


class AbortedTransaction(NamedTuple):
    """Records of ``producer_id`` from ``offset_first`` to the marker at ``offset_last`` do not count."""

    producer_id: int
    offset_first: int
    offset_last: int
    offset_last_stable: int  # the first offset that was still undecided when the marker came


class SegmentFacts(NamedTuple):
    """What retention and compaction decide by."""

    offset_base: int
    offset_end: int
    size_bytes: int
    max_timestamp: int
    first_append_ms: int
    sealed: bool


class LogFacts(NamedTuple):
    """One partition log in a description of its directory."""

    topic_id: bytes
    partition: int
    size_bytes: int


class DirectoryFacts(NamedTuple):
    """One data directory; ``fault`` says why it is offline."""

    path: str
    directory_id: bytes
    fault: str | None
    total_bytes: int
    usable_bytes: int
    logs: list[LogFacts]


def batch_size(header: tuple[int, ...]) -> int:
    """The whole size of a batch from its unpacked header."""
    return BATCH_OVERHEAD_BYTES + header[1]
