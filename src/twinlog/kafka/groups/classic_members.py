"""Clients of the classic protocol in a consumer group, while a live group moves from one protocol to the other.

For them the group's coordinator is the leader: a JoinGroup reports subscription and owned partitions and is answered
at once with the member's epoch as generation; a SyncGroup gets what it may use now; a Heartbeat says when to join
again, because the target moved on, something has to be given up, or something became free.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from twinlog.base import ProtocolViolation, Refused
from twinlog.kafka.groups.assignors import TopicId
from twinlog.kafka.groups.classic_types import JoinRequest, SyncRequest
from twinlog.kafka.groups.consumer import CONSUMER_PROTOCOL_TYPE, ConsumerGroup, ConsumerMember, Subscription, TopicView
from twinlog.kafka.groups.consumer_moves import settle_member
from twinlog.kafka.groups.reconcile import MemberState, Owned
from twinlog.kafka.groups.types import JoinAnswer, Protocols, Record, SyncAnswer
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolAssignmentTopicPartition,
    ConsumerProtocolSubscription,
)
from twinlog.wire.kafka.records import decode_assignment, decode_subscription, encode_embedded

ASSIGNMENT_VERSION_MAX: Final = 3


def read_subscription(data: bytes) -> ConsumerProtocolSubscription:
    try:
        return decode_subscription(data)
    except ProtocolViolation as wrong:
        raise Refused(
            ErrorCode.INCONSISTENT_GROUP_PROTOCOL, f"the member's subscription cannot be read: {wrong}"
        ) from None


def write_assignment(assigned: Owned, protocols: Protocols, topics: TopicView) -> bytes:
    """In the version that the member's own subscription speaks."""
    named = [(topics.name_of(topic_id), partitions) for topic_id, partitions in assigned.items()]
    return encode_embedded(
        ConsumerProtocolAssignment(
            assigned_partitions=[
                ConsumerProtocolAssignmentTopicPartition(topic=name, partitions=sorted(partitions))
                for name, partitions in sorted((n, p) for n, p in named if n is not None)
            ],
            user_data=None,
        ),
        min(int.from_bytes(protocols[0][1][:2], "big"), ASSIGNMENT_VERSION_MAX),
    )


def read_assignment(data: bytes, topics: TopicView) -> dict[TopicId, frozenset[int]]:
    """What a classic leader gave; nothing where it cannot be read or names topics that are gone."""
    if not data:
        return {}
    try:
        return by_topic_id({e.topic: e.partitions for e in decode_assignment(data).assigned_partitions}, topics)
    except ProtocolViolation:
        return {}


def by_topic_id(named: Mapping[str, list[int]], topics: TopicView) -> dict[TopicId, frozenset[int]]:
    found = ((topics.find(name), partitions) for name, partitions in named.items())
    return {entry[0]: frozenset(partitions) for entry, partitions in found if entry is not None and partitions}


def subscription_of(request: JoinRequest, read: ConsumerProtocolSubscription) -> Subscription:
    return Subscription(
        instance_id=request.instance_id,
        rack_id=read.rack_id or None,
        caller=request.caller,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        topic_names=tuple(sorted(set(read.topics))),
        topic_regex=None,
        server_assignor=None,
        classic=(request.session_timeout_ms, tuple(request.protocols)),
    )


def join(
    group: ConsumerGroup, request: JoinRequest, new_id: Callable[[], str], topics: TopicView
) -> tuple[list[Record], JoinAnswer]:
    """Raises ``Refused``. Once the records are replayed, ``joined`` must be called with the answer."""
    _check_protocols(group, request)
    read = read_subscription(request.protocols[0][1])
    before = _member_for(group, request)
    if before is None:
        group.check_room()
    member_id = request.member_id
    if member_id == "":
        member_id = new_id()
        if request.needs_known_id and request.instance_id is None:
            return [], JoinAnswer(error=ErrorCode.MEMBER_ID_REQUIRED, member_id=member_id)
    owned = _owned(before, member_id, read, topics)
    records: list[Record] = []
    following = settle_member(group, member_id, before, subscription_of(request, read), owned, topics, records)
    return records, JoinAnswer(
        member_id=member_id,
        generation=following.epoch,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocol=request.protocols[0][0],
    )


def joined(group: ConsumerGroup, answer: JoinAnswer, now_ms: int) -> None:
    member = group.members.get(answer.member_id)
    if member is not None:
        group.touch(member, now_ms)
        member.task_deadline_ms = None
        group.give_task(member, now_ms)  # to sync


def _check_protocols(group: ConsumerGroup, request: JoinRequest) -> None:
    settings = group.settings
    if not settings.session_timeout_min_ms <= request.session_timeout_ms <= settings.session_timeout_max_ms:
        raise Refused(ErrorCode.INVALID_SESSION_TIMEOUT, "the session timeout is out of bounds")
    if request.protocol_type != CONSUMER_PROTOCOL_TYPE or not request.protocols:
        raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "the group is one of consumers")
    common = {name for name, _ in request.protocols}
    for member in group.members.values():
        if member.subscription.classic is not None and member.id != request.member_id:
            common &= {name for name, _ in member.subscription.classic[1]}
    if not common:
        raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "no protocol in common with the group's classic members")


def _member_for(group: ConsumerGroup, request: JoinRequest) -> ConsumerMember | None:
    if request.instance_id is not None:
        holder_id = group.instances.get(request.instance_id)
        if request.member_id == "":
            return group.members[holder_id] if holder_id is not None else None
        return group.static_holder(request.instance_id, request.member_id)
    return group.members.get(request.member_id)


def _owned(
    before: ConsumerMember | None, member_id: str, read: ConsumerProtocolSubscription, topics: TopicView
) -> dict[TopicId, frozenset[int]]:
    """What the client says that it owns. One of another generation lost what it had, whatever it says."""
    if before is None or before.id != member_id:
        return {}
    if read.generation_id >= 0 and read.generation_id != before.current.epoch:
        return {}
    return by_topic_id({entry.topic: entry.partitions for entry in read.owned_partitions}, topics)


def sync(group: ConsumerGroup, request: SyncRequest, topics: TopicView, now_ms: int) -> SyncAnswer:
    """What the member may use now. Nothing about it has to be kept."""
    member = classic_member(group, request.member_id, request.instance_id)
    _check_generation(member, request.generation)
    protocol = protocols_of(member)[0][0]
    if request.protocol_type is not None and request.protocol_type != CONSUMER_PROTOCOL_TYPE:
        raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "not the group's protocol type")
    if request.protocol is not None and request.protocol != protocol:
        raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "not the protocol that the member was told")
    group.touch(member, now_ms)
    if group.epoch > member.current.epoch and member.current.state is not MemberState.UNREVOKED_PARTITIONS:
        group.give_task(member, now_ms)
        raise Refused(ErrorCode.REBALANCE_IN_PROGRESS, "the group moved on: join again")
    member.task_deadline_ms = None
    return SyncAnswer(
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocol=protocol,
        assignment=write_assignment(member.current.assigned, protocols_of(member), topics),
    )


def heartbeat(group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int, now_ms: int) -> int:
    member = classic_member(group, member_id, instance_id)
    _check_generation(member, generation)
    group.touch(member, now_ms)
    if not _should_rejoin(group, member):
        return ErrorCode.NONE
    group.give_task(member, now_ms)
    return ErrorCode.REBALANCE_IN_PROGRESS


def _should_rejoin(group: ConsumerGroup, member: ConsumerMember) -> bool:
    current = member.current
    if current.epoch < group.epoch or current.state is MemberState.UNREVOKED_PARTITIONS:
        return True
    if current.state is not MemberState.UNRELEASED_PARTITIONS:
        return False
    return any(
        group.is_free(topic_id, partition, member.id)
        for topic_id, partitions in group.targets.get(member.id, {}).items()
        for partition in partitions - current.assigned.get(topic_id, frozenset())
    )


def leaver(group: ConsumerGroup, member_id: str, instance_id: str | None) -> str:
    """Who leaves by a LeaveGroup: a classic member by its id, or any static one by its name."""
    if instance_id is not None and member_id == "":
        holder = group.instances.get(instance_id)
        if holder is None:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the group has no such static member")
        return holder
    return classic_member(group, member_id, instance_id).id


def classic_member(group: ConsumerGroup, member_id: str, instance_id: str | None) -> ConsumerMember:
    member = group.static_holder(instance_id, member_id) if instance_id is not None else group.member(member_id)
    if not member.is_classic:
        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the member speaks the consumer protocol")
    return member


def protocols_of(member: ConsumerMember) -> Protocols:
    assert member.subscription.classic is not None
    return list(member.subscription.classic[1])


def _check_generation(member: ConsumerMember, generation: int) -> None:
    if generation != member.current.epoch:
        raise Refused(ErrorCode.ILLEGAL_GENERATION, f"the member is at generation {member.current.epoch}")
