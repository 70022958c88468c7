"""The machine on one partition of ``__transaction_state``, without a disk: what it decides, what a restart finds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit.coordinators import MemoryLog, Timers
from twinlog.base import Refused
from twinlog.kafka.coordinator import CoordinatorRuntime, Shard
from twinlog.kafka.transactions import (
    EndReply,
    InitReply,
    ProducerKey,
    TransactionMachine,
    TransactionSettings,
    TransactionState,
)
from twinlog.kafka.transactions.types import EPOCH_LAST, EPOCH_MAX, MOVES, ProducerIdNeeded, Step
from twinlog.wire.kafka.errors import ErrorCode

PLACE, OTHER = ("orders", 0), ("bills", 3)
TIMEOUT_MS = 10_000
S = TransactionState


class Watch:
    """Keeps what the machine tells."""

    def __init__(self) -> None:
        self.due: list[str] = []
        self.loads = 0
        self.ends: list[int] = []

    def on_loaded(self) -> None:
        self.loads += 1

    def on_due(self, transactional_id: str) -> None:
        self.due.append(transactional_id)

    def on_ended(self, code: int) -> None:
        self.ends.append(code)


class Coordinator:
    """One shard whose log is durable at once, with a supply of producer ids."""

    def __init__(self, **settings: int) -> None:
        self.timers = Timers()
        self.log = MemoryLog(held=False)
        self.watch = Watch()
        self.settings = TransactionSettings(**settings)
        self.fresh = iter(range(100, 1000))
        self.shard = self.start()

    def start(self) -> Shard[TransactionMachine]:
        runtime = CoordinatorRuntime(
            1, lambda index: self.log, lambda index: TransactionMachine(self.settings, self.watch), self.timers
        )
        shard = runtime.lead(0)
        self.timers.run()
        return shard

    def restart(self) -> None:
        self.shard.resign()
        self.watch = Watch()
        self.shard = self.start()

    @property
    def machine(self) -> TransactionMachine:
        return self.shard.machine

    def state(self) -> TransactionState:
        return self.machine.find("t").state

    def epoch(self) -> int:
        return self.machine.find("t").epoch

    def ask(self, decide: Any) -> Any:
        """The reply, or the refusal as an exception."""
        outcome: list[Any] = []
        self.shard.write(lambda machine, now_ms: decide(machine, now_ms), lambda *each: outcome.append(each))
        self.timers.run()
        ((reply, fault),) = outcome
        if fault is not None:
            raise fault
        return reply

    def with_ids(self, decide: Any) -> Any:
        try:
            return self.ask(lambda machine, now_ms: decide(machine, now_ms, None))
        except ProducerIdNeeded:
            fresh = next(self.fresh)
            return self.ask(lambda machine, now_ms: decide(machine, now_ms, fresh))

    def init(self, expected: ProducerKey | None = None, timeout_ms: int = TIMEOUT_MS) -> InitReply:
        reply: InitReply = self.with_ids(
            lambda machine, now_ms, fresh: machine.init("t", timeout_ms, expected, fresh, now_ms)
        )
        return reply

    def add(self, producer: ProducerKey, *places: tuple[str, int], version: int = 2) -> list[tuple[str, int]]:
        new: list[tuple[str, int]] = self.ask(
            lambda machine, now_ms: machine.add("t", producer, places, version, now_ms)
        )
        return new

    def end(self, producer: ProducerKey, *, commit: bool = True, version: int = 2) -> EndReply:
        reply: EndReply = self.with_ids(
            lambda machine, now_ms, fresh: machine.end("t", producer, version, fresh, now_ms, commit=commit)
        )
        return reply

    def complete(self) -> None:
        self.ask(lambda machine, now_ms: machine.complete("t", now_ms))

    def at_epoch(self, epoch: int) -> ProducerKey:
        """The producer after so many transactions."""
        key = ProducerKey(*self.init()[:2])
        transaction = self.machine.find("t")
        record = transaction.record(epoch=epoch)
        self.log.append([record], self.timers.now_ms())
        self.restart()
        return ProducerKey(key.producer_id, epoch)


@pytest.fixture
def coordinator() -> Coordinator:
    return Coordinator()


def refused(code: ErrorCode) -> Any:
    return pytest.raises(Refused, check=lambda error: error.code == code)


def key(reply: InitReply | EndReply) -> ProducerKey:
    return ProducerKey(reply.producer_id, reply.epoch)


def test_every_move_leads_from_a_state_that_can_be_reached() -> None:
    reached = {S.EMPTY} | set(MOVES.values())
    assert {state for state, _ in MOVES} <= reached
    assert S.DEAD not in reached and S.PREPARE_EPOCH_FENCE not in reached
    assert all((state, Step.MARKED) in MOVES for state in S if state.is_decided)
    assert all((state, Step.ADD) not in MOVES for state in S if state.is_decided)


def test_a_commit_goes_its_way_and_raises_the_epoch(coordinator: Coordinator) -> None:
    producer = key(coordinator.init())
    assert producer == (100, 0)
    assert coordinator.add(producer, PLACE, OTHER) == [PLACE, OTHER]
    assert coordinator.add(producer, OTHER) == []
    assert coordinator.end(producer) == EndReply(100, 1, decided=True)
    assert coordinator.state() is S.PREPARE_COMMIT
    with refused(ErrorCode.CONCURRENT_TRANSACTIONS):
        coordinator.add(ProducerKey(100, 1), PLACE)
    coordinator.complete()
    assert coordinator.state() is S.COMPLETE_COMMIT
    assert coordinator.add(ProducerKey(100, 1), PLACE) == [PLACE]


def test_the_epoch_of_older_clients_stays(coordinator: Coordinator) -> None:
    producer = key(coordinator.init())
    coordinator.add(producer, PLACE)
    assert coordinator.end(producer, version=1) == EndReply(100, 0, decided=True)
    assert coordinator.end(producer, version=1) == EndReply(100, 0), "sent again while the markers are written"
    with refused(ErrorCode.INVALID_TXN_STATE):
        coordinator.end(producer, version=1, commit=False)
    coordinator.complete()
    assert coordinator.end(producer, version=1) == EndReply(100, 0)


@pytest.mark.parametrize("restart", [False, True])
def test_an_end_sent_again_with_the_old_epoch_gets_the_same_answer(coordinator: Coordinator, restart: bool) -> None:
    producer = key(coordinator.init())
    coordinator.add(producer, PLACE)
    coordinator.end(producer)
    if restart:
        coordinator.restart()
    assert coordinator.end(producer) == EndReply(100, 1)
    coordinator.complete()
    if restart:
        coordinator.restart()
    assert coordinator.end(producer) == EndReply(100, 1)
    coordinator.add(ProducerKey(100, 1), PLACE)
    with refused(ErrorCode.PRODUCER_FENCED):
        coordinator.end(producer)
    assert coordinator.state() is S.ONGOING, "a late end does not end the next one"


@pytest.mark.parametrize("commit", [True, False])
def test_who_was_replaced_is_not_told_of_the_end_that_its_successor_got_without_a_new_epoch(
    coordinator: Coordinator, commit: bool
) -> None:
    replaced = key(coordinator.init())
    successor = key(coordinator.init())
    assert successor.epoch == replaced.epoch + 1
    coordinator.add(successor, PLACE, version=1)
    coordinator.end(successor, version=1, commit=commit)
    coordinator.complete()
    with refused(ErrorCode.PRODUCER_FENCED):
        coordinator.end(replaced, commit=commit)


def test_a_decided_transaction_is_found_by_a_restart(coordinator: Coordinator) -> None:
    producer = key(coordinator.init())
    coordinator.add(producer, PLACE, OTHER)
    coordinator.end(producer, commit=False)
    coordinator.restart()
    assert coordinator.watch.loads == 1
    found = coordinator.machine.find("t")
    assert (found.state, found.epoch, list(found.partitions)) == (S.PREPARE_ABORT, 1, [PLACE, OTHER])
    coordinator.complete()
    assert coordinator.state() is S.COMPLETE_ABORT


def test_compaction_takes_nothing_away(coordinator: Coordinator) -> None:
    producer = key(coordinator.init())
    for _ in range(3):
        coordinator.add(producer, PLACE)
        producer = key(coordinator.end(producer))
        coordinator.complete()
    coordinator.log.compact()
    coordinator.restart()
    assert (coordinator.state(), coordinator.epoch()) == (S.COMPLETE_COMMIT, 3)


def test_a_new_instance_fences_the_old_one_before_its_transaction_is_aborted(coordinator: Coordinator) -> None:
    old = key(coordinator.init())
    coordinator.add(old, PLACE)
    assert coordinator.init() == InitReply(100, 1, aborts=True)
    assert coordinator.state() is S.PREPARE_ABORT
    with refused(ErrorCode.PRODUCER_FENCED):
        coordinator.end(old, version=1)
    with refused(ErrorCode.CONCURRENT_TRANSACTIONS):
        coordinator.init()
    coordinator.complete()
    assert key(coordinator.init()) == (100, 2), "the epoch in between is nobody's"


def test_only_who_is_current_may_go_on_after_an_error(coordinator: Coordinator) -> None:
    first = key(coordinator.init())
    second = key(coordinator.init(expected=first))
    assert second == (100, 1)
    assert key(coordinator.init(expected=first)) == second, "its answer was lost"
    coordinator.init()  # another instance
    with refused(ErrorCode.PRODUCER_FENCED):
        coordinator.init(expected=second)
    with refused(ErrorCode.PRODUCER_FENCED):
        coordinator.init(expected=ProducerKey(99, 2))


def test_a_transaction_is_due_when_its_time_is_over(coordinator: Coordinator) -> None:
    producer = key(coordinator.init())
    coordinator.add(producer, PLACE)
    coordinator.timers.pass_ms(TIMEOUT_MS - 1)
    coordinator.add(producer, OTHER)  # does not buy time
    assert coordinator.watch.due == []
    coordinator.timers.pass_ms(1)
    assert coordinator.watch.due == ["t"]
    assert coordinator.ask(lambda machine, now_ms: machine.abort_due("t", now_ms)) is True
    assert (coordinator.state(), coordinator.epoch()) == (S.PREPARE_ABORT, 1)
    assert coordinator.ask(lambda machine, now_ms: machine.abort_due("t", now_ms)) is False


def test_the_next_transaction_has_its_own_time(coordinator: Coordinator) -> None:
    producer = key(coordinator.init())
    coordinator.add(producer, PLACE)
    coordinator.timers.pass_ms(TIMEOUT_MS - 10)
    producer = key(coordinator.end(producer))
    coordinator.complete()
    coordinator.add(producer, PLACE)
    coordinator.timers.pass_ms(TIMEOUT_MS - 1)
    assert coordinator.watch.due == []
    coordinator.timers.pass_ms(1)
    assert coordinator.watch.due == ["t"]


def test_a_restart_sets_the_alarm_again(coordinator: Coordinator) -> None:
    producer = key(coordinator.init())
    coordinator.add(producer, PLACE)
    coordinator.restart()
    coordinator.timers.pass_ms(TIMEOUT_MS)
    assert coordinator.watch.due == ["t"]


def test_epochs_that_run_out_give_a_new_producer_id_at_the_end(coordinator: Coordinator) -> None:
    producer = coordinator.at_epoch(EPOCH_LAST)
    coordinator.add(producer, PLACE)
    reply = coordinator.end(producer)
    assert reply == EndReply(101, 0, decided=True)
    assert coordinator.epoch() == EPOCH_MAX, "the markers still need one"
    assert key(coordinator.end(producer)) == key(reply), "sent again before"
    coordinator.complete()
    assert key(coordinator.end(producer)) == key(reply), "and after the markers"
    coordinator.restart()
    assert key(coordinator.end(producer)) == key(reply)
    assert coordinator.add(key(reply), PLACE) == [PLACE]
    with refused(ErrorCode.INVALID_PRODUCER_ID_MAPPING):
        coordinator.add(producer, PLACE)


def test_epochs_that_run_out_give_a_new_producer_id_at_the_start(coordinator: Coordinator) -> None:
    producer = coordinator.at_epoch(EPOCH_LAST)
    first = key(coordinator.init(expected=producer))
    assert first == (101, 0)
    assert key(coordinator.init(expected=producer)) == first, "its answer was lost"
    assert key(coordinator.init()) == (101, 1)


def test_fencing_with_the_last_epoch_leaves_one_for_nobody(coordinator: Coordinator) -> None:
    producer = coordinator.at_epoch(EPOCH_LAST)
    coordinator.add(producer, PLACE)
    assert coordinator.init() == InitReply(100, EPOCH_MAX, aborts=True)
    coordinator.complete()
    assert key(coordinator.init()) == (101, 0)


@pytest.mark.parametrize("commit", [True, False])
def test_the_end_of_nothing_has_no_markers(coordinator: Coordinator, commit: bool) -> None:
    producer = key(coordinator.init())
    assert coordinator.end(producer, commit=commit) == EndReply(100, 1)
    assert coordinator.state() is (S.COMPLETE_COMMIT if commit else S.COMPLETE_ABORT)
    assert coordinator.end(producer, commit=commit) == EndReply(100, 1), "sent again"
    with refused(ErrorCode.INVALID_TXN_STATE):
        coordinator.end(producer, commit=not commit)


def test_an_unused_id_is_forgotten_and_a_running_one_is_not() -> None:
    coordinator = Coordinator(id_expiration_ms=1000, id_expiry_check_ms=100)
    coordinator.init()
    coordinator.timers.pass_ms(500)
    coordinator.init()
    coordinator.timers.pass_ms(999)
    assert "t" in coordinator.machine.transactions
    coordinator.timers.pass_ms(101)
    assert "t" not in coordinator.machine.transactions
    coordinator.restart()
    assert "t" not in coordinator.machine.transactions
    producer = key(coordinator.init())
    assert producer == (101, 0), "whoever comes back is new"
    coordinator.add(producer, PLACE)
    coordinator.timers.pass_ms(5000)
    assert coordinator.state() is S.ONGOING


def test_records_of_kinds_to_come_are_passed_over(coordinator: Coordinator) -> None:
    coordinator.init()
    coordinator.log.append([(b"\x00\x63what", b"\x00\x00ever")], 0)
    coordinator.restart()
    assert coordinator.state() is S.EMPTY
