"""The store of queues: what is durable stays, what is settled goes, and a file goes with its last message."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.kit.queues import TINY, StoreHome, run_of
from twinlog.amqp.store import QueueStoreSettings
from twinlog.amqp.store.numbers import Numbers
from twinlog.base import DiskFull, HostFault

BIG = b"x" * 300


def bodies(first: int, count: int) -> list[bytes]:
    return [b"%d" % number for number in range(first, first + count)]


def filled(home: StoreHome, runs: int, per_run: int = 5, size: int = 300) -> None:
    home.store.create(1, durable=True)
    for run in range(runs):
        home.durable(home.put(1, run * per_run, [b"%d " % (run * per_run + at) + b"x" * size for at in range(per_run)]))


def numbers(found: list[tuple[int, bytes]]) -> list[int]:
    for number, body in found:
        assert body.split(b" ")[0] == b"%d" % number
    return [number for number, _ in found]


def test_what_was_appended_is_read_in_order_and_without_what_was_settled() -> None:
    home = StoreHome()
    home.store.create(1, durable=True)
    home.put(1, 0, bodies(0, 10))
    home.put(1, 10, bodies(10, 10))
    home.store.settle(1, 3, 4)
    home.store.settle(1, 9, 12)
    assert [number for number, _ in home.read_all(1)] == [0, 1, 2, 5, 6, 7, 8, *range(13, 20)]
    assert [body for _, body in home.read_all(1)][3] == b"5"


def test_a_mark_becomes_durable_once_and_not_before_a_sync() -> None:
    home = StoreHome()
    home.store.create(1, durable=True)
    mark = home.put(1, 0, [b"a"])
    heard: list[HostFault | None] = []
    home.store.when_durable(mark, heard.append)
    assert not heard
    home.settle(50)
    assert heard == [None]
    home.store.when_durable(mark, heard.append)
    assert heard == [None, None]


def test_one_round_makes_all_queues_durable() -> None:
    home = StoreHome()
    marks = []
    for queue_id in range(1, 40):
        home.store.create(queue_id, durable=True)
        marks.append(home.put(queue_id, 0, [b"a"]))
    rounds, files = home.flusher.rounds, home.flusher.files_synced
    home.durable(marks[-1])
    assert home.flusher.rounds == rounds + 1
    assert home.flusher.files_synced == files + 1


@pytest.mark.parametrize("how", ["stop", "kill", "cut_power"])
def test_durable_messages_and_acknowledgements_survive(how: str) -> None:
    home = StoreHome()
    home.store.create(1, durable=True)
    home.put(1, 0, bodies(0, 10))
    home.store.settle(1, 0, 2)
    home.store.settle(1, 5, 5)
    home.durable(home.put(1, 10, bodies(10, 5)))
    getattr(home, how)()
    found = home.store.recovered()[1]
    assert (found.number_next, list(found.ready)) == (15, [(3, 4), (6, 14)])
    home.store.create(1, durable=True)
    assert [number for number, _ in home.read_all(1)] == [3, 4, *range(6, 15)]
    home.durable(home.put(1, 15, bodies(15, 1)))
    getattr(home, how)()
    assert list(home.store.recovered()[1].ready) == [(3, 4), (6, 15)]


def test_after_a_clean_stop_only_what_was_delivered_may_have_been() -> None:
    home = StoreHome()
    home.store.create(1, durable=True)
    home.durable(home.put(1, 0, bodies(0, 10)))
    home.store.delivered_below(1, 4)
    home.stop()
    assert home.store.recovered()[1].redelivered_below == 4
    home.kill()
    assert home.store.recovered()[1].redelivered_below == 10


def test_what_a_transient_queue_holds_does_not_outlive_the_process() -> None:
    home = StoreHome()
    home.store.create(1, durable=False)
    home.store.create(2, durable=True)
    home.durable(home.store.append(run_of([b"both"]), 1, [(1, 0), (2, 0)], durable=True, now_ms=1))
    home.put(2, 1, [b"transient"], durable=False)
    assert len(home.read_all(1)) == 1 and len(home.read_all(2)) == 2
    home.stop()
    assert {number: list(queue.ready) for number, queue in home.store.recovered().items()} == {2: [(0, 0)]}


def test_a_fanout_is_stored_once() -> None:
    home = StoreHome(QueueStoreSettings())
    for queue_id in range(1, 101):
        home.store.create(queue_id, durable=True)
    mark = home.store.append(run_of([BIG]), 1, [(number, 0) for number in range(1, 101)], durable=True, now_ms=1)
    assert mark < 100 * 16 + 2 * len(BIG)
    assert [len(home.read_all(number)) for number in range(1, 101)] == [1] * 100


def test_messages_settled_soon_are_never_copied() -> None:
    home = StoreHome()
    home.store.create(1, durable=True)
    for number in range(60):
        home.put(1, number, [BIG])
        home.store.settle(1, number, number)
        home.settle(30)
    home.settle(1000)
    assert not [name for name in home.files() if name.endswith((".segment", ".acks"))]
    assert len([name for name in home.files() if name.endswith(".journal")]) <= TINY.journal_files_max + 1


@pytest.mark.parametrize("how", ["stop", "kill", "cut_power"])
def test_what_stays_moves_to_segments_and_is_read_from_there(how: str) -> None:
    home = StoreHome()
    filled(home, 40)
    home.settle(3000)
    assert len([name for name in home.files() if name.endswith(".journal")]) <= TINY.journal_files_max + 1
    assert len([name for name in home.files() if name.endswith(".segment")]) > 3
    home.store.settle(1, 0, 19)
    home.store.settle(1, 30, 31)
    home.settle(1000)
    expected = [*range(20, 30), *range(32, 200)]
    assert numbers(home.read_all(1)) == expected
    getattr(home, how)()
    assert list(home.store.recovered()[1].ready) == [(20, 29), (32, 199)]
    home.store.create(1, durable=True)
    assert numbers(home.read_all(1)) == expected
    assert numbers(home.read_all(1, 100_000)) == expected


def test_acknowledgements_in_segments_outlive_the_journal_that_told_of_them() -> None:
    home = StoreHome()
    filled(home, 40)
    home.settle(3000)
    home.store.settle(1, 3, 3)
    home.store.settle(1, 7, 9)
    home.store.create(2, durable=True)
    for number in range(60):  # the journal goes round
        home.durable(home.put(2, number, [BIG]))
        home.store.settle(2, number, number)
    home.settle(3000)
    assert any(name.endswith(".acks") for name in home.files())
    home.cut_power()
    assert list(home.store.recovered()[1].ready) == [(0, 2), (4, 6), (10, 199)]


def test_a_segment_goes_when_all_in_it_is_settled() -> None:
    home = StoreHome()
    filled(home, 40)
    home.settle(3000)
    home.store.settle(1, 0, 199)
    home.settle(3000)
    assert not [name for name in home.files() if name.endswith(".segment")]
    home.kill()
    assert not home.store.recovered().get(1) or not home.store.recovered()[1].ready


@pytest.mark.parametrize("wait_us", range(0, 6000, 250))
def test_a_clean_stop_in_the_middle_of_a_move_loses_nothing(wait_us: int) -> None:
    home = StoreHome()
    filled(home, 20)
    home.machine.loop.run_for_us(wait_us)
    home.store.close()
    home.settle(500)
    home.machine.kill()
    home.open()
    assert list(home.store.recovered()[1].ready) == [(0, 99)]
    home.store.create(1, durable=True)
    assert numbers(home.read_all(1)) == list(range(100))


@pytest.mark.parametrize("wait_us", range(0, 8000, 500))
def test_a_message_that_left_for_another_queue_is_in_one_of_them_whenever_the_power_goes(wait_us: int) -> None:
    home = StoreHome()
    filled(home, 6)
    home.store.create(2, durable=True)
    for number in range(30, 2000):
        if home.store.mover._busy:  # at work: it stores acknowledgements before the next round of syncs
            break
        home.put(1, number, [BIG])
        home.machine.loop.run_for_us(100)
    assert home.store.mover._busy
    home.put(2, 0, [b"the letter"])
    home.store.settle(1, 3, 3)
    home.machine.loop.run_for_us(wait_us)
    home.cut_power()
    found = {queue_id: Numbers(list(queue.ready)) for queue_id, queue in home.store.recovered().items()}
    assert found[1].covers(3, 3) or (2 in found and found[2].covers(0, 0))


@pytest.mark.parametrize("wait_us", range(0, 8000, 500))
def test_numbers_of_messages_that_went_with_the_process_are_free_for_durable_ones(wait_us: int) -> None:
    """Acks get their name before the index does, and tell of numbers that the old index does not know."""
    home = StoreHome(replace(TINY, segment_bytes=65536, journal_files_max=1))
    filled(home, 20)
    home.settle(500)
    assert home.store.queues[1].segments, "some of it has moved"
    home.put(1, 100, [b"gone " + BIG] * 4, durable=False)
    home.store.create(2, durable=True)
    last = home.store.queues[1].positions[-1]
    for number in range(2000):
        if home.store.mover._busy and home.store.journal.files[0].end > last:
            break
        home.store.when_durable(home.put(2, number, [BIG]), lambda fault: None)
        home.machine.loop.run_for_us(100)
    assert home.store.mover._busy
    home.machine.loop.run_for_us(wait_us)
    home.kill()
    found = home.store.recovered()
    free, others = found[1].number_next, found[2].number_next
    assert free in (100, 104), "what counts is whether the new index has its name"
    home.store.create(1, durable=True)
    home.store.create(2, durable=True)
    home.durable(home.put(1, free, [b"%d kept" % free]))
    for number in range(others, others + 60):
        home.durable(home.put(2, number, [BIG]))
    home.settle(500)
    home.kill()
    home.store.create(1, durable=True)
    assert numbers(home.read_all(1)) == [*range(100), free]


@pytest.mark.parametrize("how", ["stop", "kill", "cut_power"])
def test_a_deleted_queue_does_not_come_back(how: str) -> None:
    home = StoreHome()
    filled(home, 40)
    home.settle(3000)
    home.store.delete(1)
    home.settle(3000)
    getattr(home, how)()
    assert 1 not in home.store.recovered()
    assert not [name for name in home.files() if name.endswith(".segment")]


def test_a_failed_sync_takes_the_store_offline_and_is_not_tried_again() -> None:
    home = StoreHome()
    home.store.create(1, durable=True)
    home.machine.platter.faults.fail("sync", path_part=".journal")
    mark = home.put(1, 0, [b"a"])
    heard: list[HostFault | None] = []
    home.store.when_durable(mark, heard.append)
    home.settle(100)
    assert isinstance(heard[0], HostFault)
    with pytest.raises(HostFault):
        home.put(1, 1, [b"b"])
    home.store.when_durable(mark, heard.append)
    assert isinstance(heard[1], HostFault)


def test_a_full_disk_refuses_messages_and_loses_none() -> None:
    home = StoreHome()
    filled(home, 5)
    home.settle(200)
    platter = home.machine.platter
    platter.capacity_bytes = platter.used_bytes
    taken = 25
    with pytest.raises(DiskFull):
        for _ in range(10_000):
            mark = home.put(1, taken, [b"%d x" % taken])
            taken += 1
            home.settle(200)
    assert numbers(home.read_all(1)) == list(range(taken))
    home.store.settle(1, 0, 9)
    home.settle(200)
    platter.capacity_bytes += 1 << 20
    home.settle(2000)
    home.durable(mark)
    home.durable(home.put(1, taken, [b"%d x" % taken]))
    home.cut_power()
    assert list(home.store.recovered()[1].ready) == [(10, taken)]


def test_a_start_with_nothing_is_a_start() -> None:
    home = StoreHome()
    home.kill()
    home.cut_power()
    home.stop()
    assert home.store.recovered() == {}
