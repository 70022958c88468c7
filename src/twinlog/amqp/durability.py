"""Waiting until messages are on stable storage wherever they went: in the store of queues, and in logs of streams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from twinlog.amqp.ports import Appending
from twinlog.base import HostFault

Durable = Callable[[HostFault | None], None]


class Store(Protocol):
    def when_durable(self, mark: int, done: Durable) -> None: ...


def when_all_durable(store: Store, mark: int, appendings: Sequence[Appending], done: Durable) -> None:
    """Calls ``done`` once, when all of it is durable (at once if there is nothing), or with the first fault."""
    left = (mark != 0) + len(appendings)
    if not left:
        done(None)
        return
    fault_first: HostFault | None = None

    def on_durable(fault: HostFault | None) -> None:
        nonlocal left, fault_first
        left -= 1
        fault_first = fault_first or fault
        if not left:
            done(fault_first)

    if mark:
        store.when_durable(mark, on_durable)
    for appending in appendings:
        appending.when_durable(on_durable)
