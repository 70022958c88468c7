"""Every kind of metadata, in the order a snapshot writes them: what others refer to comes first."""

from __future__ import annotations

from typing import Any, Final

from twinlog.cluster.kinds.base import Edit, Kind
from twinlog.cluster.kinds.bindings import BINDINGS
from twinlog.cluster.kinds.brokers import BROKERS
from twinlog.cluster.kinds.configs import CONFIGS
from twinlog.cluster.kinds.exchanges import EXCHANGES
from twinlog.cluster.kinds.features import FEATURES
from twinlog.cluster.kinds.formation import FORMATION
from twinlog.cluster.kinds.policies import POLICIES
from twinlog.cluster.kinds.producer_ids import PRODUCER_IDS
from twinlog.cluster.kinds.queues import QUEUE_IDS, QUEUES
from twinlog.cluster.kinds.quotas import QUOTAS
from twinlog.cluster.kinds.topics import TOPICS
from twinlog.cluster.kinds.users import PERMISSIONS, TOPIC_PERMISSIONS, USERS
from twinlog.cluster.kinds.vhosts import FIRST_VHOST, VHOSTS
from twinlog.cluster.record import Record, RecordCodec

KINDS: Final[tuple[Kind[Any, Any], ...]] = (
    FORMATION,
    FEATURES,
    BROKERS,
    PRODUCER_IDS,
    TOPICS,
    CONFIGS,
    QUOTAS,
    FIRST_VHOST,
    VHOSTS,
    USERS,
    PERMISSIONS,
    TOPIC_PERMISSIONS,
    POLICIES,
    EXCHANGES,
    QUEUE_IDS,
    QUEUES,
    BINDINGS,
)

CODEC: Final = RecordCodec([record for kind in KINDS for record in kind.records])

# Who must see a record: its owner, and the kinds that follow it.
READERS: Final[dict[type[Record], tuple[Kind[Any, Any], ...]]] = {
    record: tuple(kind for kind in KINDS if record in kind.records or record in kind.reads)
    for record in CODEC.types.values()
}

__all__ = ["CODEC", "KINDS", "READERS", "Edit", "Kind"]
