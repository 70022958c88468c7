"""The vocabulary of groups."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

Record: TypeAlias = tuple[bytes, bytes | None]
Protocols: TypeAlias = list[tuple[str, bytes]]

PROTOCOL_BYTES: Final = 100  # what a protocol costs beyond its name and its metadata


def size_of(protocols: Iterable[tuple[str, bytes]]) -> int:
    """What they take of a group's room: also a name of no length takes some."""
    return sum(len(name) + len(data) + PROTOCOL_BYTES for name, data in protocols)


class GroupState(enum.Enum):
    """The names are the ones clients see in DescribeGroups and ListGroups."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    ASSIGNING = "Assigning"  # consumer protocol only
    RECONCILING = "Reconciling"  # consumer protocol only
    STABLE = "Stable"
    DEAD = "Dead"


@dataclass(slots=True)
class JoinAnswer:
    """What a JoinGroup comes to. ``members`` is filled for the leader only."""

    error: int = 0
    member_id: str = ""
    generation: int = -1
    protocol_type: str | None = None
    protocol: str | None = None
    leader_id: str = ""
    skip_assignment: bool = False
    members: list[tuple[str, str | None, bytes]] = field(default_factory=list)


@dataclass(slots=True)
class SyncAnswer:
    error: int = 0
    protocol_type: str | None = None
    protocol: str | None = None
    assignment: bytes = b""


JoinReply: TypeAlias = Callable[[JoinAnswer], None]
SyncReply: TypeAlias = Callable[[SyncAnswer], None]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: what every member keeps about its client."""

    client_id: str
    client_host: str
