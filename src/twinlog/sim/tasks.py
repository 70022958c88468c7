"""Callbacks and tasks of one life of a simulated host."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final

from twinlog.host.tasks import Timer
from twinlog.sim.chance import SimChance
from twinlog.sim.loop import Owner, SimLoop

THREAD_DELAY_US_MAX: Final = 2_000


class SimTasks:
    """``blocking`` runs its work inline, at a moment and with an answer that chance delays."""

    def __init__(self, loop: SimLoop, owner: Owner, chance: SimChance) -> None:
        self._loop = loop
        self._owner = owner
        self._chance = chance
        self._context = owner.context()
        self._soon: deque[tuple[Callable[..., object], tuple[object, ...]]] = deque()
        self._running: dict[asyncio.Task[None], None] = {}

    @property
    def on_crash(self) -> Callable[[BaseException], None]:
        return self._owner.on_error

    @on_crash.setter
    def on_crash(self, hook: Callable[[BaseException], None]) -> None:
        self._owner.on_error = hook

    def soon(self, callback: Callable[..., object], *args: object) -> None:
        # The loop shuffles what is ready, but this order was promised: whichever turn comes first
        # takes the oldest callback.
        self._soon.append((callback, args))
        self._loop.call_soon(self._run_oldest, context=self._context)

    def later(self, delay_ms: float, callback: Callable[..., object], *args: object) -> Timer:
        return self._loop.call_later(delay_ms / 1000, callback, *args, context=self._context)

    def start(self, work: Coroutine[Any, Any, None], name: str) -> Timer:
        task = self._loop.create_task(work, name=name, context=self._context.copy())
        self._running[task] = None
        task.add_done_callback(self._ended, context=self._context)
        return task

    def blocking(self, work: Callable[[], Any], done: Callable[[Any, Exception | None], None]) -> None:
        def run() -> None:
            result, fault = None, None
            try:
                result = work()
            except Exception as raised:
                fault = raised
            self._after_delay(done, result, fault)

        self._after_delay(run)

    async def stop(self) -> None:
        own = asyncio.current_task()
        for task in list(self._running):
            if task is not own:
                task.cancel()
                await asyncio.wait((task,))

    def _run_oldest(self) -> None:
        callback, args = self._soon.popleft()
        callback(*args)

    def _after_delay(self, callback: Callable[..., object], *args: object) -> None:
        delay_us = self._chance.between(0, THREAD_DELAY_US_MAX)
        self._loop.call_at_us(self._loop.now_us + delay_us, callback, *args, context=self._context)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._running[task]
        if not task.cancelled() and (error := task.exception()) is not None:
            self.on_crash(error)
