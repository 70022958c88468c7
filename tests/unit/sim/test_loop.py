"""The simulated loop: virtual time, a dealt order, owners that die."""

from __future__ import annotations

import asyncio
from contextvars import Context
from typing import Any

import pytest

from twinlog.sim import NothingLeft, World
from twinlog.sim.loop import Owner


def order_of_ready(seed: int, *, shuffle: bool = True) -> list[int]:
    ran: list[int] = []

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(8):
                group.create_task(note(number))

    async def note(number: int) -> None:
        ran.append(number)

    with World(seed, shuffle=shuffle) as world:
        world.run(main())
    return ran


def test_time_jumps_over_sleep() -> None:
    async def main() -> float:
        await asyncio.sleep(3600)
        return asyncio.get_running_loop().time()

    with World(1) as world:
        assert 3600 <= world.run(main()) < 3600.001


def test_one_seed_deals_one_order_and_others_deal_others() -> None:
    orders = [order_of_ready(seed) for seed in range(20)]
    assert orders == [order_of_ready(seed) for seed in range(20)]
    assert len({tuple(order) for order in orders}) > 15


def test_in_order_means_as_scheduled() -> None:
    assert order_of_ready(1, shuffle=False) == order_of_ready(2, shuffle=False) == list(range(8))


def cancelled_and_done(seed: int) -> tuple[list[int], list[str]]:
    """What asyncio keeps in sets: the children of a failing group, and the first of many waits."""
    cancelled: list[int] = []

    async def wait(number: int) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(number)
            raise

    async def fail() -> None:
        await asyncio.sleep(1)
        raise ValueError

    async def main() -> list[str]:
        with pytest.raises(ExceptionGroup):
            async with asyncio.TaskGroup() as group:
                for number in range(8):
                    group.create_task(wait(number))
                group.create_task(fail())
        tasks = [asyncio.create_task(asyncio.sleep(0), name=f"sleeper {number}") for number in range(8)]
        done, _ = await asyncio.wait(tasks)
        return [task.get_name() for task in done]

    with World(seed) as world:
        return cancelled, world.run(main())


def test_groups_are_cancelled_in_one_order_for_a_seed() -> None:
    garbage: list[Any] = []
    first = cancelled_and_done(7)
    for size in range(30):
        garbage.append([object() for _ in range(size)])  # other addresses
        assert cancelled_and_done(7) == first


def test_default_names_of_tasks_count_from_the_beginning_of_each_world() -> None:
    async def main() -> str:
        task = asyncio.create_task(asyncio.sleep(0))
        await task
        return task.get_name()

    names = []
    for _ in range(2):
        with World(1) as world:
            names.append(world.run(main()))
    assert names[0] == names[1]


def test_waiting_for_nothing_is_an_error() -> None:
    async def main() -> None:
        await asyncio.Event().wait()

    with World(1) as world, pytest.raises(NothingLeft):
        world.run(main())


def test_callbacks_that_feed_on_themselves_are_an_error() -> None:
    with World(1) as world:
        world.loop.turns_max = 100

        def again() -> None:
            world.loop.call_soon(again)

        again()
        with pytest.raises(AssertionError, match="round in circles"):
            world.run_for(1000)


def test_what_a_callback_raises_ends_the_run() -> None:
    with World(1) as world:
        world.loop.call_soon(lambda: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            world.run_for(1)


def test_a_run_ends_at_its_time_with_timers_left() -> None:
    ran: list[int] = []
    with World(1) as world:
        for delay_s in (1, 2, 3):
            world.loop.call_later(delay_s, ran.append, delay_s)
        world.run_for(2000)
        assert (ran, world.loop.now_us) == ([1, 2], 2_000_001)
        with pytest.raises(AssertionError, match="still waiting"):
            world.wait_for(lambda: False, within_ms=500)
        world.wait_for(lambda: ran == [1, 2, 3], within_ms=10_000)
        assert 3_000_000 <= world.loop.now_us < 3_000_010


def test_asyncio_timeouts_work() -> None:
    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await asyncio.Event().wait()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 5)
        assert await asyncio.gather(asyncio.sleep(2, "a"), asyncio.sleep(1, "b")) == ["a", "b"]

    with World(3) as world:
        world.run(main())
        assert 12_000_000 <= world.loop.now_us < 12_001_000


def test_the_dead_do_not_run() -> None:
    ran: list[str] = []

    async def work(name: str) -> None:
        ran.append(f"{name} begins")
        try:
            await asyncio.sleep(1)
            ran.append(f"{name} goes on")
        finally:
            ran.append(f"{name} cleans up")

    with World(1) as world:
        owners = [Owner(name, world.fail) for name in ("a", "b")]
        for owner in owners:
            world.loop.create_task(work(owner.name), context=owner.context())
        world.run_for(500)
        world.loop.bury(owners[0])
        world.run_for(10_000)
        assert sorted(ran) == ["a begins", "b begins", "b cleans up", "b goes on"]
    assert ran[-1] == "a cleans up"  # with the world gone, where it moves nothing


def test_who_stands_still_loses_nothing() -> None:
    ran: list[int] = []
    with World(1) as world:
        owner = Owner("a", world.fail)
        for delay_s in (1, 2, 3):
            world.loop.call_later(delay_s, ran.append, delay_s, context=owner.context())
        owner.stopped = []
        world.run_for(2500)
        assert ran == []
        world.loop.go_on(owner)
        world.run_for(100)
        assert sorted(ran) == [1, 2]
        world.run_for(1000)
        assert sorted(ran) == [1, 2, 3]


def test_threads_are_refused() -> None:
    with World(1) as world, pytest.raises(AssertionError, match="no threads"):
        world.loop.call_soon_threadsafe(print)


def test_a_callback_with_a_context_of_its_own_outlives_who_scheduled_it() -> None:
    # An empty context counts as false, and was once taken for none at all.
    ran: list[str] = []
    with World(1) as world:
        owner = Owner("a", world.fail)
        owner.context().run(lambda: world.loop.call_soon(ran.append, "theirs"))
        owner.context().run(lambda: world.loop.call_soon(ran.append, "nobody's", context=Context()))
        world.loop.bury(owner)
        world.run_for(1)
    assert ran == ["nobody's"]
