"""The coordinator runtime: nothing is answered before it is durable, and loading is replay."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.kit.coordinators import START_MS, MemoryLog, Timers
from twinlog.base import DiskFull, Refused
from twinlog.kafka.coordinator import CoordinatorRuntime, Decision, StoredRecord
from twinlog.kafka.coordinator.runtime import FAILED_RETRY_MS, java_string_hash
from twinlog.wire.kafka.errors import ErrorCode


class Register:
    """Keeps the last value of each key."""

    def __init__(self, index: int) -> None:
        self.values: dict[bytes, bytes | None] = {}
        self.due_ms: int | None = None
        self.loaded_at: int | None = None
        self.ended_with: list[int] = []

    def ended(self, code: int) -> None:
        self.ended_with.append(code)

    def replay(self, record: StoredRecord) -> None:
        assert record.key is not None
        self.values[record.key] = record.value

    def loaded(self, now_ms: int) -> None:
        self.loaded_at = now_ms

    def next_wake_ms(self) -> int | None:
        return self.due_ms

    def wake(self, now_ms: int) -> list[Decision[None]]:
        self.due_ms = None
        return [Decision(None, [(b"woken", str(now_ms).encode())])]


@pytest.fixture
def world() -> tuple[Timers, MemoryLog, CoordinatorRuntime[Register]]:
    timers, log = Timers(), MemoryLog()
    return timers, log, CoordinatorRuntime(1, lambda index: log, Register, timers)


def put(key: bytes, value: bytes) -> Callable[[Register, int], Decision[str]]:
    return lambda machine, now_ms: Decision("ok", [(key, value)])


def test_no_reply_leaves_before_its_records_are_durable(world) -> None:
    timers, log, runtime = world
    shard = runtime.lead(0)
    answers: list[object] = []
    shard.write(put(b"a", b"1"), lambda reply, fault: answers.append(reply))
    timers.run()
    assert answers == []
    assert log.end() == 1
    log.sync()
    assert answers == ["ok"]


def test_a_read_waits_for_the_writes_before_it(world) -> None:
    timers, log, runtime = world
    shard = runtime.lead(0)
    answers: list[object] = []
    shard.write(put(b"a", b"1"), lambda reply, fault: None)
    shard.read(lambda machine, now_ms: machine.values[b"a"], lambda reply, fault: answers.append(reply))
    timers.run()
    assert answers == []
    log.sync()
    assert answers == [b"1"]


def test_writes_of_one_turn_become_one_batch(world) -> None:
    timers, log, runtime = world
    shard = runtime.lead(0)
    for i in range(100):
        shard.write(put(b"%d" % i, b"x"), lambda reply, fault: None)
    timers.run()
    assert len(log.batches) == 1
    assert log.end() == 100


def test_a_refusal_is_answered_at_once_and_stores_nothing(world) -> None:
    timers, log, runtime = world
    shard = runtime.lead(0)
    answers: list[object] = []

    def decide(machine: Register, now_ms: int) -> Decision[str]:
        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID)

    shard.write(decide, lambda reply, fault: answers.append(fault))
    timers.run()
    assert [fault.code for fault in answers] == [ErrorCode.UNKNOWN_MEMBER_ID]
    assert log.end() == 0


def test_loading_replays_everything_and_refuses_until_then(world) -> None:
    timers, log, runtime = world
    for i in range(3):
        log.append([(b"k", b"%d" % i)], 0)
    shard = runtime.lead(0)
    answers: list[object] = []
    shard.write(put(b"a", b"1"), lambda reply, fault: answers.append(fault))
    assert [fault.code for fault in answers] == [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS]
    timers.run()
    assert shard.machine.values == {b"k": b"2"}
    assert shard.machine.loaded_at == timers.ms


def test_a_failed_sync_confirms_nothing_and_ends_the_shard(world) -> None:
    timers, log, runtime = world
    shard = runtime.lead(0)
    answers: list[object] = []
    shard.write(put(b"a", b"1"), lambda reply, fault: answers.append(fault))
    timers.run()
    log.sync(DiskFull("disk", "sync failed"))
    shard.write(put(b"b", b"1"), lambda reply, fault: answers.append(fault))
    assert [fault.code for fault in answers] == [ErrorCode.COORDINATOR_NOT_AVAILABLE] * 2
    assert shard.machine.ended_with == [ErrorCode.COORDINATOR_NOT_AVAILABLE]


def test_after_a_full_disk_the_state_is_read_again(world) -> None:
    timers, log, runtime = world
    shard = runtime.lead(0)
    shard.write(put(b"kept", b"1"), lambda reply, fault: None)
    timers.run()
    log.sync()
    log.fault = DiskFull("disk", "no space")
    shard.write(put(b"lost", b"1"), lambda reply, fault: None)
    timers.run()
    log.fault = None
    timers.pass_ms(FAILED_RETRY_MS)
    runtime.shard_for("any")
    timers.run()
    assert runtime.shard_for("any").machine.values == {b"kept": b"1"}


def test_a_resigned_shard_tells_waiting_clients_to_look_elsewhere(world) -> None:
    timers, log, runtime = world
    shard = runtime.lead(0)
    answers: list[object] = []
    shard.write(put(b"a", b"1"), lambda reply, fault: answers.append(fault))
    timers.run()
    runtime.resign(0)
    assert [fault.code for fault in answers] == [ErrorCode.NOT_COORDINATOR]
    assert shard.machine.ended_with == [ErrorCode.NOT_COORDINATOR], "who waits in the machine hears of it, too"
    log.sync()
    assert len(answers) == 1


def test_a_due_timeout_is_a_decision_like_any_other(world) -> None:
    timers, log, runtime = world
    shard = runtime.lead(0)
    shard.machine.due_ms = timers.ms + 50
    shard.rearm()
    timers.pass_ms(49)
    assert log.end() == 0
    timers.pass_ms(1)
    assert log.batches[0][0].key == b"woken"
    assert shard.machine.values[b"woken"] == b"%d" % (START_MS + 50)


@pytest.mark.parametrize(("text", "value"), [("", 0), ("a", 97), ("hello", 99162322), ("Aa", 2112), ("BB", 2112)])
def test_groups_are_spread_by_javas_string_hash(text: str, value: int) -> None:
    assert java_string_hash(text) == value
