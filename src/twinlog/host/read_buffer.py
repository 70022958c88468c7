"""The bytes of one connection that were read and not yet understood.

One bytearray, filled at its end and consumed from its start. Frames are parsed where they lie; only an
unconsumed tail is ever moved. It starts small, so that ten thousand idle connections cost little, grows
fourfold whenever the peer really filled it, and falls back when the connection goes idle. So memory
follows the bytes that came, never a length that a peer merely declared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from twinlog.base.units import KIB, MIB
from twinlog.host.memory import MemoryAccount

GROWTH: Final = 4
TAIL_MOVED_AT_ONCE_BYTES: Final = 4 * KIB

OnBytes = Callable[[bytearray, int, int], int]


class ReadBuffer:
    """``room`` to read into, ``took`` after reading, ``deliver`` to let a handler consume."""

    __slots__ = ("_account", "_filled", "_view", "data", "end", "expected", "size_max", "size_min", "start")

    def __init__(self, size_min: int = 8 * KIB, size_max: int = 1 * MIB, account: MemoryAccount | None = None) -> None:
        self._account = account
        if account is not None:
            account.change(size_min)
        self.size_min = size_min
        self.size_max = size_max  # what is read ahead of any expectation
        self.data = bytearray(size_min)
        self._view = memoryview(self.data)
        self.start = 0
        self.end = 0
        self.expected = 0
        self._filled = False

    def room(self) -> memoryview:
        """Where the next bytes go; never empty."""
        if self._filled or self.end == len(self.data):
            self._make_room()
        return self._view[self.end :]

    def took(self, count: int) -> bool:
        """``count`` bytes were read into the room; true if a handler should look at them now."""
        self.end += count
        self._filled = self.end == len(self.data)
        return self.end - self.start >= self.expected

    def deliver(self, on_bytes: OnBytes) -> None:
        """Lets the handler consume. It may call ``expect`` meanwhile, for the rest it leaves."""
        self.expected = 0
        start = on_bytes(self.data, self.start, self.end)
        assert self.start <= start <= self.end, (self.start, start, self.end)
        if start == self.end:
            self.start = self.end = 0
            return
        self.start = start
        if start and self.end - start <= TAIL_MOVED_AT_ONCE_BYTES:
            self._move_tail()

    def shrink(self) -> None:
        """Gives memory back, if nothing is waiting in it."""
        if self.start == self.end and len(self.data) > self.size_min:
            self._replace(self.size_min)

    def _move_tail(self) -> None:
        count = self.end - self.start
        self._view[:count] = self._view[self.start : self.end]
        self.start, self.end = 0, count

    def _make_room(self) -> None:
        filled, self._filled = self._filled, False
        size = len(self.data)
        size_wanted = max(self.expected, self.size_max)
        if filled and size < size_wanted and (self.start == 0 or self.expected > size):
            self._replace(min(size * GROWTH, size_wanted))
        elif self.end == size:
            assert self.start > 0, "a full buffer was neither consumed nor expected to grow"
            self._move_tail()

    def _replace(self, size: int) -> None:
        if self._account is not None:
            self._account.change(size - len(self.data))
        data = bytearray(size)
        count = self.end - self.start
        data[:count] = self._view[self.start : self.end]
        # A reader inside the loop may still hold the old one; it is never resized, only left behind.
        self.data, self._view = data, memoryview(data)
        self.start, self.end = 0, count
