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
    size_of,
)
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

    @property
    def metadata_bytes(self) -> int:
        return size_of(self.protocols)


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
    is_first_round: bool = False  # of a group that was empty: its end does not wait for ids given out
    synced: set[str] = field(default_factory=set)
    is_live: bool = True  # False while its log is read: then the newest record wins
    due_ms: int | None = None  # nothing can run out before this; ``wake`` finds the true next moment
    # Kept beside ``members``, so that a thousand of them joining cost a thousand steps and not a million.
    _support: dict[str, int] = field(default_factory=dict)  # protocol -> members that know it
    _joining_count: int = 0
    _metadata_bytes: int = 0

    def restore(self, member: Member) -> None:
        """A member read back from the log; ``resume`` starts its session."""
        self._enlist(member)

    def turn_away(self, error: int) -> None:
        """Nobody waits here any longer: the group goes on in another form."""
        for member in self.members.values():
            self._answer_join(member, JoinAnswer(error=error, member_id=member.id))
            self._answer_sync(member, SyncAnswer(error=error))

    def rebalance(self, now_ms: int) -> None:
        """Everybody has to join again."""
        self._prepare_rebalance(now_ms)

    def resume(self, now_ms: int) -> None:
        """Loading ended: every member has a whole session to be heard from again."""
        self.is_live = True
        for member in self.members.values():
            self.touch(member, now_ms)

    def touch(self, member: Member, now_ms: int) -> None:
        """Heard of the member: a new session begins."""
        self._give_until(member, now_ms + member.session_timeout_ms)

    def _give_until(self, member: Member, deadline_ms: int) -> None:
        member.deadline_ms = deadline_ms
        self._alarm(deadline_ms)

    def _alarm(self, at_ms: int) -> None:
        if self.due_ms is None or at_ms < self.due_ms:
            self.due_ms = at_ms

    def _enlist(self, member: Member) -> None:
        self.members[member.id] = member
        if member.instance_id is not None:
            self.instances[member.instance_id] = member.id
        self._count_protocols(member, 1)

    def _count_protocols(self, member: Member, by: int) -> None:
        self._metadata_bytes += by * member.metadata_bytes
        for name in {name for name, _ in member.protocols}:
            left = self._support.get(name, 0) + by
            if left:
                self._support[name] = left
            else:
                del self._support[name]

    def _park(self, member: Member, reply: JoinReply) -> None:
        assert member.joining is None
        member.joining = reply
        self._joining_count += 1

    def _answer_join(self, member: Member, answer: JoinAnswer) -> None:
        if member.joining is not None:
            reply, member.joining = member.joining, None
            self._joining_count -= 1
            reply(answer)

    def _answer_sync(self, member: Member, answer: SyncAnswer) -> None:
        if member.syncing is not None:
            reply, member.syncing = member.syncing, None
            reply(answer)

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
        before = self._before(request)
        known = before is not None or request.member_id in self.pending
        if not known and len(self.members) + len(self.pending) >= settings.size_max:
            raise Refused(ErrorCode.GROUP_MAX_SIZE_REACHED, f"the group already has {settings.size_max} members")
        asked = size_of(request.protocols)
        if self._metadata_bytes + asked - (before.metadata_bytes if before else 0) > settings.metadata_max_bytes:
            limit = settings.metadata_max_bytes
            raise Refused(ErrorCode.GROUP_MAX_SIZE_REACHED, f"the members' metadata would be more than {limit} bytes")

    def _before(self, request: JoinRequest) -> Member | None:
        """Whose place in the group this request is about to take, or keep."""
        if request.instance_id is not None and request.instance_id in self.instances:
            return self.members[self.instances[request.instance_id]]
        return self.members.get(request.member_id)

    def _shares_protocol(self, request: JoinRequest) -> bool:
        before = self._before(request)
        others = len(self.members) - (before is not None)
        if not others:
            return True
        if request.protocol_type != self.protocol_type:
            return False
        own = {name for name, _ in before.protocols} if before is not None else set()
        return any(self._support.get(name, 0) - (name in own) == others for name, _ in request.protocols)

    def _join_unknown(
        self, request: JoinRequest, new_id: Callable[[], str], reply: JoinReply, now_ms: int, outbox: Outbox
    ) -> None:
        if request.instance_id is not None and request.instance_id in self.instances:
            self._replace_static(request, new_id(), reply, now_ms, outbox)
        elif request.instance_id is None and request.needs_known_id:
            member_id = new_id()
            self.pending[member_id] = now_ms + request.session_timeout_ms
            self._alarm(self.pending[member_id])
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
            self.touch(member, now_ms)
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
            is_new=True,
        )
        if not self.members:
            self.protocol_type = request.protocol_type
        self._enlist(member)
        self._park(member, reply)
        # A client that went away while it waits in its first join cannot send heartbeats: drop it after a while.
        self._give_until(member, now_ms + self.settings.new_member_timeout_ms)
        if self.leader_id is None:
            self.leader_id = member_id
        if self.state is not GroupState.PREPARING_REBALANCE:
            self._prepare_rebalance(now_ms)
        elif self.join_not_before_ms > now_ms and self.phase_deadline_ms is not None:
            # Each newcomer of an empty group's first round pushes the end a little, up to the rebalance timeout.
            later_ms = now_ms + self.settings.initial_rebalance_delay_ms
            self.join_not_before_ms = min(self.phase_deadline_ms, later_ms)
            self._alarm(self.join_not_before_ms)

    def _update(self, member: Member, request: JoinRequest, reply: JoinReply, now_ms: int) -> None:
        self._count_protocols(member, -1)
        member.protocols = request.protocols
        self._count_protocols(member, 1)
        member.caller = request.caller
        member.rebalance_timeout_ms = request.rebalance_timeout_ms
        member.session_timeout_ms = request.session_timeout_ms
        # The client gave up on its first request and asks again: only the newest may be answered with the round.
        self._answer_join(member, JoinAnswer(error=ErrorCode.REBALANCE_IN_PROGRESS, member_id=member.id))
        self._park(member, reply)
        self.touch(member, now_ms)

    def _replace_static(
        self, request: JoinRequest, member_id: str, reply: JoinReply, now_ms: int, outbox: Outbox
    ) -> None:
        """A static member came back without its id: it takes its own place, and the old self is fenced."""
        assert request.instance_id is not None
        old_id = self.instances[request.instance_id]
        old = self.members[old_id]
        old_protocols = old.protocols
        self._answer_join(old, JoinAnswer(error=ErrorCode.FENCED_INSTANCE_ID, member_id=old_id))
        self._answer_sync(old, SyncAnswer(error=ErrorCode.FENCED_INSTANCE_ID))
        old.id = member_id
        self.members = {(member_id if key == old_id else key): value for key, value in self.members.items()}
        self.instances[request.instance_id] = member_id
        self.synced.discard(old_id)
        was_leader = self.leader_id == old_id
        if was_leader:
            self.leader_id = member_id
        self._update(old, request, reply, now_ms)
        if self.state is GroupState.STABLE and (
            request.protocols == old_protocols or self.select_protocol() == self.protocol
        ):
            old.joining = None  # answered here, once the new name is kept
            self._joining_count -= 1
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
                    self._answer_sync(member, SyncAnswer(error=ErrorCode.REBALANCE_IN_PROGRESS))
                    self.touch(member, now_ms)
        self.is_first_round = self.state is GroupState.EMPTY
        self._move(GroupState.PREPARING_REBALANCE, now_ms)
        self.synced.clear()
        self._set_phase_deadline(now_ms)
        self.join_not_before_ms = now_ms
        if self.is_first_round:
            self.join_not_before_ms += self.settings.initial_rebalance_delay_ms
            self._alarm(self.join_not_before_ms)

    def _set_phase_deadline(self, now_ms: int) -> None:
        timeout_ms = max((m.rebalance_timeout_ms for m in self.members.values()), default=0)
        self.phase_deadline_ms = now_ms + timeout_ms
        self._alarm(self.phase_deadline_ms)

    def _complete_join_if_ready(self, now_ms: int, outbox: Outbox) -> None:
        if self.state is not GroupState.PREPARING_REBALANCE or now_ms < self.join_not_before_ms:
            return
        # An id that was given out is a member about to come; a group's first round does not wait for it, so that a
        # client that fetched an id and died does not keep all the others from starting.
        if self._joining_count < len(self.members) or (self.pending and not (self.is_first_round and self.members)):
            return
        self._complete_join(now_ms, outbox)

    def _complete_join(self, now_ms: int, outbox: Outbox) -> None:
        """The round ends: who did not come is out, the others learn the new generation."""
        for member in [m for m in self.members.values() if m.joining is None and m.instance_id is None]:
            self._forget(member)
        if self.members and not self._joining_count:
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
                self._answer_join(member, self._join_answer(member))

    def select_protocol(self) -> str:
        """Each member votes for its first protocol that all know; most votes win, earlier ones break a tie."""
        common = {name for name, count in self._support.items() if count == len(self.members)}
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
        self.touch(member, now_ms)
        if self.state is GroupState.STABLE:
            answer = self._sync_answer(member)
            outbox.hold(lambda: reply(answer))
            return outbox
        if member.id == self.leader_id:
            self._check_assignments(request.assignments)
        self.synced.add(member.id)
        self._answer_sync(member, SyncAnswer(error=ErrorCode.REBALANCE_IN_PROGRESS))  # an older request of its own
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
        self._answer_join(member, JoinAnswer(error=ErrorCode.UNKNOWN_MEMBER_ID, member_id=member.id))
        self._answer_sync(member, SyncAnswer(error=ErrorCode.UNKNOWN_MEMBER_ID))
        self._count_protocols(member, -1)
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
        self._complete_join_if_ready(now_ms, outbox)
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
