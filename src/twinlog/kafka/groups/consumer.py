"""The consumer group protocol (KIP-848): the group's coordinator assigns, members converge one by one.

Promises: a partition has one owner at a time; a member learns of its share by heartbeats alone and nobody stops the
world; a member with an old epoch is fenced. Three epochs: the group's grows when members, subscriptions or topics
change; the target's says for which group epoch it was computed; a member's says which target it follows.

All of it is decided as records and changed by ``replay_*`` only. Sessions and revocation deadlines are soft.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from twinlog.base import Refused
from twinlog.kafka.groups import stored_consumer as stored
from twinlog.kafka.groups.assignors import ASSIGNOR_DEFAULT, ASSIGNORS, Assignment, Need, TopicId
from twinlog.kafka.groups.reconcile import Current, MemberState, Owned, step
from twinlog.kafka.groups.settings import GroupSettings
from twinlog.kafka.groups.types import Caller, GroupState, Record
from twinlog.wire.kafka.errors import ErrorCode

JOIN_EPOCH = 0
LEAVE_EPOCH = -1
LEAVE_STATIC_EPOCH = -2


class TopicView(Protocol):
    """The topics that exist, as subscriptions need them."""

    @property
    def version(self) -> int:
        """Grows with every change of topics."""

    def find(self, name: str) -> tuple[TopicId, int] | None:
        """Id and partition count."""

    def matching(self, pattern: str) -> list[str]:
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


@dataclass(slots=True)
class ConsumerMember:
    id: str
    subscription: Subscription
    current: Current = field(default_factory=Current)
    session_deadline_ms: int = 0
    revocation_deadline_ms: int | None = None
    told: Owned | None = None  # the assignment that the last answer carried


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


@dataclass(slots=True)
class HeartbeatAnswer:
    member_id: str
    member_epoch: int
    heartbeat_interval_ms: int
    assignment: Owned | None = None  # None: unchanged since the last answer


@dataclass(slots=True)
class ConsumerGroup:
    """One group of the consumer protocol."""

    id: str
    settings: GroupSettings
    epoch: int = 0
    target_epoch: int = 0
    metadata_hash: int = 0
    members: dict[str, ConsumerMember] = field(default_factory=dict)
    targets: dict[str, Assignment] = field(default_factory=dict)
    instances: dict[str, str] = field(default_factory=dict)
    owners: dict[tuple[TopicId, int], str] = field(default_factory=dict)
    topics_version: int = -1

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

    def assignor_name(self) -> str:
        """The one that most members ask for; the default where nobody asks."""
        votes: dict[str, int] = {}
        for member in self.members.values():
            name = member.subscription.server_assignor
            if name is not None:
                votes[name] = votes.get(name, 0) + 1
        return max(votes, key=lambda name: votes[name]) if votes else ASSIGNOR_DEFAULT

    def subscribed_ids(self, subscription: Subscription, topics: TopicView) -> frozenset[TopicId]:
        names = set(subscription.topic_names)
        if subscription.topic_regex:
            names.update(topics.matching(subscription.topic_regex))
        found = (topics.find(name) for name in names)
        return frozenset(entry[0] for entry in found if entry is not None)

    def subscribed_topics(self, topics: TopicView) -> set[str]:
        names: set[str] = set()
        for member in self.members.values():
            names.update(member.subscription.topic_names)
            if member.subscription.topic_regex:
                names.update(topics.matching(member.subscription.topic_regex))
        return names

    def check_commit(self, member_id: str, member_epoch: int) -> None:
        """May this caller commit? A group without members takes commits from anyone outside of it."""
        if member_epoch < 0 and not self.members:
            return
        member = self.members.get(member_id)
        if member is None:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the group has no such member")
        if member.subscription.classic is not None:
            if member_epoch != member.current.epoch:
                raise Refused(ErrorCode.ILLEGAL_GENERATION, f"the member is at generation {member.current.epoch}")
        elif member_epoch != member.current.epoch:
            raise Refused(ErrorCode.STALE_MEMBER_EPOCH, f"the member is at epoch {member.current.epoch}")

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """May this caller read the group's offsets? Only who names a member has to be current."""
        if member_id is None and member_epoch < 0:
            return
        member = self.members.get(member_id or "")
        if member is None:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the group has no such member")
        if member_epoch != member.current.epoch:
            raise Refused(ErrorCode.STALE_MEMBER_EPOCH, f"the member is at epoch {member.current.epoch}")

    # -- heartbeats ------------------------------------------------------------------------------------------------

    def heartbeat(
        self, request: HeartbeatRequest, topics: TopicView, now_ms: int
    ) -> tuple[list[Record], HeartbeatAnswer]:
        """What follows from hearing of a member. Raises ``Refused``; the records must be replayed before the answer
        counts, and ``heard`` called with it."""
        if request.member_epoch in (LEAVE_EPOCH, LEAVE_STATIC_EPOCH):
            return self._leave(request)
        records: list[Record] = []
        member, replaced = self._member_for(request, records)
        subscription = self._subscription(request, member, topics)
        grows = member is None or replaced or not _same_interest(subscription, member.subscription)
        if member is None or subscription != member.subscription or replaced:
            records.append(stored.member_record(self.id, request.member_id, subscription))
        members = {m.id: m.subscription for m in self.members.values()}
        members[request.member_id] = subscription
        if replaced and member is not None:
            members.pop(member.id, None)
        current = member.current if member is not None else Current()
        epoch, targets = self._retarget(members, topics, grows, records, _moved(member, request, replaced))
        target_epoch = epoch if epoch > self.target_epoch else self.target_epoch
        following = step(
            current,
            targets.get(request.member_id, {}),
            target_epoch,
            request.owned,
            lambda topic_id, partition: self._is_free(topic_id, partition, request.member_id, member),
            self.subscribed_ids(subscription, topics),
        )
        if following != current or replaced:
            records.append(stored.current_record(self.id, request.member_id, following))
        answer = HeartbeatAnswer(request.member_id, following.epoch, self.settings.consumer_heartbeat_interval_ms)
        is_whole = request.member_epoch == JOIN_EPOCH or (request.topic_names is not None and request.owned is not None)
        if is_whole or member is None or member.told is None or dict(member.told) != dict(following.assigned):
            answer.assignment = following.assigned
        return records, answer

    def heard(self, answer: HeartbeatAnswer, request: HeartbeatRequest, now_ms: int) -> None:
        """The soft side of an answered heartbeat: sessions and deadlines."""
        member = self.members.get(request.member_id)
        if member is None:
            return
        member.session_deadline_ms = now_ms + self.settings.consumer_session_timeout_ms
        if answer.assignment is not None:
            member.told = answer.assignment
        if member.current.state is not MemberState.UNREVOKED_PARTITIONS:
            member.revocation_deadline_ms = None
        elif member.revocation_deadline_ms is None:
            member.revocation_deadline_ms = now_ms + member.subscription.rebalance_timeout_ms

    def _is_free(self, topic_id: TopicId, partition: int, member_id: str, member: ConsumerMember | None) -> bool:
        owner = self.owners.get((topic_id, partition))
        return owner is None or owner == member_id or (member is not None and owner == member.id)

    def _member_for(self, request: HeartbeatRequest, records: list[Record]) -> tuple[ConsumerMember | None, bool]:
        """The member that speaks, None for a newcomer; and whether it takes over a static member's place."""
        member = self.members.get(request.member_id)
        if request.instance_id is not None:
            holder = self.instances.get(request.instance_id)
            if holder is not None and holder != request.member_id:
                return self._take_over(request, self.members[holder], records), True
            if holder is None and request.member_epoch != JOIN_EPOCH:
                raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the group has no such static member")
        if member is None:
            if request.member_epoch != JOIN_EPOCH:
                raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the group has no such member: join again")
            if len(self.members) >= self.settings.consumer_size_max:
                raise Refused(
                    ErrorCode.GROUP_MAX_SIZE_REACHED, f"the group already has {self.settings.consumer_size_max} members"
                )
            return None, False
        self._check_epoch(member, request)
        return member, False

    def _check_epoch(self, member: ConsumerMember, request: HeartbeatRequest) -> None:
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

    def _take_over(self, request: HeartbeatRequest, old: ConsumerMember, records: list[Record]) -> ConsumerMember:
        if request.member_epoch != JOIN_EPOCH:
            raise Refused(ErrorCode.FENCED_INSTANCE_ID, "another client took over this static member")
        if old.current.epoch != LEAVE_STATIC_EPOCH:
            raise Refused(ErrorCode.UNRELEASED_INSTANCE_ID, "another client still holds this static name")
        records += stored.member_tombstones(self.id, old.id)
        # It takes the old one's place with what that held, and everything of it is free again.
        return replace(old, current=Current(JOIN_EPOCH, -1, MemberState.STABLE, old.current.assigned))

    def _subscription(
        self, request: HeartbeatRequest, member: ConsumerMember | None, topics: TopicView
    ) -> Subscription:
        before = member.subscription if member is not None else None
        if request.member_epoch == JOIN_EPOCH:
            self._check_join(request)
        regex = request.topic_regex if request.topic_regex is not None else (before.topic_regex if before else None)
        if request.topic_regex:
            topics.matching(request.topic_regex)  # an invalid one is refused before anything changes
        assignor = request.server_assignor or (before.server_assignor if before else None)
        if assignor is not None and assignor not in ASSIGNORS:
            known = ", ".join(sorted(ASSIGNORS))
            raise Refused(ErrorCode.UNSUPPORTED_ASSIGNOR, f"there is no assignor {assignor}; there are: {known}")
        names = request.topic_names
        if names is None:
            names = before.topic_names if before else ()
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

    def _check_join(self, request: HeartbeatRequest) -> None:
        if request.rebalance_timeout_ms <= 0:
            raise Refused(ErrorCode.INVALID_REQUEST, "a member that joins must name its rebalance timeout")
        if request.topic_names is None and request.topic_regex is None:
            raise Refused(ErrorCode.INVALID_REQUEST, "a member that joins must subscribe to something")
        if request.owned is None or any(request.owned.values()):
            raise Refused(ErrorCode.INVALID_REQUEST, "a member that joins owns no partitions yet")

    def _retarget(
        self,
        members: Mapping[str, Subscription],
        topics: TopicView,
        grows: bool,
        records: list[Record],
        moved: dict[str, str],
    ) -> tuple[int, dict[str, Assignment]]:
        """The group's epoch and targets after a change of members or topics; ``moved``: old id -> new id."""
        subscribed = {member_id: self.subscribed_ids(s, topics) for member_id, s in members.items()}
        counts = self._partition_counts(subscribed, members, topics)
        metadata_hash = stored.metadata_hash(counts)
        if not grows and metadata_hash == self.metadata_hash and self.epoch == self.target_epoch:
            return self.epoch, self.targets
        epoch = self.epoch
        if grows or metadata_hash != self.metadata_hash:
            epoch += 1
            records.append(stored.group_record(self.id, epoch, metadata_hash))
        before = {moved.get(member_id, member_id): target for member_id, target in self.targets.items()}
        needs = [
            Need(member_id, s.instance_id, subscribed[member_id], before.get(member_id, {}))
            for member_id, s in members.items()
        ]
        votes = [s.server_assignor for s in members.values() if s.server_assignor]
        name = max(sorted(set(votes)), key=votes.count) if votes else ASSIGNOR_DEFAULT
        targets = ASSIGNORS[name](needs, counts)
        for member_id, target in targets.items():
            if target != self.targets.get(member_id):
                records.append(stored.target_record(self.id, member_id, target))
        records.append(stored.target_epoch_record(self.id, epoch))
        return epoch, targets

    def _partition_counts(
        self, subscribed: Mapping[str, frozenset[TopicId]], members: Mapping[str, Subscription], topics: TopicView
    ) -> dict[TopicId, int]:
        """Every subscribed topic that exists, in the order of names."""
        names: set[str] = set()
        for subscription in members.values():
            names.update(subscription.topic_names)
            if subscription.topic_regex:
                names.update(topics.matching(subscription.topic_regex))
        found = (topics.find(name) for name in sorted(names))
        return {entry[0]: entry[1] for entry in found if entry is not None}

    # -- leaving, time ---------------------------------------------------------------------------------------------

    def _leave(self, request: HeartbeatRequest) -> tuple[list[Record], HeartbeatAnswer]:
        member_id = request.member_id
        if request.instance_id is not None:
            holder = self.instances.get(request.instance_id)
            if holder is None:
                raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the group has no such static member")
            if holder != member_id:
                raise Refused(ErrorCode.FENCED_INSTANCE_ID, "another client took over this static member")
        if member_id not in self.members:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the group has no such member")
        answer = HeartbeatAnswer(member_id, request.member_epoch, 0)
        if request.member_epoch == LEAVE_STATIC_EPOCH and request.instance_id is not None:
            gone = replace(self.members[member_id].current, epoch=LEAVE_STATIC_EPOCH)
            return [stored.current_record(self.id, member_id, gone)], answer
        return self.remove(member_id), answer

    def remove(self, member_id: str) -> list[Record]:
        """The member is out: what it owned is free, and the group's next epoch shares it."""
        return [
            *stored.member_tombstones(self.id, member_id),
            stored.group_record(self.id, self.epoch + 1, self.metadata_hash),
        ]

    def tombstones(self) -> list[Record]:
        """Everything of the group, to be forgotten."""
        records: list[Record] = []
        for member_id in self.members:
            records += stored.member_tombstones(self.id, member_id)
        return [*records, stored.target_epoch_tombstone(self.id), stored.group_tombstone(self.id)]

    def resume(self, now_ms: int) -> None:
        """Loading ended: every member has a whole session to be heard from again."""
        for member in self.members.values():
            member.session_deadline_ms = now_ms + self.settings.consumer_session_timeout_ms
            if member.current.state is MemberState.UNREVOKED_PARTITIONS:
                member.revocation_deadline_ms = now_ms + member.subscription.rebalance_timeout_ms

    def next_wake_ms(self) -> int | None:
        moments = [m.session_deadline_ms for m in self.members.values()]
        moments += [m.revocation_deadline_ms for m in self.members.values() if m.revocation_deadline_ms is not None]
        return min(moments, default=None)

    def expired(self, now_ms: int) -> list[str]:
        """Members not heard of in time, and those that kept what they had to give up."""
        return [
            m.id
            for m in self.members.values()
            if m.session_deadline_ms <= now_ms
            or (m.revocation_deadline_ms is not None and m.revocation_deadline_ms <= now_ms)
        ]

    # -- replay ----------------------------------------------------------------------------------------------------

    def replay_member(self, member_id: str, subscription: Subscription | None) -> None:
        member = self.members.get(member_id)
        if subscription is None:
            if member is not None:
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
        if member is not None:
            self._release(member)
            member.current = current if current is not None else Current()
            if current is not None:
                for held in (current.assigned, current.pending_revocation):
                    for topic_id, partitions in held.items():
                        for partition in partitions:
                            self.owners[topic_id, partition] = member_id

    def _release(self, member: ConsumerMember) -> None:
        for held in (member.current.assigned, member.current.pending_revocation):
            for topic_id, partitions in held.items():
                for partition in partitions:
                    if self.owners.get((topic_id, partition)) == member.id:
                        del self.owners[topic_id, partition]


def _same_interest(one: Subscription, other: Subscription) -> bool:
    """Do both lead to the same assignment? A new client address or timeout does not move partitions."""
    return (one.topic_names, one.topic_regex, one.server_assignor, one.rack_id, one.instance_id) == (
        other.topic_names,
        other.topic_regex,
        other.server_assignor,
        other.rack_id,
        other.instance_id,
    )


def _moved(member: ConsumerMember | None, request: HeartbeatRequest, replaced: bool) -> dict[str, str]:
    return {member.id: request.member_id} if replaced and member is not None else {}
