"""How clients come into a classic group: newcomers, members that come again, static ones that take their own place."""

from __future__ import annotations

from collections.abc import Callable

from twinlog.base import Refused
from twinlog.kafka.groups.classic import ClassicGroup
from twinlog.kafka.groups.classic_types import JoinRequest, Member, Outbox
from twinlog.kafka.groups.types import GroupState, JoinAnswer, JoinReply, SyncAnswer, size_of
from twinlog.wire.kafka.errors import ErrorCode


def join(group: ClassicGroup, request: JoinRequest, new_id: Callable[[], str], reply: JoinReply, now_ms: int) -> Outbox:
    """Parks ``reply`` until the generation is complete, or answers at once. Raises ``Refused``."""
    _check(group, request)
    outbox = Outbox()
    if request.member_id == "":
        _join_unknown(group, request, new_id, reply, now_ms, outbox)
    else:
        _join_known(group, request, reply, now_ms, outbox)
    group.complete_join_if_ready(now_ms, outbox)
    return outbox


def _check(group: ClassicGroup, request: JoinRequest) -> None:
    settings = group.settings
    if not settings.session_timeout_min_ms <= request.session_timeout_ms <= settings.session_timeout_max_ms:
        raise Refused(
            ErrorCode.INVALID_SESSION_TIMEOUT,
            f"the session timeout must lie between {settings.session_timeout_min_ms} ms and "
            f"{settings.session_timeout_max_ms} ms",
        )
    if not request.protocol_type or not request.protocols:
        raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "a protocol type and one protocol are needed")
    if group.members and not _shares_protocol(group, request):
        raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "no protocol in common with the group's members")
    before = _before(group, request)
    known = before is not None or request.member_id in group.pending
    if not known and len(group.members) + len(group.pending) >= settings.size_max:
        raise Refused(ErrorCode.GROUP_MAX_SIZE_REACHED, f"the group already has {settings.size_max} members")
    asked = size_of(request.protocols)
    if group.metadata_bytes + asked - (before.metadata_bytes if before else 0) > settings.metadata_max_bytes:
        limit = settings.metadata_max_bytes
        raise Refused(ErrorCode.GROUP_MAX_SIZE_REACHED, f"the members' metadata would be more than {limit} bytes")


def _before(group: ClassicGroup, request: JoinRequest) -> Member | None:
    """Whose place in the group this request is about to take, or keep."""
    if request.instance_id is not None and request.instance_id in group.instances:
        return group.members[group.instances[request.instance_id]]
    return group.members.get(request.member_id)


def _shares_protocol(group: ClassicGroup, request: JoinRequest) -> bool:
    before = _before(group, request)
    others = len(group.members) - (before is not None)
    if not others:
        return True
    if request.protocol_type != group.protocol_type:
        return False
    own = {name for name, _ in before.protocols} if before is not None else set()
    return any(group.support.get(name, 0) - (name in own) == others for name, _ in request.protocols)


def _join_unknown(
    group: ClassicGroup, request: JoinRequest, new_id: Callable[[], str], reply: JoinReply, now_ms: int, outbox: Outbox
) -> None:
    if request.instance_id is not None and request.instance_id in group.instances:
        _replace_static(group, request, new_id(), reply, now_ms, outbox)
    elif request.instance_id is None and request.needs_known_id:
        member_id = new_id()
        group.pending[member_id] = now_ms + request.session_timeout_ms
        group.alarm(group.pending[member_id])
        reply(JoinAnswer(error=ErrorCode.MEMBER_ID_REQUIRED, member_id=member_id))
    else:
        _add(group, request, new_id(), reply, now_ms)


def _join_known(group: ClassicGroup, request: JoinRequest, reply: JoinReply, now_ms: int, outbox: Outbox) -> None:
    if request.instance_id is None and group.pending.pop(request.member_id, None) is not None:
        _add(group, request, request.member_id, reply, now_ms)
        return
    member = group.member(request.member_id, request.instance_id)
    changed = request.protocols != member.protocols
    repeats = group.state is GroupState.COMPLETING_REBALANCE and not changed
    follows = group.state is GroupState.STABLE and not changed and member.id != group.leader_id
    if repeats or follows:
        group.touch(member, now_ms)
        reply(group.join_answer(member))  # the answer got lost on its way: give it again
        return
    _update(group, member, request, reply, now_ms)
    if group.state is not GroupState.PREPARING_REBALANCE:
        group.prepare_rebalance(now_ms)


def _add(group: ClassicGroup, request: JoinRequest, member_id: str, reply: JoinReply, now_ms: int) -> None:
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
    if not group.members:
        group.protocol_type = request.protocol_type
    group.enlist(member)
    group.park(member, reply)
    # A client that went away while it waits in its first join cannot send heartbeats: drop it after a while.
    group.give_until(member, now_ms + group.settings.new_member_timeout_ms)
    if group.leader_id is None:
        group.leader_id = member_id
    if group.state is not GroupState.PREPARING_REBALANCE:
        group.prepare_rebalance(now_ms)
    elif group.join_not_before_ms > now_ms and group.phase_deadline_ms is not None:
        # Each newcomer of an empty group's first round pushes the end a little, up to the rebalance timeout.
        later_ms = now_ms + group.settings.initial_rebalance_delay_ms
        group.join_not_before_ms = min(group.phase_deadline_ms, later_ms)
        group.alarm(group.join_not_before_ms)


def _update(group: ClassicGroup, member: Member, request: JoinRequest, reply: JoinReply, now_ms: int) -> None:
    group.count_protocols(member, -1)
    member.protocols = request.protocols
    group.count_protocols(member, 1)
    member.caller = request.caller
    member.rebalance_timeout_ms = request.rebalance_timeout_ms
    member.session_timeout_ms = request.session_timeout_ms
    # The client gave up on its first request and asks again: only the newest may be answered with the round.
    group.answer_join(member, JoinAnswer(error=ErrorCode.REBALANCE_IN_PROGRESS, member_id=member.id))
    group.park(member, reply)
    group.touch(member, now_ms)


def _replace_static(
    group: ClassicGroup, request: JoinRequest, member_id: str, reply: JoinReply, now_ms: int, outbox: Outbox
) -> None:
    """A static member came back without its id: it takes its own place, and the old self is fenced."""
    assert request.instance_id is not None
    old_id = group.instances[request.instance_id]
    old = group.members[old_id]
    old_protocols = old.protocols
    group.answer_join(old, JoinAnswer(error=ErrorCode.FENCED_INSTANCE_ID, member_id=old_id))
    group.answer_sync(old, SyncAnswer(error=ErrorCode.FENCED_INSTANCE_ID))
    old.id = member_id
    group.members = {(member_id if key == old_id else key): value for key, value in group.members.items()}
    group.instances[request.instance_id] = member_id
    group.synced.discard(old_id)
    was_leader = group.leader_id == old_id
    if was_leader:
        group.leader_id = member_id
    _update(group, old, request, reply, now_ms)
    if group.state is GroupState.STABLE and (
        request.protocols == old_protocols or group.select_protocol() == group.protocol
    ):
        old.joining = None  # answered here, once the new name is kept
        group.joining_count -= 1
        answer = group.join_answer(old)
        if was_leader:
            answer.skip_assignment = request.may_skip_assignment
            if not request.may_skip_assignment:
                # An older client would assign anew if told that it leads: it is told its old name leads.
                answer.leader_id, answer.members = old_id, []
        outbox.store = True
        outbox.hold(lambda: reply(answer))
    elif group.state in (GroupState.STABLE, GroupState.COMPLETING_REBALANCE):
        group.prepare_rebalance(now_ms)
