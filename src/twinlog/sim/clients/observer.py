"""One who reads committed offsets, as tools and starting members do."""

from __future__ import annotations

import asyncio

from twinlog.base import HostFault
from twinlog.host import Host
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.link import Link, LinkLost
from twinlog.sim.clients.members import RETRIABLE
from twinlog.sim.stage.history import Broken
from twinlog.sim.stage.stage import Stage
from twinlog.wire.kafka.messages import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)


class Observer:
    """Goes round the groups."""

    is_done = True

    def __init__(self, stage: Stage, host: Host, chance: SimChance, name: str, groups: list[str]) -> None:
        self.stage = stage
        self.host = host
        self.chance = chance
        self.name = name
        self.groups = groups

    async def run(self) -> None:
        while True:
            chance = self.chance.fork(f"link {self.host.clock.monotonic_us()}")
            link = Link(self.host, self.name, chance, 2_000)
            try:
                await link.open()
                while link.is_open:
                    for group in self.groups:
                        await self.look(link, group)
                    await asyncio.sleep(self.chance.between(20, 300) / 1000)
            except (HostFault, LinkLost):
                await asyncio.sleep(self.chance.between(5, 100) / 1000)
            link.abort()

    async def look(self, link: Link, group: str) -> bool:
        """Whether the coordinator answered."""
        history = self.stage.groups
        before = dict(history.committed)
        topics = [
            OffsetFetchRequestTopics(name=topic, partition_indexes=list(range(count)))
            for topic, count in self.stage.history.partitions.items()
        ]
        answer = await link.call(OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=topics)]))
        assert isinstance(answer.message, OffsetFetchResponse)
        (told,) = answer.message.groups
        if told.error_code:
            if told.error_code not in RETRIABLE:
                raise Broken("wrong refusal", f"{self.name}: offsets of {group} were answered with {told.error_code}")
            return False
        for topic in told.topics:
            for partition in topic.partitions:
                place = (topic.name, partition.partition_index)
                history.check_committed(
                    self.name, group, place, partition.committed_offset, before.get((group, place), -1)
                )
        return True
