"""What a client knows of a cluster: brokers, topics, and who leads what."""

from __future__ import annotations

from dataclasses import dataclass, field

from twinlog.base.address import Address
from twinlog.wire.kafka.messages import MetadataResponse


@dataclass(frozen=True, slots=True)
class PartitionView:
    """A partition as the brokers tell it; ``leader`` is -1 while there is none."""

    index: int
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]
    error: int


@dataclass(frozen=True, slots=True)
class TopicView:
    name: str
    topic_id: bytes
    internal: bool
    error: int
    partitions: tuple[PartitionView, ...]


@dataclass(frozen=True, slots=True)
class ClusterView:
    """One answer to a metadata request."""

    cluster_id: str | None = None
    controller: int = -1
    brokers: dict[int, Address] = field(default_factory=dict)
    topics: dict[str, TopicView] = field(default_factory=dict)

    def leader(self, topic: str, partition: int) -> int:
        """The leader's node id; -1 when there is none, or nobody told us of the partition."""
        known = self.topics.get(topic)
        if known is None or partition >= len(known.partitions):
            return -1
        return known.partitions[partition].leader


def view_of(response: MetadataResponse) -> ClusterView:
    topics = {}
    for topic in response.topics:
        partitions = tuple(
            PartitionView(
                index=each.partition_index,
                leader=each.leader_id,
                leader_epoch=each.leader_epoch,
                replicas=tuple(each.replica_nodes),
                in_sync=tuple(each.isr_nodes),
                error=each.error_code,
            )
            for each in sorted(topic.partitions, key=lambda each: each.partition_index)
        )
        name = topic.name or ""
        topics[name] = TopicView(name, topic.topic_id, topic.is_internal, topic.error_code, partitions)
    brokers = {broker.node_id: Address(broker.host, broker.port) for broker in response.brokers}
    return ClusterView(response.cluster_id, response.controller_id, brokers, topics)
