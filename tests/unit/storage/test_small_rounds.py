"""The journal of small sync rounds: what it alone holds comes back after a power cut, and only where it belongs."""

from __future__ import annotations

import dataclasses

import pytest

from tests.kit.storage import QUICK, TOPIC, Machine, append, everything, restore
from twinlog._kernel import crc32c
from twinlog.base import HostFault
from twinlog.host import File
from twinlog.storage import LogSettings, LogStore, NeverSmall
from twinlog.storage import small_rounds as room
from twinlog.storage.errors import Damaged
from twinlog.storage.small_rounds import SmallRounds

# Own files are synced a minute later: whatever comes back was in the journal.
PATIENT = dataclasses.replace(QUICK, flush_interval_ms=60_000, checkpoint_interval_ms=600_000)
LARGE = LogSettings(segment_bytes=1 << 20)
JOURNAL = "data/rounds"


def begun(machine: Machine) -> LogStore:
    """Three logs that exist durably, and a journal."""
    store = machine.store(settings=PATIENT, log_settings=LARGE)
    for partition in range(3):
        append(store.log(TOPIC, partition), [b"first"])
    machine.settle(200)
    append(store.log(TOPIC, 0), [b"asks for the journal"])
    machine.settle(500)
    assert store.directories[0].small_rounds.ready()
    return store


def written_small(machine: Machine, store: LogStore, count: int = 10) -> None:
    """Each round holds one batch for two logs."""
    before = store.directories[0].small_rounds.written_rounds
    for number in range(count):
        for partition in (number % 3, (number + 1) % 3):
            append(store.log(TOPIC, partition), [b"small %d" % number])
        machine.settle()
    assert store.directories[0].small_rounds.written_rounds >= before + count


def contents(store: LogStore) -> list[list[tuple[int, bytes | None]]]:
    return [everything(store.log(TOPIC, partition)) for partition in range(3)]


def restarted(machine: Machine) -> LogStore:
    return machine.store(settings=PATIENT, log_settings=LARGE)


@pytest.mark.parametrize("seed", range(20))
def test_what_only_the_journal_holds_comes_back_after_power_cuts(seed: int) -> None:
    machine = Machine(seed)
    store = begun(machine)
    written_small(machine, store)
    promised = contents(store)
    for _ in range(2):
        machine.cut_power()
        store = restarted(machine)
        assert contents(store) == promised


def test_without_its_replay_they_would_be_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: the tests above can fail."""
    losses = 0
    monkeypatch.setattr(SmallRounds, "_bring_back", lambda *_: 0)
    for seed in range(5):
        machine = Machine(seed)
        store = begun(machine)
        written_small(machine, store)
        promised = contents(store)
        machine.cut_power()
        losses += contents(restarted(machine)) != promised
    assert losses


def test_a_new_generation_begins_when_the_logs_are_synced_by_themselves() -> None:
    machine = Machine()
    store = begun(machine)
    rounds = store.directories[0].small_rounds
    for number in range(400):  # more than both halves hold
        append(store.log(TOPIC, number % 3), [b"%d" % number * 20])
        machine.settle()
    assert rounds.written_bytes > 2 * PATIENT.rounds_bytes
    assert rounds.written_rounds < 400 + 3  # those that began a generation went to the logs' own files
    promised = contents(store)
    machine.cut_power()
    assert contents(restarted(machine)) == promised


@pytest.mark.parametrize("seed", range(10))
def test_what_was_cut_off_does_not_come_back(seed: int) -> None:
    machine = Machine(seed)
    store = begun(machine)
    written_small(machine, store)
    log = store.log(TOPIC, 1)
    log.truncate_to(3)
    append(log, [b"instead"])
    machine.settle()
    promised = contents(store)
    machine.cut_power()
    assert contents(restarted(machine)) == promised


def test_a_deleted_log_does_not_come_back() -> None:
    machine = Machine()
    store = begun(machine)
    written_small(machine, store)
    store.delete(TOPIC, 1)
    machine.settle()
    machine.kill()
    store = restarted(machine)
    assert store.find(TOPIC, 1) is None


def test_a_clean_stop_leaves_nothing_to_replay() -> None:
    machine = Machine()
    store = begun(machine)
    written_small(machine, store)
    promised = contents(store)
    machine.close(store)
    data = machine.copy_tree("data")[JOURNAL]
    assert room.plan_replay(room.newest_records(data, JOURNAL)) == {}
    assert contents(restarted(machine)) == promised


def test_large_rounds_go_past_it() -> None:
    machine = Machine()
    store = begun(machine)
    before = store.directories[0].small_rounds.written_rounds
    append(store.log(TOPIC, 0), [bytes(room.ROUND_BYTES)])
    machine.settle()
    assert store.directories[0].small_rounds.written_rounds == before
    assert store.log(TOPIC, 0).offset_synced == store.log(TOPIC, 0).offset_end


def test_a_round_of_many_logs_may_be_larger() -> None:
    """Each of them would be a sync of its own."""
    assert [room.round_bytes_max(logs) for logs in (1, 4, 10, 1000)] == [32 << 10, 32 << 10, 80 << 10, 256 << 10]
    machine = Machine()
    store = machine.store(settings=dataclasses.replace(PATIENT, rounds_bytes=1 << 20), log_settings=LARGE)
    for number in range(10):
        append(store.log(TOPIC, number), [b"first"])
        machine.settle(200)
    machine.settle(500)
    before = store.directories[0].small_rounds.written_rounds
    for number in range(10):
        append(store.log(TOPIC, number), [bytes(7 << 10)])
    machine.settle()
    assert store.directories[0].small_rounds.written_rounds == before + 1
    promised = [everything(store.log(TOPIC, number)) for number in range(10)]
    machine.cut_power()
    store = restarted(machine)
    assert [everything(store.log(TOPIC, number)) for number in range(10)] == promised


def test_it_can_be_turned_off() -> None:
    machine = Machine()
    store = machine.store(settings=dataclasses.replace(PATIENT, rounds_bytes=0))
    for _ in range(100):
        append(store.log(TOPIC, 0), [b"x"])
        machine.settle()
    assert JOURNAL not in machine.copy_tree("data")


# ---- damage --------------------------------------------------------------------------------------------------------


def lived() -> tuple[dict[str, bytes], list[list[tuple[int, bytes | None]]]]:
    """The files of a life that ended without warning, the journal's bytes in them alone; and what was promised."""
    seed = 0
    while True:
        machine = Machine(seed)
        store = begun(machine)
        sizes_before = sizes(machine)
        written_small(machine, store, 4)
        promised = contents(store)
        machine.cut_power()
        if sizes(machine) == sizes_before:  # a cut that took everything which was not in the journal
            return machine.copy_tree("data"), promised
        seed += 1


def sizes(machine: Machine) -> dict[str, int]:
    return {path: len(data) for path, data in machine.copy_tree("data/logs").items()}


def test_any_flipped_bit_is_noticed_or_costs_the_last_round_at_most() -> None:
    files, promised = lived()
    journal = files[JOURNAL]
    used = max(at + room.HEADER.size for at in range(len(journal)) if journal[at : at + 4] == room.MAGIC) + 200
    refused = shorter = 0
    for at in range(0, min(used, len(journal)), 3):
        broken = bytearray(journal)
        broken[at] ^= 1 << at % 8
        machine = restore({**files, JOURNAL: bytes(broken)})
        try:
            store = restarted(machine)
        except Damaged:
            refused += 1
            continue
        found = contents(store)
        for ours, theirs in zip(found, promised, strict=True):
            assert ours == theirs[: len(ours)]
            assert len(theirs) - len(ours) <= 1
        shorter += found != promised
    assert refused
    assert shorter  # the last record, torn or damaged: nobody can tell


def test_a_journal_that_became_shorter_is_refused_as_it_is() -> None:
    files, _ = lived()
    for end in {*range(0, len(files[JOURNAL]), 997), *range(0, len(files[JOURNAL]), 512)}:
        damaged = {**files, JOURNAL: files[JOURNAL][:end]}
        machine = restore(damaged)
        with pytest.raises(Damaged):
            restarted(machine)
        assert machine.copy_tree("data/logs") == {path: data for path, data in files.items() if "/logs/" in path}


def test_what_producers_write_is_not_taken_for_the_journals_own_records() -> None:
    machine = Machine()
    store = begun(machine)
    for number in range(room.ALIGNMENT):
        append(store.log(TOPIC, 0), [b"x" * number + (room.MAGIC + b"\2\0\1\0" + b"\xff" * 56) * 8])
        machine.settle()
    promised = contents(store)
    machine.cut_power()
    assert contents(restarted(machine)) == promised


def test_a_log_that_is_shorter_than_the_journal_proves_is_refused_every_time() -> None:
    files, _ = lived()
    path = next(path for path in files if path.endswith(".log") and "-1/" in path)
    for end in (0, 1, len(files[path]) - 1):
        damaged = {**files, path: files[path][:end]}
        machine = restore(damaged)
        for _ in range(2):
            with pytest.raises(Damaged):
                restarted(machine)
            machine.kill()
        assert machine.copy_tree("data/logs") == {path: data for path, data in damaged.items() if "/logs/" in path}


def test_a_journal_of_version_1_is_read() -> None:
    files, promised = lived()
    old = bytearray(len(files[JOURNAL]))
    at = 0
    for record in room.newest_records(files[JOURNAL], JOURNAL):
        head = room.HEADER_1.pack(room.MAGIC, 1, record.kind, 0, record.number, record.entries, len(record.body), 0)
        checksum = crc32c(head[:-4] + record.body).to_bytes(4, "little")
        whole = head[:-4] + checksum + record.body
        old[at : at + len(whole)] = whole
        at += -(-len(whole) // room.ALIGNMENT) * room.ALIGNMENT
    assert contents(restarted(restore({**files, JOURNAL: bytes(old)}))) == promised


class Neighbour(NeverSmall):
    """Keeps one file beside the logs, as queues do."""

    joins_small = True

    def __init__(self, machine: Machine) -> None:
        self.file = machine.disk.open("data/neighbour", create=True)
        self.synced_to = 0
        self.fault: HostFault | None = None

    def write(self, data: bytes) -> None:
        self.file.append((data,))

    def sync_files(self, files: list[File], directories: list[str]) -> int:
        files.append(self.file)
        directories.append("data")
        return self.file.size

    def synced(self, position: int) -> None:
        self.synced_to = position

    def failed(self, fault: HostFault) -> None:
        self.fault = fault


@pytest.mark.parametrize("seed", range(10))
def test_who_has_a_file_of_his_own_joins_a_small_round(seed: int) -> None:
    machine = Machine(seed)
    store = begun(machine)
    directory = store.directories[0]
    neighbour = Neighbour(machine)
    rounds, files = directory.flusher.rounds, directory.flusher.files_synced
    for number in range(5):
        for partition in range(3):
            append(store.log(TOPIC, partition), [b"small %d" % number])
        neighbour.write(b"%d" % number)
        directory.flusher.dirty(neighbour, True)
        machine.settle()
        assert neighbour.synced_to == number + 1
    # One file of his and the journal, not one for each log.
    assert directory.flusher.files_synced - files == 2 * (directory.flusher.rounds - rounds)
    promised = contents(store)
    machine.cut_power()
    assert contents(restarted(machine)) == promised
    assert machine.disk.open("data/neighbour").read_at(0, 100) == b"01234"


def test_a_neighbour_alone_needs_no_journal() -> None:
    machine = Machine()
    directory = begun(machine).directories[0]
    neighbour = Neighbour(machine)
    before = directory.small_rounds.written_rounds
    neighbour.write(b"alone")
    directory.flusher.dirty(neighbour, True)
    machine.settle()
    assert neighbour.synced_to == 5
    assert directory.small_rounds.written_rounds == before


def test_a_neighbour_that_cannot_write_fails_the_whole_round(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine()
    store = begun(machine)
    neighbour = Neighbour(machine)

    def failing(files: list[File], directories: list[str]) -> int:
        raise HostFault("data/neighbour", "broken")

    monkeypatch.setattr(neighbour, "sync_files", failing)
    append(store.log(TOPIC, 0), [b"lost"])
    store.directories[0].flusher.dirty(neighbour, True)
    machine.settle()
    assert neighbour.fault is not None
    assert store.directories[0].offline is not None
    assert store.log(TOPIC, 0).offset_synced < store.log(TOPIC, 0).offset_end


def test_a_failed_sync_takes_the_directory_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine()
    store = begun(machine)

    def failing(files: list[File], directories: list[str], done: object, *, small: bool = False) -> None:
        assert small and callable(done)
        machine.tasks.soon(done, OSError("failed"))

    monkeypatch.setattr(machine.disk, "start_sync", failing)
    append(store.log(TOPIC, 0), [b"lost"])
    machine.settle()
    assert store.directories[0].offline is not None
    assert store.log(TOPIC, 0).offset_synced < store.log(TOPIC, 0).offset_end


# ---- bytes ---------------------------------------------------------------------------------------------------------


def test_a_record_looks_as_the_page_says() -> None:
    topic = bytes(range(16))
    entries = [(topic, 1, 0, 100, b"abc"), (topic, 2, 500, 0, b"de")]
    body = b"".join(
        room.ENTRY.pack(topic_id, partition, len(data), base, position) + data
        for topic_id, partition, base, position, data in entries
    )
    record = room.encode_record(room.APPENDED, 7, 3, 2, body, 8192)
    assert len(record) % room.ALIGNMENT == 0
    assert record[:24].hex() == "544c52440200010007000000000000000300000002000000"
    assert record[24:28] == len(body).to_bytes(4, "little")
    assert record[28:36] == (8192).to_bytes(8, "little")
    decoded = room.decode_record(record, 0)
    assert decoded == room.Record(room.APPENDED, 7, 3, 2, body, 8192, len(record))
    assert room.plan_replay([decoded]) == {
        (topic, 1, 0): [room.Replayed(100, b"abc")],
        (topic, 2, 500): [room.Replayed(0, b"de")],
    }


def test_void_takes_back_what_lies_behind_it() -> None:
    topic = bytes(16)
    added = room.ENTRY.pack(topic, 1, 4, 0, 100) + b"abcd" + room.ENTRY.pack(topic, 1, 2, 0, 104) + b"ef"
    void = room.ENTRY.pack(topic, 1, 0, 0, 102)
    records = [room.Record(room.APPENDED, 0, 0, 2, added, 0, 0), room.Record(room.VOID, 0, 1, 1, void, 0, 0)]
    assert room.plan_replay(records) == {(topic, 1, 0): [room.Replayed(100, b"ab")]}
