"""How one member of the consumer protocol moves from what it owns to what it should own.

A partition is taken from its old owner first, and given on only after the old owner reported it gone. A member that
still holds something to give up stays at its old epoch; everybody else moves to the target's epoch at once, and what is
not free yet follows when it becomes free.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from twinlog.kafka.groups.assignors import Assignment, TopicId

Owned: TypeAlias = Mapping[TopicId, frozenset[int]]


class MemberState(enum.IntEnum):
    """As stored in the member's current assignment."""

    STABLE = 1
    UNREVOKED_PARTITIONS = 2
    UNRELEASED_PARTITIONS = 3
    UNKNOWN = 127


@dataclass(frozen=True, slots=True)
class Current:
    """Where a member is: its epoch, what it may use, and what it has yet to give up."""

    epoch: int = 0
    previous_epoch: int = -1
    state: MemberState = MemberState.STABLE
    assigned: Owned = ()  # type: ignore[assignment]
    pending_revocation: Owned = ()  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "assigned", dict(self.assigned))
        object.__setattr__(self, "pending_revocation", dict(self.pending_revocation))


IsFree: TypeAlias = Callable[[TopicId, int], bool]


def step(
    current: Current,
    target: Assignment,
    target_epoch: int,
    owned: Owned | None,
    is_free: IsFree,
) -> Current:
    """The member's next place. ``owned`` is what it reported, None when it reported nothing this time.

    ``is_free`` tells of partitions outside the member's own assignment whether nobody holds them any more.
    """
    if current.state is MemberState.UNREVOKED_PARTITIONS:
        if owned is None or _overlap(current.pending_revocation, owned):
            return current
        return _advance(current, target, target_epoch, owned, is_free)
    if current.state is MemberState.UNRELEASED_PARTITIONS or current.epoch != target_epoch:
        return _advance(current, target, target_epoch, owned, is_free)
    return current


def _advance(current: Current, target: Assignment, target_epoch: int, owned: Owned | None, is_free: IsFree) -> Current:
    kept: dict[TopicId, frozenset[int]] = {}
    revoked: dict[TopicId, frozenset[int]] = {}
    wanted: dict[TopicId, frozenset[int]] = {}
    waits = False
    for topic_id in [*current.assigned, *(t for t in target if t not in current.assigned)]:
        have = current.assigned.get(topic_id, frozenset())
        want = target.get(topic_id, frozenset())
        _put(kept, topic_id, have & want)
        _put(revoked, topic_id, have - want)
        free = frozenset(p for p in want - have if is_free(topic_id, p))
        _put(wanted, topic_id, free)
        waits = waits or len(free) < len(want - have)
    if revoked and (owned is None or _overlap(revoked, owned)):
        return Current(current.epoch, current.previous_epoch, MemberState.UNREVOKED_PARTITIONS, kept, revoked)
    assigned = {t: kept.get(t, frozenset()) | wanted.get(t, frozenset()) for t in dict.fromkeys([*kept, *wanted])}
    state = MemberState.UNRELEASED_PARTITIONS if waits else MemberState.STABLE
    moved = current.epoch != target_epoch
    return Current(target_epoch, current.epoch if moved else current.previous_epoch, state, assigned)


def _put(into: dict[TopicId, frozenset[int]], topic_id: TopicId, partitions: frozenset[int]) -> None:
    if partitions:
        into[topic_id] = partitions


def _overlap(one: Owned, other: Owned) -> bool:
    return any(partitions & other.get(topic_id, frozenset()) for topic_id, partitions in one.items())
