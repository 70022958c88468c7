"""Server-side assignors of the consumer protocol: who should own what.

An assignor is a function of subscriptions, partition counts and the target it replaces; the same input gives the same
answer on every node. Members and topics come in a fixed order, and nothing depends on the order of a set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

TopicId: TypeAlias = bytes
Spot: TypeAlias = tuple[TopicId, int]
Assignment: TypeAlias = dict[TopicId, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Need:
    """What one member may be given, and what it was meant to have so far."""

    member_id: str
    instance_id: str | None
    topics: frozenset[TopicId]
    current: Mapping[TopicId, frozenset[int]]


Assignor: TypeAlias = Callable[[list[Need], Mapping[TopicId, int]], dict[str, Assignment]]


def assign_range(needs: list[Need], partition_counts: Mapping[TopicId, int]) -> dict[str, Assignment]:
    """Neighbouring partitions to neighbouring members, topic by topic: equal numbers meet on the same member."""
    ordered = sorted(needs, key=lambda need: (need.instance_id or need.member_id, need.member_id))
    result: dict[str, Assignment] = {need.member_id: {} for need in needs}
    for topic_id, count in partition_counts.items():
        takers = [need.member_id for need in ordered if topic_id in need.topics]
        if not takers:
            continue
        share, extra = divmod(count, len(takers))
        start = 0
        for place, member_id in enumerate(takers):
            end = start + share + (1 if place < extra else 0)
            if end > start:
                result[member_id][topic_id] = frozenset(range(start, end))
            start = end
    return result


def assign_uniform(needs: list[Need], partition_counts: Mapping[TopicId, int]) -> dict[str, Assignment]:
    """Equal loads, with as few moves as that allows."""
    ordered = sorted(needs, key=lambda need: need.member_id)
    if len({need.topics for need in ordered}) <= 1:
        owned = _share_equally(ordered, partition_counts)
    else:
        owned = _share_by_subscription(ordered, partition_counts)
    result: dict[str, Assignment] = {}
    for member_id, spots in owned.items():
        topics: dict[TopicId, set[int]] = {}
        for topic_id, partition in spots:
            topics.setdefault(topic_id, set()).add(partition)
        result[member_id] = {topic_id: frozenset(parts) for topic_id, parts in topics.items()}
    return result


def _spots(topics: frozenset[TopicId], partition_counts: Mapping[TopicId, int]) -> list[Spot]:
    return [(t, p) for t, count in partition_counts.items() if t in topics for p in range(count)]


def _kept(needs: list[Need], partition_counts: Mapping[TopicId, int]) -> dict[str, list[Spot]]:
    """What each member has now and may go on having; a partition named twice stays with the first."""
    taken: set[Spot] = set()
    kept: dict[str, list[Spot]] = {}
    for need in needs:
        mine = kept[need.member_id] = []
        for topic_id in partition_counts:
            if topic_id not in need.topics:
                continue
            for partition in sorted(need.current.get(topic_id, ())):
                spot = (topic_id, partition)
                if partition < partition_counts[topic_id] and spot not in taken:
                    taken.add(spot)
                    mine.append(spot)
    return kept


def _share_equally(needs: list[Need], partition_counts: Mapping[TopicId, int]) -> dict[str, list[Spot]]:
    """All subscribe to the same: everybody keeps up to the quota, the rest is dealt out."""
    if not needs:
        return {}
    every = _spots(needs[0].topics, partition_counts)
    share, extra = divmod(len(every), len(needs))
    owned = _kept(needs, partition_counts)
    # The larger shares go to those who already have more: that moves least.
    by_load = sorted(needs, key=lambda need: -len(owned[need.member_id]))
    quota = {need.member_id: share + (1 if place < extra else 0) for place, need in enumerate(by_load)}
    kept: set[Spot] = set()
    for need in needs:
        mine = owned[need.member_id]
        del mine[quota[need.member_id] :]
        kept.update(mine)
    free = iter([spot for spot in every if spot not in kept])
    for need in needs:
        mine = owned[need.member_id]
        while len(mine) < quota[need.member_id]:
            mine.append(next(free))
    return owned


def _share_by_subscription(needs: list[Need], partition_counts: Mapping[TopicId, int]) -> dict[str, list[Spot]]:
    """Different subscriptions: the least loaded who may have a partition gets it; then loads are evened out."""
    owned = _kept(needs, partition_counts)
    takers = {t: [need.member_id for need in needs if t in need.topics] for t in partition_counts}
    taken = {spot for spots in owned.values() for spot in spots}
    free = [(t, p) for t, count in partition_counts.items() for p in range(count) if takers[t] and (t, p) not in taken]
    free.sort(key=lambda spot: len(takers[spot[0]]))  # the pickiest topics first, while there is a choice
    for spot in free:
        taker = min(takers[spot[0]], key=lambda member_id: len(owned[member_id]))
        owned[taker].append(spot)
    _even_out(owned, takers)
    return owned


def _even_out(owned: dict[str, list[Spot]], takers: Mapping[TopicId, list[str]]) -> None:
    """Moves partitions from the most loaded to less loaded members while that narrows the gap by two or more."""
    moved = True
    while moved:
        moved = False
        for member_id in sorted(owned, key=lambda m: -len(owned[m])):
            for spot in reversed(owned[member_id]):
                taker = min(takers[spot[0]], key=lambda m: len(owned[m]))
                if len(owned[member_id]) - len(owned[taker]) > 1:
                    owned[member_id].remove(spot)
                    owned[taker].append(spot)
                    moved = True
                    break
            if moved:
                break


ASSIGNORS: Final[Mapping[str, Assignor]] = {"uniform": assign_uniform, "range": assign_range}
ASSIGNOR_DEFAULT: Final = "uniform"
