"""Starts after bad ends: what was never durable is cut, what was durable and is damaged is never cut in silence."""

from __future__ import annotations

import dataclasses

import pytest

from tests.kit.queues import DIRECTORY, TINY, StoreHome
from tests.kit.storage import restore
from twinlog.amqp.store import QueueStoreSettings
from twinlog.storage import Damaged

ROOMY = QueueStoreSettings()
SKIPPING = dataclasses.replace(ROOMY, damage="skip")


def journal_of(files: dict[str, bytes]) -> str:
    return max(path for path in files if path.endswith(".journal"))


def opened(files: dict[str, bytes], settings: QueueStoreSettings = ROOMY) -> StoreHome:
    return StoreHome(settings, restore(files))


def with_unsynced_tail() -> tuple[dict[str, bytes], int]:
    """Ten durable messages, two settled ones of them, and a tail that was written but never synced."""
    home = StoreHome(ROOMY)
    home.store.create(1, durable=True)
    home.durable(home.put(1, 0, [b"%d " % number + b"x" * 20 for number in range(10)]))
    home.store.settle(1, 0, 1)
    home.settle(2000)
    files = home.machine.copy_tree("data")
    durable_bytes = len(files[journal_of(files)])
    home.put(1, 10, [b"10 tail"])
    home.store.settle(1, 4, 4)
    home.put(1, 11, [b"11 tail", b"12 tail"])
    home.store.read(1, 0, 100)
    home.store._write_settled()
    home.store.journal.write()
    tail = home.machine.copy_tree("data")
    mark = next(path for path in files if path.endswith(".mark"))
    return {**tail, mark: files[mark]}, durable_bytes


def test_cut_anywhere_in_what_was_never_durable_the_store_starts_with_a_prefix() -> None:
    files, durable_bytes = with_unsynced_tail()
    path = journal_of(files)
    seen = set()
    for size in range(durable_bytes, len(files[path]) + 1):
        home = opened({**files, path: files[path][:size]})
        found = home.store.recovered()[1]
        ready = [number for low, high in found.ready for number in range(low, high + 1)]
        assert ready in (
            [*range(2, 10)],
            [*range(2, 11)],
            [2, 3, *range(5, 11)],
            [*range(2, 11), 11, 12],
            [*range(2, 4), *range(5, 13)],
        )
        seen.add(tuple(ready))
        home.store.create(1, durable=True)
        assert [number for number, _ in home.read_all(1)] == ready
        # And it goes on: what is appended now is there after the next start, and the one after that.
        home.durable(home.put(1, found.number_next, [b"new"]))
        for _ in range(2):
            home.kill()
            again = [number for low, high in home.store.recovered()[1].ready for number in range(low, high + 1)]
            assert again == [*ready, found.number_next]
    assert len(seen) >= 3


def test_cut_below_the_mark_the_store_refuses_and_changes_nothing() -> None:
    files, durable_bytes = with_unsynced_tail()
    path = journal_of(files)
    for size in range(1, durable_bytes, 7):
        damaged = {**files, path: files[path][:size]}
        machine = restore(damaged)
        with pytest.raises(Damaged):
            StoreHome(ROOMY, machine)
        assert machine.copy_tree("data") == damaged


def test_a_bit_flipped_below_the_mark_is_refused_unless_it_is_to_be_skipped() -> None:
    home = StoreHome(ROOMY)
    home.store.create(1, durable=True)
    for number in range(20):
        home.durable(home.put(1, number, [b"%d x" % number]))
    home.settle(2000)
    files = home.machine.copy_tree("data")
    path = journal_of(files)
    middle = len(files[path]) // 2
    damaged = {**files, path: files[path][:middle] + bytes([files[path][middle] ^ 4]) + files[path][middle + 1 :]}
    machine = restore(damaged)
    with pytest.raises(Damaged):
        StoreHome(ROOMY, machine)
    assert machine.copy_tree("data") == damaged
    skipped = opened(damaged, SKIPPING)
    skipped.store.create(1, durable=True)
    left = [number for number, _ in skipped.read_all(1)]
    assert len(left) == 19 and left == sorted(set(range(20)) & set(left))
    after = skipped.machine.copy_tree("data")
    assert after[path] == damaged[path]
    skipped.durable(skipped.put(1, 20, [b"20 x"]))
    skipped.kill()
    skipped.store.create(1, durable=True)
    assert [number for number, _ in skipped.read_all(1)] == [*left, 20]


def test_damage_above_a_lagging_mark_is_told_by_what_follows_it() -> None:
    home = StoreHome(ROOMY)
    home.store.create(1, durable=True)
    start = home.machine.copy_tree("data")
    for number in range(20):
        home.durable(home.put(1, number, [b"%d x" % number]))
    files = home.machine.copy_tree("data")
    mark = next(path for path in files if path.endswith(".mark"))
    path = journal_of(files)
    middle = len(files[path]) // 2
    damaged = {**files, path: files[path][:middle] + bytes([files[path][middle] ^ 4]) + files[path][middle + 1 :]}
    with pytest.raises(Damaged):
        opened({**damaged, mark: start[mark]})


@pytest.mark.parametrize("kind", ["index", ".acks", ".segment", ".mark", ".journal"])
def test_no_metadata_file_takes_messages_with_it_when_it_is_damaged(kind: str) -> None:
    home = StoreHome(TINY)
    home.store.create(1, durable=True)
    for number in range(0, 200, 5):
        home.durable(home.put(1, number, [b"%d " % (number + at) + b"x" * 300 for at in range(5)]))
    home.store.settle(1, 50, 52)
    home.store.create(2, durable=True)
    for number in range(40):
        home.durable(home.put(2, number, [b"%d " % number + b"x" * 300]))
    home.settle(3000)
    files = home.machine.copy_tree("data")
    paths = [path for path in files if path.endswith(kind)]
    assert paths
    path = paths[0]
    for at in range(0, len(files[path]), max(1, len(files[path]) // 40)):
        damaged = {**files, path: files[path][:at] + bytes([files[path][at] ^ 1]) + files[path][at + 1 :]}
        machine = restore(damaged)
        try:
            after = StoreHome(TINY, machine)
            after.store.create(1, durable=True)
            found = [number for number, _ in after.read_all(1)]
        except Damaged:
            for name in damaged:
                assert name in machine.copy_tree("data"), name
            continue
        assert found == [*range(50), *range(53, 200)]


def test_a_missing_index_or_journal_is_refused() -> None:
    home = StoreHome(TINY)
    home.store.create(1, durable=True)
    for number in range(0, 200, 5):
        home.durable(home.put(1, number, [b"x" * 300] * 5))
    home.settle(3000)
    files = home.machine.copy_tree("data")
    for missing in (f"{DIRECTORY}/index", journal_of(files), min(p for p in files if p.endswith(".journal"))):
        machine = restore({path: data for path, data in files.items() if path != missing})
        with pytest.raises(Damaged):
            StoreHome(TINY, machine)


def test_a_segment_that_is_too_short_is_refused_or_skipped() -> None:
    home = StoreHome(TINY)
    home.store.create(1, durable=True)
    for number in range(0, 200, 5):
        home.durable(home.put(1, number, [b"%d x" % (number + at) + b"x" * 300 for at in range(5)]))
    home.settle(3000)
    files = home.machine.copy_tree("data")
    path = sorted(path for path in files if path.endswith(".segment"))[1]
    damaged = {**files, path: files[path][:-100]}
    with pytest.raises(Damaged):
        opened(damaged, TINY)
    skipped = opened(damaged, dataclasses.replace(TINY, damage="skip"))
    skipped.store.create(1, durable=True)
    numbers = [number for number, _ in skipped.read_all(1)]
    assert 100 < len(numbers) < 200
    assert skipped.machine.copy_tree("data").get(path) == damaged[path]


def test_a_damaged_segment_stops_its_queue_and_no_other() -> None:
    home = StoreHome(TINY)
    for queue in (1, 2):
        home.store.create(queue, durable=True)
    for number in range(0, 200, 5):
        for queue in (1, 2):
            home.durable(home.put(queue, number, [b"x" * 300] * 5))
    home.settle(3000)
    files = home.machine.copy_tree("data")
    path = next(path for path in files if "0001-" in path and path.endswith(".segment"))
    after = opened({**files, path: files[path][:600] + b"?" + files[path][601:]}, TINY)
    for queue in (1, 2):
        after.store.create(queue, durable=True)
    with pytest.raises(Damaged):
        after.read_all(1)
    assert len(after.read_all(2)) == 200
