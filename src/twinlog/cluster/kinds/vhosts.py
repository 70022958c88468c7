"""Vhosts: each is a world of names of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from twinlog.cluster.kinds.base import Kind
from twinlog.cluster.kinds.keyed import KeyedKind, keyed_kind
from twinlog.cluster.record import Record


class VhostPut(Record, frozen=True, array_like=True, tag="vhost.put/1"):
    """The whole new state. ``limits`` by RabbitMQ's names: ``max-queues``, ``max-connections``."""

    name: str
    description: str = ""
    tags: tuple[str, ...] = ()
    default_queue_type: str = ""
    limits: dict[str, int] = msgspec.field(default_factory=dict)


class VhostDeleted(Record, frozen=True, array_like=True, tag="vhost.deleted/1"):
    """Takes everything with it that was in the vhost, and all rights in it."""

    name: str


class FirstVhostMade(Record, frozen=True, array_like=True, tag="vhost.first_made/1"):
    """The vhost and the user that a new node begins with were made. If they are gone, somebody deleted them."""


class FirstVhostEdit:
    def __init__(self, part: bool) -> None:
        self.part = part

    def apply(self, record: Record) -> None:
        assert isinstance(record, FirstVhostMade)
        self.part = True

    def finish(self) -> tuple[bool, bool]:
        return self.part, True


def dump_first(part: bool) -> Iterator[Record]:
    if part:
        yield FirstVhostMade()


def vhost_is_gone(record: Any, key: tuple[Any, ...]) -> bool:
    """For keys that begin with the vhost."""
    return bool(key[0] == record.name)


VHOSTS: Final[KeyedKind[str, VhostPut]] = keyed_kind(
    "vhosts", put=VhostPut, deleted=VhostDeleted, key=lambda record: record.name
)
FIRST_VHOST: Final[Kind[bool, bool]] = Kind(
    "first_vhost", records=(FirstVhostMade,), empty=False, unchanged=False, edit=FirstVhostEdit, dump=dump_first
)
