"""The store of queues: journal, index, segments with their acknowledgements, marks."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from tests.faults.cut_and_flip.damage import Damage, Places, Subject, everywhere
from tests.kit.queues import TINY, StoreHome
from tests.kit.storage import restore
from twinlog.amqp.store import QueueStoreSettings
from twinlog.base import HostFault

ROOMY = QueueStoreSettings()
SMALL = replace(TINY, journal_file_bytes=1024, journal_files_max=1, segment_bytes=1024)
QUEUES = (1, 2)


class Life(NamedTuple):
    """``ready``: what was durable and unsettled, by queue."""

    files: dict[str, bytes]
    ready: dict[int, list[int]]


def body(number: int) -> bytes:
    return b"%d " % number + b"x" * (number % 5 * 20)


def begun(settings: QueueStoreSettings) -> StoreHome:
    home = StoreHome(settings)
    for queue in QUEUES:
        home.store.create(queue, durable=True)
    return home


def ready_in(home: StoreHome) -> dict[int, list[int]]:
    """Reads everything; the bodies have to be those of their numbers."""
    found = {}
    for queue in QUEUES:
        home.store.create(queue, durable=True)
        read = home.read_all(queue)
        for number, data in read:
            assert data == body(number), f"{queue} {number} is {data[:20]!r}"
        found[queue] = [number for number, _ in read]
    return found


def life() -> Life:
    home = begun(SMALL)
    for number in range(0, 30, 2):
        for queue in QUEUES:
            home.durable(home.put(queue, number, [body(number), body(number + 1)]))
        home.settle(2)
    home.store.settle(1, 3, 8)
    home.store.settle(2, 0, 0)
    home.settle(3000)
    home.put(1, 30, [body(30)], durable=False)
    for number in range(32, 36):
        home.durable(home.put(1, number, [body(number)]))
    home.settle(3000)
    names = home.files()
    assert "index" in names
    for kind in (".segment", ".acks", ".journal", ".mark"):
        assert any(name.endswith(kind) for name in names), kind
    ready = {1: [number for number in [*range(30), *range(32, 36)] if not 3 <= number <= 8], 2: list(range(1, 30))}
    return Life(home.machine.copy_tree("data"), ready)


def life_with_an_unsynced_tail() -> tuple[Life, str, int]:
    """The last three runs, and an acknowledgement, were written and never synced."""
    home = begun(ROOMY)
    home.durable(home.put(1, 0, [body(number) for number in range(10)]))
    home.store.settle(1, 0, 1)
    home.settle(2000)
    files = home.machine.copy_tree("data")
    path = max(path for path in files if path.endswith(".journal"))
    start = len(files[path])
    home.put(1, 10, [body(10)])
    home.store.settle(1, 4, 4)
    home.put(1, 11, [body(11), body(12)])
    home.store._write_settled()
    home.put(1, 13, [body(13)])
    home.store.journal.write()
    tail = home.machine.copy_tree("data")
    mark = next(path for path in files if path.endswith(".mark"))
    return Life({**tail, mark: files[mark]}, {1: list(range(2, 10)), 2: []}), path, start


def boot_twice(files: dict[str, bytes], settings: QueueStoreSettings) -> tuple[str, dict[int, list[int]]]:
    """``refused``, ``noticed`` by a reader or ``served``, and what is ready then."""
    machine = restore(files)
    try:
        home = StoreHome(settings, machine)
    except HostFault:
        assert machine.copy_tree("data") == files, "a start that is refused changes nothing"
        machine.kill()
        try:
            StoreHome(settings, machine)
        except HostFault:
            return "refused", {}
        raise AssertionError("what was refused once is not opened the next time") from None
    try:
        before = ready_in(home)
    except HostFault:
        for path in files:
            if path.endswith(".segment"):
                assert path in machine.copy_tree("data"), f"{path} is gone"
        return "noticed", {}
    number = max([home.store.recovered()[1].number_next if 1 in home.store.recovered() else 0, 100])
    home.durable(home.put(1, number, [body(number)]))
    home.settle(1000)
    home.cut_power()
    after = ready_in(home)
    assert after == {**before, 1: [*before[1], number]}, "the second start differs"
    return "served", before


def torn_tail() -> Subject:
    found, path, start = life_with_an_unsynced_tail()

    def judge(files: dict[str, bytes], damage: Damage) -> list[str]:
        outcome, ready = boot_twice(files, ROOMY)
        assert outcome == "served", "a torn tail is no reason to refuse"
        kept = set(ready[1]) | {4}
        assert kept >= set(found.ready[1]) and kept <= set(range(2, 14)), ready
        assert kept == set(range(2, 2 + len(kept))), "what came later is there, and what came before is not"
        assert 4 in ready[1] or 10 in ready[1], "it was acknowledged after the tail began"
        return [outcome]

    return Subject("queues-tail", found.files, [Places(path, "cut", start, len(found.files[path]) + 1)], judge)


def spoilt() -> Subject:
    found = life()

    def judge(files: dict[str, bytes], damage: Damage) -> list[str]:
        outcome, ready = boot_twice(files, SMALL)
        if outcome == "noticed":
            assert damage.path.endswith(".segment"), "it was read at the start, and taken for good"
        if outcome == "served":
            assert ready == found.ready, "something was promised and is not there, or was settled and is"
        return [outcome]

    return Subject("queues", found.files, everywhere(found.files), judge)
