"""A partition's log, and what a data directory holds beside it.

A start reads the tail of a log. Bits that change in an older, sealed segment are found by whoever reads them, by the
batch's checksum or, for what that does not cover, by offsets that do not follow one another. A start with
``verify=all`` finds them itself: then nothing wrong is ever served.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from tests.faults.cut_and_flip.damage import Damage, Files, Places, Subject, everywhere
from tests.kit.storage import QUICK, TOPIC, Machine, append, everything, marker, produced, restore
from twinlog.base import HostFault, Refused
from twinlog.storage import PartitionLog, StorageSettings

SMALL_ROUNDS = replace(QUICK, rounds_bytes=8192, ballast_bytes=0)  # its bytes mean nothing
PATIENT = replace(SMALL_ROUNDS, flush_interval_ms=60_000, checkpoint_interval_ms=600_000)


class Life(NamedTuple):
    """The files of a short life, and what lies at each offset."""

    files: dict[str, bytes]
    values: list[tuple[int, bytes | None]]
    ends: list[int]  # where batches end
    offset_synced: int


def write(machine: Machine, log: PartitionLog) -> list[int]:
    """Batches of all kinds over several segments; returns where they end."""
    ends = []
    for number in range(9):
        values = [b"%d:%d" % (number, each) + b"x" * (40 * number) for each in range(1 + number % 3)]
        if number % 3 == 1:
            buffer, batch = produced(values, 70 + number, 0, codec=3)
            log.append(buffer, batch, number // 4, 5000)
        else:
            append(log, values, leader_epoch=number // 4, codec=number % 2)
        ends.append(log.offset_end)
        machine.settle(5)
    log.append_built(marker(71, commit=False), 2, 5000)
    ends.append(log.offset_end)
    return ends


def life(*, clean: bool) -> Life:
    machine = Machine()
    store = machine.store(settings=SMALL_ROUNDS)
    log = store.log(TOPIC, 0)
    ends = write(machine, log)
    machine.settle(2000)
    values = everything(log)
    if clean:
        machine.close(store)
    return Life(machine.copy_tree("data"), values, ends, log.offset_end)


def life_with_an_unsynced_tail() -> tuple[Life, str, int]:
    """The last three batches were written and not synced; the file that holds them, and where they begin."""
    machine = Machine()
    log = machine.store(settings=SMALL_ROUNDS).log(TOPIC, 0)
    ends = write(machine, log)
    machine.settle(2000)
    synced = log.offset_end
    base = log.segment_facts()[-1]
    for number in range(3):
        append(log, [b"late %d" % number, b"y" * 150 * number], leader_epoch=2)
        ends.append(log.offset_end)
    path = f"{log.path}/{base.offset_base:020d}.log"
    assert len(log.segment_facts()) == 3 or log.segment_facts()[-1].offset_base == base.offset_base
    return Life(machine.copy_tree("data"), everything(log), ends, synced), path, base.size_bytes


def life_in_rounds() -> Life:
    """What the journal of small rounds alone made durable, after a power cut: the log's own file has none of it."""
    machine = Machine()
    store = machine.store(settings=PATIENT)
    log = store.log(TOPIC, 0)
    ends = []
    for number in range(2):  # the second asks for the journal
        append(log, [b"first %d" % number])
        ends.append(log.offset_end)
        machine.settle(500)
    rounds = store.directories[0].small_rounds
    assert rounds.ready()
    for number in range(8):
        before_last = log.offset_end
        append(log, [b"small %d" % number])
        ends.append(log.offset_end)
        machine.settle()
    assert rounds.written_rounds >= 8
    values = everything(log)
    files = {path: bytes(machine.platter.file(path).durable) for path in machine.copy_tree("data")}
    assert len(values) > before_last
    return Life(files, values, ends, before_last)  # a last record that cannot be read counts as torn


def opened(machine: Machine, settings: StorageSettings) -> PartitionLog | None:
    """None when the start, or this log, is refused."""
    try:
        log = machine.store(settings=settings).log(TOPIC, 0)
        log.segment_facts()  # wakes one that rests
    except HostFault:
        return None
    return log


def boot_twice(files: Files, found: Life, settings: StorageSettings = SMALL_ROUNDS) -> str:
    """``refused``, ``noticed`` by a reader, or ``served``: all of it was there, and all that was promised is."""
    machine = restore(dict(files))
    log = opened(machine, settings)
    if log is None:
        machine.kill()
        assert opened(machine, settings) is None, "what was refused once is not served the next time"
        assert set(machine.copy_tree("data")) >= {path for path in files if path.endswith(".log")}
        return "refused"
    try:
        before = everything(log)
    except (HostFault, Refused, AssertionError):
        return "noticed"
    assert before == found.values[: len(before)], "something else is served"
    assert len(before) >= found.offset_synced, f"{len(before)} of {found.offset_synced} that were promised"
    assert len(before) in found.ends, "half a batch is served"
    append(log, [b"after"], leader_epoch=9)
    machine.settle(1000)
    machine.cut_power()
    log = opened(machine, settings)
    assert log is not None and everything(log) == [*before, (len(before), b"after")], "the second start differs"
    return "served"


def torn_tail() -> Subject:
    found, path, start = life_with_an_unsynced_tail()

    def judge(files: dict[str, bytes], damage: Damage) -> list[str]:
        outcome = boot_twice(files, found)
        assert outcome == "served", "a torn tail is no reason to refuse"
        return [outcome]

    return Subject("log-tail", found.files, [Places(path, "cut", start, len(found.files[path]) + 1)], judge)


def spoilt(name: str, found: Life) -> Subject:
    assert {path.rpartition(".")[2] for path in found.files} >= {"log", "index", "producers"}
    sealed = sorted(path for path in found.files if path.endswith(".log"))[:-1]
    careful_settings = replace(SMALL_ROUNDS, verify="all")

    def judge(files: dict[str, bytes], damage: Damage) -> list[str]:
        outcome = boot_twice(files, found)
        if outcome == "noticed":
            assert damage.path in sealed, "it was read at the start, and taken for good"
        careful = boot_twice(files, found, careful_settings)
        assert careful != "noticed", "it was read at the start, and taken for good"
        return [outcome, f"with verify=all {careful}"]

    return Subject(name, found.files, everywhere(found.files), judge)


def spoilt_rounds() -> Subject:
    found = life_in_rounds()

    def judge(files: dict[str, bytes], damage: Damage) -> list[str]:
        outcome = boot_twice(files, found, PATIENT)
        assert outcome != "noticed", "it was read at the start, and taken for good"
        return [outcome]

    return Subject("log-rounds", found.files, everywhere(found.files), judge)
