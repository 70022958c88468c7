"""From callbacks to ``await``, for the start and the stop of a node; nothing in service waits this way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from twinlog.host import Tasks


async def finished(begin: Callable[[Callable[[Exception | None], None]], None]) -> None:
    """Begins something that answers with None or a fault; raises the fault."""
    fault = await answered(begin)
    if fault is not None:
        raise fault


async def answered(begin: Callable[[Callable[[Any], None]], object]) -> Any:
    """Begins something that calls back once; what it said."""
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def done(outcome: Any) -> None:
        if not future.done():
            future.set_result(outcome)

    begin(done)
    return await future


async def passed(tasks: Tasks, delay_ms: float) -> None:
    await answered(lambda done: tasks.later(delay_ms, done, None))
