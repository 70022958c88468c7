"""Transactions of one channel: publishes and acknowledgements that wait for ``tx.commit``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from twinlog.amqp.channel.outstanding import Outstanding, Taken
from twinlog.amqp.channel.publishing import Run
from twinlog.amqp.codes import PRECONDITION_FAILED, refuse
from twinlog.amqp.durability import when_all_durable
from twinlog.amqp.ports import Appending
from twinlog.base import HostFault, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from twinlog.amqp.channel.channel import Channel

BYTES_MAX: Final = 64 << 20
SETTLE, REQUEUE, REJECT = range(3)


class Transaction:
    """What was said since the last commit or rollback."""

    def __init__(self) -> None:
        self._runs: list[Run] = []
        self._bytes = 0
        self._answers: list[tuple[int, list[Taken]]] = []

    def publish(self, run: Run) -> None:
        self._bytes += len(run.blob)
        if self._bytes > BYTES_MAX:
            refuse(PRECONDITION_FAILED, f"a transaction may hold {BYTES_MAX} bytes")
        self._runs.append(run)

    def settle(self, taken: list[Taken]) -> None:
        if taken:
            self._answers.append((SETTLE, taken))

    def give_back(self, taken: list[Taken], *, requeue: bool) -> None:
        if taken:
            self._answers.append((REQUEUE if requeue else REJECT, taken))

    def commit(self, channel: Channel, done: Callable[[Refused | HostFault | None], None]) -> None:
        """``done`` when all of it is on stable storage. Part of it may have happened when it fails."""
        runs, answers = self._runs, self._answers
        self.__init__()  # type: ignore[misc]
        mark = 0
        appendings: list[Appending] = []
        for run in runs:
            put_mark, put_appendings = channel.publisher.put_committed(run)
            mark = max(mark, put_mark)
            appendings += put_appendings
        for kind, taken in answers:
            if kind == SETTLE:
                channel.settle(taken)
            else:
                channel.give_back(taken, requeue=kind == REQUEUE)
        when_all_durable(channel.broker.messages, mark, appendings, done)

    def rollback(self, outstanding: Outstanding) -> None:
        """Publishes are forgotten; what was acknowledged is outstanding again."""
        answers = self._answers
        self.__init__()  # type: ignore[misc]
        for _, taken in answers:
            outstanding.give_back(taken)
