"""Producer ids for this node's clients, taken from the controller a block at a time.

An id is never given out twice: a block counts only once the controller's record of it is durable, and what is left
of a block at a crash is lost on purpose.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from twinlog.base import Refused
from twinlog.cluster import Outcome, ProducerIdBlock
from twinlog.wire.kafka.errors import ErrorCode

WAITING_MAX: Final = 10_000

Done = Callable[[int | Refused], None]


class Allocator(Protocol):
    """Asks the controller for a block; ``done`` may come at once."""

    def __call__(self, done: Callable[[Outcome[ProducerIdBlock]], None]) -> None: ...


class ProducerIds:
    def __init__(self, allocate: Allocator) -> None:
        self._allocate = allocate
        self._next = 0
        self._end = 0
        self._asked = False
        self._waiting: deque[Done] = deque()

    def take(self, done: Done) -> None:
        """Calls ``done`` with an id that nobody has had, perhaps at once."""
        if self._next < self._end and not self._waiting:
            self._next += 1
            done(self._next - 1)
        elif len(self._waiting) >= WAITING_MAX:
            done(Refused(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
        else:
            self._waiting.append(done)
            self._ask()

    def _ask(self) -> None:
        if not self._asked:
            self._asked = True
            self._allocate(self._got)

    def _got(self, outcome: Outcome[ProducerIdBlock]) -> None:
        self._asked = False
        if isinstance(outcome, Refused):
            waiting, self._waiting = self._waiting, deque()
            for done in waiting:
                done(outcome)
            return
        self._next, self._end = outcome.start, outcome.start + outcome.size
        while self._waiting and self._next < self._end:
            self._next += 1
            self._waiting.popleft()(self._next - 1)
        if self._waiting:
            self._ask()
