"""How a topic looks that nobody described: a client's first use of a name, or a topic of the broker's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from twinlog.cluster import Image, TopicWanted
from twinlog.kafka import names
from twinlog.kafka.config_values import ConfigValues

# Topic -> (broker configs for its partitions, replicas, segment size; topic configs it always has).
OWN_TOPICS: Final[Mapping[str, tuple[str, str, str | None, Mapping[str, str]]]] = {
    names.CONSUMER_OFFSETS: (
        "offsets.topic.num.partitions",
        "offsets.topic.replication.factor",
        "offsets.topic.segment.bytes",
        {"cleanup.policy": "compact", "compression.type": "producer"},
    ),
    names.TRANSACTION_STATE: (
        "transaction.state.log.num.partitions",
        "transaction.state.log.replication.factor",
        "transaction.state.log.segment.bytes",
        {"cleanup.policy": "compact", "compression.type": "uncompressed", "unclean.leader.election.enable": "false"},
    ),
    names.SHARE_GROUP_STATE: (
        "share.coordinator.state.topic.num.partitions",
        "share.coordinator.state.topic.replication.factor",
        None,
        {"cleanup.policy": "delete", "compression.type": "producer", "retention.ms": "-1"},
    ),
}


def topic_wanted(configs: ConfigValues, image: Image, name: str) -> TopicWanted:
    """What to ask the controller for when ``name`` does not exist and should."""
    own = OWN_TOPICS.get(name)
    if own is None:
        return TopicWanted(name)
    partitions, replicas, segment_bytes, values = own
    made = dict(values)
    if segment_bytes is not None:
        made["segment.bytes"] = str(configs.broker(image, segment_bytes))
    return TopicWanted(name, _number(configs, image, partitions), _number(configs, image, replicas), configs=made)


def _number(configs: ConfigValues, image: Image, name: str) -> int:
    value = configs.broker(image, name)
    assert isinstance(value, int), name
    return value
