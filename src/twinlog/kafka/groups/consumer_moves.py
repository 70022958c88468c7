"""What follows when a member of a consumer group changes: new targets, and the next step of that member.

Both protocols end here: a heartbeat of the consumer protocol, and a JoinGroup of a classic client in the same group.
"""

from __future__ import annotations

from collections.abc import Mapping

from twinlog.kafka.groups import stored_consumer as stored
from twinlog.kafka.groups.assignors import ASSIGNORS, Assignment, Need, TopicId
from twinlog.kafka.groups.consumer import ConsumerGroup, ConsumerMember, Subscription, TopicView
from twinlog.kafka.groups.reconcile import Current, MemberState, Owned, step
from twinlog.kafka.groups.types import Record

JOIN_EPOCH = 0
LEAVE_STATIC_EPOCH = -2


def settle_member(
    group: ConsumerGroup,
    member_id: str,
    before: ConsumerMember | None,
    subscription: Subscription,
    owned: Owned | None,
    topics: TopicView,
    records: list[Record],
) -> Current:
    """Adds the records of everything that follows; returns where the member is then. Raises ``Refused``.

    ``before`` is the member as it was, None for a newcomer; one with another id is a static member whose place is
    taken over.
    """
    takes_over = before is not None and before.id != member_id
    if takes_over:
        assert before is not None
        records += stored.member_tombstones(group.id, before.id)
    if before is None or takes_over or subscription != before.subscription:
        group.check_room_for(subscription, before)
        records.append(stored.member_record(group.id, member_id, subscription))
    grows = before is None or not subscription.same_interest(before.subscription)
    epoch, target = _target(group, member_id, before, subscription, grows, topics, records)
    current = before.current if before is not None else Current()
    if takes_over or current.epoch == LEAVE_STATIC_EPOCH:
        current = Current(JOIN_EPOCH, -1, MemberState.STABLE, current.assigned)
    others = (before.id,) if before is not None else ()
    following = step(
        current,
        target,
        epoch,
        owned,
        lambda topic_id, partition: group.is_free(topic_id, partition, member_id, *others),
    )
    if before is None or takes_over or following != before.current:
        records.append(stored.current_record(group.id, member_id, following))
    return following


def _target(
    group: ConsumerGroup,
    member_id: str,
    before: ConsumerMember | None,
    subscription: Subscription,
    grows: bool,
    topics: TopicView,
    records: list[Record],
) -> tuple[int, Assignment]:
    """The epoch that the member has to follow, and what it should own there."""
    takes_over = before is not None and before.id != member_id
    if not grows and group.epoch == group.target_epoch:
        kept = group.targets.get(before.id if before is not None else member_id, {})
        if group.topics_version == topics.version or _same_topics(group, topics):
            group.topics_version = topics.version
            if takes_over:
                records.append(stored.target_record(group.id, member_id, kept))
            return group.target_epoch, kept
    members = {m.id: m.subscription for m in group.members.values() if before is None or m.id != before.id}
    members[member_id] = subscription
    moved = {before.id: member_id} if takes_over and before is not None else {}
    epoch, targets = _retarget(group, members, topics, grows, moved, records)
    return epoch, targets.get(member_id, {})


def _same_topics(group: ConsumerGroup, topics: TopicView) -> bool:
    subscriptions = {m.id: m.subscription for m in group.members.values()}
    return stored.metadata_hash(partition_counts(subscriptions, topics)) == group.metadata_hash


def _retarget(
    group: ConsumerGroup,
    members: Mapping[str, Subscription],
    topics: TopicView,
    grows: bool,
    moved: Mapping[str, str],
    records: list[Record],
) -> tuple[int, dict[str, Assignment]]:
    """The group's epoch and targets after a change of members or topics; ``moved``: old id -> new id."""
    counts = partition_counts(members, topics)
    metadata_hash = stored.metadata_hash(counts)
    epoch = group.epoch
    if grows or metadata_hash != group.metadata_hash:
        epoch += 1
        records.append(stored.group_record(group.id, epoch, metadata_hash))
    had = {moved.get(member_id, member_id): target for member_id, target in group.targets.items()}
    known: dict[tuple[tuple[str, ...], str | None], frozenset[TopicId]] = {}
    needs = []
    for member_id, subscription in members.items():
        wish = (subscription.topic_names, subscription.topic_regex)
        if wish not in known:
            found = (topics.find(name) for name in subscription.names(topics))
            known[wish] = frozenset(entry[0] for entry in found if entry is not None)
        needs.append(Need(member_id, subscription.instance_id, known[wish], had.get(member_id, {})))
    targets = ASSIGNORS[group.assignor_name(members.values())](needs, counts)
    for member_id, target in targets.items():
        if target != group.targets.get(member_id):
            records.append(stored.target_record(group.id, member_id, target))
    records.append(stored.target_epoch_record(group.id, epoch))
    return epoch, targets


def partition_counts(subscriptions: Mapping[str, Subscription], topics: TopicView) -> dict[TopicId, int]:
    """Every subscribed topic that exists, in the order of names."""
    names: set[str] = set()
    for wish in {(s.topic_names, s.topic_regex): s for s in subscriptions.values()}.values():
        names |= wish.names(topics)
    found = (topics.find(name) for name in sorted(names))
    return {entry[0]: entry[1] for entry in found if entry is not None}
