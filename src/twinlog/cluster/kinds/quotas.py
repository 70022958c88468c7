"""Quotas: how much a user, a client or an address may ask of the brokers."""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

from twinlog.cluster.kinds.keyed import KeyedKind, keyed_kind
from twinlog.cluster.record import Record

# (type, name) in the order of the types; the name None stands for everybody who has no quota of his own.
Entity: TypeAlias = tuple[tuple[str, str | None], ...]


class QuotaPut(Record, frozen=True, array_like=True, tag="quota.put/1"):
    """The whole new state. ``values`` by Kafka's names: ``producer_byte_rate``."""

    entity: Entity
    values: dict[str, float] = msgspec.field(default_factory=dict)


class QuotaDeleted(Record, frozen=True, array_like=True, tag="quota.deleted/1"):
    entity: Entity


QUOTAS: Final[KeyedKind[Entity, QuotaPut]] = keyed_kind(
    "quotas", put=QuotaPut, deleted=QuotaDeleted, key=lambda record: record.entity
)
