"""The simulated disk keeps what was synced, and may do as it likes with the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.kit.hosts import synced
from twinlog.base.errors import DiskFull, HostFault
from twinlog.host import Disk
from twinlog.sim import SimHost, World
from twinlog.sim.platter import SECTOR_BYTES

SEEDS = range(60)
OLD, NEW = b"o" * 2000, b"n" * 2000


def after_power_cut(seed: int, work: Callable[[Disk], None], look: Callable[[Disk], Any]) -> Any:
    """What ``look`` finds after ``work`` and a power cut."""
    with World(seed) as world:
        machine = world.host("a")
        work(machine.host.disk)
        machine.cut_power()
        return look(machine.host.disk)


def found(work: Callable[[Disk], None], look: Callable[[Disk], Any]) -> set[Any]:
    return {after_power_cut(seed, work, look) for seed in SEEDS}


def content(path: str) -> Callable[[Disk], bytes | None]:
    def look(disk: Disk) -> bytes | None:
        return disk.open(path).read_at(0, 1 << 30) if disk.exists(path) else None

    return look


def durable_file(disk: Disk, path: str, data: bytes) -> None:
    file = disk.open(path, create=True)
    file.append([data])
    disk.sync_now(file)
    disk.sync_directory_now("/")


def test_what_was_synced_survives() -> None:
    assert found(lambda disk: durable_file(disk, "f", OLD), content("f")) == {OLD}


def test_what_was_not_synced_may_survive_or_not() -> None:
    def work(disk: Disk) -> None:
        durable_file(disk, "f", OLD)
        disk.open("f").append([NEW])

    outcomes = found(work, content("f"))
    assert {OLD, OLD + NEW, OLD + bytes(2000)} <= outcomes
    torn = outcomes - {OLD, OLD + NEW, OLD + bytes(2000)}
    assert torn
    for data in torn:
        assert data.startswith(OLD)
        assert len(data) <= 4000


def test_a_torn_write_is_torn_at_sectors() -> None:
    def work(disk: Disk) -> None:
        durable_file(disk, "f", OLD)
        disk.open("f").write_at(100, b"n" * 1500)

    outcomes = found(work, content("f"))
    assert len(outcomes) > 5
    for data in outcomes:
        assert len(data) == 2000
        assert data[:100] == OLD[:100]
        assert data[1600:] == OLD[1600:]
        for place in range(0, 1600, SECTOR_BYTES):
            assert len(set(data[max(place, 100) : min(place + SECTOR_BYTES, 1600)])) == 1


def test_later_writes_may_survive_earlier_ones() -> None:
    def work(disk: Disk) -> None:
        for name in "ab":
            durable_file(disk, name, b"")
        disk.open("a").append([b"first"])
        disk.open("b").append([b"second"])

    outcomes = found(work, lambda disk: (content("a")(disk), content("b")(disk)))
    assert {(b"", b"second"), (b"first", b""), (b"", b""), (b"first", b"second")} <= outcomes


def test_a_synced_file_without_a_synced_name_may_vanish() -> None:
    def work(disk: Disk) -> None:
        file = disk.open("f", create=True)
        file.append([OLD])
        disk.sync_now(file)

    assert found(work, content("f")) == {None, OLD}


def test_a_directory_needs_its_own_name_synced() -> None:
    def work(disk: Disk) -> None:
        disk.make_directory("d")
        disk.open("d/f", create=True).append([b"x"])
        disk.sync_now(disk.open("d/f"))
        disk.sync_directory_now("d")

    assert found(work, lambda disk: disk.exists("d/f")) == {True, False}


def test_a_rename_happens_or_does_not() -> None:
    def work(disk: Disk) -> None:
        durable_file(disk, "f", OLD)
        durable_file(disk, "temporary", NEW)
        disk.rename("temporary", "f")

    look = lambda disk: (content("f")(disk), disk.exists("temporary"))  # noqa: E731
    assert found(work, look) == {(OLD, True), (NEW, False)}


def test_a_rename_may_come_before_the_bytes() -> None:
    def work(disk: Disk) -> None:
        durable_file(disk, "f", OLD)
        disk.open("temporary", create=True).append([b"new"])
        disk.rename("temporary", "f")
        disk.sync_directory_now("/")

    outcomes = found(work, content("f"))
    assert OLD not in outcomes
    assert {b"new", b""} <= outcomes


def test_a_rename_between_directories_is_one_step() -> None:
    def work(disk: Disk) -> None:
        for name in ("one", "two"):
            disk.make_directory(name)
        durable_file(disk, "one/f", OLD)
        disk.sync_directory_now("one")
        disk.rename("one/f", "two/f")

    assert found(work, lambda disk: (disk.exists("one/f"), disk.exists("two/f"))) == {(True, False), (False, True)}

    def work_and_sync(disk: Disk) -> None:
        work(disk)
        disk.sync_directory_now("two")

    assert found(work_and_sync, lambda disk: (disk.exists("one/f"), disk.exists("two/f"))) == {(False, True)}


def test_a_deleted_file_may_come_back_with_what_was_synced() -> None:
    def work(disk: Disk) -> None:
        durable_file(disk, "f", OLD)
        disk.open("f").append([NEW])
        disk.sync_now(disk.open("f"))
        disk.delete("f")

    assert found(work, content("f")) == {None, OLD + NEW}


def test_a_name_that_came_and_went_may_be_back() -> None:
    def work(disk: Disk) -> None:
        file = disk.open("f", create=True)
        file.append([b"unsynced"])
        disk.delete("f")

    outcomes = found(work, content("f"))
    assert None in outcomes
    assert outcomes & {b"", b"unsynced", bytes(8)}


def test_a_disk_that_lies_about_syncs_loses_what_was_synced() -> None:
    def lying(seed: int) -> bytes | None:
        with World(seed) as world:
            machine = world.host("a")
            durable_file(machine.host.disk, "f", b"")
            machine.platter.lies_about_sync = True
            file = machine.host.disk.open("f")
            file.append([OLD])
            machine.host.disk.sync_now(file)
            machine.cut_power()
            return content("f")(machine.host.disk)

    assert b"" in {lying(seed) for seed in SEEDS}


def test_a_sync_covers_what_was_written_before_it_was_asked_for() -> None:
    async def write_meanwhile(host: Any) -> None:
        durable_file(host.disk, "f", b"")
        file = host.disk.open("f")
        file.append([b"before"])
        host.tasks.soon(file.append, [b"after"])
        assert await synced(host, [file]) is None
        assert file.size == 11

    def run(seed: int) -> bytes | None:
        with World(seed) as world:
            machine = world.host("a")
            machine.run(write_meanwhile(machine.host))
            machine.cut_power()
            return content("f")(machine.host.disk)

    outcomes = {run(seed) for seed in SEEDS}
    assert {b"before", b"beforeafter"} <= outcomes
    assert all(data is not None and data.startswith(b"before") for data in outcomes)


def test_an_unfinished_sync_promises_nothing() -> None:
    def run(seed: int) -> bytes | None:
        with World(seed) as world:
            machine = world.host("a")
            durable_file(machine.host.disk, "f", b"")
            file = machine.host.disk.open("f")
            file.append([b"x"])
            machine.platter.stall(10_000)
            machine.host.disk.start_sync([file], [], lambda fault: pytest.fail("answered"))
            world.run_for(9_000)
            machine.cut_power()
            world.run_for(9_000)
            return content("f")(machine.host.disk)

    assert {b"", b"x"} <= {run(seed) for seed in SEEDS}


def test_a_killed_process_loses_nothing() -> None:
    for seed in SEEDS:
        with World(seed) as world:
            machine = world.host("a")
            machine.host.disk.open("f", create=True).append([b"unsynced"])
            machine.kill()
            assert content("f")(machine.host.disk) == b"unsynced"


def failed_sync(machine: SimHost) -> Any:
    durable_file(machine.host.disk, "f", b"")
    file = machine.host.disk.open("f")
    file.append([OLD])
    machine.platter.faults.fail("sync")
    with pytest.raises(HostFault):
        machine.host.disk.sync_now(file)
    return file


def test_a_failed_sync_stays_failed_for_the_process_and_its_bytes_may_be_gone() -> None:
    lost = 0
    for seed in SEEDS:
        with World(seed) as world:
            machine = world.host("a")
            file = failed_sync(machine)
            for again in (file, machine.host.disk.open("f")):
                with pytest.raises(HostFault):
                    machine.host.disk.sync_now(again)
            machine.kill()
            again = machine.host.disk.open("f")
            machine.host.disk.sync_now(again)  # the next process is told that all is well
            machine.cut_power()
            lost += content("f")(machine.host.disk) != OLD
    assert 0 < lost < len(SEEDS)


def test_a_handle_of_an_earlier_life_is_dead() -> None:
    with World(1) as world:
        machine = world.host("a")
        disk = machine.host.disk
        file = disk.open("f", create=True)
        machine.kill()
        assert machine.host.disk is not disk
        for call in (lambda: file.append([b"x"]), lambda: disk.open("f"), lambda: disk.sync_now(file)):
            with pytest.raises(HostFault, match="gone"):
                call()


def replace_file(disk: Disk) -> None:
    """The right way to replace a file: write beside it, sync, rename, sync the directory."""
    file = disk.open("temporary", create=True)
    file.truncate(0)
    file.append([NEW])
    disk.sync_now(file)
    disk.rename("temporary", "f")
    disk.sync_directory_now("/")


def test_any_call_can_be_the_one_that_fails() -> None:
    with World(1) as world:
        machine = world.host("a")
        durable_file(machine.host.disk, "f", OLD)
        before = machine.platter.faults.calls.copy()
        replace_file(machine.host.disk)
        used = machine.platter.faults.calls - before
    assert used == {"open": 1, "truncate": 1, "write": 1, "sync": 1, "rename": 1, "sync_directory": 1}
    for call in used:
        for seed in range(10):
            with World(seed) as world:
                machine = world.host("a")
                durable_file(machine.host.disk, "f", OLD)
                machine.platter.faults.fail(call)
                with pytest.raises(HostFault):
                    replace_file(machine.host.disk)
                machine.cut_power()
                assert content("f")(machine.host.disk) in (OLD, NEW)


def test_faults_are_counted_by_path() -> None:
    with World(1) as world:
        machine = world.host("a")
        one, two = (machine.host.disk.open(name, create=True) for name in ("one", "two"))
        machine.platter.faults.fail("write", nth=2, times=2, path_part="two")
        outcomes = []
        for file in (one, two, one, two, two, two):
            try:
                file.append([b"x"])
                outcomes.append(True)
            except HostFault as fault:
                assert not isinstance(fault, DiskFull)
                outcomes.append(False)
        assert outcomes == [True, True, True, False, False, True]
        assert (one.size, two.size) == (2, 2)


def test_calls_can_fail_by_chance() -> None:
    with World(1) as world:
        machine = world.host("a")
        file = machine.host.disk.open("f", create=True)
        machine.platter.faults.one_in["write"] = 5
        failed = 0
        for _ in range(500):
            try:
                file.append([b"x"])
            except HostFault:
                failed += 1
        assert 50 < failed < 150
        machine.platter.faults.clear()
        file.append([b"x"])


def test_a_full_disk_may_show_half_a_write_after_a_power_cut() -> None:
    def run(seed: int) -> bytes | None:
        with World(seed) as world:
            machine = world.host("a")
            durable_file(machine.host.disk, "f", OLD)
            machine.platter.faults.fail("write", full=True)
            file = machine.host.disk.open("f")
            with pytest.raises(DiskFull):
                file.append([NEW])
            assert file.read_at(0, 9999) == OLD
            machine.cut_power()
            return content("f")(machine.host.disk)

    outcomes = {run(seed) for seed in SEEDS}
    assert OLD in outcomes
    assert any(data is not None and data.startswith(OLD + b"n") for data in outcomes)


def test_room_comes_back_with_deletion_and_is_counted_anew_after_a_cut() -> None:
    with World(1) as world:
        machine = world.host("a")
        disk, platter = machine.host.disk, machine.platter
        platter.capacity_bytes = 5000
        durable_file(disk, "f", OLD)
        disk.open("g", create=True).append([NEW])
        assert (platter.used_bytes, disk.free_bytes("/")) == (4000, 1000)
        with pytest.raises(DiskFull):
            disk.open("g").append([NEW])
        disk.delete("g")
        assert platter.used_bytes == 2000
        disk.open("h", create=True).append([NEW])
        disk.rename("h", "f")
        assert platter.used_bytes == 2000
        disk.open("f").truncate(500)
        assert platter.used_bytes == 500
        machine.cut_power()
        assert platter.used_bytes == sum(machine.host.disk.size(name) for name in machine.host.disk.list("/"))


def test_a_flipped_bit_is_read_and_survives() -> None:
    with World(1) as world:
        machine = world.host("a")
        durable_file(machine.host.disk, "f", b"abc")
        machine.platter.flip_bit("f", 1, bit=0)
        assert content("f")(machine.host.disk) == b"acc"
        machine.cut_power()
        assert content("f")(machine.host.disk) == b"acc"


def test_a_stall_holds_syncs_back() -> None:
    with World(1) as world:
        machine = world.host("a")
        file = machine.host.disk.open("f", create=True)
        answers: list[Any] = []
        machine.host.disk.start_sync([file], [], answers.append)
        machine.platter.stall(5_000)
        world.run_for(4_999)
        assert answers == []
        world.run_for(10)
        assert answers == [None]
