"""ConsumerGroupHeartbeat: joining, reporting and leaving, all in one request of the consumer protocol."""

from __future__ import annotations

from dataclasses import dataclass, replace

from twinlog.base import Refused
from twinlog.kafka.groups import stored_consumer as stored
from twinlog.kafka.groups.assignors import ASSIGNORS
from twinlog.kafka.groups.consumer import ConsumerGroup, ConsumerMember, Subscription, TopicView
from twinlog.kafka.groups.consumer_moves import JOIN_EPOCH, LEAVE_STATIC_EPOCH, settle_member
from twinlog.kafka.groups.reconcile import MemberState, Owned
from twinlog.kafka.groups.types import Caller, Record
from twinlog.wire.kafka.errors import ErrorCode

LEAVE_EPOCH = -1
NOTHING: Owned = {}


@dataclass(frozen=True, slots=True)
class HeartbeatRequest:
    """A ConsumerGroupHeartbeat; None means "unchanged" where the protocol allows it."""

    member_id: str
    member_epoch: int
    caller: Caller
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    topic_names: tuple[str, ...] | None = None
    topic_regex: str | None = None
    server_assignor: str | None = None
    owned: Owned | None = None

    @property
    def leaves(self) -> bool:
        return self.member_epoch in (LEAVE_EPOCH, LEAVE_STATIC_EPOCH)


@dataclass(slots=True)
class HeartbeatAnswer:
    member_id: str
    member_epoch: int
    heartbeat_interval_ms: int = 0  # set once it is known what follows
    assignment: Owned | None = None  # None: unchanged since the last answer


def check_request(request: HeartbeatRequest) -> None:
    """What is wrong with a heartbeat in any group."""

    def refuse(why: str) -> None:
        raise Refused(ErrorCode.INVALID_REQUEST, why)

    if request.member_id == "":
        refuse("a member must name itself")
    if request.instance_id == "" or request.rack_id == "":
        refuse("names of static members and racks are not empty")
    if request.member_epoch < LEAVE_STATIC_EPOCH:
        refuse(f"there is no epoch {request.member_epoch}")
    if request.member_epoch == LEAVE_STATIC_EPOCH and request.instance_id is None:
        refuse("only a static member leaves for a while")
    if request.member_epoch == JOIN_EPOCH:
        if request.rebalance_timeout_ms <= 0:
            refuse("a member that joins must name its rebalance timeout")
        if request.topic_names is None and request.topic_regex is None:
            refuse("a member that joins must subscribe to something")
        if request.owned is None or any(request.owned.values()):
            refuse("a member that joins owns no partitions yet")


def heartbeat(
    group: ConsumerGroup, request: HeartbeatRequest, topics: TopicView
) -> tuple[list[Record], HeartbeatAnswer]:
    """What follows from hearing of a member that does not leave. Raises ``Refused``.

    Once the records are replayed ``heard`` must be called with the answer.
    """
    member = _member_for(group, request)
    subscription = _subscription(request, member, topics)
    records: list[Record] = []
    following = settle_member(group, request.member_id, member, subscription, request.owned, topics, records)
    answer = HeartbeatAnswer(request.member_id, following.epoch)
    told = member.told if member is not None and member.id == request.member_id else None
    is_whole = request.member_epoch == JOIN_EPOCH or (request.topic_names is not None and request.owned is not None)
    if is_whole or told is None or dict(told) != dict(following.assigned):
        answer.assignment = following.assigned
    return records, answer


def heard(group: ConsumerGroup, answer: HeartbeatAnswer, now_ms: int) -> None:
    """The soft side of an answered heartbeat: sessions and deadlines."""
    member = group.members.get(answer.member_id)
    if member is None:
        return
    group.touch(member, now_ms)
    if answer.assignment is not None:
        member.told = answer.assignment
    if member.current.state is MemberState.UNREVOKED_PARTITIONS:
        group.give_task(member, now_ms)
    else:
        member.task_deadline_ms = None


def _member_for(group: ConsumerGroup, request: HeartbeatRequest) -> ConsumerMember | None:
    """The member that speaks; None for a newcomer; one with another id where a static member's place is taken."""
    joins = request.member_epoch == JOIN_EPOCH
    if request.instance_id is not None:
        holder_id = group.instances.get(request.instance_id)
        if holder_id is not None and holder_id != request.member_id:
            if not joins:
                raise Refused(ErrorCode.FENCED_INSTANCE_ID, "another client took over this static member")
            holder = group.members[holder_id]
            # A classic client does not say that it goes away for a while; its place is free to be taken.
            if holder.current.epoch != LEAVE_STATIC_EPOCH and not holder.is_classic:
                raise Refused(ErrorCode.UNRELEASED_INSTANCE_ID, "another client still holds this static name")
            return holder
        if holder_id is None and not joins:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the group has no such static member")
    member = group.members.get(request.member_id)
    if member is None:
        if not joins:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the group has no such member: join again")
        group.check_room()
        return None
    _check_epoch(member, request)
    return member


def _check_epoch(member: ConsumerMember, request: HeartbeatRequest) -> None:
    epoch, current = request.member_epoch, member.current
    if epoch == JOIN_EPOCH or epoch == current.epoch:
        return
    # The answer that carried the newer epoch may have got lost: then the member still shows the one before.
    repeats = (
        epoch == current.previous_epoch
        and request.owned is not None
        and all(p <= current.assigned.get(t, frozenset()) for t, p in request.owned.items())
    )
    if not repeats:
        raise Refused(
            ErrorCode.FENCED_MEMBER_EPOCH,
            f"the member is at epoch {current.epoch}, not {epoch}: give up all partitions and join again",
        )


def _subscription(request: HeartbeatRequest, member: ConsumerMember | None, topics: TopicView) -> Subscription:
    before = member.subscription if member is not None else None
    if before is not None and before.classic is None and _says_nothing_new(request, before):
        return before
    if request.topic_regex:
        topics.matching(request.topic_regex)  # an invalid one is refused before anything changes
    assignor = request.server_assignor or (before.server_assignor if before else None)
    if assignor is not None and assignor not in ASSIGNORS:
        known = ", ".join(sorted(ASSIGNORS))
        raise Refused(ErrorCode.UNSUPPORTED_ASSIGNOR, f"there is no assignor {assignor}; there are: {known}")
    names = request.topic_names
    if names is None:
        names = before.topic_names if before else ()
    regex = request.topic_regex if request.topic_regex is not None else (before.topic_regex if before else None)
    timeout_ms = request.rebalance_timeout_ms
    if timeout_ms < 0 and before is not None:
        timeout_ms = before.rebalance_timeout_ms
    return Subscription(
        instance_id=request.instance_id or (before.instance_id if before else None),
        rack_id=request.rack_id or (before.rack_id if before else None),
        caller=request.caller,
        rebalance_timeout_ms=timeout_ms,
        topic_names=tuple(sorted(set(names))),
        topic_regex=regex or None,
        server_assignor=assignor,
    )


def _says_nothing_new(request: HeartbeatRequest, before: Subscription) -> bool:
    return (
        request.topic_names is None
        and request.topic_regex is None
        and request.server_assignor is None
        and request.rack_id is None
        and request.rebalance_timeout_ms < 0
        and request.caller == before.caller
    )


def leave(group: ConsumerGroup, request: HeartbeatRequest) -> tuple[str | None, list[Record]]:
    """The member that goes for good (None: a static one that comes back), and records for one that does not."""
    member = group.member(request.member_id)
    if request.instance_id is not None:
        group.static_holder(request.instance_id, request.member_id)
    if request.member_epoch == LEAVE_STATIC_EPOCH:
        # What it had not given up yet is free: its client is gone and uses nothing any more.
        away = replace(member.current, epoch=LEAVE_STATIC_EPOCH, state=MemberState.STABLE, pending_revocation={})
        return None, [stored.current_record(group.id, member.id, away)]
    return member.id, []
