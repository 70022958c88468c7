"""Durable exchanges. Those that every vhost has from the start are no metadata."""

from __future__ import annotations

from typing import Final

from twinlog.cluster.kinds.keyed import KeyedKind, keyed_kind
from twinlog.cluster.kinds.vhosts import VhostDeleted, vhost_is_gone
from twinlog.cluster.record import Record


class ExchangeDeclared(Record, frozen=True, array_like=True, tag="exchange.declared/1"):
    """``arguments`` is an AMQP field table in wire form, types and all."""

    vhost: str
    name: str
    kind: str
    auto_delete: bool
    internal: bool
    arguments: bytes


class ExchangeDeleted(Record, frozen=True, array_like=True, tag="exchange.deleted/1"):
    """Takes the bindings from it and to it along."""

    vhost: str
    name: str


EXCHANGES: Final[KeyedKind[tuple[str, str], ExchangeDeclared]] = keyed_kind(
    "exchanges",
    put=ExchangeDeclared,
    deleted=ExchangeDeleted,
    key=lambda record: (record.vhost, record.name),
    takers={VhostDeleted: vhost_is_gone},
)
