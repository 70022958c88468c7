"""Disks that fail: what a log believes afterwards."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.kit.storage import QUICK, TOPIC, Machine, append, everything
from twinlog.base import HostFault

SEEDS = range(24)  # a failed sync loses about half of what it was about, and hides that about half of the time


@pytest.mark.parametrize("seed", SEEDS)
def test_a_restart_does_not_take_the_page_cache_for_the_disk(seed: int) -> None:
    # A sync fails, the process ends, the machine runs on: the next process reads bytes that are nowhere else.
    machine = Machine(seed)
    log = machine.store().log(TOPIC, 0)
    append(log, [b"durable"])
    machine.settle()
    append(log, [b"one", b"two"])
    machine.platter.faults.fail("sync")
    machine.settle()
    assert log.offline is not None

    machine.kill()
    log = machine.store().log(TOPIC, 0)
    machine.settle(200)
    confirmed = everything(log)[: log.offset_synced]

    machine.cut_power()
    log = machine.store().log(TOPIC, 0)
    assert log.offline is None
    assert everything(log)[: len(confirmed)] == confirmed


@pytest.mark.parametrize("seed", SEEDS)
def test_nor_does_the_metadata_log(seed: int) -> None:
    machine = Machine(seed)
    store = machine.store()
    frames = machine.frame_log(store)
    frames.open()
    frames.append([b"durable"])
    machine.settle()
    frames.append([b"one"])
    machine.platter.faults.fail("sync")
    machine.settle()

    machine.kill()
    found = machine.frame_log(machine.store()).open().records

    machine.cut_power()
    assert machine.frame_log(machine.store()).open().records == found


def test_who_waits_for_a_round_that_cannot_begin_is_told() -> None:
    machine = Machine()
    store = machine.store(settings=replace(QUICK, flush_interval_ms=60_000))
    frames = machine.frame_log(store)
    frames.open()
    frames.append([b"one"])
    machine.settle()
    told: list[HostFault | None] = []
    store.directories[0].flusher.flush(told.append)
    machine.platter.faults.fail("write", path_part=".mark")  # how far the log is synced, of which the round takes care
    machine.settle()
    assert [type(fault) for fault in told] == [HostFault]


@pytest.mark.parametrize("call", ["list", "open", "read"])
def test_a_resting_log_that_cannot_be_read_goes_on_resting(call: str) -> None:
    machine = Machine()
    store = machine.store()
    log = store.log(TOPIC, 0)
    for number in range(20):
        append(log, [b"%d" % number, b"x" * 200])
    machine.settle()
    before = everything(log)
    machine.close(store)
    machine.kill()

    log = machine.store().log(TOPIC, 0)
    machine.platter.faults.fail(call, path_part="-0")  # type: ignore[arg-type]
    with pytest.raises(HostFault):
        append(log, [b"refused"])
    append(log, [b"taken"])
    assert everything(log) == [*before, (len(before), b"taken")]


def test_housekeeping_goes_on_beside_a_log_that_is_offline_and_wakes_none_that_rests() -> None:
    machine = Machine()
    store = machine.store()
    for partition in (0, 1):
        append(store.log(TOPIC, partition), [b"value"])
    machine.settle(1000)
    machine.close(store)
    machine.kill()

    store = machine.store()
    damaged, resting = store.log(TOPIC, 0), store.log(TOPIC, 1)
    damaged.failed(HostFault(damaged.path, "damaged"))
    opened = machine.platter.faults.calls["open"]
    machine.settle(60_000)  # whatever housekeeping raises is raised here
    assert machine.platter.faults.calls["open"] == opened
    assert everything(resting) == [(0, b"value")]


def test_a_log_that_is_missing_while_a_directory_is_offline_is_not_made_anew() -> None:
    machine = Machine()
    store = machine.store(("one", "two"))
    logs = [store.log(TOPIC, partition) for partition in (0, 1)]
    for log in logs:
        append(log, [b"precious"])
    machine.settle(1000)
    homes = {log.partition: log.directory for log in logs}
    machine.close(store)
    machine.kill()

    machine.platter.faults.fail("list", path_part="two", times=5)
    store = machine.store(("one", "two"))
    for partition, home in homes.items():
        log = store.log(TOPIC, partition, is_new=False)
        assert (log.offline is not None) == (home == "two")
    assert store.log(TOPIC, 2).offline is None, "a new one finds room in the other directory"
    machine.kill()

    machine.platter.faults.clear()
    store = machine.store(("one", "two"))
    assert [everything(store.log(TOPIC, partition)) for partition in (0, 1)] == [[(0, b"precious")]] * 2


def test_who_writes_after_the_flusher_failed_is_told() -> None:
    machine = Machine()
    store = machine.store()
    frames = machine.frame_log(store)
    frames.open()
    machine.settle(1000)
    heard: list[HostFault] = []
    frames.on_failed = heard.append
    append(store.log(TOPIC, 0), [b"value"])
    machine.platter.faults.fail("sync", path_part=".log")
    machine.settle(1000)
    frames.append([b"too late"])
    machine.settle(1000)
    assert len(heard) == 1


def test_a_journal_of_small_rounds_that_cannot_be_opened_is_done_without() -> None:
    machine = Machine()
    store = machine.store(settings=replace(QUICK, rounds_bytes=16 << 10))
    machine.platter.faults.fail("open", nth=2, path_part="rounds")  # the first one makes the file
    for number in range(5):
        for partition in (0, 1):
            append(store.log(TOPIC, partition), [b"%d" % number])
        machine.settle(500)  # whatever the making raises is raised here
    assert store.directories[0].offline is None
    assert not store.directories[0].small_rounds.ready()
