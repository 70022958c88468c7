"""A simulated machine's clocks, lives and programs."""

from __future__ import annotations

import asyncio

import pytest

from twinlog.host import Host
from twinlog.sim import World


def test_wall_clocks_jump_and_drift_and_monotonic_ones_do_not() -> None:
    with World(1) as world:
        machine = world.host("a")
        clock = machine.host.clock
        begun_ms, begun_us = clock.now_ms(), clock.monotonic_us()
        machine.clock.jump_wall(-5_000)
        assert clock.now_ms() - begun_ms == -5_000
        machine.clock.drift_wall(100_000)  # a tenth too fast
        world.run_for(10_000)
        assert clock.now_ms() - begun_ms == 6_000
        machine.clock.drift_wall(0)
        world.run_for(10_000)
        assert clock.now_ms() - begun_ms == 16_000
        assert clock.monotonic_us() - begun_us == 20_000_000


def test_clocks_of_two_hosts_differ_only_by_what_was_done_to_them() -> None:
    with World(1) as world:
        world.host("a").clock.jump_wall(3)
        assert world.host("a").host.clock.now_ms() - world.host("b").host.clock.now_ms() == 3


def test_a_program_runs_again_in_each_life_with_other_draws() -> None:
    drawn: list[bytes] = []

    async def program(host: Host) -> None:
        drawn.append(host.chance.bytes(8))
        await asyncio.Event().wait()

    with World(1) as world:
        machine = world.host("a")
        machine.boot(program)
        world.run_for(1)
        assert machine.is_up
        machine.kill()
        assert not machine.is_up
        machine.restart()
        world.run_for(1)
        assert (machine.lives, len(set(drawn))) == (2, 2)


def test_what_a_program_raises_ends_the_run() -> None:
    async def program(host: Host) -> None:
        await asyncio.sleep(1)
        raise ValueError("a bug")

    with World(1) as world:
        world.host("a").boot(program)
        with pytest.raises(ValueError, match="a bug"):
            world.run_for(2_000)


def test_a_program_may_take_its_own_crashes() -> None:
    told: list[str] = []

    async def program(host: Host) -> None:
        host.tasks.on_crash = lambda error: told.append(str(error))
        raise ValueError("a bug")

    with World(1) as world:
        world.host("a").boot(program)
        world.run_for(1)
    assert told == ["a bug"]


def test_killing_in_the_middle_of_a_task_runs_nothing_of_it() -> None:
    seen: list[str] = []

    async def program(host: Host) -> None:
        try:
            await asyncio.sleep(10)
        finally:
            seen.append("cleaned up")

    with World(1) as world:
        machine = world.host("a")
        machine.boot(program)
        world.run_for(5_000)
        machine.kill()
        world.run_for(60_000)
        assert seen == []


def test_draws_depend_on_the_label_and_not_on_other_draws() -> None:
    with World(1) as world, World(1) as again, World(2) as other:
        world.chance.bytes(100)
        assert world.chance.fork("x").bytes(8) == again.chance.fork("x").bytes(8)
        assert world.chance.fork("x").bytes(8) != world.chance.fork("y").bytes(8)
        assert world.chance.fork("x").bytes(8) != other.chance.fork("x").bytes(8)


def test_marks_are_counted() -> None:
    with World(1, keep_trace=True) as world:
        world.mark("rare")
        world.mark("rare")
        assert world.trace.marks == {"rare": 2}
        assert [event for event in world.trace.events if "rare" in event] == ["0 ('mark', 'rare')"] * 2
