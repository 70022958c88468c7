"""Callbacks, timers, tasks and a small thread pool on an asyncio loop."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Coroutine
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, TypeAlias

from twinlog.host.tasks import Timer

THREADS: Final = 2  # for cold reads and compaction, not for parallel work

_Done: TypeAlias = Callable[[Any, Exception | None], None]


class LocalTasks:
    """Owns the loop's exception handler: nothing that fails on the loop fails unseen."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.on_crash: Callable[[BaseException], None] = _print_and_stop(loop)
        self._running: dict[asyncio.Task[None], None] = {}  # a dict, for the order of start
        self._work: SimpleQueue[tuple[Callable[[], Any], _Done] | None] = SimpleQueue()
        self._threads: list[Thread] = []
        loop.set_exception_handler(self._failed_on_loop)

    def soon(self, callback: Callable[..., object], *args: object) -> None:
        self._loop.call_soon(callback, *args)

    def later(self, delay_ms: float, callback: Callable[..., object], *args: object) -> Timer:
        return self._loop.call_later(delay_ms / 1000, callback, *args)

    def start(self, work: Coroutine[Any, Any, None], name: str) -> Timer:
        task = self._loop.create_task(work, name=name)
        self._running[task] = None
        task.add_done_callback(self._ended)
        return task

    def blocking(self, work: Callable[[], Any], done: _Done) -> None:
        if len(self._threads) < THREADS:
            thread = Thread(target=self._run_work, name=f"twinlog-work-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        self._work.put((work, done))

    async def stop(self) -> None:
        own = asyncio.current_task()
        for task in list(self._running):
            if task is not own:
                task.cancel()
                await asyncio.wait((task,))

    def close(self) -> None:
        """Ends the threads after the work already asked for."""
        for _ in self._threads:
            self._work.put(None)
        for thread in self._threads:
            thread.join()
        self._threads.clear()

    def _run_work(self) -> None:
        while (asked := self._work.get()) is not None:
            work, done = asked
            result, fault = None, None
            try:
                result = work()
            except Exception as raised:
                fault = raised
            try:
                self._loop.call_soon_threadsafe(done, result, fault)
            except RuntimeError:  # the loop is closed: nobody waits any more
                return

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._running[task]
        if not task.cancelled() and (error := task.exception()) is not None:
            self.on_crash(error)

    def _failed_on_loop(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self.on_crash(context.get("exception") or RuntimeError(context["message"]))


def _print_and_stop(loop: asyncio.AbstractEventLoop) -> Callable[[BaseException], None]:
    def crash(error: BaseException) -> None:
        traceback.print_exception(error)
        loop.stop()

    return crash
