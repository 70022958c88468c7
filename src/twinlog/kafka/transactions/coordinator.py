"""The transaction coordinator as request handlers see it: find the shard, run the machine, carry out what it decided.

**Order.** An end is answered when its decision is durable, and by then its markers lie in the logs: whatever the
producer sends next comes behind them. The record that says "complete" follows once the markers are durable. A request
that meets a transaction between the two waits here (``_hold``) instead of being sent away to come back later; it is
decided in the same turn as the completion, and shares its write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias, TypeVar

from twinlog.base import Refused
from twinlog.cluster import Controller, Delta, Image, TopicWanted
from twinlog.kafka.coordinator import Decision, Shard, TimerPort
from twinlog.kafka.coordinator.runtime import Phase
from twinlog.kafka.coordinator.topic import CoordinatorTopic
from twinlog.kafka.metrics import KafkaMetrics
from twinlog.kafka.names import TRANSACTION_STATE
from twinlog.kafka.partition_table import PartitionTable
from twinlog.kafka.transactions.finishing import Finishing
from twinlog.kafka.transactions.machine import TransactionMachine
from twinlog.kafka.transactions.ports import FreshIds, Offsets
from twinlog.kafka.transactions.settings import TransactionSettings
from twinlog.kafka.transactions.types import (
    EndReply,
    InitReply,
    Place,
    ProducerIdNeeded,
    ProducerKey,
)
from twinlog.wire.kafka.errors import ErrorCode

ID_LENGTH_MAX: Final = 10_000
LEAD_AGAIN_MS: Final = 1500
HELD_MAX: Final = 100  # requests that wait for one transaction's end; more are sent away

R = TypeVar("R")
Done: TypeAlias = Callable[[R | None, Exception | None], None]
# Decides with an unused producer id, or with None as long as it is not known to be needed.
Decide: TypeAlias = Callable[[TransactionMachine, int, int | None], Decision[R]]


class Held:
    """Requests that wait for the end of one transaction."""

    __slots__ = ("cancel", "requests")

    def __init__(self, cancel: Callable[[], object]) -> None:
        self.cancel = cancel
        self.requests: list[tuple[Callable[[], None], Callable[[Refused], None]]] = []  # try again, give up


class ShardWatch:
    """Hears what the machine on one partition has to tell."""

    def __init__(self, coordinator: TransactionCoordinator, index: int) -> None:
        self._coordinator = coordinator
        self._index = index

    def on_loaded(self) -> None:
        self._coordinator.shard_loaded(self._index)

    def on_due(self, transactional_id: str) -> None:
        self._coordinator.due(transactional_id)

    def on_ended(self, code: int) -> None:
        self._coordinator.shard_ended(self._index, code)


class TransactionCoordinator:
    """All transactional ids whose partition of ``__transaction_state`` this node leads."""

    def __init__(
        self,
        *,
        node_id: int,
        partitions: PartitionTable,
        controller: Controller,
        settings: TransactionSettings,
        metrics: KafkaMetrics,
        fresh_ids: FreshIds,
        offsets: Offsets,
        timers: TimerPort,
    ) -> None:
        wanted = TopicWanted(
            TRANSACTION_STATE,
            partition_count=settings.state_partitions,
            configs={"cleanup.policy": "compact", "segment.bytes": str(settings.state_segment_bytes)},
        )
        self.settings = settings
        self._metrics = metrics
        self._partitions = partitions
        self._fresh_ids = fresh_ids
        self._offsets = offsets
        self._timers = timers
        self._finishing: dict[str, Finishing] = {}
        self._held: dict[str, Held] = {}
        self.topic: CoordinatorTopic[TransactionMachine] = CoordinatorTopic(
            TRANSACTION_STATE,
            wanted,
            node_id,
            partitions,
            controller,
            lambda index: TransactionMachine(settings, ShardWatch(self, index)),
            timers,
        )

    def follow(self, image: Image, delta: Delta) -> None:
        """Listener of the metadata log, after the partition table's and the groups'."""
        self.topic.follow(image, delta)

    def shard(self, transactional_id: str) -> Shard[TransactionMachine]:
        if not transactional_id or len(transactional_id) > ID_LENGTH_MAX:
            raise Refused(ErrorCode.INVALID_REQUEST, "a transactional id needs a name of bounded length")
        shard = self.topic.shard_for(transactional_id)
        shard.check_active()
        return shard

    # -- requests ----------------------------------------------------------------------------------------------------

    def init(self, transactional_id: str, timeout_ms: int, expected: ProducerKey | None, done: Done[InitReply]) -> None:
        """Gives the id to a producer; what was open under it is aborted first."""
        if not 0 < timeout_ms <= self.settings.timeout_max_ms:
            done(None, Refused(ErrorCode.INVALID_TRANSACTION_TIMEOUT))
            return

        waits = False

        def decide(machine: TransactionMachine, now_ms: int, fresh_id: int | None) -> Decision[InitReply]:
            nonlocal waits
            if transactional_id not in machine.transactions:
                self._check_room()
            decision = machine.init(transactional_id, timeout_ms, expected, fresh_id, now_ms)
            if decision.reply.aborts:
                # It waits first in the line for the end that it caused.
                owner = ProducerKey(decision.reply.producer_id, decision.reply.epoch) if expected is not None else None
                waits = self._hold(
                    transactional_id,
                    lambda: self.init(transactional_id, timeout_ms, owner, done),
                    lambda refusal: done(None, refusal),
                )
                assert waits, "nobody waits for the end of a transaction that goes on"
            return decision

        def decided(reply: InitReply | None, fault: Exception | None) -> None:
            if not waits:
                done(reply, fault)
            elif fault is None:
                self._finish(transactional_id)

        self._write(transactional_id, decide, decided)

    @property
    def id_count(self) -> int:
        """Transactional ids that are remembered; each takes memory and a record until it was long unused."""
        return sum(len(shard.machine.transactions) for shard in self.topic.runtime.active_shards())

    def _check_room(self) -> None:
        if self.id_count >= self.settings.ids_max:
            self._metrics.transactional_ids_refused += 1
            limit = self.settings.ids_max
            raise Refused(ErrorCode.POLICY_VIOLATION, f"the node already remembers {limit} transactional ids")

    def add(
        self,
        transactional_id: str,
        producer: ProducerKey,
        places: Sequence[Place],
        done: Done[list[Place]],
        *,
        version: int = 0,
    ) -> None:
        """The places are part of the producer's transaction once ``done`` is called."""

        def decided(new: list[Place] | None, fault: Exception | None) -> None:
            if new:
                machine = self._machine(transactional_id)
                if machine is not None:
                    machine.added(transactional_id, new)
            done(new, fault)

        self._write(
            transactional_id,
            lambda machine, now_ms, fresh_id: machine.add(transactional_id, producer, places, version, now_ms),
            decided,
        )

    def end(
        self, transactional_id: str, producer: ProducerKey, done: Done[EndReply], *, commit: bool, version: int = 0
    ) -> None:
        """Decides. ``done`` is called when that is durable, with the markers in place."""

        def decided(reply: EndReply | None, fault: Exception | None) -> None:
            if reply is not None and reply.decided:
                self._finish(transactional_id)
            done(reply, fault)

        self._write(
            transactional_id,
            lambda machine, now_ms, fresh_id: machine.end(
                transactional_id, producer, version, fresh_id, now_ms, commit=commit
            ),
            decided,
        )

    def verify(self, transactional_id: str, producer: ProducerKey, place: Place) -> ErrorCode:
        """Whether the producer may write to the place now, as part of its transaction."""
        try:
            machine = self.shard(transactional_id).machine
        except Refused as refused:
            return ErrorCode(refused.code)  # type: ignore[call-arg]
        return machine.verify(transactional_id, producer, place)

    def _machine(self, transactional_id: str) -> TransactionMachine | None:
        try:
            return self.shard(transactional_id).machine
        except Refused:
            return None

    def _write(self, transactional_id: str, decide: Decide[R], done: Done[R], fresh_id: int | None = None) -> None:
        try:
            shard = self.shard(transactional_id)
        except Refused as refused:
            done(None, refused)
            return

        def decided(reply: R | None, fault: Exception | None) -> None:
            if isinstance(fault, ProducerIdNeeded) and fresh_id is None:
                self._fresh_ids.take(taken)
            elif (
                isinstance(fault, Refused)
                and fault.code == ErrorCode.CONCURRENT_TRANSACTIONS
                and self._hold(
                    transactional_id,
                    lambda: self._write(transactional_id, decide, done, fresh_id),
                    lambda refusal: done(None, refusal),
                )
            ):
                pass
            else:
                done(reply, fault)

        def taken(producer_id: int | Refused) -> None:
            if isinstance(producer_id, Refused):
                done(None, producer_id)
            else:
                self._write(transactional_id, decide, done, producer_id)

        shard.write(lambda machine, now_ms: decide(machine, now_ms, fresh_id), decided)

    # -- waiting for an end ------------------------------------------------------------------------------------------

    def _hold(self, transactional_id: str, again: Callable[[], None], give_up: Callable[[Refused], None]) -> bool:
        """Keeps a request until the end that is under way is complete; False when too many wait already."""
        held = self._held.get(transactional_id)
        if held is None:
            cancel = self._timers.later(self.settings.end_wait_max_ms, lambda: self._give_up(transactional_id))
            held = self._held[transactional_id] = Held(cancel)
        if len(held.requests) >= HELD_MAX:
            return False
        held.requests.append((again, give_up))
        return True

    def _give_up(self, transactional_id: str, code: int = ErrorCode.CONCURRENT_TRANSACTIONS) -> None:
        held = self._held.pop(transactional_id, None)
        if held is not None:
            held.cancel()
            for _, give_up in held.requests:
                give_up(Refused(code))

    def _release(self, transactional_id: str) -> None:
        held = self._held.pop(transactional_id, None)
        if held is not None:
            held.cancel()
            for again, _ in held.requests:
                again()

    # -- carrying out ------------------------------------------------------------------------------------------------

    def _finish(self, transactional_id: str) -> None:
        """The decision is durable: writes the markers, then says that it is complete."""
        try:
            shard = self.shard(transactional_id)
        except Refused:
            return  # whoever loads its log goes on from there
        transaction = shard.machine.transactions.get(transactional_id)
        if transaction is None or not transaction.state.is_decided or transactional_id in self._finishing:
            return

        def completed(_: None, fault: Exception | None) -> None:
            """A coordinator that fails meanwhile reads the decision again."""

        def decide(machine: TransactionMachine, now_ms: int) -> Decision[None]:
            decision = machine.complete(transactional_id, now_ms)
            decision.after = lambda: self._release(transactional_id)
            return decision

        def on_done() -> None:
            del self._finishing[transactional_id]
            shard.write(decide, completed)

        finishing = Finishing(
            transaction, shard.log.leader_epoch, self._partitions, self._offsets, self._timers, on_done
        )
        self._finishing[transactional_id] = finishing
        finishing.begin()

    def due(self, transactional_id: str) -> None:
        """A transaction's time is over: it is aborted, and its producer fenced."""

        def decided(aborted: bool | None, fault: Exception | None) -> None:
            if aborted:
                self._finish(transactional_id)

        self._write(
            transactional_id, lambda machine, now_ms, fresh_id: machine.abort_due(transactional_id, now_ms), decided
        )

    def shard_loaded(self, index: int) -> None:
        """What was decided before is carried out, as soon as the decision is known to be durable."""
        shard = self.topic.runtime.shards[index]
        decided = [found.id for found in shard.machine.transactions.values() if found.state.is_decided]
        if not decided:
            return

        def durable(_: None, fault: Exception | None) -> None:
            if fault is None:
                for transactional_id in decided:
                    self._finish(transactional_id)

        shard.read(lambda machine, now_ms: None, durable)

    def shard_ended(self, index: int, code: int) -> None:
        for transactional_id in [each for each in self._finishing if self._index_of(each) == index]:
            self._finishing.pop(transactional_id).stop()
        for transactional_id in [each for each in self._held if self._index_of(each) == index]:
            self._give_up(transactional_id, code)
        if code != ErrorCode.NOT_COORDINATOR:
            # Transactions time out and are carried out even if no request comes by which it would be tried again.
            self._timers.later(LEAD_AGAIN_MS, lambda: self._lead_again(index))

    def _lead_again(self, index: int) -> None:
        shard = self.topic.runtime.shards.get(index)
        if shard is not None and shard.phase is Phase.FAILED:
            self.topic.runtime.lead(index)

    def _index_of(self, transactional_id: str) -> int:
        return self.topic.runtime.partition_for(transactional_id)

    def stop(self) -> None:
        self.topic.stop()
