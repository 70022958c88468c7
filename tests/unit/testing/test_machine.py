"""Time that a test moves on: timers run in the order of their time, and what they begin can end."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from twinlog.host import Host
from twinlog.host.local import run
from twinlog.testing.machine import TurnableMachine

HOUR_MS = 3_600_000


def on(work: Callable[[TurnableMachine], Coroutine[Any, Any, None]]) -> None:
    async def main(host: Host) -> None:
        await work(TurnableMachine(host))

    run(main, loop="asyncio")


def test_timers_that_are_due_run_in_the_order_of_their_time_and_no_others() -> None:
    async def work(machine: TurnableMachine) -> None:
        ran: list[str] = []
        for name, hours in (("third", 3), ("first", 1), ("never", 24), ("second", 2)):
            machine.host.tasks.later(hours * HOUR_MS, ran.append, name)
        cancelled = machine.host.tasks.later(HOUR_MS, ran.append, "cancelled")
        cancelled.cancel()
        await machine.advance(4 * HOUR_MS)
        assert ran == ["first", "second", "third"]

    on(work)


def test_both_clocks_are_ahead_by_what_was_moved() -> None:
    async def work(machine: TurnableMachine) -> None:
        clock = machine.host.clock
        wall_ms, steady_us = clock.now_ms(), clock.monotonic_us()
        told_ms = await machine.advance(HOUR_MS + 1)
        assert told_ms >= wall_ms + HOUR_MS + 1
        assert clock.monotonic_us() >= steady_us + (HOUR_MS + 1) * 1000
        assert clock.now_ms() < wall_ms + 2 * HOUR_MS

    on(work)


def test_a_timer_that_sets_itself_again_runs_again_and_again() -> None:
    async def work(machine: TurnableMachine) -> None:
        ran: list[int] = []

        def again() -> None:
            ran.append(machine.host.clock.now_ms())
            machine.host.tasks.later(HOUR_MS, again)

        again()
        await machine.advance(10 * HOUR_MS)
        assert 8 <= len(ran) - 1 <= 10
        assert ran == sorted(ran)

    on(work)


def test_timers_made_before_the_jump_wait_for_less_long_afterwards() -> None:
    async def work(machine: TurnableMachine) -> None:
        ran: list[str] = []
        machine.host.tasks.later(HOUR_MS, ran.append, "due")
        await machine.advance(HOUR_MS - 50)
        while not ran:
            await machine.advance(0)
        assert ran == ["due"]

    on(work)
