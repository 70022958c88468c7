"""The stored forms of the queue store; see docs/formats/queue-store.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import Struct
from typing import Final, NamedTuple

from twinlog._kernel import frame_build, frame_scan, scan_log
from twinlog.host import Buffer

VERSION: Final = 1
FRAME_HEAD_BYTES: Final = 8
JOURNAL_HEAD: Final = Struct("<4sHHQ")  # magic, version, 0, position of the file in the journal
JOURNAL_MAGIC: Final = b"TLQJ"
JOURNAL_HEAD_BYTES: Final = FRAME_HEAD_BYTES + JOURNAL_HEAD.size
SEGMENT_HEAD: Final = Struct("<4sHHQQ")  # magic, version, 0, queue, first number
SEGMENT_MAGIC: Final = b"TLQS"
SEGMENT_HEAD_BYTES: Final = FRAME_HEAD_BYTES + SEGMENT_HEAD.size

PLACE: Final = Struct("<4sHHI4sQQ")  # tag, targets, 0, messages, checksum of the run, arrived, durable position
PLACE_TAG: Final = b"\x02QPL"
TARGET: Final = Struct("<QQ")  # queue, number of the first message there
PLACE_ONE: Final = Struct("<4sHHI4sQQQQ")
PLACE_ONE_BYTES: Final = FRAME_HEAD_BYTES + PLACE_ONE.size
TRANSIENT: Final = 1 << 63  # in a target's queue: counts only as long as the process lives

SETTLED: Final = Struct("<4sIQ")  # tag, ranges, durable position
SETTLED_TAG: Final = b"\x03QST"
RANGE: Final = Struct("<QQQ")  # queue, low, high
GONE: Final = Struct("<4sIQ")  # tag, queues, durable position
GONE_TAG: Final = b"\x04QGO"
QUEUE_ID: Final = Struct("<Q")

INDEX_HEAD: Final = Struct("<4sHHQI")  # magic, version, 0, journal position it begins with, queues
INDEX_MAGIC: Final = b"TLQI"
INDEX_QUEUE: Final = Struct("<QQI")  # queue, next number, segments
INDEX_SEGMENT: Final = Struct("<QQQ")  # first number, last number, bytes
ACKS_HEAD: Final = Struct("<4sHHQQI")  # magic, version, 0, queue, first number of the segment, ranges
ACKS_MAGIC: Final = b"TLQA"
ACKS_RANGE: Final = Struct("<QQ")
STOP_HEAD: Final = Struct("<4sHHQI")  # magic, version, 0, journal position, queues
STOP_MAGIC: Final = b"TLQC"
STOP_QUEUE: Final = Struct("<QQ")  # queue, redelivered below


class Place(NamedTuple):
    """Where a run went, written in front of it."""

    messages: int
    checksum: bytes
    arrived_ms: int
    durable: int
    targets: list[tuple[int, int]]


class SegmentFact(NamedTuple):
    first: int
    last: int
    size_bytes: int


class QueueFact(NamedTuple):
    queue_id: int
    number_next: int
    segments: list[SegmentFact]


class Index(NamedTuple):
    """What the segments hold, as of a place in the journal."""

    journal_from: int
    queues: list[QueueFact]


def encode_place(
    blob: bytes, messages: int, arrived_ms: int, durable: int, targets: Sequence[tuple[int, int]]
) -> bytes:
    head = PLACE.pack(PLACE_TAG, len(targets), 0, messages, blob[4:8], arrived_ms, durable)
    return frame_build((head + b"".join([TARGET.pack(*target) for target in targets]),))


def decode_place(data: Buffer, at: int, size: int) -> Place | None:
    """From the payload at ``at``; None when it is something else."""
    if size < PLACE.size:
        return None
    tag, targets, _, messages, checksum, arrived_ms, durable = PLACE.unpack_from(data, at)
    if tag != PLACE_TAG or size != PLACE.size + targets * TARGET.size:
        return None
    first = at + PLACE.size
    found = [TARGET.unpack_from(data, first + number * TARGET.size) for number in range(targets)]
    return Place(messages, checksum, arrived_ms, durable, found)


def encode_settled(ranges: Sequence[tuple[int, int, int]], durable: int) -> bytes:
    head = SETTLED.pack(SETTLED_TAG, len(ranges), durable)
    return frame_build((head + b"".join([RANGE.pack(*each) for each in ranges]),))


def encode_gone(queues: Sequence[int], durable: int) -> bytes:
    return frame_build((GONE.pack(GONE_TAG, len(queues), durable) + b"".join(map(QUEUE_ID.pack, queues)),))


def journal_head(base: int) -> bytes:
    return frame_build((JOURNAL_HEAD.pack(JOURNAL_MAGIC, VERSION, 0, base),))


def segment_head(queue_id: int, first: int) -> bytes:
    return frame_build((SEGMENT_HEAD.pack(SEGMENT_MAGIC, VERSION, 0, queue_id, first),))


def encode_index(index: Index) -> bytes:
    frames = [INDEX_HEAD.pack(INDEX_MAGIC, VERSION, 0, index.journal_from, len(index.queues))]
    for queue in index.queues:
        parts = [INDEX_QUEUE.pack(queue.queue_id, queue.number_next, len(queue.segments))]
        parts += [INDEX_SEGMENT.pack(*segment) for segment in queue.segments]
        frames.append(b"".join(parts))
    return frame_build(frames)


def decode_index(data: bytes) -> Index | None:
    """None when it is not whole."""
    frames, end, reason = frame_scan(data, 0, len(data))
    if reason or end != len(data) or not frames or frames[0][1] != INDEX_HEAD.size:
        return None
    magic, version, _, journal_from, count = INDEX_HEAD.unpack_from(data, frames[0][0])
    if magic != INDEX_MAGIC or version != VERSION or count != len(frames) - 1:
        return None
    queues = []
    for at, size in frames[1:]:
        if size < INDEX_QUEUE.size:
            return None
        queue_id, number_next, segments = INDEX_QUEUE.unpack_from(data, at)
        if size != INDEX_QUEUE.size + segments * INDEX_SEGMENT.size:
            return None
        facts = [
            SegmentFact(*INDEX_SEGMENT.unpack_from(data, at + INDEX_QUEUE.size + number * INDEX_SEGMENT.size))
            for number in range(segments)
        ]
        queues.append(QueueFact(queue_id, number_next, facts))
    return Index(journal_from, queues)


def encode_acks(queue_id: int, first: int, ranges: Sequence[tuple[int, int]]) -> bytes:
    head = ACKS_HEAD.pack(ACKS_MAGIC, VERSION, 0, queue_id, first, len(ranges))
    return frame_build((head + b"".join([ACKS_RANGE.pack(*each) for each in ranges]),))


def decode_acks(data: bytes, queue_id: int, first: int) -> list[tuple[int, int]] | None:
    frames, _, reason = frame_scan(data, 0, len(data))
    if reason or len(frames) != 1 or frames[0][1] < ACKS_HEAD.size:
        return None
    at, size = frames[0]
    magic, version, _, queue, number, count = ACKS_HEAD.unpack_from(data, at)
    if (magic, version, queue, number) != (ACKS_MAGIC, VERSION, queue_id, first):
        return None
    if size != ACKS_HEAD.size + count * ACKS_RANGE.size:
        return None
    start = at + ACKS_HEAD.size
    return [ACKS_RANGE.unpack_from(data, start + number * ACKS_RANGE.size) for number in range(count)]


def encode_stop(position: int, delivered: Iterable[tuple[int, int]]) -> bytes:
    entries = [STOP_QUEUE.pack(*each) for each in delivered]
    return frame_build((STOP_HEAD.pack(STOP_MAGIC, VERSION, 0, position, len(entries)) + b"".join(entries),))


def decode_stop(data: bytes) -> tuple[int, dict[int, int]] | None:
    """(the journal's end, by queue: numbers below it may have been delivered)."""
    frames, _, reason = frame_scan(data, 0, len(data))
    if reason or len(frames) != 1 or frames[0][1] < STOP_HEAD.size:
        return None
    at, size = frames[0]
    magic, version, _, position, count = STOP_HEAD.unpack_from(data, at)
    if magic != STOP_MAGIC or version != VERSION or size != STOP_HEAD.size + count * STOP_QUEUE.size:
        return None
    start = at + STOP_HEAD.size
    return position, dict(STOP_QUEUE.unpack_from(data, start + number * STOP_QUEUE.size) for number in range(count))


class FoundRun(NamedTuple):
    """A run with the place in front of it: both lie in the scanned bytes."""

    at: int
    size_bytes: int
    run_at: int
    run_bytes: int
    place: Place


def scan_runs(data: Buffer, start: int, end: int) -> tuple[list[FoundRun], int]:
    """Whole pairs of place and run; and where they end."""
    frames, _, _ = scan_log(data, start, end)
    found: list[FoundRun] = []
    valid_end = start
    for number in range(0, len(frames) - 1, 2):
        at, size, _ = frames[number]
        run_at, run_bytes, messages = frames[number + 1]
        place = decode_place(data, at + FRAME_HEAD_BYTES, size - FRAME_HEAD_BYTES)
        if (
            place is None
            or not messages
            or place.messages != messages
            or data[run_at + 4 : run_at + 8] != place.checksum
        ):
            break
        found.append(FoundRun(at, size + run_bytes, run_at, run_bytes, place))
        valid_end = run_at + run_bytes
    return found, valid_end
