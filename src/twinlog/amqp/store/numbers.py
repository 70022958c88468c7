"""Sets of numbers that come mostly in a row."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator


class Numbers:
    """Kept as ranges that neither touch nor overlap. Adding at the end, the usual case, costs next to nothing."""

    __slots__ = ("_highs", "_lows")

    def __init__(self, ranges: Iterator[tuple[int, int]] | list[tuple[int, int]] = []) -> None:  # noqa: B006
        self._lows: list[int] = []
        self._highs: list[int] = []
        for low, high in ranges:
            self.add(low, high)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self._lows, self._highs, strict=True)

    def __len__(self) -> int:
        """How many ranges."""
        return len(self._lows)

    def add(self, low: int, high: int) -> None:
        lows, highs = self._lows, self._highs
        if not lows or low > highs[-1] + 1:
            lows.append(low)
            highs.append(high)
        elif low == highs[-1] + 1:
            highs[-1] = high
        else:
            first = bisect_left(highs, low - 1)  # the first range that touches
            behind = bisect_right(lows, high + 1)
            if first < behind:
                low = min(low, lows[first])
                high = max(high, highs[behind - 1])
            lows[first:behind] = [low]
            highs[first:behind] = [high]

    def covers(self, low: int, high: int) -> bool:
        at = bisect_left(self._highs, low)
        return at < len(self._lows) and self._lows[at] <= low and high <= self._highs[at]

    def touches(self, low: int, high: int) -> bool:
        """Whether any of these numbers is in the set."""
        at = bisect_left(self._highs, low)
        return at < len(self._lows) and self._lows[at] <= high

    def gaps(self, low: int, high: int) -> list[tuple[int, int]]:
        """What is missing between ``low`` and ``high``."""
        found = []
        at = bisect_left(self._highs, low)
        while low <= high and at < len(self._lows) and self._lows[at] <= high:
            if self._lows[at] > low:
                found.append((low, self._lows[at] - 1))
            low = self._highs[at] + 1
            at += 1
        if low <= high:
            found.append((low, high))
        return found

    def within(self, low: int, high: int) -> list[tuple[int, int]]:
        """The ranges of the set, cut to ``low`` and ``high``."""
        found = []
        at = bisect_left(self._highs, low)
        while at < len(self._lows) and self._lows[at] <= high:
            found.append((max(low, self._lows[at]), min(high, self._highs[at])))
            at += 1
        return found
