"""Whole groups on their way between the protocols, while their members go on working.

A classic group becomes a consumer group when the first member of that protocol comes; it becomes classic again when
the last such member goes. Both are a few records: the old group's end and the new group as it stands.
"""

from __future__ import annotations

from twinlog.base import Refused
from twinlog.kafka.groups import stored, stored_consumer
from twinlog.kafka.groups.classic import ClassicGroup
from twinlog.kafka.groups.classic_members import protocols_of, read_assignment, read_subscription, write_assignment
from twinlog.kafka.groups.classic_types import Member
from twinlog.kafka.groups.consumer import CONSUMER_PROTOCOL_TYPE, ConsumerGroup, Subscription, TopicView
from twinlog.kafka.groups.consumer_moves import partition_counts
from twinlog.kafka.groups.reconcile import Current, MemberState
from twinlog.kafka.groups.settings import GroupSettings
from twinlog.kafka.groups.types import GroupState, Record
from twinlog.wire.kafka import records as wire
from twinlog.wire.kafka.errors import ErrorCode


def upgrade(group: ClassicGroup, topics: TopicView) -> list[Record]:
    """The classic group as a consumer group. Raises ``Refused`` where it is none of consumers."""
    end = [stored.group_tombstone(group.id)]
    if not group.members:
        return end
    if group.protocol_type != CONSUMER_PROTOCOL_TYPE:
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, "the group is in use by clients that are no consumers")
    if len(group.members) >= group.settings.consumer_size_max:
        raise Refused(ErrorCode.GROUP_MAX_SIZE_REACHED, "the group has too many members for the consumer protocol")
    subscriptions = {member.id: _subscription(member) for member in group.members.values()}
    counts = partition_counts(subscriptions, topics)
    generation = group.generation
    records = [stored_consumer.member_record(group.id, *pair) for pair in subscriptions.items()]
    records.append(stored_consumer.group_record(group.id, generation, stored_consumer.metadata_hash(counts)))
    taken: set[tuple[bytes, int]] = set()
    for member in group.members.values():
        assigned = {}
        for topic_id, partitions in read_assignment(member.assignment, topics).items():
            # A leader may have given a partition twice; here nobody owns what another one owns.
            own = frozenset(p for p in partitions if (topic_id, p) not in taken)
            taken.update((topic_id, p) for p in own)
            assigned[topic_id] = own
        current = Current(generation, generation, MemberState.STABLE, assigned)
        records.append(stored_consumer.target_record(group.id, member.id, assigned))
        records.append(stored_consumer.current_record(group.id, member.id, current))
    records.append(stored_consumer.target_epoch_record(group.id, generation))
    return end + records


def _subscription(member: Member) -> Subscription:
    read = read_subscription(member.protocols[0][1])
    return Subscription(
        instance_id=member.instance_id,
        rack_id=read.rack_id or None,
        caller=member.caller,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        topic_names=tuple(sorted(set(read.topics))),
        topic_regex=None,
        server_assignor=None,
        classic=(member.session_timeout_ms, tuple(member.protocols)),
    )


def replayed(group_id: str, settings: GroupSettings, records: list[Record]) -> ConsumerGroup:
    """The group that these records make, to decide on before they are kept."""
    group = ConsumerGroup(group_id, settings)
    for encoded_key, encoded_value in records:
        key = wire.decode_group_key(encoded_key)
        if encoded_value is not None:
            group.replay(key, wire.decode_value(key, encoded_value))
    return group


def becomes_classic(group: ConsumerGroup, gone: set[str]) -> bool:
    """Are only classic members left once these are gone?"""
    left = [member for member in group.members.values() if member.id not in gone]
    return bool(left) and all(member.is_classic for member in left) and len(left) <= group.settings.size_max


def downgrade(
    group: ConsumerGroup, gone: set[str], topics: TopicView, now_ms: int
) -> tuple[list[Record], ClassicGroup]:
    """The consumer group's end, and the classic group that its remaining members are; the caller makes it live."""
    classic = ClassicGroup(group.id, group.settings, state_since_ms=now_ms)
    classic.state = GroupState.STABLE
    classic.generation = group.epoch
    classic.protocol_type = CONSUMER_PROTOCOL_TYPE
    for member in group.members.values():
        if member.id in gone:
            continue
        about = member.subscription
        assert about.classic is not None
        classic.restore(
            Member(
                id=member.id,
                instance_id=about.instance_id,
                caller=about.caller,
                rebalance_timeout_ms=about.rebalance_timeout_ms,
                session_timeout_ms=about.classic[0],
                protocol_type=CONSUMER_PROTOCOL_TYPE,
                protocols=protocols_of(member),
                assignment=write_assignment(member.current.assigned, protocols_of(member), topics),
            )
        )
    classic.leader_id = next(iter(classic.members))
    classic.protocol = classic.select_protocol()
    return [*group.tombstones(), stored.group_record(classic)], classic
