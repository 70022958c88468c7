"""One group coordinator without a disk, and members that speak both protocols to it by plain calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from tests.kit.coordinators import MemoryLog, Timers
from twinlog.base import Refused
from twinlog.kafka.coordinator import CoordinatorRuntime, Decision, Shard
from twinlog.kafka.groups import Caller, GroupMachine, GroupSettings, GroupState, JoinAnswer, SyncAnswer, Wish
from twinlog.kafka.groups.classic_types import JoinRequest, SyncRequest
from twinlog.kafka.groups.consumer import CONSUMER_MOVES, ConsumerGroup
from twinlog.kafka.groups.consumer_heartbeat import HeartbeatAnswer, HeartbeatRequest
from twinlog.kafka.groups.reports import Reports
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolAssignmentTopicPartition,
    ConsumerProtocolSubscription,
    ConsumerProtocolSubscriptionTopicPartition,
)
from twinlog.wire.kafka.records import decode_assignment, encode_embedded

CALLER = Caller("client", "/10.0.0.9")
SESSION_MS = 10_000
REBALANCE_MS = 60_000


class Topics:
    """A ``TopicView`` of a few topics. A pattern is a prefix with ``.*`` behind it."""

    def __init__(self, **counts: int) -> None:
        self.version = 1
        self._known: dict[str, tuple[bytes, int]] = {}
        self._number = count(1)
        for name, partitions in counts.items():
            self.put(name, partitions)

    def put(self, name: str, partitions: int) -> bytes:
        """Makes the topic, or gives it another number of partitions."""
        topic_id = self._known[name][0] if name in self._known else next(self._number).to_bytes(16, "big")
        self._known[name] = (topic_id, partitions)
        self.version += 1
        return topic_id

    def drop(self, name: str) -> None:
        del self._known[name]
        self.version += 1

    def id(self, name: str) -> bytes:
        return self._known[name][0]

    def find(self, name: str) -> tuple[bytes, int] | None:
        return self._known.get(name)

    def name_of(self, topic_id: bytes) -> str | None:
        return next((name for name, (known, _) in self._known.items() if known == topic_id), None)

    def matching(self, pattern: str) -> frozenset[str]:
        if not pattern.endswith(".*"):
            raise Refused(ErrorCode.INVALID_REGULAR_EXPRESSION, "not a pattern of this fake")
        return frozenset(name for name in self._known if name.startswith(pattern[:-2]))


class Coordinator:
    """A shard with a group machine on it. ``crash`` loses what was not synced and starts again."""

    def __init__(
        self, topics: Topics | None = None, settings: GroupSettings | None = None, *, held: bool = False
    ) -> None:
        self.topics = topics or Topics(t=4)
        self.settings = settings or GroupSettings(initial_rebalance_delay_ms=0)
        self.timers = Timers()
        self.log = MemoryLog(held=held)
        self._numbers = count(1)
        self.runtime: CoordinatorRuntime[GroupMachine]
        self._boot()

    def _boot(self) -> None:
        self.runtime = CoordinatorRuntime(1, lambda _: self.log, self.make_machine, self.timers)
        self.runtime.lead(0)
        self.timers.run()

    def make_machine(self, index: int) -> GroupMachine:
        return GroupMachine(self.settings, self.topics, Reports(self.settings), self._is_full)

    def _is_full(self) -> bool:
        return self.machine.group_count >= self.settings.groups_max

    @property
    def shard(self) -> Shard[GroupMachine]:
        return self.runtime.shard_for("any")

    @property
    def machine(self) -> GroupMachine:
        return self.shard.machine

    def group(self, group_id: str = "g") -> Any:
        return self.machine.groups[group_id]

    def new_id(self) -> str:
        return f"m{next(self._numbers)}"

    def pass_ms(self, ms: int) -> None:
        before = self._states()
        self.timers.pass_ms(ms)
        self._check_moves(before)

    def crash(self) -> None:
        """The process is gone, and with it what was not synced; another one reads the log."""
        self.log.lose()
        self.timers = Timers(self.timers.ms)
        self._boot()

    def restart(self) -> None:
        """Stops in order and starts again."""
        self.log.sync()
        self.runtime.resign_all()
        self.crash()

    def write(self, decide: Callable[[GroupMachine, int], Decision[Any]]) -> Any:
        """What the request comes to once durable; raises what it was refused with. None while it waits."""
        outcome: list[tuple[Any, Exception | None]] = []
        before = self._states()
        self.shard.write(decide, lambda reply, fault: outcome.append((reply, fault)))
        self.timers.run()
        self._check_moves(before)
        if not outcome:
            return None
        reply, fault = outcome[0]
        if fault is not None:
            raise fault
        return reply

    def _states(self) -> dict[str, GroupState]:
        groups = self.machine.groups.values()
        return {group.id: group.state for group in groups if isinstance(group, ConsumerGroup)}

    def _check_moves(self, before: dict[str, GroupState]) -> None:
        """What groups of the consumer protocol did is in the table that their page is drawn from."""
        for group_id, state in self._states().items():
            was = before.get(group_id, GroupState.EMPTY)
            assert state in CONSUMER_MOVES[was], (group_id, was, state)

    def write_held(self, decide: Callable[[GroupMachine, int], Decision[Any]]) -> None:
        """As ``write``, for requests whose own answers are let go once they are durable, perhaps much later."""
        refusals: list[Exception] = []

        def done(held: Any, fault: Exception | None) -> None:
            if fault is not None:
                refusals.append(fault)
            for reply in held or ():
                reply()

        self.shard.write(decide, done)
        self.shard.rearm()
        self.timers.run()
        if refusals:
            raise refusals[0]

    def commit(self, offset: int, group_id: str = "g", topic: str = "t", partition: int = 0, **more: Any) -> int:
        """The error code of one committed offset; by default of somebody outside of the group."""
        member_id, generation = more.pop("member_id", ""), more.pop("generation", -1)
        found = self.topics.find(topic)
        topic_id = found[0] if found else bytes(16)
        wish = Wish(topic, topic_id, partition, offset, more.pop("leader_epoch", -1), more.pop("metadata", ""))
        instance_id, retention_ms = more.pop("instance_id", None), more.pop("retention_ms", -1)

        def decide(machine: GroupMachine, now_ms: int) -> Decision[list[int]]:
            machine.check_commit(group_id, member_id, instance_id, generation, now_ms, **more)
            return machine.commit(group_id, [wish], now_ms, retention_ms)

        return self.write(decide)[0]

    def committed(self, group_id: str = "g", topic: str = "t", partition: int = 0) -> int | None:
        found = self.machine.offsets.get(group_id, (topic, partition))
        return found.offset if found is not None else None


def subscription(topics: Iterable[str], owned: dict[str, list[int]] | None = None, generation: int = -1) -> bytes:
    """What a classic member says in its JoinGroup."""
    return encode_embedded(
        ConsumerProtocolSubscription(
            topics=list(topics),
            user_data=None,
            owned_partitions=[
                ConsumerProtocolSubscriptionTopicPartition(topic=t, partitions=p) for t, p in (owned or {}).items()
            ],
            generation_id=generation,
            rack_id=None,
        ),
        3,
    )


def assignment(owned: dict[str, list[int]]) -> bytes:
    """What a classic leader gives."""
    return encode_embedded(
        ConsumerProtocolAssignment(
            assigned_partitions=[
                ConsumerProtocolAssignmentTopicPartition(topic=t, partitions=p) for t, p in owned.items()
            ],
            user_data=None,
        ),
        3,
    )


def assigned(data: bytes) -> dict[str, list[int]]:
    return {e.topic: list(e.partitions) for e in decode_assignment(data).assigned_partitions} if data else {}


class ClassicMember:
    """A client of the classic protocol. Answers that have not come are None."""

    def __init__(
        self,
        coordinator: Coordinator,
        group_id: str = "g",
        *,
        instance_id: str | None = None,
        topics: Iterable[str] = ("t",),
        protocols: Iterable[str] = ("range",),
        protocol_type: str = "consumer",
        session_ms: int = SESSION_MS,
        rebalance_ms: int = REBALANCE_MS,
        version: int = 9,
    ) -> None:
        self.coordinator = coordinator
        self.group_id = group_id
        self.id = ""
        self.instance_id = instance_id
        self.topics = tuple(topics)
        self.protocols = tuple(protocols)
        self.protocol_type = protocol_type
        self.session_ms = session_ms
        self.rebalance_ms = rebalance_ms
        self.version = version
        self.generation = -1
        self.owned: dict[str, list[int]] = {}
        self.joined: JoinAnswer | None = None
        self._asked = False
        self._join_request: JoinRequest | None = None
        self.synced: SyncAnswer | None = None

    @property
    def waits(self) -> bool:
        """For the answer to its JoinGroup."""
        return self._asked and self.joined is None

    @property
    def leads(self) -> bool:
        return self.joined is not None and self.joined.leader_id == self.id

    def ask_join(self, member_id: str | None = None) -> None:
        """Sends one JoinGroup; raises what it was refused with."""
        self._asked = True
        data = subscription(self.topics, self.owned, self.generation)
        request = JoinRequest(
            member_id=self.id if member_id is None else member_id,
            instance_id=self.instance_id,
            caller=CALLER,
            rebalance_timeout_ms=self.rebalance_ms,
            session_timeout_ms=self.session_ms,
            protocol_type=self.protocol_type,
            protocols=[(name, data) for name in self.protocols],
            needs_known_id=self.version >= 4,
            may_skip_assignment=self.version >= 9,
        )
        self._join_request = request
        self.repeat_join()

    def repeat_join(self) -> None:
        """Sends the very same JoinGroup again, as a client does whose answer got lost."""
        self.joined = None
        coordinator, request = self.coordinator, self._join_request
        assert request is not None
        try:
            coordinator.write_held(
                lambda m, now_ms: m.join(self.group_id, request, coordinator.new_id, self._on_joined, now_ms)
            )
        except Refused:
            self._asked = False
            raise

    def join(self) -> None:
        """As clients do: the id first, where it is asked for."""
        self.ask_join()
        if self.joined is not None and self.joined.error == ErrorCode.MEMBER_ID_REQUIRED:
            self.ask_join()

    def _on_joined(self, answer: JoinAnswer) -> None:
        self.joined = answer
        if answer.member_id:
            self.id = answer.member_id
        if answer.error == ErrorCode.NONE:
            self.generation = answer.generation

    def sync(self, shares: dict[str, bytes] | None = None, **more: Any) -> None:
        self.synced = None
        request = SyncRequest(
            member_id=self.id,
            instance_id=self.instance_id,
            generation=more.pop("generation", self.generation),
            protocol_type=more.pop("protocol_type", None),
            protocol=more.pop("protocol", None),
            assignments=shares or {},
        )
        self.coordinator.write_held(
            lambda machine, now_ms: machine.sync(self.group_id, request, self._on_synced, now_ms)
        )

    def _on_synced(self, answer: SyncAnswer) -> None:
        self.synced = answer
        if answer.error == ErrorCode.NONE:
            self.owned = assigned(answer.assignment)

    def heartbeat(self, generation: int | None = None) -> int:
        code = self.coordinator.machine.heartbeat(
            self.group_id,
            self.id,
            self.instance_id,
            self.generation if generation is None else generation,
            self.coordinator.timers.now_ms(),
        )
        self.coordinator.shard.rearm()
        return code

    def leave(self) -> None:
        held, errors = self.coordinator.write(
            lambda machine, now_ms: machine.leave(self.group_id, [(self.id, self.instance_id)], now_ms)
        )
        for reply in held:
            reply()
        if errors[0] != ErrorCode.NONE:
            raise Refused(errors[0])

    def commit(self, offset: int, partition: int = 0, **more: Any) -> int:
        return self.coordinator.commit(
            offset,
            self.group_id,
            partition=partition,
            member_id=self.id,
            generation=more.pop("generation", self.generation),
            instance_id=self.instance_id,
            **more,
        )


class ConsumerMember:
    """A client of the consumer protocol: all by heartbeats."""

    def __init__(
        self,
        coordinator: Coordinator,
        member_id: str,
        group_id: str = "g",
        *,
        topics: Iterable[str] | None = ("t",),
        **more: Any,
    ) -> None:
        self.coordinator = coordinator
        self.group_id = group_id
        self.id = member_id
        self.epoch = 0
        self.topics = None if topics is None else tuple(topics)
        self.more = {"rebalance_timeout_ms": REBALANCE_MS, **more}
        self.owned: dict[bytes, frozenset[int]] = {}  # what it uses
        self.told: HeartbeatAnswer | None = None

    @property
    def partitions(self) -> list[int]:
        """Of all topics together; tests mostly have one."""
        return sorted(p for partitions in self.owned.values() for p in partitions)

    def beat(self, **fields: Any) -> HeartbeatAnswer:
        """One heartbeat with these fields; raises what it was refused with."""
        request = HeartbeatRequest(
            member_id=fields.pop("member_id", self.id),
            member_epoch=fields.pop("epoch", self.epoch),
            caller=CALLER,
            **fields,
        )
        answer = self.coordinator.write(lambda m, now_ms: m.consumer_heartbeat(self.group_id, request, now_ms))
        assert answer is None or isinstance(answer, HeartbeatAnswer)
        self.told = answer
        if answer is not None:
            self.epoch = answer.member_epoch
        return answer  # type: ignore[return-value]

    def join(self, **fields: Any) -> None:
        """Says all about itself and takes what it is given."""
        self.epoch = 0
        self.owned = {}
        self.beat(**{"topic_names": self.topics, "owned": {}, **self.more, **fields})
        self.take()

    def take(self) -> None:
        """Does what the last answer says: gives up and takes on; the next report tells of it."""
        if self.told is not None and self.told.assignment is not None:
            self.owned = dict(self.told.assignment)

    def report(self) -> None:
        """A heartbeat that names what it owns, and what follows from the answer."""
        self.beat(owned=self.owned, instance_id=self.more.get("instance_id"))
        self.take()

    def leave(self, epoch: int = -1) -> None:
        self.beat(epoch=epoch, instance_id=self.more.get("instance_id"))

    def commit(self, offset: int, partition: int = 0, **more: Any) -> int:
        return self.coordinator.commit(
            offset,
            self.group_id,
            partition=partition,
            member_id=self.id,
            generation=more.pop("epoch", self.epoch),
            instance_id=self.more.get("instance_id"),
            **more,
        )


def converge(*members: ConsumerMember, rounds: int = 6) -> None:
    """Everybody reports a few times, as its heartbeats would."""
    for _ in range(rounds):
        for member in members:
            member.report()


def settle(*members: ClassicMember) -> None:
    """One whole round: all join who do not wait already, the leader deals the partitions of ``t`` out, all sync."""
    asked = sorted((m for m in members if not m.waits), key=lambda m: (m.id != "", not m.leads))
    for member in asked:  # newcomers and the leader start the round; a follower alone would be told to stay
        member.join()
    leader = next(member for member in members if member.leads)
    assert leader.joined is not None
    found = leader.coordinator.topics.find("t")
    count_all = found[1] if found is not None else 0
    ids = [member_id for member_id, _, _ in leader.joined.members]
    for member in members:
        if member is not leader:
            member.sync()
    leader.sync({m: assignment({"t": list(range(i, count_all, len(ids)))}) for i, m in enumerate(ids)})
