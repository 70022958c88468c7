"""The order in which a queue gives its messages away."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush

from twinlog.amqp.queues.pieces import Piece


class Fifo:
    """By number: those that came back first, since every delivered number is below every other."""

    __slots__ = ("body_bytes", "count", "pieces", "returned")

    def __init__(self) -> None:
        self.pieces: deque[Piece] = deque()
        self.returned: list[tuple[int, Piece]] = []
        self.count = 0
        self.body_bytes = 0

    def head(self) -> Piece | None:
        if self.returned:
            return self.returned[0][1]
        return self.pieces[0] if self.pieces else None

    def last(self, priority: int) -> Piece | None:
        """Where a message of that priority would go behind."""
        return self.pieces[-1] if self.pieces else None

    def push(self, piece: Piece) -> None:
        self.pieces.append(piece)
        self.count += piece.count
        self.body_bytes += piece.body_bytes

    def push_back(self, piece: Piece) -> None:
        heappush(self.returned, (piece.number, piece))
        self.count += piece.count
        self.body_bytes += piece.body_bytes

    def pop(self) -> Piece:
        """The head as a whole."""
        piece = heappop(self.returned)[1] if self.returned else self.pieces.popleft()
        self.count -= piece.count
        self.body_bytes -= piece.body_bytes
        return piece

    def replace_head(self, pieces: list[Piece]) -> None:
        """The same messages, or what is left of them, in smaller pieces."""
        if self.returned:
            self.pop()
            for piece in pieces:
                self.push_back(piece)
            return
        self.pop()
        for piece in reversed(pieces):
            self.pieces.appendleft(piece)
            self.count += piece.count
            self.body_bytes += piece.body_bytes

    def grew(self, piece: Piece, count: int, body_bytes: int) -> None:
        """A piece of here took more."""
        self.count += count
        self.body_bytes += body_bytes

    def shrink_head(self, count: int, body_bytes: int) -> None:
        """That many left the head piece."""
        self.count -= count
        self.body_bytes -= body_bytes
        if self.returned:
            piece = self.returned[0][1]
            self.returned[0] = (piece.number, piece)  # still the lowest

    def __iter__(self) -> Iterator[Piece]:
        for _, piece in sorted(self.returned, key=lambda each: each[0]):
            yield piece
        yield from self.pieces

    def clear(self) -> list[Piece]:
        pieces = list(self)
        self.pieces.clear()
        self.returned.clear()
        self.count = self.body_bytes = 0
        return pieces


class Levels:
    """The highest priority first; within one as ``Fifo``."""

    __slots__ = ("_levels", "priority_max")

    def __init__(self, priority_max: int) -> None:
        self.priority_max = priority_max
        self._levels = [Fifo() for _ in range(priority_max + 1)]

    def _level(self, piece: Piece) -> Fifo:
        return self._levels[min(piece.priority, self.priority_max)]

    def _first(self) -> Fifo | None:
        for level in reversed(self._levels):
            if level.count:
                return level
        return None

    @property
    def count(self) -> int:
        return sum(level.count for level in self._levels)

    @property
    def body_bytes(self) -> int:
        return sum(level.body_bytes for level in self._levels)

    def head(self) -> Piece | None:
        first = self._first()
        return first.head() if first is not None else None

    def last(self, priority: int) -> Piece | None:
        return self._levels[min(priority, self.priority_max)].last(priority)

    def push(self, piece: Piece) -> None:
        self._level(piece).push(piece)

    def push_back(self, piece: Piece) -> None:
        self._level(piece).push_back(piece)

    def pop(self) -> Piece:
        first = self._first()
        assert first is not None
        return first.pop()

    def replace_head(self, pieces: list[Piece]) -> None:
        first = self._first()
        assert first is not None
        first.replace_head(pieces)

    def grew(self, piece: Piece, count: int, body_bytes: int) -> None:
        self._level(piece).grew(piece, count, body_bytes)

    def shrink_head(self, count: int, body_bytes: int) -> None:
        first = self._first()
        assert first is not None
        first.shrink_head(count, body_bytes)

    def __iter__(self) -> Iterator[Piece]:
        for level in reversed(self._levels):
            yield from level

    def clear(self) -> list[Piece]:
        return [piece for level in self._levels for piece in level.clear()]
