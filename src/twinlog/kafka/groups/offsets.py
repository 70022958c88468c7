"""Committed offsets of the groups on one shard.

Promises: the newest commit of a partition wins in the order of the log; a commit inside a transaction is seen only
after its marker; offsets of a group with members never expire.
Pure: records in (``replay_*``), records out (``commit``, ``delete``, ``expire``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from twinlog.kafka.groups import stored
from twinlog.kafka.groups.settings import GroupSettings
from twinlog.kafka.groups.types import Record
from twinlog.wire.kafka.errors import ErrorCode

Place: TypeAlias = tuple[str, int]  # topic, partition
NO_UUID = bytes(16)


class Committed(NamedTuple):
    """One committed offset, with all that came along."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp: int
    expire_timestamp: int = -1
    topic_id: bytes = NO_UUID


class Wish(NamedTuple):
    """What a client wants to commit for one partition."""

    topic: str
    topic_id: bytes
    partition: int
    offset: int
    leader_epoch: int
    metadata: str | None


class Said(NamedTuple):
    """What the record of a commit says."""

    group_id: str
    place: Place
    value: Committed


@dataclass(slots=True)
class Offsets:
    """All offsets of a shard, those of open transactions apart."""

    settings: GroupSettings
    by_group: dict[str, dict[Place, Committed]] = field(default_factory=dict)
    open: dict[int, dict[str, dict[Place, Committed]]] = field(default_factory=dict)  # producer id -> group -> ...
    _open_places: dict[tuple[str, Place], int] = field(default_factory=dict)  # how many open transactions touch it

    # -- deciding --------------------------------------------------------------------------------------------------

    def commit(
        self, group_id: str, wishes: Iterable[Wish], now_ms: int, retention_ms: int = -1
    ) -> tuple[list[Record], list[Said], list[int]]:
        """Records for what may be committed, what they say, and an error code for each wish, in order."""
        records: list[Record] = []
        said: list[Said] = []
        errors: list[int] = []
        for wish in wishes:
            metadata = wish.metadata or ""
            if metadata and len(metadata.encode("utf-8", "surrogatepass")) > self.settings.offset_metadata_max_bytes:
                errors.append(ErrorCode.OFFSET_METADATA_TOO_LARGE)
                continue
            expire_ms = now_ms + retention_ms if retention_ms >= 0 else -1
            value = Committed(wish.offset, wish.leader_epoch, metadata, now_ms, expire_ms, wish.topic_id)
            place = (wish.topic, wish.partition)
            records.append(stored.offset_record(group_id, place, value))
            said.append(Said(group_id, place, value))
            errors.append(ErrorCode.NONE)
        return records, said, errors

    def delete(self, group_id: str, places: Iterable[Place]) -> list[Record]:
        """Tombstones for the places that exist."""
        kept = self.by_group.get(group_id, {})
        return [stored.offset_tombstone(group_id, place) for place in places if place in kept]

    def delete_all(self, group_id: str) -> list[Record]:
        """Tombstones for everything of the group, open transactions' commits included."""
        places = dict.fromkeys(self.by_group.get(group_id, {}))
        for groups in self.open.values():
            places.update(dict.fromkeys(groups.get(group_id, {})))
        return [stored.offset_tombstone(group_id, place) for place in places]

    def delete_topic(self, topic: str) -> list[Record]:
        """A deleted topic's offsets mean nothing to a topic that takes its name later."""
        places = [(group_id, place) for group_id, kept in self.by_group.items() for place in kept]
        places += [key for key in self._open_places if key[1] not in self.by_group.get(key[0], {})]
        return [stored.offset_tombstone(group_id, place) for group_id, place in places if place[0] == topic]

    def of_another_topic(self, find: Callable[[str], tuple[bytes, int] | None]) -> list[Record]:
        """Tombstones for offsets whose topic was deleted while nobody looked, and perhaps made again."""
        gone = []
        for group_id, kept in self.by_group.items():
            for place, value in kept.items():
                found = find(place[0])
                if value.topic_id != NO_UUID and (found is None or found[0] != value.topic_id):
                    gone.append(stored.offset_tombstone(group_id, place))
        return gone

    def expired(self, group_id: str, empty_since_ms: int | None, now_ms: int) -> list[Place]:
        """Places past their time. ``empty_since_ms``: when the group's last member left, None for a group that never
        had members, where each commit's own age counts."""
        gone = []
        for place, value in self.by_group.get(group_id, {}).items():
            if (group_id, place) in self._open_places:
                continue
            if value.expire_timestamp >= 0:
                due_ms = value.expire_timestamp
            else:
                since_ms = value.commit_timestamp if empty_since_ms is None else max(empty_since_ms, 0)
                due_ms = max(since_ms, value.commit_timestamp) + self.settings.offsets_retention_ms
            if due_ms <= now_ms:
                gone.append(place)
        return gone

    # -- looking ---------------------------------------------------------------------------------------------------

    def get(self, group_id: str, place: Place) -> Committed | None:
        return self.by_group.get(group_id, {}).get(place)

    def of_group(self, group_id: str) -> Iterator[tuple[Place, Committed]]:
        yield from self.by_group.get(group_id, {}).items()

    def is_unstable(self, group_id: str, place: Place) -> bool:
        """Would an open transaction change this offset?"""
        return (group_id, place) in self._open_places

    def has_open(self, group_id: str) -> bool:
        return any(group_id in groups for groups in self.open.values())

    def known_groups(self) -> Iterator[str]:
        yield from self.by_group

    # -- replaying -------------------------------------------------------------------------------------------------

    def replay(self, group_id: str, place: Place, value: Committed | None, producer_id: int = -1) -> None:
        if value is None:
            self._forget(group_id, place)
        elif producer_id >= 0:
            waiting = self.open.setdefault(producer_id, {}).setdefault(group_id, {})
            if place not in waiting:
                key = (group_id, place)
                self._open_places[key] = self._open_places.get(key, 0) + 1
            waiting[place] = value
        else:
            self.by_group.setdefault(group_id, {})[place] = value

    def replay_marker(self, producer_id: int, commit: bool) -> None:
        """The transaction ended: what it committed now counts, or never happened."""
        for group_id, waiting in self.open.pop(producer_id, {}).items():
            for place, value in waiting.items():
                self._close_place(group_id, place)
                if commit:
                    self.by_group.setdefault(group_id, {})[place] = value

    def _forget(self, group_id: str, place: Place) -> None:
        kept = self.by_group.get(group_id)
        if kept is not None:
            kept.pop(place, None)
            if not kept:
                del self.by_group[group_id]
        for producer_id in [p for p, groups in self.open.items() if place in groups.get(group_id, {})]:
            groups = self.open[producer_id]
            del groups[group_id][place]
            self._close_place(group_id, place)
            if not groups[group_id]:
                del groups[group_id]
            if not groups:
                del self.open[producer_id]

    def _close_place(self, group_id: str, place: Place) -> None:
        key = (group_id, place)
        left = self._open_places[key] - 1
        if left:
            self._open_places[key] = left
        else:
            del self._open_places[key]
