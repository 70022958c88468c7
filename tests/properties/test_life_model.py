"""A log's whole life against a plain model: compaction, retention, rolls, transactions, reads, crashes anywhere."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.kit.log_life import HEADERS, CutAt, PowerCut, Seen, Written, check, stable_end
from tests.kit.storage import TOPIC, Machine, marker
from twinlog import _kernel
from twinlog.sim.disk import SimFile
from twinlog.storage import LogSettings, LogStore, PartitionLog, StorageSettings, compaction
from twinlog.storage.types import LogRead

ONCE = b"once"  # stands for a key that is never written again: it must stay for ever
KEYS = [b"a", b"b", b"c", ONCE]
RECORDS = st.lists(st.tuples(st.sampled_from(KEYS), st.one_of(st.none(), st.integers(0, 60))), min_size=1, max_size=4)
BUSY = StorageSettings(
    flush_interval_ms=20,
    checkpoint_interval_ms=100,
    retention_check_interval_ms=100,
    compaction_check_interval_ms=100,
    compaction_map_bytes=1 << 20,
    reserve_bytes=0,
)


class Life:
    """The machine, the log on it, and what was written to it."""

    def __init__(self, seed: int, log_settings: LogSettings, pace: int = 0) -> None:
        compaction.STEP_BYTES = 250  # so that a segment takes several steps, as large ones do
        self.machine = Machine(seed)
        self.faults = CutAt(self.machine.chance.fork("cuts"))
        self.machine.platter.faults = self.faults
        self.settings = replace(BUSY, compaction_bytes_per_second_max=pace)
        self.log_settings = log_settings
        self.written: list[Written] = []
        self.ends = {0}
        self.open()

    store: LogStore
    log: PartitionLog

    def check(self) -> Seen:
        return check(self.log, self.written, self.machine.clock.now_ms())

    def open(self) -> None:
        self.held: list[tuple[LogRead, bytes]] = []  # by readers that have not sent it on yet
        self.store = self.machine.store(settings=self.settings, log_settings=self.log_settings)
        self.log = self.store.log(TOPIC, 0)

    def append(self, records: list[tuple[bytes, bytes | None]], producer: int = -1, codec: int = 0) -> None:
        now_ms = self.machine.clock.now_ms()
        options = {"producer_id": producer, "producer_epoch": 0, "base_sequence": 0, "attributes": 0x10}
        built = _kernel.build_batch(
            [(now_ms, key, value, HEADERS) for key, value in records],
            codec=codec,
            **(options if producer >= 0 else {}),
        )
        buffer = bytearray(built)
        batches, _, _ = _kernel.scan_batches(buffer, 0, len(buffer))
        base = self.log.append(buffer, batches[0], 0, now_ms)
        assert base == len(self.written)
        self.written += [Written(key, value, producer, at_ms=now_ms) for key, value in records]
        self.ends.add(len(self.written))

    def end_transaction(self, producer: int, commit: bool) -> None:
        self.log.append_built(marker(producer, commit=commit), 0, self.machine.clock.now_ms())
        self.written.append(Written(producer=producer, commits=commit))
        self.ends.add(len(self.written))

    def crash(self, *, power: bool) -> None:
        """Two starts: what the first one mended must hold at the second."""
        synced = self.log.offset_synced
        self.faults.left = 0
        for _ in range(2):
            self.machine.cut_power() if power else self.machine.kill()
            self.open()
            assert self.log.offline is None, self.log.offline
            end = self.log.offset_end
            assert end >= synced and end in self.ends, (end, synced)
            if not power:
                assert end == len(self.written)
            self.cut(end)
            self.check()

    def cut(self, end: int) -> None:
        del self.written[end:]
        self.ends = {place for place in self.ends if place <= end}

    def hold_read(self, share: float) -> None:
        """A reader is told of bytes and is slow to take them."""
        log, end = self.log, stable_end(self.log)
        if end <= log.offset_start:
            return  # all that is left is undecided
        read = log.read(log.offset_start + int((end - log.offset_start) * share), 700, end)
        self.held.append((read, b"".join(part.file.read_at(part.position, part.size) for part in read.parts)))

    def finish_reads(self) -> None:
        """Whatever became of the segments meanwhile, the bytes are those that were there."""
        held, self.held = self.held, []
        for read, before in held:
            parts = [cast(SimFile, part.file).read_held(part.position, part.size) for part in read.parts]
            assert b"".join(parts) == before

    def settle(self, span_ms: int) -> None:
        try:
            self.machine.settle(span_ms)
        except PowerCut:
            self.crash(power=True)

    def open_producers(self) -> list[int]:
        found: dict[int, None] = {}
        for entry in self.written:
            if entry.commits is not None:
                found.pop(entry.producer, None)
            elif entry.producer >= 0:
                found[entry.producer] = None
        return list(found)


class LifeMachine(RuleBasedStateMachine):
    @initialize(
        seed=st.integers(0, 1 << 32),
        segment_bytes=st.sampled_from([300, 700, 2000]),
        deletes=st.booleans(),
        compacts=st.sampled_from([True, True, False]),
        delete_retention_ms=st.sampled_from([0, 300, 100_000]),
        lag_ms=st.sampled_from([0, 0, 150, 2500]),
        pace=st.sampled_from([0, 5_000, 20_000]),
    )
    def begin(
        self,
        seed: int,
        segment_bytes: int,
        deletes: bool,
        compacts: bool,
        delete_retention_ms: int,
        lag_ms: int,
        pace: int,
    ) -> None:
        """``pace``: bytes a second of compaction; slow, so that everything else happens in the middle of it."""
        self.serial = 0
        self.life = Life(
            seed,
            LogSettings(
                segment_bytes=segment_bytes,
                index_interval_bytes=100,
                file_delete_delay_ms=50,
                deletes=deletes,
                retention_ms=2000,
                retention_bytes=3 * segment_bytes,
                compacts=compacts,
                delete_retention_ms=delete_retention_ms,
                compaction_lag_min_ms=lag_ms,
                dirty_ratio_min=0.0,
            ),
            pace,
        )

    def made(self, records: list[tuple[bytes, int | None]]) -> list[tuple[bytes, bytes | None]]:
        self.serial += 1
        records = [(key + b"%d" % self.serial if key == ONCE else key, size) for key, size in records]
        return [(key, None if size is None else b"%d" % self.serial + b"v" * size) for key, size in records]

    @rule(records=RECORDS, codec=st.integers(0, 4))
    def append(self, records: list[tuple[bytes, int | None]], codec: int) -> None:
        self.life.append(self.made(records), codec=codec)

    @rule(records=RECORDS, producer=st.integers(0, 2))
    def append_in_transaction(self, records: list[tuple[bytes, int | None]], producer: int) -> None:
        self.life.append(self.made(records), producer)

    @rule(commit=st.booleans())
    def end_transaction(self, commit: bool) -> None:
        for producer in self.life.open_producers()[:1]:
            self.life.end_transaction(producer, commit)

    @rule()
    def roll(self) -> None:
        self.life.log.roll(self.life.machine.clock.now_ms())

    @rule(span_ms=st.sampled_from([1, 30, 200, 1000, 3000]))
    def time_passes(self, span_ms: int) -> None:
        self.life.settle(span_ms)

    @precondition(lambda self: self.life.written)
    @rule(share=st.floats(0, 1))
    def delete_to(self, share: float) -> None:
        log = self.life.log
        log.delete_to(log.offset_start + int((log.offset_synced - log.offset_start) * share))

    @rule(compacts=st.booleans(), deletes=st.booleans())
    def change_policy(self, compacts: bool, deletes: bool) -> None:
        self.life.log_settings = replace(self.life.log_settings, compacts=compacts, deletes=deletes)
        self.life.log.settings = self.life.log_settings

    @precondition(lambda self: self.life.written)
    @rule(share=st.floats(0, 1))
    def begin_slow_read(self, share: float) -> None:
        self.life.hold_read(share)

    @rule()
    def finish_slow_reads(self) -> None:
        self.life.finish_reads()

    @precondition(lambda self: self.life.written)
    @rule(share=st.floats(0, 1))
    def truncate(self, share: float) -> None:
        """What is committed and decided is never cut, and nothing else is ever compacted."""
        log = self.life.log
        self.life.held.clear()  # a file that is cut short ends its readers' connections
        firm = min(log.offset_synced, stable_end(log))
        self.life.cut(log.truncate_to(firm + int((log.offset_end - firm) * share)))

    @rule(power=st.booleans())
    def crash(self, power: bool) -> None:
        self.life.crash(power=power)

    @rule(nth=st.integers(1, 25), span_ms=st.sampled_from([300, 1500]))
    def cut_at(self, nth: int, span_ms: int) -> None:
        """The power goes before the nth change on disk, whoever makes it."""
        self.life.faults.arm(nth)
        self.life.settle(span_ms)
        self.life.faults.left = 0

    @rule()
    def stop_clean(self) -> None:
        life = self.life
        life.machine.close(life.store)
        life.machine.kill()
        life.open()

    @invariant()
    def holds(self) -> None:
        if hasattr(self, "life"):
            self.life.check()


TestLife = LifeMachine.TestCase
TestLife.settings = settings(
    max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)


CHANCES = 4
COMPACTED = LogSettings(
    segment_bytes=500,
    index_interval_bytes=100,
    file_delete_delay_ms=50,
    compacts=True,
    delete_retention_ms=200,
    dirty_ratio_min=0.0,
)


def grown(seed: int, log_settings: LogSettings = COMPACTED, pace: int = 0) -> Life:
    """A log with five keys in many segments, some of it in transactions, all of it durable."""
    life = Life(seed, log_settings, pace)
    for number in range(40):
        value = None if number % 7 == 3 else b"%d" % number
        once = (ONCE + b"%d" % number, b"stays")
        life.append([(b"abcd"[number % 4 :][:1], value), (b"x", b"%d" % number), once], codec=number % 5)
        if number % 5 == 0:
            life.append([(KEYS[0], b"in transaction %d" % number)], producer=number % 3)
            life.end_transaction(number % 3, commit=number % 2 == 0)
    life.machine.settle(30)
    return life


def test_every_step_of_compaction_may_be_the_last() -> None:
    """The power goes before every single change that a compaction makes on disk, one after the other."""
    steps = 0
    while True:
        life = grown(steps)
        records_before = len(life.check().records)
        life.faults.arm(steps + 1)
        life.settle(1200)
        if life.faults.left:
            break
        life.faults.left = 0
        life.machine.settle(1200)
        assert len(life.check().records) < records_before
        steps += 1
    assert steps > 40


def test_tombstones_stay_for_their_time_and_go_then() -> None:
    life = grown(0, replace(COMPACTED, delete_retention_ms=3000))
    life.append([(b"x", b"seals the rest")])
    life.log.roll(life.machine.clock.now_ms())
    tombstones = {offset for offset, entry in enumerate(life.written) if entry.key and entry.value is None}
    counts = []
    for _ in range(50):
        life.machine.settle(100)
        counts.append(len(life.check().records.keys() & tombstones))  # which looks at the time
    assert counts[25] > 0
    assert counts[-1] == 0


def test_records_stay_for_the_lag() -> None:
    life = grown(0, replace(COMPACTED, compaction_lag_min_ms=2000))
    counts = []
    for _ in range(40):
        life.machine.settle(100)
        counts.append(len(life.check().records))
    assert counts[15] == counts[0]
    assert counts[-1] < counts[0]


@pytest.mark.parametrize("how", ["delete", "truncate", "both"])
def test_a_log_that_is_cut_in_the_middle_of_compaction_stays_cut(how: str) -> None:
    """At every tenth of a second of a pass that takes its time."""
    for tenths in range(1, 25):
        life = grown(tenths, pace=5_000)
        life.machine.settle(100 * tenths)
        log, firm = life.log, min(life.log.offset_synced, stable_end(life.log))
        if how != "truncate":
            log.delete_to(firm // 2)
        if how != "delete":
            life.append([(b"x", b"not committed")])
            life.cut(log.truncate_to(firm))
        for _ in range(5):
            life.machine.settle(300)
            life.check()
        life.crash(power=True)
        life.machine.settle(3000)
        life.check()


def test_what_is_undecided_is_not_compacted() -> None:
    """Transactions are open while everything else is compacted; what they abort has hidden nothing."""
    life = grown(0)
    for producer, key in enumerate(b"abc"):
        life.append([(bytes([key]), b"undecided")], producer=producer)
    for number in range(10):
        life.append([(b"x", b"later %d" % number)])
    life.machine.settle(3000)
    undecided = life.log.first_unstable_offset
    assert undecided is not None and life.log.compacted.offset <= undecided
    life.check()
    for producer, commit in ((0, False), (1, True), (2, False)):
        life.end_transaction(producer, commit)
    for _ in range(3):
        life.append([(b"x", b"last")])
        life.log.roll(life.machine.clock.now_ms())
        life.machine.settle(1000)
        life.check()
    assert life.log.compacted.offset > undecided


@pytest.mark.parametrize("compacts", [False, True])
def test_every_step_of_retention_may_be_the_last(compacts: bool) -> None:
    """The same while segments go by age and size, with the newest rolled and compaction beside it. What of the changes
    that were not synced survives a cut is drawn anew each time, so each step has several chances to hurt."""
    settings = replace(COMPACTED, compacts=compacts, deletes=True, retention_bytes=2000, retention_ms=900)
    for chance in range(CHANCES):
        steps = 0
        while True:
            life = grown(CHANCES * steps + chance, settings)
            start_before = life.log.offset_start
            life.faults.arm(steps + 1)
            life.settle(1500)
            if life.faults.left:
                break
            life.faults.left = 0
            life.machine.settle(1500)
            life.check()
            assert life.log.offset_start > start_before
            steps += 1
        assert steps > 20


@pytest.mark.parametrize("call", ["write", "sync", "rename", "delete", "open", "read"])
def test_a_failing_disk_loses_nothing(call: str) -> None:
    for nth in range(1, 12):
        life = grown(nth)
        life.faults.fail(call, nth=nth, path_part="logs/")  # type: ignore[arg-type]
        life.machine.settle(700)
        life.faults.clear()
        life.crash(power=True)


def test_a_full_disk_stops_compaction_until_there_is_room() -> None:
    life = grown(0)
    life.faults.fail("write", full=True, times=100, path_part=".new")
    life.machine.settle(500)
    life.faults.clear()
    assert life.store.metrics.compactions_failed == 1
    assert life.log.offline is None
    life.check()
    life.machine.settle(62_000)
    assert life.store.metrics.compactions
    life.check()


def test_the_model_can_fail() -> None:
    life = grown(0)
    life.written[-2].value = b"something else"
    with pytest.raises(AssertionError):
        life.check()
