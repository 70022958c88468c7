"""The classic group protocol: clients join, one of them assigns, all of them sync.

Promises: one generation has one leader and one assignment; a member of an older generation is refused; the leader's
bytes reach the members unchanged. What survives a restart (generation, members, assignment) is a record; who waits
for what is soft and is rebuilt by the clients themselves.

Nothing here knows sockets or clocks: ``now_ms`` comes in, and answers leave through the callbacks that came with the
requests. Methods that must be kept return records; the caller replays them and holds back ``Held`` answers until
the records are durable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from twinlog.base import ProtocolViolation, Refused
from twinlog.kafka.groups.settings import GroupSettings
from twinlog.kafka.groups.types import (
    Caller,
    GroupState,
    JoinAnswer,
    JoinReply,
    Protocols,
    SyncAnswer,
    SyncReply,
)
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.records import decode_subscription

# Every move a classic group may make; anything else is a bug. The guide's diagram is drawn from this table.
CLASSIC_MOVES: dict[GroupState, frozenset[GroupState]] = {
    GroupState.EMPTY: frozenset({GroupState.PREPARING_REBALANCE, GroupState.DEAD, GroupState.EMPTY}),
    GroupState.PREPARING_REBALANCE: frozenset({GroupState.COMPLETING_REBALANCE, GroupState.EMPTY, GroupState.DEAD}),
    GroupState.COMPLETING_REBALANCE: frozenset({GroupState.STABLE, GroupState.PREPARING_REBALANCE, GroupState.DEAD}),
    GroupState.STABLE: frozenset({GroupState.PREPARING_REBALANCE, GroupState.DEAD}),
    GroupState.DEAD: frozenset(),
}


@dataclass(slots=True)
class Member:
    """One client in the group."""

    id: str
    instance_id: str | None
    caller: Caller
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: Protocols
    assignment: bytes = b""
    joining: JoinReply | None = None
    syncing: SyncReply | None = None
    is_new: bool = False
    deadline_ms: int = 0

    def metadata(self, protocol: str | None) -> bytes:
        return next((data for name, data in self.protocols if name == protocol), b"")

    def touch(self, now_ms: int, timeout_ms: int | None = None) -> None:
        self.deadline_ms = now_ms + (self.session_timeout_ms if timeout_ms is None else timeout_ms)


@dataclass(slots=True)
class JoinRequest:
    """A JoinGroup of any version, told apart only by what the client understands."""

    member_id: str
    instance_id: str | None
    caller: Caller
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: Protocols
    needs_known_id: bool  # v4 and later: a new member first fetches an id
    may_skip_assignment: bool  # v9 and later


@dataclass(slots=True)
class SyncRequest:
    member_id: str
    instance_id: str | None
    generation: int
    protocol_type: str | None
    protocol: str | None
    assignments: dict[str, bytes]


class Outbox:
    """Answers that may leave only after the records decided together with them are durable."""

    __slots__ = ("held", "store")

    def __init__(self) -> None:
        self.store = False  # the group's metadata must be written
        self.held: list[Callable[[], None]] = []

    def hold(self, reply: Callable[[], None]) -> None:
        self.held.append(reply)


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
    synced: set[str] = field(default_factory=set)
    is_live: bool = True  # False while its log is read: then the newest record wins

    def restore(self, member: Member) -> None:
        """A member read back from the log; ``resume`` starts its session."""
        self.members[member.id] = member
        if member.instance_id is not None:
            self.instances[member.instance_id] = member.id

    def resume(self, now_ms: int) -> None:
        """Loading ended: every member has a whole session to be heard from again."""
        self.is_live = True
        for member in self.members.values():
            member.touch(now_ms)

    # -- joining -------------------------------------------------------------------------------------------------

    def join(self, request: JoinRequest, new_id: Callable[[], str], reply: JoinReply, now_ms: int) -> Outbox:
        """Parks ``reply`` until the generation is complete, or answers at once. Raises ``Refused``."""
        self._check_join(request)
        outbox = Outbox()
        if request.member_id == "":
            self._join_unknown(request, new_id, reply, now_ms, outbox)
        else:
            self._join_known(request, reply, now_ms, outbox)
        self._complete_join_if_ready(now_ms, outbox)
        return outbox

    def _check_join(self, request: JoinRequest) -> None:
        settings = self.settings
        if not settings.session_timeout_min_ms <= request.session_timeout_ms <= settings.session_timeout_max_ms:
            raise Refused(
                ErrorCode.INVALID_SESSION_TIMEOUT,
                f"the session timeout must lie between {settings.session_timeout_min_ms} ms and "
                f"{settings.session_timeout_max_ms} ms",
            )
        if not request.protocol_type or not request.protocols:
            raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "a protocol type and one protocol are needed")
        if self.members and not self._shares_protocol(request):
            raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "no protocol in common with the group's members")
        known = request.member_id in self.members or request.member_id in self.pending
        replaces = request.instance_id is not None and request.instance_id in self.instances
        if not known and not replaces and len(self.members) + len(self.pending) >= settings.size_max:
            raise Refused(ErrorCode.GROUP_MAX_SIZE_REACHED, f"the group already has {settings.size_max} members")

    def _shares_protocol(self, request: JoinRequest) -> bool:
        others = [m for m in self.members.values() if m.id != request.member_id]
        if request.instance_id is not None:
            others = [m for m in others if m.instance_id != request.instance_id]
        if any(m.protocol_type != request.protocol_type for m in others):
            return False
        common = {name for name, _ in request.protocols}
        for member in others:
            common &= {name for name, _ in member.protocols}
        return bool(common)

    def _join_unknown(
        self, request: JoinRequest, new_id: Callable[[], str], reply: JoinReply, now_ms: int, outbox: Outbox
    ) -> None:
        if request.instance_id is not None and request.instance_id in self.instances:
            self._replace_static(request, new_id(), reply, now_ms, outbox)
        elif request.instance_id is None and request.needs_known_id:
            member_id = new_id()
            self.pending[member_id] = now_ms + request.session_timeout_ms
            reply(JoinAnswer(error=ErrorCode.MEMBER_ID_REQUIRED, member_id=member_id))
        else:
            self._add(request, new_id(), reply, now_ms)

    def _join_known(self, request: JoinRequest, reply: JoinReply, now_ms: int, outbox: Outbox) -> None:
        if request.instance_id is None and self.pending.pop(request.member_id, None) is not None:
            self._add(request, request.member_id, reply, now_ms)
            return
        member = self.member(request.member_id, request.instance_id)
        changed = request.protocols != member.protocols
        repeats = self.state is GroupState.COMPLETING_REBALANCE and not changed
        follows = self.state is GroupState.STABLE and not changed and member.id != self.leader_id
        if repeats or follows:
            member.touch(now_ms)
            reply(self._join_answer(member))  # the answer got lost on its way: give it again
            return
        self._update(member, request, reply, now_ms)
        if self.state is not GroupState.PREPARING_REBALANCE:
            self._prepare_rebalance(now_ms)

    def _add(self, request: JoinRequest, member_id: str, reply: JoinReply, now_ms: int) -> None:
        member = Member(
            id=member_id,
            instance_id=request.instance_id,
            caller=request.caller,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            session_timeout_ms=request.session_timeout_ms,
            protocol_type=request.protocol_type,
            protocols=request.protocols,
            joining=reply,
            is_new=True,
        )
        # A client that went away while it waits in its first join cannot send heartbeats: drop it after a while.
        member.touch(now_ms, self.settings.new_member_timeout_ms)
        if not self.members:
            self.protocol_type = request.protocol_type
        self.members[member_id] = member
        if request.instance_id is not None:
            self.instances[request.instance_id] = member_id
        if self.leader_id is None:
            self.leader_id = member_id
        if self.state is GroupState.PREPARING_REBALANCE:
            # Each newcomer of an empty group's first round pushes the end a little, up to the rebalance timeout.
            if self.join_not_before_ms > now_ms and self.phase_deadline_ms is not None:
                later_ms = now_ms + self.settings.initial_rebalance_delay_ms
                self.join_not_before_ms = min(self.phase_deadline_ms, later_ms)
        else:
            self._prepare_rebalance(now_ms)

    def _update(self, member: Member, request: JoinRequest, reply: JoinReply, now_ms: int) -> None:
        member.protocols = request.protocols
        member.caller = request.caller
        member.rebalance_timeout_ms = request.rebalance_timeout_ms
        member.session_timeout_ms = request.session_timeout_ms
        if member.joining is not None:
            # The client gave up on its first request and asks again: only the newest may be answered with the round.
            member.joining(JoinAnswer(error=ErrorCode.REBALANCE_IN_PROGRESS, member_id=member.id))
        member.joining = reply
        member.touch(now_ms)

    def _replace_static(
        self, request: JoinRequest, member_id: str, reply: JoinReply, now_ms: int, outbox: Outbox
    ) -> None:
        """A static member came back without its id: it takes its own place, and the old self is fenced."""
        assert request.instance_id is not None
        old_id = self.instances[request.instance_id]
        old = self.members[old_id]
        old_protocols = old.protocols
        if old.joining is not None:
            old.joining(JoinAnswer(error=ErrorCode.FENCED_INSTANCE_ID, member_id=old_id))
        if old.syncing is not None:
            old.syncing(SyncAnswer(error=ErrorCode.FENCED_INSTANCE_ID))
        old.joining = old.syncing = None
        old.id = member_id
        self.members = {(member_id if key == old_id else key): value for key, value in self.members.items()}
        self.instances[request.instance_id] = member_id
        self.synced.discard(old_id)
        was_leader = self.leader_id == old_id
        if was_leader:
            self.leader_id = member_id
        self._update(old, request, reply, now_ms)
        if self.state is GroupState.STABLE and (
            request.protocols == old_protocols or self._select_protocol() == self.protocol
        ):
            old.joining = None
            answer = self._join_answer(old)
            if was_leader:
                answer.skip_assignment = request.may_skip_assignment
                if not request.may_skip_assignment:
                    # An older client would assign anew if told that it leads: it is told its old name leads.
                    answer.leader_id, answer.members = old_id, []
            outbox.store = True
            outbox.hold(lambda: reply(answer))
        elif self.state in (GroupState.STABLE, GroupState.COMPLETING_REBALANCE):
            self._prepare_rebalance(now_ms)

    # -- the round -----------------------------------------------------------------------------------------------

    def _move(self, state: GroupState, now_ms: int) -> None:
        assert state in CLASSIC_MOVES[self.state], (self.id, self.state, state)
        self.state = state
        self.state_since_ms = now_ms

    def _prepare_rebalance(self, now_ms: int) -> None:
        if self.state is GroupState.COMPLETING_REBALANCE:
            for member in self.members.values():
                member.assignment = b""
                if member.syncing is not None:
                    member.syncing(SyncAnswer(error=ErrorCode.REBALANCE_IN_PROGRESS))
                    member.syncing = None
                    member.touch(now_ms)
        first = self.state is GroupState.EMPTY
        self._move(GroupState.PREPARING_REBALANCE, now_ms)
        self.synced.clear()
        self.phase_deadline_ms = now_ms + self._rebalance_timeout_ms()
        self.join_not_before_ms = now_ms + self.settings.initial_rebalance_delay_ms if first else now_ms

    def _rebalance_timeout_ms(self) -> int:
        return max((m.rebalance_timeout_ms for m in self.members.values()), default=0)

    def _complete_join_if_ready(self, now_ms: int, outbox: Outbox) -> None:
        if self.state is not GroupState.PREPARING_REBALANCE or now_ms < self.join_not_before_ms:
            return
        if self.pending or any(m.joining is None for m in self.members.values()):
            return
        self._complete_join(now_ms, outbox)

    def _complete_join(self, now_ms: int, outbox: Outbox) -> None:
        """The round ends: who did not come is out, the others learn the new generation."""
        for member in [m for m in self.members.values() if m.joining is None and m.instance_id is None]:
            self._forget(member)
        if self.members and all(m.joining is None for m in self.members.values()):
            # Only static members are left and none came: they keep their places, the round goes on.
            self.phase_deadline_ms = now_ms + self._rebalance_timeout_ms()
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
        self.protocol = self._select_protocol()
        self._move(GroupState.COMPLETING_REBALANCE, now_ms)
        self.phase_deadline_ms = now_ms + self._rebalance_timeout_ms()
        for member in self.members.values():
            if member.joining is not None:
                reply, member.joining = member.joining, None
                member.is_new = False
                member.touch(now_ms)
                reply(self._join_answer(member))

    def _select_protocol(self) -> str:
        """Each member votes for its first protocol that all know; most votes win, earlier ones break a tie."""
        common = set.intersection(*({name for name, _ in m.protocols} for m in self.members.values()))
        votes: dict[str, int] = {}
        for member in self.members.values():
            choice = next(name for name, _ in member.protocols if name in common)
            votes[choice] = votes.get(choice, 0) + 1
        return max(votes, key=lambda name: votes[name])

    def _join_answer(self, member: Member) -> JoinAnswer:
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
        member.touch(now_ms)
        if self.state is GroupState.STABLE:
            answer = self._sync_answer(member)
            outbox.hold(lambda: reply(answer))
            return outbox
        self.synced.add(member.id)
        if member.syncing is not None:
            member.syncing(SyncAnswer(error=ErrorCode.REBALANCE_IN_PROGRESS))
        member.syncing = reply
        if member.id == self.leader_id:
            self._assign(request.assignments, now_ms, outbox)
        return outbox

    def _assign(self, assignments: dict[str, bytes], now_ms: int, outbox: Outbox) -> None:
        self._move(GroupState.STABLE, now_ms)
        outbox.store = True
        for member in self.members.values():
            member.assignment = assignments.get(member.id, b"")
            if member.syncing is not None:
                waiting, member.syncing = member.syncing, None
                member.touch(now_ms)
                answer = self._sync_answer(member)
                outbox.hold(lambda waiting=waiting, answer=answer: waiting(answer))  # type: ignore[misc]

    def _sync_answer(self, member: Member) -> SyncAnswer:
        return SyncAnswer(protocol_type=self.protocol_type, protocol=self.protocol, assignment=member.assignment)

    # -- heartbeats, commits, leaving ------------------------------------------------------------------------------

    def heartbeat(self, member_id: str, instance_id: str | None, generation: int, now_ms: int) -> int:
        """Returns the error code that steers the member; raises ``Refused`` for one who is not of this generation."""
        member = self._member_of_generation(member_id, instance_id, generation)
        member.touch(now_ms)
        return ErrorCode.REBALANCE_IN_PROGRESS if self.state is GroupState.PREPARING_REBALANCE else ErrorCode.NONE

    def check_commit(self, member_id: str, instance_id: str | None, generation: int, now_ms: int) -> None:
        """May this caller commit offsets? A group without members takes commits from anyone outside of it."""
        if generation < 0 and member_id == "" and instance_id is None and self.state is GroupState.EMPTY:
            return
        if generation < 0 and self.state is GroupState.EMPTY and not self.members:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the group has no such member")
        member = self._member_of_generation(member_id, instance_id, generation)
        if self.state is GroupState.COMPLETING_REBALANCE:
            raise Refused(ErrorCode.REBALANCE_IN_PROGRESS, "the group waits for its leader's assignment")
        member.touch(now_ms)

    def check_transactional_commit(self, member_id: str, instance_id: str | None, generation: int) -> None:
        """Transactions may name no member at all (older clients); who names one must be current."""
        if member_id == "" and generation < 0 and instance_id is None:
            return
        self._member_of_generation(member_id, instance_id, generation)

    def leave(self, member_id: str, instance_id: str | None, now_ms: int) -> Outbox:
        """Takes a member out, by its id or by its static name alone. Raises ``Refused``."""
        outbox = Outbox()
        if instance_id is None and self.pending.pop(member_id, None) is not None:
            self._complete_join_if_ready(now_ms, outbox)
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
            self._prepare_rebalance(now_ms)
        if self.state is GroupState.PREPARING_REBALANCE and not self.members and not self.pending:
            self.join_not_before_ms = now_ms
        self._complete_join_if_ready(now_ms, outbox)

    def _forget(self, member: Member) -> None:
        if member.joining is not None:
            member.joining(JoinAnswer(error=ErrorCode.UNKNOWN_MEMBER_ID, member_id=member.id))
        if member.syncing is not None:
            member.syncing(SyncAnswer(error=ErrorCode.UNKNOWN_MEMBER_ID))
        member.joining = member.syncing = None
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

    def next_wake_ms(self) -> int | None:
        """The nearest moment at which ``wake`` could change something."""
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
                self.pending.clear()
                self._complete_join(now_ms, outbox)
            elif self.state is GroupState.COMPLETING_REBALANCE:
                self._expire_sync(now_ms, outbox)
            else:
                self.phase_deadline_ms = None
        self._complete_join_if_ready(now_ms, outbox)
        if self.state is GroupState.PREPARING_REBALANCE and self.join_not_before_ms <= now_ms:
            self.join_not_before_ms = self.state_since_ms
        return outbox

    def _expire_sync(self, now_ms: int, outbox: Outbox) -> None:
        """Who did not sync in time is out; the rest goes for another round."""
        self.phase_deadline_ms = None
        for member in [m for m in self.members.values() if m.id not in self.synced]:
            if self.members.get(member.id) is member:
                self._remove(member, now_ms, outbox)
