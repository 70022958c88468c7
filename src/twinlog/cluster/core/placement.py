"""Which nodes hold which partition."""

from __future__ import annotations

from collections.abc import Sequence

from twinlog.base import Refused
from twinlog.cluster.errors import Reason
from twinlog.cluster.image import Image
from twinlog.cluster.kinds.topics import PartitionInfo
from twinlog.cluster.settings import ControllerSettings


class Room:
    """Partitions that exist or are decided, and the limits on more. Kept over the items of one request."""

    def __init__(self, image: Image, settings: ControllerSettings) -> None:
        self.image = image
        self.nodes = sorted(image.brokers)
        self.partition_count = image.partition_count
        self.settings = settings

    def check(self, count: int, replication_factor: int, topic_total: int) -> None:
        """Limits that keep a typing error from filling memory and disks. To be asked before anything is built."""
        per_topic_max = self.settings.partitions_per_topic_max
        if topic_total > per_topic_max:
            raise Refused(Reason.POLICY_VIOLATION, f"a topic may have at most {per_topic_max} partitions here")
        room = self.settings.partitions_max * max(1, len(self.nodes)) - self.partition_count
        if count * replication_factor > room:
            raise Refused(
                Reason.POLICY_VIOLATION,
                f"there is room for {max(room, 0)} more partitions here, and {count * replication_factor} were wanted",
            )

    def check_replicas(self, replication_factor: int) -> None:
        if replication_factor > len(self.nodes):
            raise Refused(
                Reason.INVALID_REPLICATION_FACTOR,
                f"replication factor {replication_factor} needs as many brokers, and there are {len(self.nodes)}",
            )

    def note(self, partitions: Sequence[PartitionInfo]) -> None:
        self.partition_count += len(partitions)

    def place(self, count: int, replication_factor: int) -> list[PartitionInfo]:
        """Spreads partitions over the nodes, one after the other; the first replica leads."""
        nodes = self.nodes
        assert 0 < replication_factor <= len(nodes)
        start = self.partition_count  # so that small topics do not all meet on the first node
        fresh: dict[int, PartitionInfo] = {}  # by first node, because runs want equal neighbours
        partitions = []
        for index in range(count):
            first = (start + index) % len(nodes)
            info = fresh.get(first)
            if info is None:
                replicas = tuple(nodes[(first + step) % len(nodes)] for step in range(replication_factor))
                info = fresh[first] = fresh_partition(replicas)
            partitions.append(info)
        return partitions


def fresh_partition(replicas: Sequence[int]) -> PartitionInfo:
    """A partition that holds nothing yet: every replica is in sync by definition."""
    return PartitionInfo(replicas[0], 0, 0, tuple(replicas), tuple(replicas))


def check_assignment(image: Image, replicas: Sequence[int], replication_factor: int | None) -> PartitionInfo:
    """The partition that a hand-made list of replicas asks for."""

    def refuse(why: str) -> Refused:
        return Refused(Reason.INVALID_REPLICA_ASSIGNMENT, why)

    if not replicas:
        raise refuse("an assignment names no replica")
    for node in replicas:
        if node not in image.brokers:
            raise refuse(f"an assignment names broker {node}, which is not registered")
    if len(set(replicas)) != len(replicas):
        raise refuse(f"an assignment names a broker twice: {list(replicas)}")
    if replication_factor is not None and len(replicas) != replication_factor:
        raise refuse(f"an assignment has {len(replicas)} replicas where the others have {replication_factor}")
    return fresh_partition(replicas)
