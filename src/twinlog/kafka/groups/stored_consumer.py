"""Groups of the consumer protocol as records of ``__consumer_offsets``, in Kafka's own formats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from twinlog._kernel import crc32c
from twinlog.kafka.groups.reconcile import Current, MemberState, Owned
from twinlog.kafka.groups.types import Caller, Record
from twinlog.wire.kafka import records
from twinlog.wire.kafka.messages import group_records as g

if TYPE_CHECKING:
    from twinlog.kafka.groups.assignors import Assignment, TopicId
    from twinlog.kafka.groups.consumer import Subscription


def metadata_hash(partition_counts: Mapping[TopicId, int]) -> int:
    """Changes whenever a subscribed topic comes, goes or grows."""
    text = b"".join(topic_id + count.to_bytes(4, "big") for topic_id, count in partition_counts.items())
    found = crc32c(text) << 32 | len(text) & 0xFFFFFFFF if text else 0
    return found - (1 << 64) if found >= 1 << 63 else found


def group_record(group_id: str, epoch: int, topics_hash: int) -> Record:
    value = g.ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=topics_hash)
    return records.encode_key(g.ConsumerGroupMetadataKey(group_id=group_id)), records.encode_value(value)


def group_tombstone(group_id: str) -> Record:
    return records.encode_key(g.ConsumerGroupMetadataKey(group_id=group_id)), None


def member_record(group_id: str, member_id: str, subscription: Subscription) -> Record:
    classic = None
    if subscription.classic is not None:
        session_timeout_ms, protocols = subscription.classic
        classic = g.ClassicMemberMetadata(
            session_timeout_ms=session_timeout_ms,
            supported_protocols=[g.ClassicProtocol(name=name, metadata=data) for name, data in protocols],
        )
    value = g.ConsumerGroupMemberMetadataValue(
        instance_id=subscription.instance_id,
        rack_id=subscription.rack_id,
        client_id=subscription.caller.client_id,
        client_host=subscription.caller.client_host,
        subscribed_topic_names=list(subscription.topic_names),
        subscribed_topic_regex=subscription.topic_regex,
        rebalance_timeout_ms=subscription.rebalance_timeout_ms,
        server_assignor=subscription.server_assignor,
        classic_member_metadata=classic,
    )
    key = g.ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member_id)
    return records.encode_key(key), records.encode_value(value)


def member_tombstones(group_id: str, member_id: str) -> list[Record]:
    """In the order that lets what it owned go before the member itself."""
    return [
        (records.encode_key(g.ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id)), None),
        (records.encode_key(g.ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id)), None),
        (records.encode_key(g.ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member_id)), None),
    ]


def target_epoch_record(group_id: str, epoch: int) -> Record:
    key = g.ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id)
    value = g.ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=epoch)
    return records.encode_key(key), records.encode_value(value)


def target_epoch_tombstone(group_id: str) -> Record:
    return records.encode_key(g.ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id)), None


def target_record(group_id: str, member_id: str, target: Assignment) -> Record:
    value = g.ConsumerGroupTargetAssignmentMemberValue(
        topic_partitions=[
            g.ConsumerGroupTargetAssignmentMemberValueTopicPartition(topic_id=t, partitions=sorted(p))
            for t, p in sorted(target.items())
        ]
    )
    key = g.ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id)
    return records.encode_key(key), records.encode_value(value)


def current_record(group_id: str, member_id: str, current: Current) -> Record:
    value = g.ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=current.epoch,
        previous_member_epoch=current.previous_epoch,
        state=int(current.state),
        assigned_partitions=_partitions(current.assigned),
        partitions_pending_revocation=_partitions(current.pending_revocation),
    )
    key = g.ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id)
    return records.encode_key(key), records.encode_value(value)


def _partitions(owned: Owned) -> list[g.ConsumerGroupCurrentMemberAssignmentValueTopicPartitions]:
    return [
        g.ConsumerGroupCurrentMemberAssignmentValueTopicPartitions(topic_id=t, partitions=sorted(p))
        for t, p in sorted(owned.items())
    ]


def read_subscription(value: g.ConsumerGroupMemberMetadataValue) -> Subscription:
    from twinlog.kafka.groups.consumer import Subscription

    classic = value.classic_member_metadata
    return Subscription(
        instance_id=value.instance_id,
        rack_id=value.rack_id,
        caller=Caller(value.client_id, value.client_host),
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        topic_names=tuple(value.subscribed_topic_names),
        topic_regex=value.subscribed_topic_regex,
        server_assignor=value.server_assignor,
        classic=None
        if classic is None
        else (classic.session_timeout_ms, tuple((p.name, p.metadata) for p in classic.supported_protocols)),
    )


def read_target(value: g.ConsumerGroupTargetAssignmentMemberValue) -> Assignment:
    return {entry.topic_id: frozenset(entry.partitions) for entry in value.topic_partitions}


def read_current(value: g.ConsumerGroupCurrentMemberAssignmentValue) -> Current:
    known = {int(state) for state in MemberState}
    return Current(
        epoch=value.member_epoch,
        previous_epoch=value.previous_member_epoch,
        state=MemberState(value.state) if value.state in known else MemberState.UNKNOWN,
        assigned={e.topic_id: frozenset(e.partitions) for e in value.assigned_partitions},
        pending_revocation={e.topic_id: frozenset(e.partitions) for e in value.partitions_pending_revocation},
    )
