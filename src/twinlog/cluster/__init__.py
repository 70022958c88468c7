"""Who is who: the metadata log, the image of the cluster it adds up to, and the controller that writes it.

Promises:
- a change counts when its entry is durable; then the image changes, listeners hear of it, and the asker is answered;
- the image is immutable, and start-up reaches it by the same ``apply`` as normal running;
- a topic of any number of partitions is one record, and requests that arrive together share one sync;
- a log that holds anything this release cannot read stops the start, with a message that says what it met.

On disk: the journal ``metadata`` in a node's first data directory (``docs/formats/metadata-log.md``).
What it decides and why: ``docs/adr/0005-metadata.md``.
"""

from __future__ import annotations

from twinlog.cluster.controller import Controller
from twinlog.cluster.errors import Reason
from twinlog.cluster.image import EMPTY, Delta, Image, apply, whole
from twinlog.cluster.kinds.brokers import BrokerInfo, Endpoint
from twinlog.cluster.kinds.topics import NO_LEADER, PartitionInfo, Topic
from twinlog.cluster.log import MetadataLog
from twinlog.cluster.ports import Journal, Rules
from twinlog.cluster.settings import ControllerSettings, MetadataLogSettings
from twinlog.cluster.types import (
    ConfigOp,
    ConfigOperation,
    ConfigsWanted,
    Outcome,
    PartitionsWanted,
    ProducerIdBlock,
    QuotaWanted,
    TopicWanted,
    no_limit,
)

__all__ = [
    "EMPTY",
    "NO_LEADER",
    "BrokerInfo",
    "ConfigOp",
    "ConfigOperation",
    "ConfigsWanted",
    "Controller",
    "ControllerSettings",
    "Delta",
    "Endpoint",
    "Image",
    "Journal",
    "MetadataLog",
    "MetadataLogSettings",
    "Outcome",
    "PartitionInfo",
    "PartitionsWanted",
    "ProducerIdBlock",
    "QuotaWanted",
    "Reason",
    "Rules",
    "Topic",
    "TopicWanted",
    "apply",
    "no_limit",
    "whole",
]
