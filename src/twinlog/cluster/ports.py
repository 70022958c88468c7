"""What the metadata rooms need from others, in their own words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from twinlog.host import SyncDone


class Journal(Protocol):
    """Where the metadata log lies. ``storage`` keeps the promise on disk, a list keeps it in tests."""

    size_bytes: int  # of the entries behind the snapshot

    def open(self) -> tuple[bytes | None, list[bytes]]:
        """The newest whole snapshot, and every entry written behind it, in order."""

    def append(self, payload: bytes, done: SyncDone) -> None:
        """Writes at once; ``done`` follows, never before the return, when it is durable or never will be.

        ``DiskFull`` means that nothing was written. Any other ``HostFault`` ends the journal's life.
        """

    def snapshot(self, payload: bytes) -> None:
        """Durably replaces the snapshot and everything appended so far. Only when no append is on its way."""

    def close(self) -> None: ...


class Rules(Protocol):
    """What a protocol says about names and values; the controller itself knows neither."""

    def topic_name_fault(self, name: str) -> str | None:
        """Why a topic cannot have this name."""

    def topic_name_key(self, name: str) -> str | None:
        """Topics with the same key cannot exist together; None: this name collides with nothing."""

    def config_fault(self, kind: str, values: Mapping[str, str]) -> str | None:
        """What is wrong with a resource that has all of these values."""

    def config_change_fault(self, kind: str, resource: str, config: str) -> str | None:
        """Why this value cannot be changed while the node runs."""

    def config_is_list(self, kind: str, config: str) -> bool: ...

    def config_default(self, kind: str, config: str) -> str | None:
        """The value when nothing was set."""


class NamesTaken(Protocol):
    """The names of AMQP, where topics are streams."""

    def sees(self, topic: str) -> bool:
        """Whether a topic of this name would be a stream."""

    def holder(self, vhost: str, queues: Iterable[str], exchange: str | None) -> str | None:
        """Which queue or exchange, other than those that are topics, has one of these names."""
