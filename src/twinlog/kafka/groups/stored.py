"""Groups and offsets as records of ``__consumer_offsets``, in Kafka's own formats."""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING

from twinlog.kafka.groups.classic import ClassicGroup
from twinlog.kafka.groups.classic_types import Member
from twinlog.kafka.groups.settings import GroupSettings
from twinlog.kafka.groups.types import Caller, GroupState, Record
from twinlog.wire.kafka import records
from twinlog.wire.kafka.message import ZERO_UUID
from twinlog.wire.kafka.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)

if TYPE_CHECKING:
    from twinlog.kafka.groups.offsets import Committed, Place

OFFSET_VALUE_VERSION = 4
SHORT_MAX = 126  # a length that takes one byte, one more than itself
HEAD = Struct(">hqiB")  # version, offset, leader epoch, length of the metadata
TAIL = Struct(">qBBB16s")  # commit timestamp, one tagged field: number 0, 16 bytes, the topic's id
GROUP_VALUE_VERSION = 4


def offset_record(group_id: str, place: Place, value: Committed) -> Record:
    metadata = value.metadata.encode() if value.metadata else b""
    if value.expire_timestamp < 0 and len(metadata) <= SHORT_MAX and value.topic_id != ZERO_UUID:
        # Nearly every commit is one of these, and there are thousands a second: packed in one go.
        packed = HEAD.pack(OFFSET_VALUE_VERSION, value.offset, value.leader_epoch, len(metadata) + 1)
        return _offset_key(group_id, place), packed + metadata + TAIL.pack(
            value.commit_timestamp, 1, 0, 16, value.topic_id
        )
    return _offset_key(group_id, place), offset_value(value)


def offset_value(value: Committed) -> bytes:
    if value.expire_timestamp < 0:
        return records.encode_value(
            OffsetCommitValue(
                offset=value.offset,
                leader_epoch=value.leader_epoch,
                metadata=value.metadata,
                commit_timestamp=value.commit_timestamp,
                topic_id=value.topic_id,
            ),
            OFFSET_VALUE_VERSION,
        )
    # Only version 1 knows when a single commit expires; only old clients ask for that.
    return records.encode_value(
        OffsetCommitValue(
            offset=value.offset,
            metadata=value.metadata,
            commit_timestamp=value.commit_timestamp,
            expire_timestamp=value.expire_timestamp,
        ),
        1,
    )


def offset_tombstone(group_id: str, place: Place) -> Record:
    return _offset_key(group_id, place), None


@lru_cache(maxsize=20_000)
def _offset_key(group_id: str, place: Place) -> bytes:
    return records.encode_key(OffsetCommitKey(group=group_id, topic=place[0], partition=place[1]))


def group_record(group: ClassicGroup) -> Record:
    members = [
        MemberMetadata(
            member_id=member.id,
            group_instance_id=member.instance_id,
            client_id=member.caller.client_id,
            client_host=member.caller.client_host,
            rebalance_timeout=member.rebalance_timeout_ms,
            session_timeout=member.session_timeout_ms,
            subscription=member.metadata(group.protocol),
            assignment=member.assignment,
        )
        for member in group.members.values()
    ]
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation,
        protocol=group.protocol,
        leader=group.leader_id,
        current_state_timestamp=group.state_since_ms,
        members=members,
    )
    return records.encode_key(GroupMetadataKey(group=group.id)), records.encode_value(value, GROUP_VALUE_VERSION)


def group_tombstone(group_id: str) -> Record:
    return records.encode_key(GroupMetadataKey(group=group_id)), None


def classic_group(group_id: str, value: GroupMetadataValue, settings: GroupSettings) -> ClassicGroup:
    """A group as its last stored generation left it. Sessions start when loading ends."""
    group = ClassicGroup(group_id, settings, is_live=False)
    group.generation = value.generation
    group.protocol_type = value.protocol_type or None
    group.protocol = value.protocol
    group.leader_id = value.leader
    group.state_since_ms = value.current_state_timestamp
    group.state = GroupState.STABLE if value.members else GroupState.EMPTY
    for stored in value.members:
        group.restore(
            Member(
                id=stored.member_id,
                instance_id=stored.group_instance_id,
                caller=Caller(stored.client_id, stored.client_host),
                rebalance_timeout_ms=stored.rebalance_timeout,
                session_timeout_ms=stored.session_timeout,
                protocol_type=value.protocol_type,
                protocols=[(value.protocol or "", stored.subscription)],
                assignment=stored.assignment,
            )
        )
    return group
