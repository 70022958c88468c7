"""A log's files cut or flipped anywhere: what opens serves what was promised, or is refused, and twice the same.

A start reads the tail of a log. Bits that change in an older, sealed segment are found by whoever reads them, by the
batch's checksum or, for what that does not cover, by offsets that do not follow one another. A start with
``verify=all`` finds them itself: then nothing wrong is ever served.

The everyday run takes a sample of places, `-m slow` all of them. (The metadata log has its own such test in
tests/unit/cluster.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import pytest

from tests.kit.storage import QUICK, SMALL, TOPIC, Machine, append, everything, marker, produced, records, restore
from twinlog.base import HostFault, Refused
from twinlog.storage import PartitionLog, StorageSettings

SAMPLE = 61  # every so many places in the everyday run; a prime, so that it meets all fields in time
CAREFUL = replace(QUICK, verify="all")


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


@cache
def life(*, clean: bool) -> Life:
    machine = Machine()
    store = machine.store()
    log = store.log(TOPIC, 0)
    ends = write(machine, log)
    machine.settle(2000)
    values = everything(log)
    if clean:
        machine.close(store)
    return Life(machine.copy_tree("data"), values, ends, log.offset_end)


@cache
def unsynced_tail() -> tuple[Life, str, int]:
    """A life whose last three batches were written and not synced; the file that holds them, and where they begin."""
    machine = Machine()
    log = machine.store().log(TOPIC, 0)
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


def opened(machine: Machine, settings: StorageSettings = QUICK) -> PartitionLog | None:
    """None when the start, or this log, is refused."""
    try:
        log = machine.store(settings=settings).log(TOPIC, 0)
        log.segment_facts()  # wakes one that rests
    except HostFault:
        return None
    return log


def boot_twice(files: dict[str, bytes], found: Life, settings: StorageSettings = QUICK) -> str:
    """``refused``, ``noticed`` by a reader, or ``served``: all of it was there, and all that was promised is."""
    machine = restore(files)
    log = opened(machine, settings)
    if log is None:
        return "refused"
    try:
        before = everything(log)
    except (HostFault, Refused, AssertionError):
        return "noticed"
    assert before == found.values[: len(before)]
    assert len(before) >= found.offset_synced and len(before) in found.ends
    append(log, [b"after"], leader_epoch=9)
    machine.settle(1000)
    machine.cut_power()
    log = opened(machine, settings)
    assert log is not None and everything(log) == [*before, (len(before), b"after")]
    return "served"


def places(count: int, every: int) -> Iterator[int]:
    return iter(range(count % every, count, every))


def check_cut_tail(every: int) -> int:
    found, path, start = unsynced_tail()
    outcomes = []
    for size in places(len(found.files[path]) - start + 1, every):
        outcomes.append(boot_twice({**found.files, path: found.files[path][: start + size]}, found))
    assert set(outcomes) == {"served"}, "a torn tail is no reason to refuse"
    return len(outcomes)


def check_spoilt(clean: bool, every: int, cuts_every: int) -> dict[str, int]:
    found = life(clean=clean)
    assert {path.rpartition(".")[2] for path in found.files} >= {"log", "index", "producers"}
    sealed = sorted(path for path in found.files if path.endswith(".log"))[:-1]
    outcomes: dict[str, int] = {}
    for path, data in found.files.items():
        variants = []
        for bit in places(8 * len(data), every):
            spoilt = bytearray(data)
            spoilt[bit // 8] ^= 1 << bit % 8
            variants.append(bytes(spoilt))
        variants += [data[:size] for size in places(len(data), cuts_every)]
        for variant in variants:
            outcome = boot_twice({**found.files, path: variant}, found)
            if outcome == "noticed":
                assert path in sealed, f"{path} was read at the start, and taken for good"
            careful = boot_twice({**found.files, path: variant}, found, CAREFUL)
            assert careful != "noticed", f"{path} was read at the start, and taken for good"
            for each in (outcome, f"careful {careful}"):
                outcomes[each] = outcomes.get(each, 0) + 1
    return outcomes


def test_a_torn_tail_is_cut_at_a_batch() -> None:
    assert check_cut_tail(every=7) > 50


@pytest.mark.parametrize("clean", [False, True])
def test_a_flipped_bit_or_a_cut_file_is_found_or_does_no_harm(clean: bool) -> None:
    outcomes = check_spoilt(clean, every=8 * SAMPLE - 3, cuts_every=SAMPLE)
    assert outcomes["refused"] and outcomes["served"] and outcomes["careful refused"]


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_torn_tail_is_cut_at_a_batch_wherever_it_is_torn() -> None:
    print(check_cut_tail(every=1), "cuts")


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("clean", [False, True])
def test_every_bit_and_every_length(clean: bool) -> None:
    print(check_spoilt(clean, every=1, cuts_every=1))


def test_the_check_itself_sees_a_missing_and_a_changed_record() -> None:
    found = life(clean=False)
    assert records(b"") == []
    with pytest.raises(AssertionError):
        boot_twice(found.files, found._replace(values=found.values[1:]))
    with pytest.raises(AssertionError):
        boot_twice(found.files, found._replace(offset_synced=found.offset_synced + 1))
    assert SMALL.segment_bytes < sum(len(data) for path, data in found.files.items() if path.endswith(".log"))
