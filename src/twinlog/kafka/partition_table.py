"""Which partitions this node holds, following the metadata image.

Promises: a topic is found by its name and by its id from the moment the record that created it was applied, with
every partition ready to serve; a deleted topic is gone for requests at once, and whoever waits on it is told. Files
are erased because a record says so, never because a name is missing. Partitions whose log failed are reported, so
that no client is sent to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from twinlog.base import HostFault
from twinlog.cluster import Delta, Image, Topic
from twinlog.cluster.kinds.policies import POLICIES
from twinlog.kafka.partition import Partition
from twinlog.kafka.ports import Soon
from twinlog.kafka.topic_plan import TopicPlans
from twinlog.storage import LogStore
from twinlog.wire.kafka.errors import ErrorCode


class PartitionTable:
    """Topic name or id -> partitions by index.

    ``on_lost`` gets (topic id, partition) of logs that failed while this node led them, ``on_erased`` the ids of
    topics whose files are gone; both are called after the current turn of the loop.
    """

    def __init__(self, node_id: int, store: LogStore, plans: TopicPlans, soon: Soon) -> None:
        self._node_id = node_id
        self._store = store
        self._plans = plans
        self._soon = soon
        self._topics: dict[str | bytes, list[Partition]] = {}
        self._lost: list[tuple[bytes, int]] = []
        self._is_loaded = False  # whether what existed at the start has been taken over
        self.on_lost: Callable[[list[tuple[bytes, int]]], None] = lambda lost: None
        self.on_erased: Callable[[list[bytes]], None] = lambda topic_ids: None

    def of_topic(self, name: str | bytes) -> Sequence[Partition] | None:
        """By name (text) or by id (bytes)."""
        return self._topics.get(name)

    def get(self, name: str | bytes, index: int) -> Partition | None:
        partitions = self._topics.get(name)
        return partitions[index] if partitions is not None and 0 <= index < len(partitions) else None

    def __iter__(self) -> Iterator[Partition]:
        for name, partitions in self._topics.items():
            if isinstance(name, bytes):
                yield from partitions

    def follow(self, image: Image, delta: Delta) -> None:
        """Listener of the metadata log, which begins with everything there is."""
        topics = delta.topics
        for gone in topics.deleted:
            self._remove(gone)
        self._erase(image)
        for topic in topics.created:
            self._update(image, topic, [])
        for _, topic in topics.changed:
            self._update(image, topic, self._topics.get(topic.topic_id, []))
        for name in self._topics_with_other_settings(image, delta):
            self._replan(image, name)
        self._is_loaded = True

    def _update(self, image: Image, topic: Topic, partitions: list[Partition]) -> None:
        plan = self._plans.of(image, topic.name)
        for index, info in enumerate(topic.partitions):
            if index == len(partitions):
                log = self._store.log(topic.topic_id, index, is_new=self._is_loaded)
                log.settings = plan.log_settings
                partition = Partition(topic.name, topic.topic_id, index, log, plan.rules, info.leader_epoch)
                log.on_offline = partial(self._on_log_offline, partition)
                partitions.append(partition)
            partition = partitions[index]
            if info.leader != self._node_id:
                partition.resign()
            else:
                partition.lead(info.leader_epoch, len(info.isr), len(info.replicas))
                if partition.log.offline is not None:
                    self._on_log_offline(partition, partition.log.offline)
        # Only whole: nobody may find a topic some of whose partitions are missing.
        self._topics[topic.name] = self._topics[topic.topic_id] = partitions

    def _remove(self, topic: Topic) -> None:
        partitions = self._topics.pop(topic.topic_id, [])
        if self._topics.get(topic.name) is partitions:
            del self._topics[topic.name]
        for partition in partitions:
            partition.close(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    def _erase(self, image: Image) -> None:
        erased = [gone for gone in image.topics_to_erase.values() if gone.topic_id not in image.topics_by_id]
        for gone in erased:
            for index in range(gone.partition_count):
                self._store.delete(gone.topic_id, index)
        if erased:
            self._soon(self.on_erased, [gone.topic_id for gone in erased])

    def _on_log_offline(self, partition: Partition, fault: HostFault) -> None:
        if partition.closed is not None:
            return
        partition.log_failed()
        if partition.leads:
            if not self._lost:
                self._soon(self._tell_lost)
            self._lost.append((partition.topic_id, partition.index))

    def _tell_lost(self) -> None:
        lost, self._lost = self._lost, []
        self.on_lost(lost)

    def _topics_with_other_settings(self, image: Image, delta: Delta) -> list[str]:
        changed = delta.configs.changed
        if delta.touches(POLICIES) or any(kind == "broker" for kind, _ in changed):
            return sorted(image.topics_by_name)
        return sorted(name for kind, name in changed if kind == "topic" and name in image.topics_by_name)

    def _replan(self, image: Image, topic: str) -> None:
        plan = self._plans.of(image, topic)
        for partition in self._topics.get(topic, []):
            partition.rules = plan.rules
            partition.log.settings = plan.log_settings
