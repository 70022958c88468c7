"""Messages as queues hold them: stretches of runs, in memory or on disk."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Final

from twinlog._kernel import measure_run
from twinlog.amqp.store.numbers import Numbers

NO_TTL: Final = -1
COMPACT_FROM: Final = 64
PIECE_BYTES: Final = 256
"""What a piece costs in memory besides its share of the messages: a fanout of small ones is mostly that."""


class Piece:
    """Messages ``number`` to ``high``. In memory: ``count`` messages in a row in ``blob``, from byte ``position`` on.
    With ``blob`` None they lie in the store, ``count`` of them, perhaps with gaps between."""

    __slots__ = (
        "arrived_ms",
        "blob",
        "body_bytes",
        "count",
        "held_bytes",
        "high",
        "number",
        "position",
        "priority",
        "redelivered",
        "stored",
        "ttl_ms",
    )

    def __init__(
        self,
        number: int,
        count: int,
        blob: bytes | None,
        position: int,
        body_bytes: int,
        arrived_ms: int,
        ttl_ms: int = NO_TTL,
        *,
        high: int = -1,
        held_bytes: int = 0,
        stored: bool = True,
        redelivered: bool = False,
        priority: int = 0,
    ) -> None:
        self.number = number
        self.count = count
        self.high = high if high >= 0 else number + count - 1
        self.blob = blob
        self.position = position
        self.body_bytes = body_bytes
        self.arrived_ms = arrived_ms
        self.ttl_ms = ttl_ms  # what the messages themselves ask for
        self.held_bytes = held_bytes
        self.stored = stored
        self.redelivered = redelivered
        self.priority = priority

    def __repr__(self) -> str:
        return f"Piece({self.number}-{self.high}, {self.count} messages{'' if self.blob else ' on disk'})"

    def split(self, count: int) -> Piece:
        """Takes the first ``count`` messages off; what is held stays with the rest."""
        assert self.blob is not None and 0 < count < self.count
        _, body_bytes, behind = measure_run(self.blob, self.position, count)
        return self.advance(count, behind, body_bytes)

    def advance(self, count: int, behind: int, body_bytes: int) -> Piece:
        """As ``split``, for one who knows where they end."""
        front = Piece(
            self.number,
            count,
            self.blob,
            self.position,
            body_bytes,
            self.arrived_ms,
            self.ttl_ms,
            stored=self.stored,
            redelivered=self.redelivered,
            priority=self.priority,
        )
        self.number += count
        self.count -= count
        self.position = behind
        self.body_bytes -= body_bytes
        return front


NOTHING: Final = Piece(0, 0, None, 0, 0, 0)


class TakenRun:
    """Delivered messages of one run that wait for an answer: ``left`` of ``low`` to ``high``. ``piece`` says where they
    lie; it may have begun earlier."""

    __slots__ = ("answered", "held_bytes", "high", "left", "low", "piece")

    def __init__(self, piece: Piece, low: int, high: int) -> None:
        self.piece = piece
        self.low = low
        self.high = high
        self.left = high - low + 1
        self.held_bytes = 0
        self.answered: Numbers | None = None  # between them, when answers came out of order

    def remove(self, low: int, high: int) -> list[tuple[int, int]]:
        """What of these numbers still waited."""
        low, high = max(low, self.low), min(high, self.high)
        if low > high:
            return []
        if self.answered is None:
            found = [(low, high)]
            if low == self.low:
                self.low = high + 1
            else:
                self.answered = Numbers([(low, high)])
            self.left -= high - low + 1
            return found
        found = self.answered.gaps(low, high)
        for each_low, each_high in found:
            self.left -= each_high - each_low + 1
        self.answered.add(low, high)
        return found

    def split_behind(self, number: int) -> TakenRun:
        """What lies behind ``number`` as a run of its own."""
        behind = TakenRun(self.piece, number + 1, self.high)
        self.high = number
        if self.answered is not None:
            behind.answered = Numbers(self.answered.within(behind.low, behind.high))
            behind.left = sum(high - low + 1 for low, high in self.answered.gaps(behind.low, behind.high))
        self.left -= behind.left
        return behind


class Taken:
    """What was delivered and not answered, in the order of its numbers. Runs do not overlap: what is taken back leaves
    a gap, because it may be delivered again before its neighbours are answered."""

    def __init__(self) -> None:
        self.count = 0
        self._lows: list[int] = []  # of the runs; settling leaves them behind, and they still sort right
        self._runs: list[TakenRun] = []
        self._start = 0  # everything before it is gone

    def add(self, piece: Piece) -> None:
        self.count += piece.count
        runs = self._runs
        added = TakenRun(piece, piece.number, piece.high)
        added.held_bytes = piece.held_bytes
        if len(runs) > self._start:
            last = runs[-1]
            if last.high + 1 == piece.number and last.piece.blob is piece.blob and piece.blob is not None:
                last.high = piece.high
                last.left += piece.count
                last.held_bytes += piece.held_bytes
                return
            if last.high > piece.number:
                self._insert(added)
                return
        self._lows.append(piece.number)
        runs.append(added)

    def _insert(self, run: TakenRun) -> None:
        at = bisect_right(self._lows, run.low, self._start)
        self._lows.insert(at, run.low)
        self._runs.insert(at, run)

    def remove(self, low: int, high: int) -> tuple[list[tuple[int, int]], int]:
        """Answered: (the numbers that waited, the bytes that need no longer be held)."""
        found: list[tuple[int, int]] = []
        held_bytes = 0
        for run in self._between(low, high):
            found += run.remove(low, high)
            if run.left == 0:
                held_bytes += run.held_bytes
                run.piece = NOTHING
        self._forget_front()
        for each_low, each_high in found:
            self.count -= each_high - each_low + 1
        return found, held_bytes

    def take(self, low: int, high: int) -> list[Piece]:
        """As ``remove``, with the messages themselves. Runs that begin before or end behind are split."""
        pieces: list[Piece] = []
        for run in self._between(low, high):
            if run.low < low:
                front, run = run, run.split_behind(low - 1)
                if front.left == 0:
                    run.held_bytes, front.held_bytes = front.held_bytes, 0
                self._insert(run)
            rest = run
            if run.high > high:
                rest = run.split_behind(high)
                self._insert(rest)
            found = run.remove(run.low, run.high)
            for each_low, each_high in found:
                pieces.append(part_of(run.piece, each_low, each_high))
                self.count -= each_high - each_low + 1
            if found:
                pieces[-1].held_bytes += run.held_bytes
            elif rest is not run:
                rest.held_bytes += run.held_bytes
        self._forget_between(low, high)
        self._forget_front()
        return pieces

    def _forget_between(self, low: int, high: int) -> None:
        """What was taken back may come again, and must find its place then."""
        first = bisect_left(self._lows, low, self._start)
        behind = bisect_right(self._lows, high, first)
        left = [(self._lows[at], self._runs[at]) for at in range(first, behind) if self._runs[at].left]
        self._lows[first:behind] = [each_low for each_low, _ in left]
        self._runs[first:behind] = [run for _, run in left]

    def ranges(self) -> list[tuple[int, int]]:
        """All that wait."""
        found: list[tuple[int, int]] = []
        for run in self._runs[self._start :]:
            if run.left:
                found += [(run.low, run.high)] if run.answered is None else run.answered.gaps(run.low, run.high)
        return found

    def _between(self, low: int, high: int) -> list[TakenRun]:
        runs = self._runs
        at = self._start
        if at < len(runs) and runs[at].high < low:
            at = max(bisect_right(self._lows, low, at) - 1, at)
        found = []
        while at < len(runs) and runs[at].low <= high:
            if runs[at].left and runs[at].high >= low:
                found.append(runs[at])
            at += 1
        return found

    def _forget_front(self) -> None:
        """Runs of which nothing waits keep their places until they are at the front."""
        runs = self._runs
        while self._start < len(runs) and runs[self._start].left == 0:
            self._start += 1
        if self._start == len(runs):
            runs.clear()
            self._lows.clear()
            self._start = 0
        elif self._start >= COMPACT_FROM and 2 * self._start > len(runs):
            del runs[: self._start], self._lows[: self._start]
            self._start = 0


def part_of(piece: Piece, low: int, high: int) -> Piece:
    """Messages ``low`` to ``high`` of a piece that was delivered."""
    count = high - low + 1
    position, body_bytes = piece.position, 0
    if piece.blob is not None:
        if low > piece.number:
            position = measure_run(piece.blob, position, low - piece.number)[2]
        body_bytes = measure_run(piece.blob, position, count)[1]
    elif piece.high >= piece.number:
        body_bytes = piece.body_bytes * count // (piece.high - piece.number + 1)
    return Piece(
        low,
        count,
        piece.blob,
        position,
        body_bytes,
        piece.arrived_ms,
        piece.ttl_ms,
        stored=piece.stored,
        redelivered=True,
        priority=piece.priority,
    )
