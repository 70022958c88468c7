"""The machine on one partition of ``__consumer_offsets``: its groups and their offsets.

Deciding methods return ``Decision``; only ``replay`` touches what a restart brings back. Alarms are kept lazily: a
heartbeat only moves a deadline away, so the old alarm is looked at again when it rings.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable

from twinlog.base import Refused
from twinlog.kafka.coordinator import Decision, StoredRecord
from twinlog.kafka.groups import stored
from twinlog.kafka.groups.classic import ClassicGroup, JoinRequest, Outbox, SyncRequest
from twinlog.kafka.groups.offsets import Committed, Offsets, Place, Wish
from twinlog.kafka.groups.settings import GroupSettings
from twinlog.kafka.groups.types import GroupState, JoinReply, Record, SyncReply
from twinlog.wire.kafka import records
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)

Held = list[Callable[[], None]]


class GroupMachine:
    """All groups that hash to one partition."""

    def __init__(self, settings: GroupSettings) -> None:
        self.settings = settings
        self.groups: dict[str, ClassicGroup] = {}
        self.offsets = Offsets(settings)
        self._alarms: list[tuple[int, str]] = []
        self._armed: dict[str, int] = {}
        self._expiry_due_ms: int | None = None

    # -- groups ----------------------------------------------------------------------------------------------------

    def group(self, group_id: str) -> ClassicGroup:
        group = self.groups.get(group_id)
        if group is None:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "there is no such group")
        return group

    def join(
        self, group_id: str, request: JoinRequest, new_id: Callable[[], str], reply: JoinReply, now_ms: int
    ) -> Decision[Held]:
        group = self.groups.get(group_id)
        if group is None:
            if request.member_id != "":
                raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "there is no such group")
            group = ClassicGroup(group_id, self.settings, state_since_ms=now_ms)
            outbox = group.join(request, new_id, reply, now_ms)  # a refused first join leaves no group behind
            self.groups[group_id] = group
        else:
            outbox = group.join(request, new_id, reply, now_ms)
        return self._settle(group, outbox)

    def sync(self, group_id: str, request: SyncRequest, reply: SyncReply, now_ms: int) -> Decision[Held]:
        group = self.group(group_id)
        return self._settle(group, group.sync(request, reply, now_ms))

    def heartbeat(self, group_id: str, member_id: str, instance_id: str | None, generation: int, now_ms: int) -> int:
        return self.group(group_id).heartbeat(member_id, instance_id, generation, now_ms)

    def leave(
        self, group_id: str, leavers: Iterable[tuple[str, str | None]], now_ms: int
    ) -> Decision[tuple[Held, list[int]]]:
        """Each leaver's error code, in order."""
        group = self.group(group_id)
        errors: list[int] = []
        held: Held = []
        store = False
        for member_id, instance_id in leavers:
            try:
                outbox = group.leave(member_id, instance_id, now_ms)
            except Refused as refusal:
                errors.append(refusal.code)
                continue
            errors.append(ErrorCode.NONE)
            held += outbox.held
            store = store or outbox.store
        self._watch(group)
        return Decision((held, errors), [stored.group_record(group)] if store else [])

    def delete_group(self, group_id: str) -> Decision[None]:
        group = self.groups.get(group_id)
        if group is None and group_id not in self.offsets.by_group:
            raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"there is no group {group_id}")
        if group is not None and (group.members or group.pending):
            raise Refused(ErrorCode.NON_EMPTY_GROUP, "the group has members: stop them first")
        return Decision(None, [*self.offsets.delete_all(group_id), stored.group_tombstone(group_id)])

    def _settle(self, group: ClassicGroup, outbox: Outbox) -> Decision[Held]:
        self._watch(group)
        return Decision(outbox.held, [stored.group_record(group)] if outbox.store else [])

    # -- offsets ---------------------------------------------------------------------------------------------------

    def check_commit(
        self, group_id: str, member_id: str, instance_id: str | None, generation: int, now_ms: int
    ) -> None:
        group = self.groups.get(group_id)
        if group is not None:
            group.check_commit(member_id, instance_id, generation, now_ms)
        elif generation >= 0:
            # A member of a group we never heard of: its broker lost it, or it was deleted.
            raise Refused(ErrorCode.ILLEGAL_GENERATION, "there is no such group")

    def check_fetch(self, group_id: str, member_id: str | None, member_epoch: int) -> None:
        """Only members of the consumer protocol name themselves when they fetch; everybody else may look."""

    def commit(self, group_id: str, wishes: Iterable[Wish], now_ms: int, retention_ms: int = -1) -> Decision[list[int]]:
        """After ``check_commit``. The first commit of a group without members makes the group known."""
        kept, errors = self.offsets.commit(group_id, wishes, now_ms, retention_ms)
        self._plan_expiry(now_ms)
        return Decision(errors, kept)

    def delete_offsets(self, group_id: str, places: list[Place]) -> Decision[list[int]]:
        group = self.groups.get(group_id)
        if group is None and group_id not in self.offsets.by_group:
            raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"there is no group {group_id}")
        if group is not None and group.members and group.protocol_type != "consumer":
            raise Refused(ErrorCode.NON_EMPTY_GROUP, "the group has members whose subscriptions cannot be read")
        subscribed = group.subscribed_topics() if group is not None else set()
        errors = [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if topic in subscribed else ErrorCode.NONE for topic, _ in places]
        free = [place for place, error in zip(places, errors, strict=True) if error == ErrorCode.NONE]
        return Decision(list(errors), self.offsets.delete(group_id, free))

    def delete_topic(self, topic: str) -> Decision[None]:
        return Decision(None, self.offsets.delete_topic(topic))

    # -- listing ---------------------------------------------------------------------------------------------------

    def overview(self) -> list[tuple[str, str, str, str]]:
        """(group, protocol type, state, kind) of every group; one that only has offsets counts as empty."""
        rows = [(g.id, g.protocol_type or "", g.state.value, "classic") for g in self.groups.values()]
        rows += [
            (group_id, "", GroupState.EMPTY.value, "classic")
            for group_id in self.offsets.known_groups()
            if group_id not in self.groups
        ]
        return rows

    # -- replay ----------------------------------------------------------------------------------------------------

    def replay(self, record: StoredRecord) -> None:
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
            self.groups.pop(group_id, None)
            self._armed.pop(group_id, None)
            return
        if known is not None and known.is_live:
            return  # we just decided this record ourselves: the group already is what it says
        value: GroupMetadataValue | None = records.decode_value(key, encoded)
        if value is None:
            return
        self.groups[group_id] = stored.classic_group(group_id, value, self.settings)

    def loaded(self, now_ms: int) -> None:
        for group in self.groups.values():
            group.resume(now_ms)
            self._watch(group)
        self._plan_expiry(now_ms)

    # -- time ------------------------------------------------------------------------------------------------------

    def _watch(self, group: ClassicGroup) -> None:
        due_ms = group.next_wake_ms()
        armed_ms = self._armed.get(group.id)
        if due_ms is not None and (armed_ms is None or due_ms < armed_ms):
            self._armed[group.id] = due_ms
            heapq.heappush(self._alarms, (due_ms, group.id))

    def _plan_expiry(self, now_ms: int) -> None:
        if self._expiry_due_ms is None and (self.offsets.by_group or self.groups):
            self._expiry_due_ms = now_ms + self.settings.offsets_expiry_check_ms

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
            if group is None:
                continue
            outbox = group.wake(now_ms)
            if outbox.store:
                decisions.append(Decision(None, [stored.group_record(group)]))
            assert not outbox.held, "time passing answers nobody who waits for the disk"
            self._watch(group)
        if self._expiry_due_ms is not None and self._expiry_due_ms <= now_ms:
            self._expiry_due_ms = now_ms + self.settings.offsets_expiry_check_ms
            expired = self._expire(now_ms)
            if expired:
                decisions.append(Decision(None, expired))
        return decisions

    def _expire(self, now_ms: int) -> list[Record]:
        """Offsets of empty groups past the retention, and groups that have neither members nor offsets left."""
        gone: list[Record] = []
        for group_id in dict.fromkeys([*self.offsets.known_groups(), *self.groups]):
            group = self.groups.get(group_id)
            if group is not None and (group.members or group.pending or group.state is not GroupState.EMPTY):
                continue
            since_ms = group.state_since_ms if group is not None and group.protocol_type else None
            places = self.offsets.expired(group_id, since_ms, now_ms)
            gone += self.offsets.delete(group_id, places)
            left = len(self.offsets.by_group.get(group_id, {})) - len(places)
            if group is not None and left == 0 and not self.offsets.has_open(group_id):
                gone.append(stored.group_tombstone(group_id))
        return gone
