"""The consumer group protocol (KIP-848): the group's coordinator assigns, members converge one by one.

Promises: a partition has one owner at a time; a member learns of its share by heartbeats alone and nobody stops the
world; a member with an old epoch is fenced. Three epochs: the group's grows when members, subscriptions or topics
change; the target's says for which group epoch it was computed; a member's says which target it follows.

This file is the state and what changes it (``replay``). ``consumer_heartbeat`` decides for members of the protocol,
``classic_members`` for clients of the classic protocol in the same group, ``migration`` moves whole groups.
Sessions and deadlines of what a member was told to do are soft.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from twinlog.base import Refused
from twinlog.kafka.groups import stored_consumer as stored
from twinlog.kafka.groups.assignors import ASSIGNOR_DEFAULT, ASSIGNORS, Assignment, TopicId
from twinlog.kafka.groups.reconcile import Current, MemberState, Owned
from twinlog.kafka.groups.settings import GroupSettings
from twinlog.kafka.groups.types import Caller, GroupState, Record, size_of
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.message import Message
from twinlog.wire.kafka.messages import group_records as g

CONSUMER_PROTOCOL_TYPE = "consumer"


class TopicView(Protocol):
    """The topics that exist, as subscriptions need them."""

    @property
    def version(self) -> int:
        """Another number after every change of topics."""

    def find(self, name: str) -> tuple[TopicId, int] | None:
        """Id and partition count."""

    def name_of(self, topic_id: TopicId) -> str | None: ...

    def matching(self, pattern: str) -> frozenset[str]:
        """Names that the regular expression matches as a whole; ``Refused`` when it is no valid one."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a member told about itself; a change of it is a change of the group."""

    instance_id: str | None
    rack_id: str | None
    caller: Caller
    rebalance_timeout_ms: int
    topic_names: tuple[str, ...]
    topic_regex: str | None
    server_assignor: str | None
    classic: tuple[int, tuple[tuple[str, bytes], ...]] | None = None  # session timeout, protocols of a classic member

    def names(self, topics: TopicView) -> set[str]:
        names = set(self.topic_names)
        if self.topic_regex:
            names.update(topics.matching(self.topic_regex))
        return names

    @property
    def size(self) -> int:
        """Roughly, in bytes: what it takes of the group's room."""
        size = sum(map(len, self.topic_names)) + 50 * len(self.topic_names) + len(self.topic_regex or "")
        if self.classic is not None:
            size += size_of(self.classic[1])
        return size

    def same_interest(self, other: Subscription) -> bool:
        """Do both lead to the same assignment? A new client address or timeout does not move partitions."""
        return (self.topic_names, self.topic_regex, self.server_assignor, self.rack_id, self.instance_id) == (
            other.topic_names,
            other.topic_regex,
            other.server_assignor,
            other.rack_id,
            other.instance_id,
        )


# Every move that a request, a timeout or a change of topics can make; the page of states is drawn from it, and the
# tests hold each of their steps against it. A group that goes on as a classic one leaves the table.
CONSUMER_MOVES: dict[GroupState, frozenset[GroupState]] = {
    GroupState.EMPTY: frozenset({GroupState.EMPTY, GroupState.STABLE, GroupState.RECONCILING, GroupState.DEAD}),
    GroupState.ASSIGNING: frozenset(
        {GroupState.ASSIGNING, GroupState.RECONCILING, GroupState.STABLE, GroupState.EMPTY}
    ),
    GroupState.RECONCILING: frozenset(
        {GroupState.RECONCILING, GroupState.STABLE, GroupState.ASSIGNING, GroupState.EMPTY}
    ),
    GroupState.STABLE: frozenset({GroupState.STABLE, GroupState.RECONCILING, GroupState.ASSIGNING, GroupState.EMPTY}),
    GroupState.DEAD: frozenset(),
}

UNHEARD = Subscription(None, None, Caller("", ""), 1, (), None, None)


@dataclass(slots=True)
class ConsumerMember:
    id: str
    subscription: Subscription
    current: Current = field(default_factory=Current)
    session_deadline_ms: int = 0
    task_deadline_ms: int | None = None  # by when it has to have revoked (classic: rejoined, synced)
    told: Owned | None = None  # the assignment that the last answer carried

    @property
    def is_classic(self) -> bool:
        return self.subscription.classic is not None


@dataclass(slots=True)
class ConsumerGroup:
    """One group of the consumer protocol, perhaps with classic members while it is on its way from one to the other."""

    id: str
    settings: GroupSettings
    epoch: int = 0
    target_epoch: int = 0
    metadata_hash: int = 0
    members: dict[str, ConsumerMember] = field(default_factory=dict)
    targets: dict[str, Assignment] = field(default_factory=dict)
    instances: dict[str, str] = field(default_factory=dict)
    owners: dict[tuple[TopicId, int], str] = field(default_factory=dict)
    topics_version: int | None = None  # of the topics that ``metadata_hash`` was last compared with
    due_ms: int | None = None  # nothing can run out before this; ``wake`` finds the true next moment
    heard_epoch: int = -1  # the group's epoch when a member was last heard of
    changed_ms: int = 0  # when that epoch was a new one

    # -- looking ---------------------------------------------------------------------------------------------------

    @property
    def state(self) -> GroupState:
        if not self.members:
            return GroupState.EMPTY
        if self.epoch > self.target_epoch:
            return GroupState.ASSIGNING
        for member in self.members.values():
            if member.current.state is not MemberState.STABLE or member.current.epoch != self.target_epoch:
                return GroupState.RECONCILING
        return GroupState.STABLE

    def assignor_name(self, subscriptions: Iterable[Subscription] | None = None) -> str:
        """The one that most members ask for; the default where nobody asks."""
        asked = (m.subscription for m in self.members.values()) if subscriptions is None else subscriptions
        votes = [each.server_assignor for each in asked if each.server_assignor is not None]
        return max(sorted(set(votes) & set(ASSIGNORS)), key=votes.count, default=ASSIGNOR_DEFAULT)

    def subscribed_topics(self, topics: TopicView) -> set[str]:
        return set().union(*(member.subscription.names(topics) for member in self.members.values()))

    def member(self, member_id: str) -> ConsumerMember:
        member = self.members.get(member_id)
        if member is None:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the group has no such member")
        return member

    def static_holder(self, instance_id: str, member_id: str) -> ConsumerMember:
        """The member that has this static name, which must be ``member_id`` itself."""
        holder = self.instances.get(instance_id)
        if holder is None:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the group has no such static member")
        if holder != member_id:
            raise Refused(ErrorCode.FENCED_INSTANCE_ID, "another client took over this static member")
        return self.members[holder]

    def check_room_for(self, subscription: Subscription, before: ConsumerMember | None) -> None:
        """Subscriptions are kept in memory and in the log, so they have a limit together. Raises ``Refused``."""
        used = sum(member.subscription.size for member in self.members.values() if member is not before)
        if used + subscription.size > self.settings.metadata_max_bytes:
            limit = self.settings.metadata_max_bytes
            raise Refused(
                ErrorCode.GROUP_MAX_SIZE_REACHED, f"the members' subscriptions would be more than {limit} bytes"
            )

    def check_room(self) -> None:
        if len(self.members) >= self.settings.consumer_size_max:
            limit = self.settings.consumer_size_max
            raise Refused(ErrorCode.GROUP_MAX_SIZE_REACHED, f"the group already has {limit} members")

    def is_free(self, topic_id: TopicId, partition: int, member_id: str, *others: str) -> bool:
        """Does nobody hold it but the member itself (or those whose place it takes)?"""
        owner = self.owners.get((topic_id, partition))
        return owner is None or owner == member_id or owner in others

    def check_commit(
        self, member_id: str, instance_id: str | None, member_epoch: int, *, may_use_epochs: bool = True
    ) -> None:
        """May this caller commit? A group without members takes commits from anyone outside of it."""
        if member_epoch < 0 and not self.members:
            return
        if instance_id is not None:
            self.static_holder(instance_id, member_id)
        member = self.member(member_id)
        if member.is_classic:
            if member_epoch != member.current.epoch:
                raise Refused(ErrorCode.ILLEGAL_GENERATION, f"the member is at generation {member.current.epoch}")
        elif not may_use_epochs:
            raise Refused(ErrorCode.UNSUPPORTED_VERSION, "members of the consumer protocol commit by newer requests")
        elif member_epoch != member.current.epoch:
            raise Refused(ErrorCode.STALE_MEMBER_EPOCH, f"the member is at epoch {member.current.epoch}")

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """May this caller read the group's offsets? Only who names a member has to be current."""
        if member_id is None and member_epoch < 0:
            return
        member = self.member(member_id or "")
        if member_epoch != member.current.epoch:
            raise Refused(ErrorCode.STALE_MEMBER_EPOCH, f"the member is at epoch {member.current.epoch}")

    # -- leaving, time ---------------------------------------------------------------------------------------------

    def remove(self, member_ids: Iterable[str]) -> list[Record]:
        """They are out: what they owned is free, and the group's next epoch shares it."""
        records: list[Record] = []
        for member_id in member_ids:
            records += stored.member_tombstones(self.id, member_id)
        return [*records, stored.group_record(self.id, self.epoch + 1, self.metadata_hash)]

    def tombstones(self) -> list[Record]:
        """Everything of the group, to be forgotten."""
        records: list[Record] = []
        for member_id in self.members:
            records += stored.member_tombstones(self.id, member_id)
        return [*records, stored.target_epoch_tombstone(self.id), stored.group_tombstone(self.id)]

    def resume(self, now_ms: int) -> None:
        """Loading ended: every member has a whole session to be heard from again."""
        for member in self.members.values():
            self.touch(member, now_ms)
            if member.current.state is MemberState.UNREVOKED_PARTITIONS:
                self.give_task(member, now_ms)

    def touch(self, member: ConsumerMember, now_ms: int) -> None:
        classic = member.subscription.classic
        timeout_ms = self.settings.consumer_session_timeout_ms if classic is None else classic[0]
        member.session_deadline_ms = now_ms + timeout_ms
        self._alarm(member.session_deadline_ms)

    def quiet_ms(self, now_ms: int) -> int:
        """For how long nothing changed, as far as members that were heard of can tell."""
        if self.heard_epoch != self.epoch:
            self.heard_epoch, self.changed_ms = self.epoch, now_ms
        return now_ms - self.changed_ms

    def give_task(self, member: ConsumerMember, now_ms: int) -> None:
        """It was told to do something; the time for it starts to run, once."""
        if member.task_deadline_ms is None:
            member.task_deadline_ms = now_ms + member.subscription.rebalance_timeout_ms
            self._alarm(member.task_deadline_ms)

    def _alarm(self, at_ms: int) -> None:
        if self.due_ms is None or at_ms < self.due_ms:
            self.due_ms = at_ms

    def wake(self, now_ms: int) -> list[str]:
        """Members not heard of in time, and those that did not do in time what they had to; ``remove`` them."""
        late = [
            m.id
            for m in self.members.values()
            if m.session_deadline_ms <= now_ms or (m.task_deadline_ms is not None and m.task_deadline_ms <= now_ms)
        ]
        gone = set(late)
        stay = [m for m in self.members.values() if m.id not in gone]
        moments = [m.session_deadline_ms for m in stay]
        moments += [m.task_deadline_ms for m in stay if m.task_deadline_ms is not None]
        self.due_ms = min(moments, default=None)
        return late

    # -- replay ----------------------------------------------------------------------------------------------------

    def replay(self, key: Message, value: Message | None) -> None:
        """One record of the group, but for its end."""
        REPLAYS[type(key)](self, key, value)

    def replay_member(self, member_id: str, subscription: Subscription | None) -> None:
        member = self.members.get(member_id)
        if subscription is None:
            if member is not None:
                self._release(member)
                del self.members[member_id]
                instance_id = member.subscription.instance_id
                if instance_id is not None and self.instances.get(instance_id) == member_id:
                    del self.instances[instance_id]
            return
        if member is None:
            self.members[member_id] = ConsumerMember(member_id, subscription)
        else:
            member.subscription = subscription
        if subscription.instance_id is not None:
            self.instances[subscription.instance_id] = member_id

    def replay_target(self, member_id: str, target: Assignment | None) -> None:
        if target is None:
            self.targets.pop(member_id, None)
        else:
            self.targets[member_id] = target

    def replay_current(self, member_id: str, current: Current | None) -> None:
        member = self.members.get(member_id)
        if member is None:
            if current is None:
                return
            # The cleaner keeps the newest record of each key: what the member told of itself may stand behind this.
            member = self.members[member_id] = ConsumerMember(member_id, UNHEARD)
        self._release(member)
        member.current = current if current is not None else Current()
        for held in (member.current.assigned, member.current.pending_revocation):
            for topic_id, partitions in held.items():
                for partition in partitions:
                    self.owners[topic_id, partition] = member_id

    def _release(self, member: ConsumerMember) -> None:
        for held in (member.current.assigned, member.current.pending_revocation):
            for topic_id, partitions in held.items():
                for partition in partitions:
                    if self.owners.get((topic_id, partition)) == member.id:
                        del self.owners[topic_id, partition]


def _replay_group(group: ConsumerGroup, key: g.ConsumerGroupMetadataKey, value: Message | None) -> None:
    assert isinstance(value, g.ConsumerGroupMetadataValue)
    group.epoch = value.epoch
    group.metadata_hash = value.metadata_hash


def _replay_member(group: ConsumerGroup, key: g.ConsumerGroupMemberMetadataKey, value: Message | None) -> None:
    assert value is None or isinstance(value, g.ConsumerGroupMemberMetadataValue)
    group.replay_member(key.member_id, None if value is None else stored.read_subscription(value))


def _replay_target_epoch(
    group: ConsumerGroup, key: g.ConsumerGroupTargetAssignmentMetadataKey, value: Message | None
) -> None:
    assert value is None or isinstance(value, g.ConsumerGroupTargetAssignmentMetadataValue)
    group.target_epoch = 0 if value is None else value.assignment_epoch


def _replay_target(group: ConsumerGroup, key: g.ConsumerGroupTargetAssignmentMemberKey, value: Message | None) -> None:
    assert value is None or isinstance(value, g.ConsumerGroupTargetAssignmentMemberValue)
    group.replay_target(key.member_id, None if value is None else stored.read_target(value))


def _replay_current(
    group: ConsumerGroup, key: g.ConsumerGroupCurrentMemberAssignmentKey, value: Message | None
) -> None:
    assert value is None or isinstance(value, g.ConsumerGroupCurrentMemberAssignmentValue)
    group.replay_current(key.member_id, None if value is None else stored.read_current(value))


REPLAYS: dict[type, Callable[..., None]] = {
    g.ConsumerGroupMetadataKey: _replay_group,
    g.ConsumerGroupMemberMetadataKey: _replay_member,
    g.ConsumerGroupTargetAssignmentMetadataKey: _replay_target_epoch,
    g.ConsumerGroupTargetAssignmentMemberKey: _replay_target,
    g.ConsumerGroupCurrentMemberAssignmentKey: _replay_current,
}
