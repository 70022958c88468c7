"""Who runs when."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Protocol


class Timer(Protocol):
    def cancel(self) -> object:
        """Safe to call twice, and after the timer ran."""


class Tasks(Protocol):
    """The loop, without being one. A callback or task that raises stops the node through ``on_crash``."""

    on_crash: Callable[[BaseException], None]  # set by the node; called on the loop, any number of times

    def soon(self, callback: Callable[..., object], *args: object) -> None:
        """Runs after the current callback, in order."""

    def later(self, delay_ms: float, callback: Callable[..., object], *args: object) -> Timer:
        """Runs once, not before the delay has passed."""

    def start(self, work: Coroutine[Any, Any, None], name: str) -> Timer:
        """A task with an owner and a name; cancelled at stop, in the order they were started."""

    def blocking(self, work: Callable[[], Any], done: Callable[[Any, Exception | None], None]) -> None:
        """Runs ``work`` away from the loop (a thread; inline in the simulator), then ``done`` on it."""

    async def stop(self) -> None:
        """Cancels what ``start`` began, one after the other in the order of their start, and waits for each."""
