"""The real machine with two knobs: its disk can be slowed, and its time can be moved on.

Everything in a node gets time and disk from its host, so a host that lies is enough: timers and clocks of the broker
jump, its clients' do not.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Final

from twinlog.host import Clock, Disk, File, Host, SyncDone, Tasks, Timer

STEPS_MAX: Final = 50
TURNS_A_STEP: Final = 5


class MovedClock:
    """The machine's clocks, ahead of it by what was moved."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.ahead_us = 0

    def now_ms(self) -> int:
        return self._clock.now_ms() + self.ahead_us // 1000

    def monotonic_us(self) -> int:
        return self._clock.monotonic_us() + self.ahead_us


class MovedTimer:
    """A timer that can be made to run before its delay has passed."""

    __slots__ = ("_call", "_waiting", "due_us", "handle")

    def __init__(self, due_us: int, call: Callable[[], object], waiting: dict[MovedTimer, None]) -> None:
        self.due_us = due_us
        self.handle: Timer | None = None
        self._call = call
        self._waiting = waiting

    def run(self) -> None:
        self._waiting.pop(self, None)
        self._call()

    def cancel(self) -> None:
        self._waiting.pop(self, None)
        if self.handle is not None:
            self.handle.cancel()


class MovedTasks:
    """The machine's tasks; timers wait for the moved clock."""

    def __init__(self, tasks: Tasks, clock: MovedClock) -> None:
        self._tasks = tasks
        self._clock = clock
        self._waiting: dict[MovedTimer, None] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tasks, name)

    @property
    def on_crash(self) -> Callable[[BaseException], None]:
        return self._tasks.on_crash

    @on_crash.setter
    def on_crash(self, hear: Callable[[BaseException], None]) -> None:
        self._tasks.on_crash = hear

    def later(self, delay_ms: float, callback: Callable[..., object], *args: object) -> Timer:
        due_us = self._clock.monotonic_us() + round(delay_ms * 1000)
        timer = MovedTimer(due_us, lambda: callback(*args), self._waiting)
        self._waiting[timer] = None
        timer.handle = self._tasks.later(delay_ms, timer.run)
        return timer

    def catch_up(self) -> None:
        """The clock was moved: what is due runs soon, in the order of its time; the rest waits for less long."""
        now_us = self._clock.monotonic_us()
        for timer in sorted(self._waiting, key=lambda each: each.due_us):
            assert timer.handle is not None
            timer.handle.cancel()
            left_ms = max(0, timer.due_us - now_us) / 1000
            timer.handle = self._tasks.later(left_ms, timer.run)


class SlowDisk:
    """A disk whose syncs take longer by ``delay_ms``; everything else is the disk's own."""

    def __init__(self, disk: Disk, tasks: Tasks) -> None:
        self._disk = disk
        self._tasks = tasks
        self.delay_ms = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._disk, name)

    def start_sync(self, files: Sequence[File], directories: Sequence[str], done: SyncDone, **more: Any) -> None:
        delay_ms = self.delay_ms

        def later(fault: Exception | None) -> None:
            self._tasks.later(delay_ms, done, fault)

        self._disk.start_sync(files, directories, later if delay_ms else done, **more)


class TurnableMachine:
    """``host`` is what the node gets."""

    def __init__(self, host: Host) -> None:
        self.clock = MovedClock(host.clock)
        self.tasks = MovedTasks(host.tasks, self.clock)
        # The disk's own time is the machine's: a slow sync ends when a person's clock says so.
        self.disk = SlowDisk(host.disk, host.tasks)
        self.host = dataclasses.replace(host, clock=self.clock, tasks=self.tasks, disk=self.disk)

    async def advance(self, span_ms: int) -> int:
        """Moves time on in some steps, so that what one timer begins can end before the last one runs. What the clock
        says then."""
        span_us = span_ms * 1000
        steps = max(1, min(STEPS_MAX, span_ms // 100))
        for step in range(steps):
            self.clock.ahead_us += span_us * (step + 1) // steps - span_us * step // steps
            self.tasks.catch_up()
            for _ in range(TURNS_A_STEP):
                await asyncio.sleep(0.001)
        return self.clock.now_ms()
