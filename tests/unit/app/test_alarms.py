"""Memory and disk that run out: who is slowed down, who may not come in, who has to go."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from twinlog.amqp.alarms import DISK, MEMORY, Alarms
from twinlog.app.alarms import AlarmWatch
from twinlog.app.settings import MemorySettings
from twinlog.base.logs import Silence
from twinlog.host.memory import MemoryAccount
from twinlog.sim import World


class Watched:
    """A watch on a simulated machine whose connections may hold 1000 bytes, and the process 600."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.machine = world.host("node")
        self.host = self.machine.host
        self.host.disk.make_directory("data")
        self.alarms = Alarms()
        self.used = 0
        self.told: list[tuple[bool, bool]] = []
        self.ended: list[str] = []
        self.watch = AlarmWatch(
            self.host,
            self.alarms,
            MemorySettings(connections_max_bytes=1000),
            "data",
            Silence(),
            lambda is_short, is_scarce: self.told.append((is_short, is_scarce)),
            memory_alarm_bytes=600,
            disk_free_min_bytes=5000,
            resident_bytes=lambda: self.used,
        )
        self.watch.start()

    def holds(self, name: str, size: int) -> MemoryAccount:
        def end() -> None:
            self.ended.append(name)
            account.close()

        account = MemoryAccount(self.host.network.memory, end)
        account.change(size)
        self.world.run_for(1)
        return account


@pytest.fixture
def watched() -> Iterator[Watched]:
    with World(1) as world:
        yield Watched(world)


def test_what_the_process_holds_is_looked_at_once_a_second(watched: Watched) -> None:
    watched.used = 601
    watched.world.run_for(1001)
    assert list(watched.alarms.active) == [MEMORY]
    watched.used = 801
    watched.world.run_for(1001)
    watched.used = 600
    watched.world.run_for(1001)
    assert watched.told == [(True, False), (True, True), (False, False)]
    assert watched.alarms.reason is None


def test_what_connections_hold_counts_at_once(watched: Watched) -> None:
    first = watched.holds("first", 601)
    assert watched.told == [(True, False)]
    assert "connections hold 601 of 1000" in watched.alarms.active[MEMORY]
    second = watched.holds("second", 200)
    assert watched.told[1:] == [(True, True)]
    second.close()
    watched.world.run_for(1)
    assert watched.told[2:] == [(True, False)]
    first.close()
    watched.world.run_for(1)
    assert watched.told[3:] == [(False, False)] and watched.alarms.reason is None
    assert watched.ended == []


def test_those_that_hold_most_go_when_all_of_it_is_held(watched: Watched) -> None:
    watched.holds("small", 150)
    watched.holds("large", 500)
    watched.holds("middle", 340)
    assert watched.ended == []
    watched.holds("last", 11)
    assert watched.ended == ["large"], "eight tenths are left"
    assert watched.host.network.memory.held_bytes == 501
    assert watched.alarms.reason is None


def test_one_pressure_does_not_hide_the_end_of_another(watched: Watched) -> None:
    account = watched.holds("first", 700)
    watched.used = 700
    watched.world.run_for(1001)
    account.close()
    watched.world.run_for(1)
    assert watched.told == [(True, False)], "the process still holds too much"
    watched.used = 0
    watched.world.run_for(1001)
    assert watched.told == [(True, False), (False, False)]


def test_a_disk_that_fills_up_is_an_alarm_of_its_own(watched: Watched) -> None:
    platter = watched.machine.platter
    platter.capacity_bytes = platter.used_bytes + 4999
    watched.world.run_for(1001)
    assert list(watched.alarms.active) == [DISK]
    platter.capacity_bytes = platter.used_bytes + 5000
    watched.world.run_for(1001)
    assert watched.alarms.active == {}
    assert watched.told == []


def test_after_the_stop_nobody_is_told(watched: Watched) -> None:
    watched.watch.stop()
    watched.holds("first", 2000)
    watched.world.run_for(3000)
    assert watched.told == [] and watched.ended == []
