"""An asyncio event loop without a machine: virtual time, and a dealt order of events.

Time stands still while callbacks run and jumps to the next timer when none is ready. Callbacks that are
ready together run in an order drawn from the seed, so that nobody leans on an order that was never
promised. Tasks and futures hash by a counter instead of their address, since asyncio keeps them in sets
and walks those when it cancels.

Every callback belongs to the ``Owner`` in whose context it was scheduled. A dead owner's callbacks are
dropped, a stopped owner's are kept until it goes on: that is how a simulated host crashes or pauses.
"""

from __future__ import annotations

import asyncio
import heapq
import math
from asyncio import events
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import Context, ContextVar, copy_context
from typing import Any, Final, TypeVar, cast

from twinlog.sim.chance import SimChance

T = TypeVar("T")

TURN_US: Final = 1  # what one round of callbacks takes, so that time goes on even without timers
TURNS_MAX: Final = 1_000_000  # rounds without a timer; beyond, callbacks feed on themselves

OWNER: ContextVar[Owner | None] = ContextVar("sim_owner", default=None)


class NothingLeft(AssertionError):
    """Somebody still waits, but no callback and no timer is left that could wake anybody."""


class Owner:
    """Whose callbacks these are: one life of a host."""

    __slots__ = ("alive", "name", "on_error", "stopped", "tasks")

    def __init__(self, name: str, on_error: Callable[[BaseException], None]) -> None:
        self.name = name
        self.on_error = on_error
        self.alive = True
        self.stopped: list[SimHandle] | None = None  # while it stands still: what became ready meanwhile
        self.tasks: list[asyncio.Task[Any]] = []

    def context(self) -> Context:
        context = copy_context()
        context.run(OWNER.set, self)
        return context


class SimHandle:
    """A callback to come; stands in for ``asyncio.Handle`` and ``TimerHandle``."""

    __slots__ = ("args", "callback", "context", "is_cancelled", "owner", "when_us")

    def __init__(self, callback: Callable[..., object], args: tuple[Any, ...], context: Context, when_us: int) -> None:
        self.callback = callback
        self.args = args
        self.context = context
        self.owner: Owner | None = context.get(OWNER)
        self.when_us = when_us
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True

    def cancelled(self) -> bool:
        return self.is_cancelled

    def when(self) -> float:
        return self.when_us / 1e6


class CountedTask(asyncio.Task[T]):
    def __init__(self, serial: int, coro: Coroutine[Any, Any, T], **options: Any) -> None:
        self.serial = serial  # first, since asyncio hashes a task while it makes it
        super().__init__(coro, **options)

    def __hash__(self) -> int:
        return self.serial


class CountedFuture(asyncio.Future[T]):
    def __init__(self, serial: int, **options: Any) -> None:
        self.serial = serial
        super().__init__(**options)

    def __hash__(self) -> int:
        return self.serial


class SimLoop(asyncio.AbstractEventLoop):
    """Only what a program without sockets, threads and signals asks of a loop."""

    def __init__(self, chance: SimChance, *, shuffle: bool = True) -> None:
        self._chance = chance
        self._shuffle = shuffle
        self.now_us = 0
        self.callbacks_run = 0
        self.turns_max = TURNS_MAX
        self.on_error: Callable[[BaseException], None] = self._remember
        self._ready: list[SimHandle] = []
        self._timers: list[tuple[int, int, SimHandle]] = []
        self._serial = 0
        self._running = False
        self._closed = False
        self._errors: list[BaseException] = []
        self._tasks: list[asyncio.Task[Any]] = []  # of no owner

    # Running.

    def run_until_complete(self, future: Generator[Any, None, T] | Awaitable[T]) -> T:
        own: asyncio.Future[T]
        if asyncio.isfuture(future):
            own = future
        else:
            own = self.create_task(cast("Coroutine[Any, Any, T]", future))
        self._run(own.done, deadline_us=None)
        return own.result()

    def run_for_us(self, span_us: int) -> None:
        self._run(lambda: False, deadline_us=self.now_us + span_us)

    def run_while(self, waiting: Callable[[], bool], within_us: int) -> None:
        self._run(lambda: not waiting(), deadline_us=self.now_us + within_us)
        assert not waiting(), f"still waiting after {within_us} us"

    def _run(self, done: Callable[[], bool], deadline_us: int | None) -> None:
        assert not self._running, "the loop runs already"
        self._running = True
        before = events._get_running_loop()
        events._set_running_loop(self)
        turns = 0
        try:
            while not done():
                if self._errors:
                    raise self._errors.pop(0)
                if self._ready:
                    turns += 1
                    assert turns < self.turns_max, f"callbacks go round in circles: {self._ready[:3]}"
                    self._run_turn()
                elif self._timers and (deadline_us is None or self._timers[0][0] <= deadline_us):
                    turns = 0
                    self.now_us = max(self.now_us, self._timers[0][0])
                    self._take_due()
                elif deadline_us is not None:
                    self.now_us = max(self.now_us, deadline_us)
                    break
                else:
                    raise NothingLeft("nothing is left that could happen")
            if self._errors:
                raise self._errors.pop(0)
        finally:
            events._set_running_loop(before)
            self._running = False

    def _run_turn(self) -> None:
        turn, self._ready = self._ready, []
        if self._shuffle and len(turn) > 1:
            self._chance.shuffle(turn)
        for handle in turn:
            owner = handle.owner
            if handle.is_cancelled or (owner is not None and not owner.alive):
                continue
            if owner is not None and owner.stopped is not None:
                owner.stopped.append(handle)
                continue
            self.callbacks_run += 1
            try:
                handle.context.run(handle.callback, *handle.args)
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:
                (owner or self).on_error(error)
        self.now_us += TURN_US
        self._take_due()

    def _take_due(self) -> None:
        timers = self._timers
        while timers and timers[0][0] <= self.now_us:
            handle = heapq.heappop(timers)[2]
            if not handle.is_cancelled:
                self._ready.append(handle)

    def go_on(self, owner: Owner) -> None:
        """Ends a stop: what became ready meanwhile is ready now."""
        kept, owner.stopped = owner.stopped or [], None
        self._ready.extend(kept)

    def _remember(self, error: BaseException) -> None:
        self._errors.append(error)

    # Scheduling.

    def time(self) -> float:
        return self.now_us / 1e6

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> SimHandle:
        handle = SimHandle(callback, args, copy_context() if context is None else context, self.now_us)
        if not self._closed:
            self._ready.append(handle)
        return handle

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> SimHandle:
        return self.call_at_us(self.now_us + math.ceil(delay * 1e6 - 1e-3), callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> SimHandle:
        return self.call_at_us(math.ceil(when * 1e6 - 1e-3), callback, *args, context=context)

    def call_at_us(
        self, when_us: int, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> SimHandle:
        handle = SimHandle(callback, args, copy_context() if context is None else context, when_us)
        if not self._closed:
            self._serial += 1
            heapq.heappush(self._timers, (when_us, self._serial, handle))
        return handle

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> SimHandle:
        raise AssertionError("no threads in the simulator: use Tasks.blocking")

    def create_future(self) -> asyncio.Future[Any]:
        self._serial += 1
        return CountedFuture(self._serial, loop=self)

    def create_task(  # type: ignore[override]
        self, coro: Coroutine[Any, Any, T], *, name: str | None = None, context: Context | None = None
    ) -> asyncio.Task[T]:
        self._serial += 1
        context = copy_context() if context is None else context
        # A name of asyncio's own would count through the whole process, and differ from run to run.
        task = CountedTask(self._serial, coro, loop=self, name=name or f"task-{self._serial}", context=context)
        owner = context.get(OWNER)
        tasks = self._tasks if owner is None else owner.tasks
        tasks.append(task)
        if len(tasks) % 256 == 0:
            tasks[:] = [each for each in tasks if not each.done()]
        return task

    def bury(self, owner: Owner) -> None:
        """The owner never runs again. What its tasks still hold lives on until ``close``, lest some
        finaliser acts at a moment that no seed decides."""
        owner.alive = False
        self._tasks.extend(task for task in owner.tasks if not task.done())
        owner.tasks.clear()

    # The rest of what asyncio asks for.

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return self._running

    def is_closed(self) -> bool:
        return self._closed

    def stop(self) -> None:
        raise AssertionError("the world decides when its loop ends")

    def close(self) -> None:
        """Closes the coroutines still waiting; what they do about it goes nowhere."""
        self._closed = True
        self._ready.clear()
        self._timers.clear()
        for task in self._tasks:
            if not task.done():
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                try:
                    task.get_coro().close()
                except BaseException:  # a finally clause that met a machine long gone
                    pass
        self._tasks.clear()

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if not self._closed:
            self._remember(context.get("exception") or RuntimeError(context["message"]))
