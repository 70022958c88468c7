"""What a member of a classic group is, and what it asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from twinlog.kafka.groups.types import Caller, JoinReply, Protocols, SyncReply, size_of


@dataclass(slots=True)
class Member:
    """One client in the group."""

    id: str
    instance_id: str | None
    caller: Caller
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: Protocols
    assignment: bytes = b""
    joining: JoinReply | None = None
    syncing: SyncReply | None = None
    is_new: bool = False
    deadline_ms: int = 0

    def metadata(self, protocol: str | None) -> bytes:
        return next((data for name, data in self.protocols if name == protocol), b"")

    @property
    def metadata_bytes(self) -> int:
        return size_of(self.protocols)


@dataclass(slots=True)
class JoinRequest:
    """A JoinGroup of any version, told apart only by what the client understands."""

    member_id: str
    instance_id: str | None
    caller: Caller
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: Protocols
    needs_known_id: bool  # v4 and later: a new member first fetches an id
    may_skip_assignment: bool  # v9 and later


@dataclass(slots=True)
class SyncRequest:
    member_id: str
    instance_id: str | None
    generation: int
    protocol_type: str | None
    protocol: str | None
    assignments: dict[str, bytes]


class Outbox:
    """Answers that may leave only after the records decided together with them are durable."""

    __slots__ = ("held", "store")

    def __init__(self) -> None:
        self.store = False  # the group's metadata must be written
        self.held: list[Callable[[], None]] = []

    def hold(self, reply: Callable[[], None]) -> None:
        self.held.append(reply)
