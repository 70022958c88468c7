"""What the store knows of one queue."""

from __future__ import annotations

from array import array
from bisect import bisect_left

from twinlog.amqp.store.numbers import Numbers
from twinlog.amqp.store.segments import Segment, SegmentReader
from twinlog.storage.files import FilePool


class QueueLog:
    """Its runs in the journal as five rows of numbers, its segments, and which of its messages are settled."""

    __slots__ = (
        "arrived",
        "counts",
        "delivered_below",
        "durable",
        "id",
        "numbers",
        "positions",
        "reader",
        "segments",
        "settled",
        "sizes",
        "spilled",
        "stored_high",
        "unsaved",
    )

    def __init__(self, queue_id: int, durable: bool, pool: FilePool) -> None:
        self.id = queue_id
        self.durable = durable
        self.numbers = array("q")  # of the first message
        self.positions = array("q")  # of the place, in the journal
        self.sizes = array("q")  # of place and run
        self.counts = array("q")
        self.arrived = array("q")
        self.segments: list[Segment] = []
        self.settled = Numbers()
        self.spilled = Numbers()  # on disk only to spare memory: not to come back after a restart
        self.unsaved: list[int] = []  # settled, not in the journal yet: low, high, low, high ...
        self.stored_high = -1
        self.delivered_below = 0
        self.reader = SegmentReader(pool)

    @property
    def moved_high(self) -> int:
        """The last number that is in a segment."""
        return self.segments[-1].last if self.segments else -1

    def add_run(self, number: int, position: int, size: int, count: int, arrived_ms: int) -> None:
        self.numbers.append(number)
        self.positions.append(position)
        self.sizes.append(size)
        self.counts.append(count)
        self.arrived.append(arrived_ms)
        self.stored_high = number + count - 1

    def pop_run(self) -> None:
        """Takes the last one back."""
        for row in (self.numbers, self.positions, self.sizes, self.counts, self.arrived):
            row.pop()

    def drop_runs(self, count: int) -> None:
        """Forgets the first runs."""
        for row in (self.numbers, self.positions, self.sizes, self.counts, self.arrived):
            del row[:count]

    def runs_before(self, position: int) -> int:
        """How many runs begin before a place in the journal."""
        low, high = 0, len(self.positions)
        while low < high:
            middle = (low + high) // 2
            if self.positions[middle] < position:
                low = middle + 1
            else:
                high = middle
        return low

    def segments_with(self, low: int, high: int) -> list[Segment]:
        """Those that may hold one of these numbers."""
        at = bisect_left(self.segments, low, key=lambda segment: segment.last)
        found = []
        while at < len(self.segments) and self.segments[at].first <= high:
            found.append(self.segments[at])
            at += 1
        return found

    def ready(self) -> list[tuple[int, int]]:
        """What is stored and not settled, as ranges."""
        found = Numbers()
        for segment in self.segments:
            for low, high in self.settled.gaps(segment.first, segment.last):
                found.add(low, high)
        for number, count in zip(self.numbers, self.counts, strict=True):
            for low, high in self.settled.gaps(number, number + count - 1):
                found.add(low, high)
        return list(found)

    def note_gap(self, low: int, high: int) -> None:
        """Numbers that were never stored count as settled."""
        if low <= high:
            self.settled.add(low, high)
