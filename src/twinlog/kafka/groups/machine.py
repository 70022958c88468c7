"""The machine on one partition of ``__consumer_offsets``: its groups and their offsets.

Deciding methods return ``Decision``; only ``replay`` touches what a restart brings back. Alarms are kept lazily: a
heartbeat only moves a deadline away, so the old alarm is looked at again when it rings.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from typing import TypeAlias

from twinlog.base import Refused
from twinlog.kafka.coordinator import Decision, StoredRecord
from twinlog.kafka.groups import classic_join, classic_members, consumer_heartbeat, migration, stored
from twinlog.kafka.groups.classic import ClassicGroup
from twinlog.kafka.groups.classic_types import JoinRequest, Outbox, SyncRequest
from twinlog.kafka.groups.consumer import CONSUMER_PROTOCOL_TYPE, REPLAYS, ConsumerGroup, TopicView
from twinlog.kafka.groups.consumer_heartbeat import HeartbeatAnswer, HeartbeatRequest
from twinlog.kafka.groups.consumer_moves import JOIN_EPOCH
from twinlog.kafka.groups.offsets import Committed, Offsets, Place, Said, Wish
from twinlog.kafka.groups.reports import Reports
from twinlog.kafka.groups.settings import GroupSettings
from twinlog.kafka.groups.types import GroupState, JoinReply, Record, SyncReply
from twinlog.wire.kafka import records
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.message import Message
from twinlog.wire.kafka.messages.group_records import (
    ConsumerGroupMetadataKey,
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)

Held: TypeAlias = list[Callable[[], None]]
Group: TypeAlias = ClassicGroup | ConsumerGroup


class GroupMachine:
    """All groups that hash to one partition."""

    def __init__(
        self, settings: GroupSettings, topics: TopicView, reports: Reports, is_full: Callable[[], bool] = lambda: False
    ) -> None:
        self.settings = settings
        self._reports = reports
        self._is_full = is_full  # whether the node has as many groups as it may
        self.topics = topics
        self.groups: dict[str, Group] = {}
        self.offsets = Offsets(settings)
        self._alarms: list[tuple[int, str]] = []
        self._armed: dict[str, int] = {}
        self._expiry_due_ms: int | None = None

    @property
    def group_count(self) -> int:
        """About: most groups have offsets, and some that have offsets have been without members since the start."""
        return max(len(self.groups), len(self.offsets.by_group))

    def _check_room(self, group_id: str) -> None:
        if group_id not in self.groups and group_id not in self.offsets.by_group and self._is_full():
            raise Refused(
                ErrorCode.GROUP_MAX_SIZE_REACHED, f"this node has its limit of {self.settings.groups_max} groups"
            )

    def group(self, group_id: str) -> Group:
        group = self.groups.get(group_id)
        if group is None:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "there is no such group")
        return group

    # -- the classic protocol ----------------------------------------------------------------------------------------

    def join(
        self, group_id: str, request: JoinRequest, new_id: Callable[[], str], reply: JoinReply, now_ms: int
    ) -> Decision[Held]:
        group = self.groups.get(group_id)
        if isinstance(group, ConsumerGroup) and group.members:
            return self._join_consumer_group(group, request, new_id, reply, now_ms)
        if isinstance(group, ClassicGroup):
            return self._settle(group, classic_join.join(group, request, new_id, reply, now_ms))
        if request.member_id != "":
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "there is no such group")
        self._check_room(group_id)
        end = group.tombstones() if group is not None else []
        fresh = ClassicGroup(group_id, self.settings, state_since_ms=now_ms)
        outbox = classic_join.join(fresh, request, new_id, reply, now_ms)  # a refused first join leaves no group behind
        self.groups[group_id] = fresh
        decision = self._settle(fresh, outbox)
        return Decision(decision.reply, end + decision.records)

    def _join_consumer_group(
        self, group: ConsumerGroup, request: JoinRequest, new_id: Callable[[], str], reply: JoinReply, now_ms: int
    ) -> Decision[Held]:
        kept, answer = classic_members.join(group, request, new_id, self.topics)

        def after() -> None:
            classic_members.joined(group, answer, now_ms)
            self._watch(group)

        return Decision([lambda: reply(answer)], kept, after=after)

    def sync(self, group_id: str, request: SyncRequest, reply: SyncReply, now_ms: int) -> Decision[Held]:
        group = self.group(group_id)
        if isinstance(group, ConsumerGroup):
            try:
                answer = classic_members.sync(group, request, self.topics, now_ms)
            finally:
                self._watch(group)
            return Decision([lambda: reply(answer)])
        return self._settle(group, group.sync(request, reply, now_ms))

    def heartbeat(self, group_id: str, member_id: str, instance_id: str | None, generation: int, now_ms: int) -> int:
        group = self.group(group_id)
        if isinstance(group, ConsumerGroup):
            code = classic_members.heartbeat(group, member_id, instance_id, generation, now_ms)
            self._watch(group)
            return code
        return group.heartbeat(member_id, instance_id, generation, now_ms)

    def leave(
        self, group_id: str, leavers: Iterable[tuple[str, str | None]], now_ms: int
    ) -> Decision[tuple[Held, list[int]]]:
        """Each leaver's error code, in order."""
        group = self.group(group_id)
        errors: list[int] = []
        held: Held = []
        gone: list[str] = []
        store = False
        for member_id, instance_id in leavers:
            try:
                if isinstance(group, ConsumerGroup):
                    leaver = classic_members.leaver(group, member_id, instance_id)
                    if leaver in gone:
                        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the member left already")
                    gone.append(leaver)
                else:
                    outbox = group.leave(member_id, instance_id, now_ms)
                    held += outbox.held
                    store = store or outbox.store
            except Refused as refusal:
                errors.append(refusal.code)
                continue
            errors.append(ErrorCode.NONE)
        if isinstance(group, ConsumerGroup):
            removal = self._remove(group, gone, now_ms)
            return Decision((held, errors), removal.records, after=removal.after)
        self._watch(group)
        return Decision((held, errors), [stored.group_record(group)] if store else [])

    def _settle(self, group: ClassicGroup, outbox: Outbox) -> Decision[Held]:
        self._watch(group)
        return Decision(outbox.held, [stored.group_record(group)] if outbox.store else [])

    # -- the consumer protocol ---------------------------------------------------------------------------------------

    def consumer_heartbeat(self, group_id: str, request: HeartbeatRequest, now_ms: int) -> Decision[HeartbeatAnswer]:
        consumer_heartbeat.check_request(request)
        group = self.groups.get(group_id)
        if request.leaves:
            return self._consumer_leaves(group, request, now_ms)
        start: list[Record] = []
        if isinstance(group, ClassicGroup):
            if request.member_epoch != JOIN_EPOCH:
                raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the group speaks the classic protocol: join again")
            start = migration.upgrade(group, self.topics)
        elif group is None and request.member_epoch != JOIN_EPOCH:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "there is no such group: join again")
        self._check_room(group_id)
        basis = group
        if not isinstance(basis, ConsumerGroup):
            basis = migration.replayed(group_id, self.settings, start)
        kept, answer = consumer_heartbeat.heartbeat(basis, request, self.topics)

        def after() -> None:
            settled = self.groups.get(group_id)
            if not isinstance(settled, ConsumerGroup):
                return
            if isinstance(group, ClassicGroup):
                group.turn_away(ErrorCode.REBALANCE_IN_PROGRESS)
                settled.resume(now_ms)
            consumer_heartbeat.heard(settled, answer, now_ms)
            quiet_ms = settled.quiet_ms(now_ms)
            answer.heartbeat_interval_ms = self._reports.interval_ms(len(settled.members), quiet_ms, now_ms)
            self._watch(settled)

        return Decision(answer, start + kept, after=after)

    def _consumer_leaves(
        self, group: Group | None, request: HeartbeatRequest, now_ms: int
    ) -> Decision[HeartbeatAnswer]:
        if not isinstance(group, ConsumerGroup):
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "the group has no such member")
        answer = HeartbeatAnswer(request.member_id, request.member_epoch)
        leaver, kept = consumer_heartbeat.leave(group, request)
        if leaver is None:
            return Decision(answer, kept)
        removal = self._remove(group, [leaver], now_ms)
        return Decision(answer, removal.records, after=removal.after)

    def _remove(self, group: ConsumerGroup, gone: list[str], now_ms: int) -> Decision[None]:
        """Members are out; a group that only classic ones are left in becomes classic."""
        if not gone:
            return Decision(None)
        if not migration.becomes_classic(group, set(gone)):
            return Decision(None, group.remove(gone), after=lambda: self._watch(group))
        kept, classic = migration.downgrade(group, set(gone), self.topics, now_ms)

        def after() -> None:
            self.groups[group.id] = classic
            classic.resume(now_ms)
            classic.rebalance(now_ms)
            self._watch(classic)

        return Decision(None, kept, after=after)

    # -- offsets ---------------------------------------------------------------------------------------------------

    def check_commit(
        self,
        group_id: str,
        member_id: str,
        instance_id: str | None,
        generation: int,
        now_ms: int,
        *,
        may_use_epochs: bool = True,
    ) -> None:
        """``may_use_epochs``: the request is new enough for members of the consumer protocol."""
        group = self.groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            group.check_commit(member_id, instance_id, generation, may_use_epochs=may_use_epochs)
        elif group is not None:
            group.check_commit(member_id, instance_id, generation, now_ms)
        elif generation >= 0:
            # A member of a group we never heard of: its broker lost it, or it was deleted.
            raise Refused(
                ErrorCode.GROUP_ID_NOT_FOUND if may_use_epochs else ErrorCode.ILLEGAL_GENERATION,
                "there is no such group",
            )

    def check_transactional_commit(
        self, group_id: str, member_id: str, instance_id: str | None, generation: int
    ) -> None:
        """Transactions may name no member at all (older clients); who names one must be current."""
        if member_id == "" and generation < 0 and instance_id is None:
            return
        group = self.groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            try:
                group.check_commit(member_id, instance_id, generation)
            except Refused as refusal:
                if refusal.code != ErrorCode.STALE_MEMBER_EPOCH:
                    raise
                # The request is older than epochs: its clients know this code alone.
                raise Refused(ErrorCode.ILLEGAL_GENERATION, str(refusal)) from None
        elif group is not None:
            group.check_transactional_commit(member_id, instance_id, generation)
        elif generation >= 0:
            raise Refused(ErrorCode.ILLEGAL_GENERATION, "there is no such group")

    def check_fetch(self, group_id: str, member_id: str | None, member_epoch: int) -> None:
        """Only members of the consumer protocol name themselves when they fetch; everybody else may look."""
        group = self.groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            group.check_fetch(member_id, member_epoch)

    def commit(self, group_id: str, wishes: Iterable[Wish], now_ms: int, retention_ms: int = -1) -> Decision[list[int]]:
        """After ``check_commit``. The first commit of a group without members makes the group known."""
        self._check_room(group_id)
        kept, said, errors = self.offsets.commit(group_id, wishes, now_ms, retention_ms)
        return Decision(errors, kept, said=said)

    def commit_transactional(
        self, group_id: str, wishes: Iterable[Wish], producer_id: int, producer_epoch: int, now_ms: int
    ) -> Decision[list[int]]:
        """After ``check_transactional_commit``: counts once the producer's transaction is committed."""
        self._check_room(group_id)
        kept, said, errors = self.offsets.commit(group_id, wishes, now_ms)
        return Decision(errors, kept, producer_id, producer_epoch, said=said)

    def delete_offsets(self, group_id: str, places: list[Place]) -> Decision[list[int]]:
        group = self.groups.get(group_id)
        if group is None and group_id not in self.offsets.by_group:
            raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"there is no group {group_id}")
        subscribed: set[str] = set()
        if isinstance(group, ConsumerGroup):
            subscribed = group.subscribed_topics(self.topics)
        elif group is not None:
            if group.members and group.protocol_type != CONSUMER_PROTOCOL_TYPE:
                raise Refused(ErrorCode.NON_EMPTY_GROUP, "the group has members whose subscriptions cannot be read")
            subscribed = group.subscribed_topics()
        errors = [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if topic in subscribed else ErrorCode.NONE for topic, _ in places]
        free = [place for place, error in zip(places, errors, strict=True) if error == ErrorCode.NONE]
        return Decision(list(errors), self.offsets.delete(group_id, free))

    def delete_topic(self, topic: str) -> Decision[None]:
        return Decision(None, self.offsets.delete_topic(topic))

    # -- administration --------------------------------------------------------------------------------------------

    def delete_group(self, group_id: str) -> Decision[None]:
        group = self.groups.get(group_id)
        if group is None and group_id not in self.offsets.by_group:
            raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"there is no group {group_id}")
        if group is not None and (group.members or (isinstance(group, ClassicGroup) and group.pending)):
            raise Refused(ErrorCode.NON_EMPTY_GROUP, "the group has members: stop them first")
        end = group.tombstones() if isinstance(group, ConsumerGroup) else [stored.group_tombstone(group_id)]
        return Decision(None, [*self.offsets.delete_all(group_id), *end])

    def overview(self) -> list[tuple[str, str, str, str]]:
        """(group, protocol type, state, kind) of every group; one that only has offsets counts as empty."""
        rows = []
        for group in self.groups.values():
            if isinstance(group, ConsumerGroup):
                rows.append((group.id, CONSUMER_PROTOCOL_TYPE, group.state.value, "consumer"))
            else:
                rows.append((group.id, group.protocol_type or "", group.state.value, "classic"))
        rows += [
            (group_id, "", GroupState.EMPTY.value, "classic")
            for group_id in self.offsets.known_groups()
            if group_id not in self.groups
        ]
        return rows

    # -- replay ----------------------------------------------------------------------------------------------------

    def replay(self, record: StoredRecord) -> None:
        if self._expiry_due_ms is None:  # there is something now that may grow old
            self._expiry_due_ms = record.timestamp + self.settings.offsets_expiry_check_ms
        if isinstance(record.said, Said):
            group_id, place, value = record.said
            self.offsets.replay(group_id, place, value, record.producer_id)
            return
        if record.marker is not None:
            self.offsets.replay_marker(record.producer_id, record.marker)
            return
        if record.key is None:
            return
        key = records.decode_group_key(record.key)
        if isinstance(key, OffsetCommitKey):
            self._replay_offset(key, record)
        elif isinstance(key, GroupMetadataKey):
            self._replay_group(key, record.value)
        elif type(key) in REPLAYS:
            self._replay_consumer_group(key, key.group_id, record.value)
        # Records of kinds that this release does not know stay in the log untouched.

    def _replay_offset(self, key: OffsetCommitKey, record: StoredRecord) -> None:
        place = (key.topic, key.partition)
        if record.value is None:
            self.offsets.replay(key.group, place, None)
            return
        value: OffsetCommitValue | None = records.decode_value(key, record.value)
        if value is None:
            return
        committed = Committed(
            value.offset,
            value.leader_epoch,
            value.metadata,
            value.commit_timestamp,
            value.expire_timestamp,
            value.topic_id,
        )
        self.offsets.replay(key.group, place, committed, record.producer_id)

    def _replay_group(self, key: GroupMetadataKey, encoded: bytes | None) -> None:
        group_id = key.group
        known = self.groups.get(group_id)
        if encoded is None:
            if isinstance(known, ClassicGroup):
                self._forget(group_id)
            return
        if isinstance(known, ClassicGroup) and known.is_live:
            return  # we just decided this record ourselves: the group already is what it says
        value: GroupMetadataValue | None = records.decode_value(key, encoded)
        if value is None:
            return
        self.groups[group_id] = stored.classic_group(group_id, value, self.settings)

    def _replay_consumer_group(self, key: Message, group_id: str, encoded: bytes | None) -> None:
        group = self.groups.get(group_id)
        if encoded is None:
            if not isinstance(group, ConsumerGroup):
                return
            if isinstance(key, ConsumerGroupMetadataKey):
                self._forget(group_id)
            else:
                group.replay(key, None)
            return
        value: Message | None = records.decode_value(key, encoded)
        if value is None:
            return
        if not isinstance(group, ConsumerGroup):
            group = self.groups[group_id] = ConsumerGroup(group_id, self.settings)
        group.replay(key, value)

    def _forget(self, group_id: str) -> None:
        self.groups.pop(group_id, None)
        self._armed.pop(group_id, None)

    def loaded(self, now_ms: int) -> None:
        for group in self.groups.values():
            group.resume(now_ms)
            self._watch(group)
        # At once where there is anything: topics may have gone while this partition was led elsewhere, or by nobody.
        self._expiry_due_ms = now_ms if self.offsets.by_group or self.groups else None

    def ended(self, code: int) -> None:
        for group in self.groups.values():
            if isinstance(group, ClassicGroup):
                group.turn_away(code)

    # -- time ------------------------------------------------------------------------------------------------------

    def _watch(self, group: Group) -> None:
        due_ms = group.due_ms
        armed_ms = self._armed.get(group.id)
        if due_ms is not None and (armed_ms is None or due_ms < armed_ms):
            self._armed[group.id] = due_ms
            heapq.heappush(self._alarms, (due_ms, group.id))

    def next_wake_ms(self) -> int | None:
        alarm_ms = self._alarms[0][0] if self._alarms else None
        moments = [ms for ms in (alarm_ms, self._expiry_due_ms) if ms is not None]
        return min(moments, default=None)

    def wake(self, now_ms: int) -> list[Decision[None]]:
        decisions: list[Decision[None]] = []
        while self._alarms and self._alarms[0][0] <= now_ms:
            due_ms, group_id = heapq.heappop(self._alarms)
            if self._armed.get(group_id) != due_ms:
                continue  # a nearer alarm took its place
            del self._armed[group_id]
            group = self.groups.get(group_id)
            if isinstance(group, ConsumerGroup):
                decisions.append(self._remove(group, group.wake(now_ms), now_ms))
            elif group is not None:
                outbox = group.wake(now_ms)
                assert not outbox.held, "time passing answers nobody who waits for the disk"
                if outbox.store:
                    decisions.append(Decision(None, [stored.group_record(group)]))
            if group is not None:
                self._watch(group)
        if self._expiry_due_ms is not None and self._expiry_due_ms <= now_ms:
            self._expiry_due_ms = now_ms + self.settings.offsets_expiry_check_ms
            expired = [*self.offsets.of_another_topic(self.topics.find), *self._expire(now_ms)]
            if expired:
                decisions.append(Decision(None, expired))
        return decisions

    def _expire(self, now_ms: int) -> list[Record]:
        """Offsets of empty groups past the retention, and groups that have neither members nor offsets left."""
        gone: list[Record] = []
        for group_id in dict.fromkeys([*self.offsets.known_groups(), *self.groups]):
            group = self.groups.get(group_id)
            if group is not None and group.state is not GroupState.EMPTY:
                continue
            since_ms = None
            if isinstance(group, ClassicGroup):
                if group.pending:
                    continue
                since_ms = group.state_since_ms if group.protocol_type else None
            places = self.offsets.expired(group_id, since_ms, now_ms)
            gone += self.offsets.delete(group_id, places)
            left = len(self.offsets.by_group.get(group_id, {})) - len(places)
            if group is not None and left == 0 and not self.offsets.has_open(group_id):
                gone += group.tombstones() if isinstance(group, ConsumerGroup) else [stored.group_tombstone(group_id)]
        return gone
