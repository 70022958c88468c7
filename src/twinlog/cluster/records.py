"""Every record that the metadata log may hold, by name."""

from __future__ import annotations

from twinlog.cluster.kinds.bindings import Bound, Unbound
from twinlog.cluster.kinds.brokers import BrokerRegistered, BrokerUnregistered, Endpoint
from twinlog.cluster.kinds.configs import ConfigsChanged
from twinlog.cluster.kinds.exchanges import ExchangeDeclared, ExchangeDeleted
from twinlog.cluster.kinds.features import FeatureLevel
from twinlog.cluster.kinds.formation import ClusterFormed
from twinlog.cluster.kinds.policies import PolicyDeleted, PolicyPut
from twinlog.cluster.kinds.producer_ids import ProducerIdsTaken
from twinlog.cluster.kinds.queues import QueueDeclared, QueueDeleted, QueueIdsSpent
from twinlog.cluster.kinds.quotas import QuotaDeleted, QuotaPut
from twinlog.cluster.kinds.topics import (
    PartitionChanged,
    PartitionRun,
    PartitionsAdded,
    TopicCreated,
    TopicDeleted,
    TopicErased,
)
from twinlog.cluster.kinds.users import (
    PermissionDeleted,
    PermissionPut,
    TopicPermissionDeleted,
    TopicPermissionPut,
    UserDeleted,
    UserPut,
)
from twinlog.cluster.kinds.vhosts import FirstVhostMade, VhostDeleted, VhostPut
from twinlog.cluster.record import Entry, Record

__all__ = [
    "Bound",
    "BrokerRegistered",
    "BrokerUnregistered",
    "ClusterFormed",
    "ConfigsChanged",
    "Endpoint",
    "Entry",
    "ExchangeDeclared",
    "ExchangeDeleted",
    "FeatureLevel",
    "FirstVhostMade",
    "PartitionChanged",
    "PartitionRun",
    "PartitionsAdded",
    "PermissionDeleted",
    "PermissionPut",
    "PolicyDeleted",
    "PolicyPut",
    "ProducerIdsTaken",
    "QueueDeclared",
    "QueueDeleted",
    "QueueIdsSpent",
    "QuotaDeleted",
    "QuotaPut",
    "Record",
    "TopicCreated",
    "TopicDeleted",
    "TopicErased",
    "TopicPermissionDeleted",
    "TopicPermissionPut",
    "Unbound",
    "UserDeleted",
    "UserPut",
    "VhostDeleted",
    "VhostPut",
]
