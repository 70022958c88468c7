"""Compaction of a log on a simulated machine: what stays, what lies on disk, who else is there."""

from __future__ import annotations

import pytest

from tests.kit.log_life import read_committed
from tests.kit.storage import TOPIC, Machine, everything
from twinlog import _kernel
from twinlog.storage import LogSettings, LogStore, PartitionLog, StorageSettings
from twinlog.storage.compacted import Compacted, encode_compacted, read_compacted, write_compacted

QUICK = StorageSettings(
    flush_interval_ms=20,
    checkpoint_interval_ms=100,
    retention_check_interval_ms=100,
    compaction_check_interval_ms=100,
    compaction_bytes_per_second_max=0,
    reserve_bytes=0,
)
COMPACTED = LogSettings(
    segment_bytes=1000, index_interval_bytes=100, file_delete_delay_ms=50, compacts=True, delete_retention_ms=5000
)


def write(log: PartitionLog, count: int, keys: int, now_ms: int = 1000, first: int = 0) -> None:
    for number in range(first, first + count):
        buffer = bytearray(_kernel.build_batch([(now_ms, b"k%d" % (number % keys), b"value %d" % number, None)]))
        batches, _, _ = _kernel.scan_batches(buffer, 0, len(buffer))
        log.append(buffer, batches[0], 0, now_ms)


def opened(machine: Machine, settings: StorageSettings = QUICK) -> tuple[LogStore, PartitionLog]:
    store = machine.store(settings=settings, log_settings=COMPACTED)
    return store, store.log(TOPIC, 0)


def test_a_state_is_rebuilt_from_about_as_many_records_as_there_are_keys() -> None:
    machine = Machine()
    store, log = opened(machine)
    write(log, 5000, keys=20)
    machine.settle(3000)
    seen = read_committed(log)
    assert len(seen.state) == 20
    assert len(seen.records) < 20 + 20  # the keys, and what is in the active segment
    assert log.offset_end == 5000
    assert store.metrics.compactions >= 1
    assert store.metrics.compaction_records_kept < store.metrics.compaction_records_read


def test_small_neighbours_become_one_segment() -> None:
    machine = Machine()
    _, log = opened(machine)
    write(log, 2000, keys=3)
    before = len(log.segment_facts())
    machine.settle(3000)
    write(log, 200, keys=3, first=2000)
    machine.settle(3000)
    assert before > 100
    assert len(log.segment_facts()) < 20
    names = [path for path in machine.copy_tree("data") if path.endswith(".log")]
    assert len(names) == len(log.segment_facts()), "the old files are gone"


def test_a_reader_inside_a_replaced_file_finishes_there() -> None:
    machine = Machine()
    _, log = opened(machine)
    write(log, 100, keys=2)
    read = log.read(0, 600)
    before = b"".join(part.file.read_at(part.position, part.size) for part in read.parts)
    machine.settle(20)
    held = [part.file for part in read.parts]
    machine.settle(2000)
    assert (
        b"".join(
            file.read_held(part.position, part.size)  # type: ignore[attr-defined]
            for file, part in zip(held, read.parts, strict=True)
        )
        == before
    )


def test_deleting_the_log_ends_its_compaction_without_harm() -> None:
    machine = Machine()
    slow = StorageSettings(compaction_check_interval_ms=100, compaction_bytes_per_second_max=5000)
    store, log = opened(machine, slow)
    write(log, 500, keys=5)
    for _ in range(200):
        machine.settle(100)
        if any(path.endswith(".compacted.new") for path in machine.copy_tree("data")):
            break
    else:
        raise AssertionError("it never began")
    store.delete(TOPIC, 0)
    machine.settle(70_000)
    assert store.directories[0].offline is None
    assert store.metrics.compactions_failed == 0
    assert not any(path.endswith(".log") for path in machine.copy_tree("data"))


def test_a_log_that_is_deleted_while_others_are_looked_at_harms_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round over many logs takes several turns; the log that was chosen in it may be gone at its end."""
    monkeypatch.setattr("twinlog.storage.keeper.LOGS_PER_TURN", 1)
    for after_ms in range(0, 200, 10):
        machine = Machine(after_ms)
        store, log = opened(machine)
        others = [store.log(TOPIC, number) for number in (1, 2, 3)]
        write(log, 200, keys=5)
        for other in others:
            write(other, 20, keys=5)
        machine.settle(120 + after_ms)
        store.delete(TOPIC, 0)
        machine.settle(1000)  # which raises what a callback raised
        assert store.directories[0].offline is None


def test_damage_in_one_log_leaves_it_alone_and_the_others_go_on() -> None:
    machine = Machine()
    store, log = opened(machine)
    other = store.log(TOPIC, 1)
    write(log, 300, keys=5)
    write(other, 300, keys=5)
    machine.platter.flip_bit(f"data/logs/{TOPIC.hex()}-0/{0:020d}.log", 70)
    machine.settle(3000)
    assert store.metrics.logs_uncompactable == 1
    assert log.offline is None
    assert log.size_bytes == sum(each.size_bytes for each in log.segment_facts())
    assert len(read_committed(other).records) < 30


def test_an_offset_that_was_damaged_hides_nothing() -> None:
    """It lies outside of its batch's checksum: believed, it would drop the newer values of its keys."""
    machine = Machine()
    store, log = opened(machine)
    write(log, 300, keys=5)
    machine.platter.flip_bit(f"data/logs/{TOPIC.hex()}-0/{0:020d}.log", 7)  # the lowest byte of the first offset
    values = {each.path: machine.disk.size(each.path) for each in log.segments_below(log.offset_end)}
    machine.settle(3000)
    assert store.metrics.logs_uncompactable == 1
    assert log.offline is None
    assert {path: machine.disk.size(path) for path in values} == values, "nothing was rewritten"


def test_a_map_that_is_too_small_takes_several_passes() -> None:
    machine = Machine()
    many = LogSettings(segment_bytes=1 << 20, compacts=True, dirty_ratio_min=0.1)
    settings = StorageSettings(
        checkpoint_interval_ms=100, compaction_check_interval_ms=100, compaction_map_bytes=1 << 20
    )
    store = machine.store(settings=settings, log_settings=many)
    log = store.log(TOPIC, 0)
    for number in range(100):
        records = [(1000, b"%d" % (number * 1000 + each), b"v" * 20, None) for each in range(1000)]
        buffer = bytearray(_kernel.build_batch(records))
        batches, _, _ = _kernel.scan_batches(buffer, 0, len(buffer))
        log.append(buffer, batches[0], 0, 1000)
    machine.settle(20_000)
    assert store.metrics.compactions > 1
    assert log.compacted.offset > 60_000
    assert [number for number, _ in everything(log, bytes_max=1 << 20)] == list(range(100_000))


def test_a_log_cut_inside_a_compacted_segment_goes_on_from_there() -> None:
    machine = Machine()
    _, log = opened(machine)
    write(log, 400, keys=5)
    machine.settle(3000)
    end = log.truncate_to(200)
    assert end <= 200
    write(log, 50, keys=5, first=end)
    machine.settle(30)
    for _ in range(2):
        machine.cut_power()
        _, log = opened(machine)
        assert log.offline is None, log.offline
        assert log.offset_end == end + 50
        assert len(read_committed(log).records) >= 50


def test_the_state_of_a_log_is_stored_as_described() -> None:
    data = encode_compacted(Compacted(0x0102, -1))
    frames, _, reason = _kernel.frame_scan(data, 0, len(data))
    assert reason == ""
    assert [data[at : at + size].hex() for at, size in frames] == [
        "544c43500100",
        "0201000000000000" + "ff" * 8,
    ]


def test_a_damaged_state_counts_as_none() -> None:
    machine = Machine()
    machine.disk.make_directory("log")
    assert read_compacted(machine.disk, "log") == Compacted(0, -1)
    write_compacted(machine.disk, "log", Compacted(7, 9))
    assert read_compacted(machine.disk, "log") == Compacted(7, 9)
    for position in range(machine.disk.size("log/compaction")):
        machine.platter.flip_bit("log/compaction", position)
        assert read_compacted(machine.disk, "log") == Compacted(0, -1)
        machine.platter.flip_bit("log/compaction", position)
