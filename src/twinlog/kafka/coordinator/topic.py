"""The internal topic under a kind of coordinator: made when first needed, followed wherever it is led.

Promises: a key always belongs to the same partition; a client is sent to the node that leads it; the shard of a
partition that this node leads is loaded before it answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from twinlog.base import Refused
from twinlog.cluster import Controller, Delta, Image, Outcome, Topic, TopicWanted
from twinlog.kafka.coordinator.partition_log import PartitionCoordinatorLog
from twinlog.kafka.coordinator.ports import TimerPort
from twinlog.kafka.coordinator.runtime import CoordinatorRuntime, Shard
from twinlog.kafka.coordinator.types import Machine
from twinlog.kafka.partition import Partition
from twinlog.kafka.partition_table import PartitionTable
from twinlog.wire.kafka.errors import ErrorCode

M = TypeVar("M", bound=Machine)

CREATE_AGAIN_MS = 1000


class CoordinatorTopic(Generic[M]):
    """``shard_for(key)`` is where requests go."""

    def __init__(
        self,
        name: str,
        wanted: TopicWanted,
        node_id: int,
        partitions: PartitionTable,
        controller: Controller,
        make_machine: Callable[[int], M],
        timers: TimerPort,
    ) -> None:
        self.name = name
        self._wanted = wanted
        self._node_id = node_id
        self._partitions = partitions
        self._controller = controller
        self._timers = timers
        self._asked_ms: int | None = None
        self._why_missing = f"{name} is being created: retry"
        self._topic_id: bytes | None = None
        self._epochs: dict[int, int] = {}
        self.runtime: CoordinatorRuntime[M] = CoordinatorRuntime(
            0, lambda index: PartitionCoordinatorLog(self._partition(index)), make_machine, timers
        )

    def _partition(self, index: int) -> Partition:
        partition = self._partitions.get(self.name, index)
        assert partition is not None, (self.name, index)
        return partition

    def follow(self, image: Image, delta: Delta) -> None:
        """Listener of the metadata log, after the partition table's own."""
        topic = image.topics_by_name.get(self.name)
        topic_id = topic.topic_id if topic is not None else None
        if topic_id != self._topic_id:
            self.runtime.resign_all()
            self._epochs.clear()
            self._topic_id = topic_id
        if topic is None:
            return
        self.runtime.partition_count = len(topic.partitions)
        for index, info in enumerate(topic.partitions):
            if info.leader != self._node_id:
                if self._epochs.pop(index, None) is not None:
                    self.runtime.resign(index)
            elif self._epochs.get(index) != info.leader_epoch:
                if index in self._epochs:
                    self.runtime.resign(index)
                self._epochs[index] = info.leader_epoch
                self.runtime.lead(index)

    def shard_for(self, key: str) -> Shard[M]:
        if not self.runtime.partition_count:
            self.make_topic()
            raise Refused(ErrorCode.COORDINATOR_NOT_AVAILABLE, self._why_missing)
        return self.runtime.shard_for(key)

    def leader_of(self, image: Image, key: str) -> int:
        """The node to send a client to; makes the topic when it is first asked for."""
        topic = image.topics_by_name.get(self.name)
        if topic is None:
            self.make_topic()
            raise Refused(ErrorCode.COORDINATOR_NOT_AVAILABLE, self._why_missing)
        leader = topic.partitions[self.runtime.partition_for(key)].leader
        if leader < 0:
            raise Refused(ErrorCode.COORDINATOR_NOT_AVAILABLE, "the coordinator's partition has no leader just now")
        return leader

    def make_topic(self) -> None:
        """Asks the controller once a second at most; whoever asked comes back by itself."""
        now_ms = self._timers.now_ms()
        if self._asked_ms is not None and now_ms - self._asked_ms < CREATE_AGAIN_MS:
            return
        self._asked_ms = now_ms
        self._controller.create_topics([self._wanted], self._on_made)

    def _on_made(self, outcomes: list[Outcome[Topic]]) -> None:
        """Who asks next is told what went wrong; there may be no other place that says so."""
        for outcome in outcomes:
            if isinstance(outcome, Refused) and outcome.code != ErrorCode.TOPIC_ALREADY_EXISTS:
                self._why_missing = f"{self.name} could not be created: {outcome.message or outcome.code}"

    def stop(self) -> None:
        self.runtime.resign_all()
