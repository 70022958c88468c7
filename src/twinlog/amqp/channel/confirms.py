"""Publisher confirms: counted, never listed. What one turn of the loop published is one batch with one mark.

Confirms leave in the order of publishing, so one ``basic.ack`` with ``multiple`` answers all that became durable
together.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from twinlog.amqp.counts import Counts, Traffic
from twinlog.amqp.ports import Appending
from twinlog.base import HostFault

CONFIRM_FRAME: Final = struct.Struct(">BHIHHQBB")
CONFIRM_SIZE: Final = 13
CLASS_BASIC: Final = 60
ACK: Final = 80
NACK: Final = 120
FRAME_END: Final = 0xCE

WhenDurable = Callable[[int, Callable[[HostFault | None], None]], None]


class Batch:
    __slots__ = ("answers", "done", "size", "waits")

    def __init__(self, answers: list[tuple[int, bool]], size: int, waits: int) -> None:
        self.answers = answers  # (count, whether it is an ack), in order
        self.size = size
        self.waits = waits  # for how many places to be durable
        self.done = False


class Confirms:
    """Of one channel. ``sends`` is off until ``confirm.select``; before that only the disk's progress is followed."""

    def __init__(self, channel: int, send: Callable[[bytes], None], hold_unsynced: Callable[[int], None]) -> None:
        self.is_on = False
        self.counts = Counts()
        self.traffic = Traffic()
        self.published = 0  # since select
        self.answered = 0
        self._channel = channel
        self._send = send
        self._hold_unsynced = hold_unsynced
        self._answers: list[tuple[int, bool]] = []
        self._mark = 0
        self._size = 0
        self._refused = 0
        self._appendings: list[Appending] = []
        self._waiting: deque[Batch] = deque()

    @property
    def waiting(self) -> int:
        """How many are published and not answered."""
        return self.published - self.answered

    def note(self, accepted: int, refused: int, mark: int, size: int, appendings: Sequence[Appending] = ()) -> None:
        """What became of a run."""
        self._refused += refused
        if mark > self._mark:
            self._mark = mark
        if appendings:
            self._appendings += appendings
        if mark or appendings:
            self._size += size
        if self.is_on:
            self.published += accepted + refused
            answers = self._answers
            if accepted:
                if answers and answers[-1][1]:
                    answers[-1] = (answers[-1][0] + accepted, True)
                else:
                    answers.append((accepted, True))
            if refused:
                answers.append((refused, False))

    def take_mark(self) -> tuple[int, int, list[Appending]]:
        """For a transaction, which has no confirms: the mark since the last time, how many were refused, and what else
        is to be waited for."""
        mark, refused, appendings = self._mark, self._refused, self._appendings
        self._mark = self._size = self._refused = 0
        self._appendings = []
        return mark, refused, appendings

    def end_turn(self, when_durable: WhenDurable) -> None:
        """Everything noted since the last time becomes a batch, and leaves when it is durable."""
        if not (self._answers or self._mark or self._appendings):
            return
        mark, appendings = self._mark, self._appendings
        batch = Batch(self._answers, self._size, (mark != 0) + len(appendings))
        self._answers, self._mark, self._size, self._refused, self._appendings = [], 0, 0, 0, []
        self._waiting.append(batch)
        if not batch.waits:
            self._done(batch)
            return
        self._hold_unsynced(batch.size)

        def on_durable(fault: HostFault | None) -> None:
            if fault is not None and batch.answers:
                batch.answers = [(sum(count for count, _ in batch.answers), False)]
            batch.waits -= 1
            if not batch.waits:
                self._hold_unsynced(-batch.size)
                self._done(batch)

        if mark:
            when_durable(mark, on_durable)
        for appending in appendings:
            appending.when_durable(on_durable)

    def forget(self) -> None:
        """The channel is closed: nothing is answered any more."""
        self.is_on = False
        self._answers = []
        for batch in self._waiting:
            batch.answers = []

    def _done(self, batch: Batch) -> None:
        batch.done = True
        waiting = self._waiting
        if waiting[0] is not batch:
            return
        answers: list[tuple[int, bool]] = []
        while waiting and waiting[0].done:
            for count, is_ack in waiting.popleft().answers:
                if answers and answers[-1][1] == is_ack:
                    answers[-1] = (answers[-1][0] + count, is_ack)
                else:
                    answers.append((count, is_ack))
        for count, is_ack in answers:
            self.answered += count
            if is_ack:
                self.counts.confirm += count
                self.traffic.confirm += count
            self._send(
                CONFIRM_FRAME.pack(
                    1,
                    self._channel,
                    CONFIRM_SIZE,
                    CLASS_BASIC,
                    ACK if is_ack else NACK,
                    self.answered,
                    1 if count > 1 else 0,
                    FRAME_END,
                )
            )
