"""Every record that the metadata log may hold, by name."""

from __future__ import annotations

from twinlog.cluster.kinds.brokers import BrokerRegistered, BrokerUnregistered, Endpoint
from twinlog.cluster.kinds.configs import ConfigsChanged
from twinlog.cluster.kinds.features import FeatureLevel
from twinlog.cluster.kinds.formation import ClusterFormed
from twinlog.cluster.kinds.producer_ids import ProducerIdsTaken
from twinlog.cluster.kinds.topics import (
    PartitionChanged,
    PartitionRun,
    PartitionsAdded,
    TopicCreated,
    TopicDeleted,
    TopicErased,
)
from twinlog.cluster.record import Entry, Record

__all__ = [
    "BrokerRegistered",
    "BrokerUnregistered",
    "ClusterFormed",
    "ConfigsChanged",
    "Endpoint",
    "Entry",
    "FeatureLevel",
    "PartitionChanged",
    "PartitionRun",
    "PartitionsAdded",
    "ProducerIdsTaken",
    "Record",
    "TopicCreated",
    "TopicDeleted",
    "TopicErased",
]
