"""Partitions as clients hear of them: the metadata image, less what this node knows to be out of order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from twinlog.cluster import NO_LEADER, Image, PartitionInfo, Topic
from twinlog.servers.kafka.admin_ports import AdminBroker
from twinlog.wire.kafka.errors import ErrorCode


class PartitionState(NamedTuple):
    """The lists are shared by partitions that look the same, and not to be changed."""

    partition: int
    error: int
    leader: int
    leader_epoch: int
    replicas: list[int]
    isr: list[int]
    offline: list[int]


def partition_states(
    broker: AdminBroker, topic: Topic, start: int = 0, end: int | None = None
) -> Iterator[PartitionState]:
    """The image says who leads; a leader whose log is offline, or not there yet, is not named."""
    local = broker.partitions.of_topic(topic.topic_id) or ()
    shown: dict[tuple[PartitionInfo, bool], tuple[int, int, list[int], list[int], list[int]]] = {}
    for index in range(start, len(topic.partitions) if end is None else min(end, len(topic.partitions))):
        info = topic.partitions[index]
        ready = index < len(local) and local[index].log.offline is None
        state = shown.get((info, ready))
        if state is None:
            state = shown[info, ready] = _state(broker.image, broker.node_id, info, ready)
        error, leader, replicas, isr, offline = state
        yield PartitionState(index, error, leader, info.leader_epoch, replicas, isr, offline)


def _state(
    image: Image, node_id: int, info: PartitionInfo, ready: bool
) -> tuple[int, int, list[int], list[int], list[int]]:
    offline = [node for node in info.replicas if node not in image.brokers or (node == node_id and not ready)]
    has_leader = info.leader != NO_LEADER and info.leader not in offline
    return (
        ErrorCode.NONE if has_leader else ErrorCode.LEADER_NOT_AVAILABLE,
        info.leader if has_leader else NO_LEADER,
        list(info.replicas),
        list(info.isr),
        offline,
    )
