"""The classic group protocol: clients join, one of them assigns, all of them sync.

Promises: one generation has one leader and one assignment; a member of an older generation is refused; the leader's
bytes reach the members unchanged. What survives a restart (generation, members, assignment) is a record; who waits
for what is soft and is rebuilt by the clients themselves.

This file is the group and its rounds; ``classic_join`` decides who comes in, ``classic_types`` says what is asked.
Nothing here knows sockets or clocks: ``now_ms`` comes in, and answers leave through the callbacks that came with the
requests. Methods that must be kept return records; the caller replays them and holds back ``Held`` answers until
the records are durable.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from twinlog.base import ProtocolViolation, Refused
from twinlog.kafka.groups.classic_types import Member, Outbox, SyncRequest
from twinlog.kafka.groups.settings import GroupSettings
from twinlog.kafka.groups.types import GroupState, JoinAnswer, JoinReply, SyncAnswer, SyncReply
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.records import decode_subscription

# Every move a classic group may make; anything else is a bug. The guide's diagram is drawn from this table.
CLASSIC_MOVES: dict[GroupState, frozenset[GroupState]] = {
    GroupState.EMPTY: frozenset({GroupState.PREPARING_REBALANCE, GroupState.DEAD, GroupState.EMPTY}),
    GroupState.PREPARING_REBALANCE: frozenset({GroupState.COMPLETING_REBALANCE, GroupState.EMPTY}),
    GroupState.COMPLETING_REBALANCE: frozenset({GroupState.STABLE, GroupState.PREPARING_REBALANCE}),
    GroupState.STABLE: frozenset({GroupState.PREPARING_REBALANCE}),
    GroupState.DEAD: frozenset(),
}


@dataclass(slots=True)
class ClassicGroup:
    """One group. Members keep the order in which they came: the first is the natural leader."""

    id: str
    settings: GroupSettings
    state: GroupState = GroupState.EMPTY
    state_since_ms: int = 0
    generation: int = 0
    protocol_type: str | None = None
    protocol: str | None = None
    leader_id: str | None = None
    members: dict[str, Member] = field(default_factory=dict)
    pending: dict[str, int] = field(default_factory=dict)  # ids given out, not yet joined -> deadline
    instances: dict[str, str] = field(default_factory=dict)  # static instance -> member id
    phase_deadline_ms: int | None = None  # of the join or of the sync
    join_not_before_ms: int = 0
    is_first_round: bool = False  # of a group that was empty: its end does not wait for ids given out
    synced: set[str] = field(default_factory=set)
    is_live: bool = True  # False while its log is read: then the newest record wins
    due_ms: int | None = None  # nothing can run out before this; ``wake`` finds the true next moment
    # Kept beside ``members``, so that a thousand of them joining cost a thousand steps and not a million.
    support: dict[str, int] = field(default_factory=dict)  # protocol -> members that know it
    joining_count: int = 0
    metadata_bytes: int = 0

    def restore(self, member: Member) -> None:
        """A member read back from the log; ``resume`` starts its session."""
        self.enlist(member)

    def turn_away(self, error: int) -> None:
        """Nobody waits here any longer: the group goes on in another form."""
        for member in self.members.values():
            self.answer_join(member, JoinAnswer(error=error, member_id=member.id))
            self.answer_sync(member, SyncAnswer(error=error))

    def rebalance(self, now_ms: int) -> None:
        """Everybody has to join again."""
        self.prepare_rebalance(now_ms)

    def resume(self, now_ms: int) -> None:
        """Loading ended: every member has a whole session to be heard from again."""
        self.is_live = True
        for member in self.members.values():
            self.touch(member, now_ms)

    def touch(self, member: Member, now_ms: int) -> None:
        """Heard of the member: a new session begins."""
        self.give_until(member, now_ms + member.session_timeout_ms)

    def give_until(self, member: Member, deadline_ms: int) -> None:
        member.deadline_ms = deadline_ms
        self.alarm(deadline_ms)

    def alarm(self, at_ms: int) -> None:
        if self.due_ms is None or at_ms < self.due_ms:
            self.due_ms = at_ms

    def enlist(self, member: Member) -> None:
        self.members[member.id] = member
        if member.instance_id is not None:
            self.instances[member.instance_id] = member.id
        self.count_protocols(member, 1)

    def count_protocols(self, member: Member, by: int) -> None:
        self.metadata_bytes += by * member.metadata_bytes
        for name in {name for name, _ in member.protocols}:
            left = self.support.get(name, 0) + by
            if left:
                self.support[name] = left
            else:
                del self.support[name]

    def park(self, member: Member, reply: JoinReply) -> None:
        assert member.joining is None
        member.joining = reply
        self.joining_count += 1

    def answer_join(self, member: Member, answer: JoinAnswer) -> None:
        if member.joining is not None:
            reply, member.joining = member.joining, None
            self.joining_count -= 1
            reply(answer)

    def answer_sync(self, member: Member, answer: SyncAnswer) -> None:
        if member.syncing is not None:
            reply, member.syncing = member.syncing, None
            reply(answer)

    # -- the round -----------------------------------------------------------------------------------------------

    def _move(self, state: GroupState, now_ms: int) -> None:
        assert state in CLASSIC_MOVES[self.state], (self.id, self.state, state)
        self.state = state
        self.state_since_ms = now_ms

    def prepare_rebalance(self, now_ms: int) -> None:
        if self.state is GroupState.COMPLETING_REBALANCE:
            for member in self.members.values():
                member.assignment = b""
                if member.syncing is not None:
                    self.answer_sync(member, SyncAnswer(error=ErrorCode.REBALANCE_IN_PROGRESS))
                    self.touch(member, now_ms)
        self.is_first_round = self.state is GroupState.EMPTY
        self._move(GroupState.PREPARING_REBALANCE, now_ms)
        self.synced.clear()
        self._set_phase_deadline(now_ms)
        self.join_not_before_ms = now_ms
        if self.is_first_round:
            self.join_not_before_ms += self.settings.initial_rebalance_delay_ms
            self.alarm(self.join_not_before_ms)

    def _set_phase_deadline(self, now_ms: int) -> None:
        timeout_ms = max((m.rebalance_timeout_ms for m in self.members.values()), default=0)
        self.phase_deadline_ms = now_ms + timeout_ms
        self.alarm(self.phase_deadline_ms)

    def complete_join_if_ready(self, now_ms: int, outbox: Outbox) -> None:
        if self.state is not GroupState.PREPARING_REBALANCE or now_ms < self.join_not_before_ms:
            return
        # An id that was given out is a member about to come; a group's first round does not wait for it, so that a
        # client that fetched an id and died does not keep all the others from starting.
        if self.joining_count < len(self.members) or (self.pending and not (self.is_first_round and self.members)):
            return
        self._complete_join(now_ms, outbox)

    def _complete_join(self, now_ms: int, outbox: Outbox) -> None:
        """The round ends: who did not come is out, the others learn the new generation."""
        for member in [m for m in self.members.values() if m.joining is None and m.instance_id is None]:
            self._forget(member)
        if self.members and not self.joining_count:
            # Only static members are left and none came: they keep their places, the round goes on.
            self._set_phase_deadline(now_ms)
            return
        self.generation += 1
        self.phase_deadline_ms = None
        if not self.members:
            self.protocol = None
            self.leader_id = None
            self._move(GroupState.EMPTY, now_ms)
            outbox.store = True
            return
        if self.leader_id is None or self.members[self.leader_id].joining is None:
            self.leader_id = next(m.id for m in self.members.values() if m.joining is not None)
        self.protocol = self.select_protocol()
        self._move(GroupState.COMPLETING_REBALANCE, now_ms)
        self._set_phase_deadline(now_ms)
        for member in self.members.values():
            if member.joining is not None:
                member.is_new = False
                self.touch(member, now_ms)
                self.answer_join(member, self.join_answer(member))

    def select_protocol(self) -> str:
        """Each member votes for its first protocol that all know; most votes win, earlier ones break a tie."""
        common = {name for name, count in self.support.items() if count == len(self.members)}
        votes: dict[str, int] = {}
        for member in self.members.values():
            choice = next(name for name, _ in member.protocols if name in common)
            votes[choice] = votes.get(choice, 0) + 1
        return max(votes, key=lambda name: votes[name])

    def join_answer(self, member: Member) -> JoinAnswer:
        leads = member.id == self.leader_id
        listed = [(m.id, m.instance_id, m.metadata(self.protocol)) for m in self.members.values()] if leads else []
        return JoinAnswer(
            member_id=member.id,
            generation=self.generation,
            protocol_type=self.protocol_type,
            protocol=self.protocol,
            leader_id=self.leader_id or "",
            members=listed,
        )

    # -- syncing -------------------------------------------------------------------------------------------------

    def sync(self, request: SyncRequest, reply: SyncReply, now_ms: int) -> Outbox:
        """Parks ``reply`` until the leader's assignment is durable. Raises ``Refused``."""
        member = self._member_of_generation(request.member_id, request.instance_id, request.generation)
        if request.protocol_type is not None and request.protocol_type != self.protocol_type:
            raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "not the group's protocol type")
        if request.protocol is not None and request.protocol != self.protocol:
            raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "not the protocol this generation chose")
        outbox = Outbox()
        if self.state is GroupState.PREPARING_REBALANCE:
            raise Refused(ErrorCode.REBALANCE_IN_PROGRESS, "the group is between two generations: join again")
        self.touch(member, now_ms)
        if self.state is GroupState.STABLE:
            answer = self._sync_answer(member)
            outbox.hold(lambda: reply(answer))
            return outbox
        if member.id == self.leader_id:
            self._check_assignments(request.assignments)
        self.synced.add(member.id)
        self.answer_sync(member, SyncAnswer(error=ErrorCode.REBALANCE_IN_PROGRESS))  # an older request of its own
        member.syncing = reply
        if member.id == self.leader_id:
            self._assign(request.assignments, now_ms, outbox)
        return outbox

    def _check_assignments(self, assignments: dict[str, bytes]) -> None:
        asked = sum(map(len, assignments.values()))
        if asked > self.settings.metadata_max_bytes:
            raise Refused(ErrorCode.INVALID_REQUEST, f"{asked} bytes of assignments are more than a group may have")

    def _assign(self, assignments: dict[str, bytes], now_ms: int, outbox: Outbox) -> None:
        self._move(GroupState.STABLE, now_ms)
        self.phase_deadline_ms = None
        outbox.store = True
        for member in self.members.values():
            member.assignment = assignments.get(member.id, b"")
            if member.syncing is not None:
                waiting, member.syncing = member.syncing, None
                self.touch(member, now_ms)
                answer = self._sync_answer(member)
                outbox.hold(lambda waiting=waiting, answer=answer: waiting(answer))  # type: ignore[misc]

    def _sync_answer(self, member: Member) -> SyncAnswer:
        return SyncAnswer(protocol_type=self.protocol_type, protocol=self.protocol, assignment=member.assignment)

    # -- heartbeats, commits, leaving ------------------------------------------------------------------------------

    def heartbeat(self, member_id: str, instance_id: str | None, generation: int, now_ms: int) -> int:
        """Returns the error code that steers the member; raises ``Refused`` for one who is not of this generation."""
        member = self._member_of_generation(member_id, instance_id, generation)
        self.touch(member, now_ms)
        return ErrorCode.REBALANCE_IN_PROGRESS if self.state is GroupState.PREPARING_REBALANCE else ErrorCode.NONE

    def check_commit(self, member_id: str, instance_id: str | None, generation: int, now_ms: int) -> None:
        """May this caller commit offsets? A group without members takes commits from anyone outside of it."""
        if generation < 0 and self.state is GroupState.EMPTY:
            return
        member = self._member_of_generation(member_id, instance_id, generation)
        if self.state is GroupState.COMPLETING_REBALANCE:
            raise Refused(ErrorCode.REBALANCE_IN_PROGRESS, "the group waits for its leader's assignment")
        self.touch(member, now_ms)

    def check_transactional_commit(self, member_id: str, instance_id: str | None, generation: int) -> None:
        """Transactions may name no member at all (older clients); who names one must be current."""
        if member_id == "" and generation < 0 and instance_id is None:
            return
        self._member_of_generation(member_id, instance_id, generation)

    def leave(self, member_id: str, instance_id: str | None, now_ms: int) -> Outbox:
        """Takes a member out, by its id or by its static name alone. Raises ``Refused``."""
        outbox = Outbox()
        if instance_id is None and self.pending.pop(member_id, None) is not None:
            self.complete_join_if_ready(now_ms, outbox)
            return outbox
        if instance_id is not None and member_id == "":
            if instance_id not in self.instances:
                raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the group has no such static member")
            member = self.members[self.instances[instance_id]]
        else:
            member = self.member(member_id, instance_id)
        self._remove(member, now_ms, outbox)
        return outbox

    def _remove(self, member: Member, now_ms: int, outbox: Outbox) -> None:
        self._forget(member)
        if self.state in (GroupState.STABLE, GroupState.COMPLETING_REBALANCE):
            self.prepare_rebalance(now_ms)
        if self.state is GroupState.PREPARING_REBALANCE and not self.members and not self.pending:
            self.join_not_before_ms = now_ms
        self.complete_join_if_ready(now_ms, outbox)

    def _forget(self, member: Member) -> None:
        self.answer_join(member, JoinAnswer(error=ErrorCode.UNKNOWN_MEMBER_ID, member_id=member.id))
        self.answer_sync(member, SyncAnswer(error=ErrorCode.UNKNOWN_MEMBER_ID))
        self.count_protocols(member, -1)
        del self.members[member.id]
        self.synced.discard(member.id)
        if member.instance_id is not None and self.instances.get(member.instance_id) == member.id:
            del self.instances[member.instance_id]
        if self.leader_id == member.id:
            self.leader_id = next(iter(self.members), None)

    def member(self, member_id: str, instance_id: str | None) -> Member:
        """The member by its id; a static name must belong to that very id."""
        if instance_id is not None:
            current = self.instances.get(instance_id)
            if current is None:
                raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the group has no such static member")
            if current != member_id:
                raise Refused(ErrorCode.FENCED_INSTANCE_ID, "another client took over this static member")
        if member_id not in self.members:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the group has no such member")
        return self.members[member_id]

    def _member_of_generation(self, member_id: str, instance_id: str | None, generation: int) -> Member:
        member = self.member(member_id, instance_id)
        if generation != self.generation:
            raise Refused(ErrorCode.ILLEGAL_GENERATION, f"the group is at generation {self.generation}")
        return member

    def subscribed_topics(self) -> set[str]:
        """Topics that members read, as far as their subscriptions can be read by us."""
        if self.protocol_type != "consumer":
            return set()
        topics: set[str] = set()
        for member in self.members.values():
            try:
                topics.update(decode_subscription(member.metadata(self.protocol)).topics)
            except ProtocolViolation:
                continue  # a client's own bytes: what cannot be read protects nothing
        return topics

    # -- time ------------------------------------------------------------------------------------------------------

    def _next_due_ms(self) -> int | None:
        moments = [*self.pending.values()]
        moments += [m.deadline_ms for m in self.members.values() if not self._is_excused(m)]
        if self.phase_deadline_ms is not None:
            moments.append(self.phase_deadline_ms)
        if self.state is GroupState.PREPARING_REBALANCE and self.join_not_before_ms > self.state_since_ms:
            moments.append(self.join_not_before_ms)
        return min(moments, default=None)

    def _is_excused(self, member: Member) -> bool:
        """A client waiting for our own answer cannot send heartbeats."""
        return not member.is_new and (member.joining is not None or member.syncing is not None)

    def wake(self, now_ms: int) -> Outbox:
        """Sessions, ids given out, joins and syncs that ran out of time."""
        outbox = Outbox()
        for member_id in [i for i, deadline_ms in self.pending.items() if deadline_ms <= now_ms]:
            del self.pending[member_id]
        expired = [m for m in self.members.values() if m.deadline_ms <= now_ms and not self._is_excused(m)]
        for member in expired:
            if self.members.get(member.id) is member:
                self._remove(member, now_ms, outbox)
        if self.phase_deadline_ms is not None and self.phase_deadline_ms <= now_ms:
            if self.state is GroupState.PREPARING_REBALANCE:
                self._complete_join(now_ms, outbox)
            elif self.state is GroupState.COMPLETING_REBALANCE:
                self._expire_sync(now_ms, outbox)
            else:
                self.phase_deadline_ms = None
        self.complete_join_if_ready(now_ms, outbox)
        if self.state is GroupState.PREPARING_REBALANCE and self.join_not_before_ms <= now_ms:
            self.join_not_before_ms = self.state_since_ms
        self.due_ms = self._next_due_ms()
        return outbox

    def _expire_sync(self, now_ms: int, outbox: Outbox) -> None:
        """Who did not sync in time is out; the rest goes for another round."""
        self.phase_deadline_ms = None
        for member in [m for m in self.members.values() if m.id not in self.synced]:
            if self.members.get(member.id) is member:
                self._remove(member, now_ms, outbox)
