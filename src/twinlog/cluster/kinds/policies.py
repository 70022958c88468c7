"""Policies: what queues and exchanges obey beyond what they were declared with."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from twinlog.cluster.kinds.keyed import KeyedKind, keyed_kind
from twinlog.cluster.kinds.vhosts import VhostDeleted, vhost_is_gone
from twinlog.cluster.record import Record


class PolicyPut(Record, frozen=True, array_like=True, tag="policy.put/1"):
    """``operator``: a policy of those who run the broker, which nobody's arguments can go beyond."""

    vhost: str
    operator: bool
    name: str
    pattern: str
    apply_to: str
    priority: int
    definition: dict[str, Any] = msgspec.field(default_factory=dict)


class PolicyDeleted(Record, frozen=True, array_like=True, tag="policy.deleted/1"):
    vhost: str
    operator: bool
    name: str


POLICIES: Final[KeyedKind[tuple[str, bool, str], PolicyPut]] = keyed_kind(
    "policies",
    put=PolicyPut,
    deleted=PolicyDeleted,
    key=lambda record: (record.vhost, record.operator, record.name),
    takers={VhostDeleted: vhost_is_gone},
)
