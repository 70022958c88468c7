"""A disk that is full to the last byte: deleting still works, and makes the room that everything else waits for."""

from __future__ import annotations

import pytest

from tests.kit.storage import TOPIC, Machine, append
from twinlog.base import DiskFull
from twinlog.storage import LogSettings, PartitionLog, StorageSettings
from twinlog.storage.ballast import Ballast

SETTINGS = StorageSettings(
    flush_interval_ms=20, checkpoint_interval_ms=100, reserve_bytes=0, rounds_bytes=0, ballast_bytes=8192
)
SMALL = LogSettings(segment_bytes=2000, file_delete_delay_ms=0)


def filled(machine: Machine) -> tuple[int, PartitionLog]:
    """Appends until there is no room, and asks for half of it to be deleted; how many records fitted."""
    store = machine.store(settings=SETTINGS, log_settings=SMALL)
    machine.settle(600)
    log = store.log(TOPIC, 0)
    machine.platter.capacity_bytes = machine.platter.used_bytes + 20_000
    count = 0
    with pytest.raises(DiskFull):
        while True:
            append(log, [b"%06d" % count + bytes(500)])
            machine.settle(30)
            count += 1
    machine.platter.capacity_bytes = machine.platter.used_bytes  # and somebody else took the rest
    log.delete_to(count // 2)
    machine.settle(1000)
    return count, log


def test_segments_go_on_a_disk_without_a_free_byte() -> None:
    machine = Machine()
    count, log = filled(machine)
    assert count > 20
    assert log.segment_facts()[0].offset_end > count // 2, "those below are gone"
    assert append(log, [b"there is room again"]) == count
    machine.settle(1000)
    assert machine.disk.size("data/ballast") == 8192, "it comes back with the room"


def test_without_a_ballast_the_disk_stays_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: then nothing could be deleted."""
    monkeypatch.setattr(Ballast, "drop", lambda self: False)
    machine = Machine()
    _, log = filled(machine)
    assert log.segment_facts()[0].offset_base == 0
    with pytest.raises(DiskFull):
        append(log, [b"no room" + bytes(500)])


def test_a_ballast_that_finds_no_room_leaves_all_of_it_to_others() -> None:
    machine = Machine()
    machine.disk.make_directory("data")
    machine.platter.capacity_bytes = machine.platter.used_bytes + 5000
    ballast = Ballast(machine.disk, "data/ballast", 100_000)
    ballast.take()
    assert machine.disk.size("data/ballast") == 0
    assert not ballast.is_whole
    assert not ballast.drop(), "there is nothing to give back"


def test_none_is_asked_for() -> None:
    machine = Machine()
    machine.disk.make_directory("data")
    ballast = Ballast(machine.disk, "data/ballast", 0)
    ballast.take()
    assert ballast.is_whole and not machine.disk.exists("data/ballast")
