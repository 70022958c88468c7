"""From callbacks to ``await``, for handlers whose answer waits for the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from twinlog.base import HostFault, Refused
from twinlog.servers.http.message import HttpError

if TYPE_CHECKING:
    from twinlog.host import Tasks

T = TypeVar("T")

ANSWER_WAIT_MAX_MS = 30_000
ITEMS_A_TURN = 500


async def outcome_of(tasks: Tasks, begin: Callable[[Callable[[Any], None]], object]) -> Any:
    """Begins something that calls back once; returns what it said, raises what it refused with."""
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def done(outcome: Any) -> None:
        if not future.done():
            future.set_result(outcome)

    def late() -> None:
        done(HttpError(503, "timeout", "the node did not finish this in time; it may still happen"))

    timer = tasks.later(ANSWER_WAIT_MAX_MS, late)
    try:
        begin(done)
        outcome = await future
    finally:
        timer.cancel()
    if isinstance(outcome, (Refused, HostFault, HttpError)):
        raise outcome
    return outcome


async def breath(tasks: Tasks) -> None:
    """Lets everybody else have a turn of the loop."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    tasks.soon(lambda: None if future.done() else future.set_result(None))
    await future


async def passed(tasks: Tasks, delay_ms: float) -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    timer = tasks.later(delay_ms, lambda: None if future.done() else future.set_result(None))
    try:
        await future
    finally:
        timer.cancel()
