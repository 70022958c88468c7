"""An answer that a coordinator gives later, once what it decided is durable, or once others have come.

Unlike ``later.Later`` nothing is decided by the time the handler returns, and the wait may be as long as a client's
rebalance timeout.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from twinlog.servers.kafka.context import RequestContext
from twinlog.wire.kafka.message import Message

M = TypeVar("M", bound=Message)

STORE_TIMEOUT_MS: Final = 60_000  # nothing waits for the disk for longer than this without saying so


class Waiting(Generic[M]):
    """``answer`` may come before or after ``park``; whoever is too late is not heard."""

    def __init__(self, context: RequestContext, timed_out: Callable[[], M]) -> None:
        self._context = context
        self._timed_out = timed_out
        self._response: M | None = None
        self._parked = False
        self._over = False

    def answer(self, response: M) -> None:
        if self._over:
            return
        if not self._parked:
            self._response = response
            return
        self._over = True
        self._context.reply(response)

    def park(self, timeout_ms: int = STORE_TIMEOUT_MS) -> M | None:
        """What the handler returns: the response if it is known already."""
        if self._response is not None:
            self._over = True
            return self._response
        self._parked = True
        self._context.park(self, timeout_ms)
        return None

    def expire(self) -> None:
        if not self._over:
            self._over = True
            self._context.reply(self._timed_out())

    def abandon(self) -> None:
        self._over = True
