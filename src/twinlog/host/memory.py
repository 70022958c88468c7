"""What connections hold in memory: an account for each, and one for all of them.

Counted is what a peer can make us hold: bytes that came and are not understood yet, answers that it does not take, and
what a handler keeps for it. Not counted are slices of files, which the kernel sends, and what is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

EASED_BELOW: Final = 15 / 16  # of a mark that was crossed


class MemoryAccount:
    """What one connection holds. ``end`` is called, at most once, when it is the one that has to go."""

    __slots__ = ("_all", "_end", "held_bytes")

    def __init__(self, everybody: Memory, end: Callable[[], None]) -> None:
        self.held_bytes = 0
        self._all = everybody
        self._end: Callable[[], None] | None = end
        everybody.accounts[self] = None

    def change(self, by_bytes: int) -> None:
        self.held_bytes += by_bytes
        self._all.change(by_bytes)
        if by_bytes > 0 and 0 < self._all.one_max_bytes < self.held_bytes:
            self.give_up()

    def give_up(self) -> None:
        if self._end is not None:
            end, self._end = self._end, None
            self._all.closed_count += 1
            end()

    def close(self) -> None:
        """The connection is gone, and what it held with it. Nothing is counted any more."""
        self._end = None
        if self._all.accounts.pop(self, self) is not self:
            self._all.change(-self.held_bytes)
            self.held_bytes = 0


class Memory:
    """What all connections of a node hold. ``level`` is how many of the marks are crossed; a mark counts as crossed
    until a sixteenth less is held. ``on_level`` is told inside of whatever changed it, and may only take note."""

    __slots__ = (
        "_above",
        "_below",
        "accounts",
        "closed_count",
        "held_bytes",
        "level",
        "marks",
        "on_level",
        "one_max_bytes",
    )

    def __init__(self) -> None:
        self.held_bytes = 0
        self.one_max_bytes = 0  # of a single connection; 0 is no limit
        self.marks: Sequence[int] = ()
        self.level = 0
        self.closed_count = 0  # connections that had to go
        self.on_level: Callable[[int], None] = lambda level: None
        self.accounts: dict[MemoryAccount, None] = {}
        self._above: float = float("inf")  # between these two nothing happens
        self._below: float = -1

    def limit(self, marks: Sequence[int], one_max_bytes: int) -> None:
        """Marks in rising order."""
        assert list(marks) == sorted(marks)
        self.marks, self.one_max_bytes = marks, one_max_bytes
        self._settle()

    def change(self, by_bytes: int) -> None:
        self.held_bytes += by_bytes
        if not self._below <= self.held_bytes <= self._above:
            self._settle()

    def shed(self, down_to_bytes: int) -> None:
        """Those that hold most have to go, until the rest holds no more than this."""
        held = self.held_bytes
        for account in sorted(self.accounts, key=lambda each: -each.held_bytes):
            if held <= down_to_bytes:
                return
            held -= account.held_bytes
            account.give_up()

    def _settle(self) -> None:
        held, marks, level = self.held_bytes, self.marks, self.level
        while level < len(marks) and held > marks[level]:
            level += 1
        while level > 0 and held < marks[level - 1] * EASED_BELOW:
            level -= 1
        self._above = marks[level] if level < len(marks) else float("inf")
        self._below = marks[level - 1] * EASED_BELOW if level else -1
        if level != self.level:
            self.level = level
            self.on_level(level)
