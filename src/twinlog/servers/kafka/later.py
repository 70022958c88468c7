"""An answer that waits for the metadata log, with a bound: it may come at once, later, or too late."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from twinlog.servers.kafka.admin_ports import Context
from twinlog.wire.kafka.message import Message

# A client that gives no time at all still gets an answer that says what happened rather than "timed out".
TIMEOUT_MIN_MS: Final = 1_000
TIMEOUT_MAX_MS: Final = 300_000


class Later:
    """``give`` the response when it is known; the handler returns ``response_or_wait()``."""

    def __init__(self, context: Context, timed_out: Callable[[], Message]) -> None:
        self._context = context
        self._timed_out = timed_out
        self._response: Message | None = None
        self._waiting = False
        self._over = False

    def give(self, response: Message) -> None:
        if self._over:
            return  # the client was told that time ran out, or is gone; what was decided stands all the same
        if self._waiting:
            self._over = True
            self._context.reply(response)
        else:
            self._response = response

    def response_or_wait(self, timeout_ms: int) -> Message | None:
        if self._response is not None:
            self._over = True
            return self._response
        self._waiting = True
        self._context.park(self, min(max(timeout_ms, TIMEOUT_MIN_MS), TIMEOUT_MAX_MS))
        return None

    def expire(self) -> None:
        if not self._over:
            self._over = True
            self._context.reply(self._timed_out())

    def abandon(self) -> None:
        self._over = True
