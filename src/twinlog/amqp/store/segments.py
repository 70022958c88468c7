"""What a queue keeps for longer: files of its own, in the order of its numbers, read from front to back."""

from __future__ import annotations

from typing import Final, NamedTuple

from twinlog._kernel import measure_run
from twinlog.amqp.ports import StoredRun
from twinlog.amqp.store.numbers import Numbers
from twinlog.amqp.store.records import FRAME_HEAD_BYTES, SEGMENT_HEAD_BYTES, scan_runs
from twinlog.base.units import KIB
from twinlog.host import File
from twinlog.storage import Damaged
from twinlog.storage.files import FilePool

CHUNK_BYTES_MIN: Final = 256 * KIB


class Segment:
    """Numbers ``first`` to ``last``, not all of which need be there. ``storage.files.Pooled``."""

    __slots__ = ("acks_unsaved", "file", "first", "last", "path", "size_bytes", "touched", "unsynced")

    def __init__(self, path: str, first: int, last: int, size_bytes: int) -> None:
        self.path = path
        self.first = first
        self.last = last
        self.size_bytes = size_bytes
        self.acks_unsaved = False
        self.file: File | None = None
        self.touched = False
        self.unsynced = False

    @property
    def acks_path(self) -> str:
        return self.path.rpartition(".")[0] + ".acks"

    def let_go(self) -> None:
        self.file = None


class Cursor(NamedTuple):
    """Where reading ended: in which segment, at which byte, and the number that comes next there at the earliest."""

    segment: Segment
    position: int
    number: int


class SegmentReader:
    """Reads on where it stopped; anywhere else it begins with the segment."""

    def __init__(self, pool: FilePool) -> None:
        self._pool = pool
        self.cursor: Cursor | None = None

    def read(
        self, segments: list[Segment], settled: Numbers, number: int, bytes_max: int
    ) -> tuple[list[StoredRun], int]:
        """Unsettled pieces from ``number`` on, about ``bytes_max`` of them, and the first number not looked at."""
        found: list[StoredRun] = []
        bytes_left = bytes_max
        at = self._segment_of(segments, number)
        while at < len(segments) and bytes_left > 0:
            segment = segments[at]
            position = SEGMENT_HEAD_BYTES
            cursor = self.cursor
            if cursor is not None and cursor.segment is segment and cursor.number <= number:
                position = cursor.position
            while position < segment.size_bytes and bytes_left > 0:
                position, number, bytes_left = self._chunk(segment, settled, position, number, bytes_left, found)
            if position >= segment.size_bytes:
                at += 1
                number = max(number, segment.last + 1)
        return found, number

    @staticmethod
    def _segment_of(segments: list[Segment], number: int) -> int:
        low, high = 0, len(segments)
        while low < high:
            middle = (low + high) // 2
            if segments[middle].last < number:
                low = middle + 1
            else:
                high = middle
        return low

    def _chunk(
        self, segment: Segment, settled: Numbers, position: int, number: int, bytes_left: int, found: list[StoredRun]
    ) -> tuple[int, int, int]:
        """Reads some runs; returns (position behind them, first number not looked at, bytes left)."""
        file = self._pool.open(segment)
        segment.touched = True
        wanted = max(CHUNK_BYTES_MIN, bytes_left)
        data = file.read_at(position, min(wanted, segment.size_bytes - position))
        runs, valid_end = scan_runs(data, 0, len(data))
        if not runs:
            size = pair_size(data)
            if size <= len(data) or position + size > segment.size_bytes:
                raise Damaged(segment.path, f"cannot be read at byte {position}")
            data = file.read_at(position, size)
            runs, valid_end = scan_runs(data, 0, len(data))
            if not runs:
                raise Damaged(segment.path, f"cannot be read at byte {position}")
        for run in runs:
            first = run.place.targets[0][1]
            last = first + run.place.messages - 1
            behind = position + run.at + run.size_bytes
            if last >= number:
                pieces = settled.gaps(max(number, first), last)
                if pieces:
                    blob = data[run.run_at : run.run_at + run.run_bytes]
                    for low, high in pieces:
                        found.append(stored_run(blob, first, low, high, run.place.arrived_ms))
                    bytes_left -= run.run_bytes
                number = last + 1
            self.cursor = Cursor(segment, behind, last + 1)
            if bytes_left <= 0:
                return behind, number, bytes_left
        return position + valid_end, number, bytes_left


def stored_run(blob: bytes, first: int, low: int, high: int, arrived_ms: int) -> StoredRun:
    """The messages ``low`` to ``high`` of a run that begins with number ``first``."""
    position = measure_run(blob, 0, low - first)[2] if low > first else 0
    return StoredRun(low, blob, position, high - low + 1, arrived_ms)


def pair_size(data: bytes) -> int:
    """How long the place and the run at the start of ``data`` say they are; more than there is if that is unknown."""
    if len(data) < FRAME_HEAD_BYTES:
        return len(data) + FRAME_HEAD_BYTES
    first = FRAME_HEAD_BYTES + int.from_bytes(data[:4], "little")
    if len(data) < first + FRAME_HEAD_BYTES:
        return max(first, len(data)) + FRAME_HEAD_BYTES
    return first + FRAME_HEAD_BYTES + int.from_bytes(data[first : first + 4], "little")
