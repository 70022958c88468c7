"""The cluster itself: forming it, nodes that register, features, producer ids."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Final

from twinlog.base import Refused
from twinlog.cluster.errors import Reason
from twinlog.cluster.image import Image
from twinlog.cluster.kinds.brokers import BrokerRegistered, Endpoint
from twinlog.cluster.kinds.features import FeatureLevel
from twinlog.cluster.kinds.formation import ClusterFormed
from twinlog.cluster.kinds.producer_ids import ProducerIdsTaken
from twinlog.cluster.kinds.topics import NO_LEADER, PartitionChanged
from twinlog.cluster.record import Record
from twinlog.cluster.types import Decision, ProducerIdBlock
from twinlog.host import Chance

PRODUCER_IDS_PER_BLOCK: Final = 1000
PRODUCER_ID_MAX: Final = 2**63 - 1

# What this release can do, as (lowest, highest) level. "twinlog.metadata" is the level of our own records.
# Levels that clients act on (transaction.version) are listed once every level in the range is complete.
FEATURES: Final[Mapping[str, tuple[int, int]]] = {
    "group.version": (0, 1),
    "transaction.version": (0, 2),
    "twinlog.metadata": (1, 1),
}
FEATURES_AT_START: Final[Mapping[str, int]] = {"group.version": 1, "transaction.version": 2, "twinlog.metadata": 1}


def form_cluster(image: Image, chance: Chance, now_ms: int, cluster_id: str = "") -> list[Record]:
    """The first records of all; nothing when the cluster exists. ``cluster_id``: the one that is on the disks."""
    if image.cluster_id:
        return []
    while not cluster_id:
        drawn = base64.urlsafe_b64encode(chance.bytes(16)).rstrip(b"=").decode()
        if not drawn.startswith("-"):  # command lines would take it for an option
            cluster_id = drawn
    levels: list[Record] = [FeatureLevel(name, level) for name, level in FEATURES_AT_START.items()]
    return [ClusterFormed(cluster_id, now_ms), *levels]


def register_broker(
    image: Image, broker_id: int, incarnation: bytes, endpoints: Sequence[Endpoint], rack: str | None, *, clean: bool
) -> Decision[int]:
    """The outcome is the broker epoch."""
    known = image.brokers.get(broker_id)
    if known is not None and known.incarnation == incarnation:
        return Decision([], [known.broker_epoch])
    broker_epoch = image.offset + 1
    record = BrokerRegistered(broker_id, incarnation, broker_epoch, clean, tuple(endpoints), rack)
    return Decision([record], [broker_epoch])


def take_producer_ids(image: Image, broker_id: int, broker_epoch: int) -> Decision[ProducerIdBlock]:
    start = image.producer_id_next
    if start > PRODUCER_ID_MAX - PRODUCER_IDS_PER_BLOCK:
        return Decision([], [Refused(Reason.POLICY_VIOLATION, "every producer id was handed out")])
    taken = ProducerIdsTaken(broker_id, broker_epoch, start + PRODUCER_IDS_PER_BLOCK)
    return Decision([taken], [ProducerIdBlock(start, PRODUCER_IDS_PER_BLOCK)])


def update_feature(image: Image, name: str, level: int, *, allow_lower: bool = False) -> Decision[None]:
    """Raises (or, when allowed, lowers) the level that the whole cluster works at."""

    def refuse(why: str) -> Decision[None]:
        return Decision([], [Refused(Reason.INVALID_UPDATE_VERSION, why)])

    if name not in FEATURES:
        return refuse(f"there is no feature '{name}' in this release")
    low, high = FEATURES[name]
    if not low <= level <= high:
        return refuse(f"feature '{name}' knows levels {low} to {high}, not {level}")
    if level < image.features.level(name) and not allow_lower:
        return refuse(f"feature '{name}' is at level {image.features.level(name)}; lowering it must be asked for")
    if level == image.features.level(name):
        return Decision([], [None])
    return Decision([FeatureLevel(name, level)], [None])


def leaders_lost(image: Image, broker_id: int, partitions: Sequence[tuple[bytes, int]]) -> list[Record]:
    """``broker_id`` can no longer serve these partitions (their disk failed). They wait for a replica that can."""
    records: list[Record] = []
    for topic_id, index in partitions:
        topic = image.topics_by_id.get(topic_id)
        if topic is None or index >= len(topic.partitions):
            continue
        info = topic.partitions[index]
        if info.leader != broker_id:
            continue
        # The in-sync set stays: the last copy in it may lead again once its disk is repaired, no other copy may.
        records.append(
            PartitionChanged(
                topic_id,
                index,
                NO_LEADER,
                info.leader_epoch + 1,
                info.partition_epoch + 1,
                info.replicas,
                info.isr,
            )
        )
    return records
