"""A log's whole life against a plain model: compaction, retention, rolls, transactions, reads, crashes anywhere."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.kit.log_life import CutAt, PowerCut, Written, check, stable_end
from tests.kit.storage import TOPIC, Machine, marker
from twinlog import _kernel
from twinlog.storage import LogSettings, LogStore, PartitionLog, StorageSettings, compaction

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

    def __init__(self, seed: int, log_settings: LogSettings) -> None:
        compaction.STEP_BYTES = 250  # so that a segment takes several steps, as large ones do
        self.machine = Machine(seed)
        self.faults = CutAt(self.machine.chance.fork("cuts"))
        self.machine.platter.faults = self.faults
        self.log_settings = log_settings
        self.written: list[Written] = []
        self.ends = {0}
        self.open()

    store: LogStore
    log: PartitionLog

    def open(self) -> None:
        self.store = self.machine.store(settings=BUSY, log_settings=self.log_settings)
        self.log = self.store.log(TOPIC, 0)

    def append(self, records: list[tuple[bytes, bytes | None]], producer: int = -1, codec: int = 0) -> None:
        now_ms = self.machine.clock.now_ms()
        options = {"producer_id": producer, "producer_epoch": 0, "base_sequence": 0, "attributes": 0x10}
        built = _kernel.build_batch(
            [(now_ms, key, value, [("h", b"1")]) for key, value in records],
            codec=codec,
            **(options if producer >= 0 else {}),
        )
        buffer = bytearray(built)
        batches, _, _ = _kernel.scan_batches(buffer, 0, len(buffer))
        base = self.log.append(buffer, batches[0], 0, now_ms)
        assert base == len(self.written)
        self.written += [Written(key, value, producer) for key, value in records]
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
            check(self.log, self.written)

    def cut(self, end: int) -> None:
        del self.written[end:]
        self.ends = {place for place in self.ends if place <= end}

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
        lag_ms=st.sampled_from([0, 0, 150]),
    )
    def begin(
        self, seed: int, segment_bytes: int, deletes: bool, compacts: bool, delete_retention_ms: int, lag_ms: int
    ) -> None:
        self.serial = 0
        self.life = Life(
            seed,
            LogSettings(
                segment_bytes=segment_bytes,
                index_interval_bytes=100,
                file_delete_delay_ms=50,
                deletes=deletes,
                retention_ms=2000,
                retention_bytes=4 * segment_bytes,
                compacts=compacts,
                delete_retention_ms=delete_retention_ms,
                compaction_lag_min_ms=lag_ms,
                dirty_ratio_min=0.0,
            ),
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
    def truncate(self, share: float) -> None:
        """What is committed and decided is never cut, and nothing else is ever compacted."""
        log = self.life.log
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
            check(self.life.log, self.life.written)


TestLife = LifeMachine.TestCase
TestLife.settings = settings(
    max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)


def grown(seed: int) -> Life:
    """A log with five keys in many segments, some of it in transactions, all of it durable."""
    life = Life(
        seed,
        LogSettings(
            segment_bytes=500,
            index_interval_bytes=100,
            file_delete_delay_ms=50,
            compacts=True,
            delete_retention_ms=200,
            dirty_ratio_min=0.0,
        ),
    )
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
        records_before = len(check(life.log, life.written).records)
        life.faults.arm(steps + 1)
        life.settle(1200)
        if life.faults.left:
            break
        life.faults.left = 0
        life.machine.settle(1200)
        assert len(check(life.log, life.written).records) < records_before
        steps += 1
    assert steps > 40


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
    check(life.log, life.written)
    life.machine.settle(62_000)
    assert life.store.metrics.compactions
    check(life.log, life.written)


def test_the_model_can_fail() -> None:
    life = grown(0)
    life.written[-2].value = b"something else"
    with pytest.raises(AssertionError):
        check(life.log, life.written)
