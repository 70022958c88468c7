"""The group coordinator as request handlers see it: find the shard, run the machine, answer when it is durable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from twinlog.base import Refused
from twinlog.cluster import Controller, Delta, Image, TopicWanted
from twinlog.host import Chance
from twinlog.kafka.coordinator import Shard, TimerPort
from twinlog.kafka.coordinator.topic import CoordinatorTopic
from twinlog.kafka.groups.machine import GroupMachine
from twinlog.kafka.groups.reports import Reports
from twinlog.kafka.groups.settings import GroupSettings
from twinlog.kafka.groups.topics import ImageTopics
from twinlog.kafka.partition_table import PartitionTable
from twinlog.wire.kafka.errors import ErrorCode

OFFSETS_TOPIC: Final = "__consumer_offsets"
GROUP_ID_LENGTH_MAX: Final = 10_000


class GroupCoordinator:
    """``shard(group_id)`` gives the machine that answers for a group, or says where to go."""

    def __init__(
        self,
        *,
        node_id: int,
        partitions: PartitionTable,
        controller: Controller,
        settings: GroupSettings,
        chance: Chance,
        timers: TimerPort,
    ) -> None:
        wanted = TopicWanted(
            OFFSETS_TOPIC,
            partition_count=settings.offsets_partitions,
            configs={"cleanup.policy": "compact", "segment.bytes": str(settings.offsets_segment_bytes)},
        )
        self.settings = settings
        self.topics = ImageTopics()
        reports = Reports(settings)
        self._chance = chance
        self.topic: CoordinatorTopic[GroupMachine] = CoordinatorTopic(
            OFFSETS_TOPIC,
            wanted,
            node_id,
            partitions,
            controller,
            lambda index: GroupMachine(settings, self.topics, reports, self._is_full),
            timers,
        )

    def follow(self, image: Image, delta: Delta) -> None:
        """Listener of the metadata log."""
        self.topics.follow(image, delta)
        self.topic.follow(image, delta)
        for gone in delta.topics.deleted:
            for shard in self.topic.runtime.active_shards():
                shard.write(lambda machine, now_ms, name=gone.name: machine.delete_topic(name), _nobody)  # type: ignore[misc]

    def _is_full(self) -> bool:
        shards = self.topic.runtime.active_shards()
        return sum(shard.machine.group_count for shard in shards) >= self.settings.groups_max

    def shard(self, group_id: str) -> Shard[GroupMachine]:
        if not group_id or len(group_id) > GROUP_ID_LENGTH_MAX:
            raise Refused(ErrorCode.INVALID_GROUP_ID, "a group needs a name")
        shard = self.topic.shard_for(group_id)
        shard.check_active()
        return shard

    def shard_for_offsets(self, group_id: str) -> Shard[GroupMachine]:
        """As ``shard``; old clients may commit and fetch offsets under the empty name."""
        if len(group_id) > GROUP_ID_LENGTH_MAX:
            raise Refused(ErrorCode.INVALID_GROUP_ID, "the group's name is too long")
        shard = self.topic.shard_for(group_id)
        shard.check_active()
        return shard

    @property
    def topic_name(self) -> str:
        return OFFSETS_TOPIC

    def offsets_place(self, group_id: str) -> tuple[str, int]:
        """Where the group's offsets are kept: what a transaction that commits some of them writes to."""
        self.shard(group_id)
        return OFFSETS_TOPIC, self.topic.runtime.partition_for(group_id)

    def end_transaction(
        self, index: int, producer_id: int, producer_epoch: int, append: Callable[[], None], *, commit: bool
    ) -> None:
        """Calls ``append``, which writes a marker into partition ``index``, in its place among the group's records."""
        shard = self.topic.runtime.shards.get(index)
        if shard is None:
            append()
        else:
            shard.write_marker(append, producer_id, producer_epoch, commit=commit)

    def new_member_id(self, client_id: str) -> Callable[[], str]:
        """Names are given when needed: what the client calls itself, and something nobody can guess."""

        def give() -> str:
            digits = self._chance.bytes(16).hex()
            return f"{client_id}-{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

        return give

    def stop(self) -> None:
        self.topic.stop()


def _nobody(reply: object, fault: Exception | None) -> None:
    """What follows from a deleted topic is told to nobody; a coordinator that fails meanwhile reads it again."""
