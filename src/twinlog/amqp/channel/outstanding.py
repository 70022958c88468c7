"""What was delivered and not yet acknowledged, as ranges: nothing is kept per message.

Delivery tags grow by one a message; so do the numbers of messages in a run. A range therefore maps tags to numbers by
one difference, and acknowledging in order moves only its lower end.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

from twinlog.amqp.ports import Queue

if TYPE_CHECKING:
    from twinlog.amqp.channel.consumer import ChannelConsumer

RANGE_MAX: Final = 4096  # larger ones make acknowledging out of order slow
COMPACT_FROM: Final = 512


class Taken(NamedTuple):
    """Consecutive messages of one queue that left the list, by their numbers there."""

    tag: int
    queue: Queue
    consumer: ChannelConsumer | None
    low: int
    high: int
    delivered_ms: int


class Range:
    """Tags from ``low`` to ``high``; ``gaps`` once something in the middle was taken: the parts that are left."""

    __slots__ = ("consumer", "delivered_ms", "high", "low", "offset", "parts", "queue")

    def __init__(
        self, queue: Queue, consumer: ChannelConsumer | None, low: int, high: int, offset: int, delivered_ms: int
    ) -> None:
        self.queue = queue
        self.consumer = consumer
        self.low = low
        self.high = high
        self.offset = offset  # a message's number is its tag and this
        self.delivered_ms = delivered_ms
        self.parts: list[tuple[int, int]] | None = None

    def taken(self, low: int, high: int) -> Taken:
        return Taken(low, self.queue, self.consumer, low + self.offset, high + self.offset, self.delivered_ms)


class Outstanding:
    """All of one channel, in the order of tags."""

    def __init__(self) -> None:
        self.count = 0
        self._ranges: list[Range | None] = []  # None: nothing is left of it
        self._lows: list[int] = []
        self._head = 0  # in front of it nothing is left

    def add(
        self, queue: Queue, consumer: ChannelConsumer | None, tag: int, number: int, count: int, now_ms: int
    ) -> None:
        """``count`` messages under the next tags, from ``tag`` on."""
        self.count += count
        ranges = self._ranges
        if ranges:
            last = ranges[-1]
            if (
                last is not None
                and last.consumer is consumer
                and last.queue is queue
                and last.offset == number - tag
                and last.high == tag - 1
                and last.parts is None
                and tag - last.low < RANGE_MAX
            ):
                last.high = tag + count - 1
                return
        ranges.append(Range(queue, consumer, tag, tag + count - 1, number - tag, now_ms))
        self._lows.append(tag)

    def take(self, low: int, high: int) -> tuple[list[Taken], int | None]:
        """Tags ``low`` to ``high``, up to the first that is not there, which is returned."""
        taken: list[Taken] = []
        while low <= high:
            place = self._find(low)
            if place is None:
                return taken, low
            last = self._take_part(place, low, high, taken)
            low = last + 1
        return taken, None

    def take_up_to(self, tag: int) -> tuple[list[Taken], int | None]:
        """Everything up to ``tag``, which must be there; 0: everything."""
        if tag == 0:
            return self.take_all(), None
        if self._find(tag) is None:
            return [], tag
        taken: list[Taken] = []
        ranges = self._ranges
        while self._head < len(ranges):
            front = ranges[self._head]
            if front is not None:
                if front.low > tag:
                    break
                for low, high in self._parts_up_to(front, tag):
                    self._take_part(self._head, low, high, taken)
                if ranges and self._head < len(ranges) and ranges[self._head] is front:
                    break  # some of it lies behind the tag
                continue
            self._head += 1
        return taken, None

    def take_all(self) -> list[Taken]:
        taken = [
            each.taken(low, high)
            for each in self._ranges[self._head :]
            if each is not None
            for low, high in (each.parts or [(each.low, each.high)])
        ]
        self.__init__()  # type: ignore[misc]
        return taken

    def give_back(self, taken: list[Taken]) -> None:
        """What was taken is outstanding again."""
        everything = sorted([*self.take_all(), *taken], key=lambda each: each.tag)
        for tag, queue, consumer, low, high, delivered_ms in everything:
            self.add(queue, consumer, tag, low, high - low + 1, delivered_ms)

    def oldest_ms(self) -> int | None:
        """When the oldest of them was delivered; merged ranges count from their first."""
        while self._head < len(self._ranges):
            front = self._ranges[self._head]
            if front is not None:
                return front.delivered_ms
            self._head += 1
        return None

    def _find(self, tag: int) -> int | None:
        """The place of the range that has it."""
        ranges = self._ranges
        head = self._head
        if head >= len(ranges):
            return None
        front = ranges[head]
        if front is not None and front.parts is None and front.low <= tag <= front.high:
            return head
        place = bisect_right(self._lows, tag, head) - 1
        if place < head:
            return None
        found = ranges[place]
        if found is None or not found.low <= tag <= found.high:
            return None
        if found.parts is not None and not any(low <= tag <= high for low, high in found.parts):
            return None
        return place

    @staticmethod
    def _parts_up_to(found: Range, tag: int) -> list[tuple[int, int]]:
        parts = found.parts or [(found.low, found.high)]
        return [(low, min(high, tag)) for low, high in parts if low <= tag]

    def _take_part(self, place: int, low: int, high: int, taken: list[Taken]) -> int:
        """Takes what is there from ``low`` (which is) without a gap to ``high``; returns the last tag taken."""
        found = self._ranges[place]
        assert found is not None
        if found.parts is not None:
            return self._take_of_parts(place, found, low, high, taken)
        last = min(high, found.high)
        taken.append(found.taken(low, last))
        self.count -= last - low + 1
        if low == found.low and last == found.high:
            self._drop(place)
        elif low == found.low:
            found.low = self._lows[place] = last + 1
        elif last == found.high:
            found.high = low - 1
        else:
            found.parts = [(found.low, low - 1), (last + 1, found.high)]
        return last

    def _take_of_parts(self, place: int, found: Range, low: int, high: int, taken: list[Taken]) -> int:
        assert found.parts is not None
        index = next(index for index, part in enumerate(found.parts) if part[0] <= low <= part[1])
        first, end = found.parts[index]
        last = min(high, end)
        taken.append(found.taken(low, last))
        self.count -= last - low + 1
        left = [part for part in ((first, low - 1), (last + 1, end)) if part[0] <= part[1]]
        found.parts[index : index + 1] = left
        if not found.parts:
            self._drop(place)
        else:
            # ``_lows`` keeps the old lower end: it still sorts right, and ``parts`` say what is there.
            found.low, found.high = found.parts[0][0], found.parts[-1][1]
            if len(found.parts) == 1:
                found.parts = None
        return last

    def _drop(self, place: int) -> None:
        self._ranges[place] = None
        while self._head < len(self._ranges) and self._ranges[self._head] is None:
            self._head += 1
        if self._head == len(self._ranges):
            self._ranges.clear()
            self._lows.clear()
            self._head = 0
        elif self._head >= COMPACT_FROM and self._head * 2 > len(self._ranges):
            del self._ranges[: self._head]
            del self._lows[: self._head]
            self._head = 0
