"""Those who change what there is: one makes and deletes topics, one deletes records."""

from __future__ import annotations

import asyncio

from twinlog.base import HostFault
from twinlog.client import admin
from twinlog.host import Host
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.link import Link, LinkLost
from twinlog.sim.stage.history import Broken
from twinlog.sim.stage.stage import Stage
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    CreateTopicsResponse,
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
    DeleteTopicsResponse,
    MetadataRequest,
    MetadataResponse,
)

SCRATCH = "scratch"
RETRIABLE = frozenset((ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_LEADER_OR_FOLLOWER))


class Admin:
    """A client that does one thing after another, each on a connection that may be lost."""

    def __init__(self, stage: Stage, host: Host, chance: SimChance, name: str) -> None:
        self.stage = stage
        self.host = host
        self.chance = chance
        self.name = name
        self.is_done = False

    async def run(self) -> None:
        while self.stage.is_unsafe:
            link = Link(self.host, self.name, self.chance.fork(f"link {self.host.clock.monotonic_us()}"), 2_000)
            try:
                await link.open()
                while link.is_open and self.stage.is_unsafe:
                    await asyncio.sleep(self.chance.between(1, 150) / 1000)
                    await self.act(link)
            except (HostFault, LinkLost):
                await asyncio.sleep(self.chance.between(5, 100) / 1000)
            link.abort()
        self.is_done = True

    async def act(self, link: Link) -> None:
        raise NotImplementedError


class Scratcher(Admin):
    """Makes and deletes topics. What was confirmed is there, or gone, whenever somebody asks."""

    async def act(self, link: Link) -> None:
        fates = self.stage.scratch
        there = [name for name, fate in fates.items() if fate in ("made", "making")]
        doing = self.chance.below(4)
        if doing == 0 and there:
            await self._delete(link, self.chance.pick(there))
        elif doing <= 1:
            check_topics(self.stage, self.name, *(await listed_topics(link, fates)))
        else:
            await self._make(link)

    async def _make(self, link: Link) -> None:
        fates = self.stage.scratch
        gone = [name for name, fate in fates.items() if fate == "gone"]
        name = self.chance.pick(gone) if gone and self.chance.one_in(3) else f"{SCRATCH}-{self.name}-{len(fates)}"
        fates[name] = "making"
        answer = await link.call(admin.create_topic(name, self.chance.between(1, 3), 1, {}))
        assert isinstance(answer.message, CreateTopicsResponse)
        (topic,) = answer.message.topics
        if topic.error_code == 0:
            fates[name] = "made"
            self.stage.scratch_ids[name] = topic.topic_id
        elif topic.error_code not in RETRIABLE:
            raise Broken("wrong refusal", f"{self.name}: making {name} was answered with {topic.error_code}")

    async def _delete(self, link: Link, name: str) -> None:
        fates = self.stage.scratch
        was_sure = fates[name] == "made"
        fates[name] = "deleting"
        answer = await link.call(admin.delete_topics([name]))
        assert isinstance(answer.message, DeleteTopicsResponse)
        (topic,) = answer.message.responses
        if topic.error_code == 0:
            fates[name] = "gone"
        elif topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            if was_sure:
                raise Broken("lost topic", f"{self.name}: {name} was made and nobody deleted it, but it is unknown")
        elif topic.error_code not in RETRIABLE:
            raise Broken("wrong refusal", f"{self.name}: deleting {name} was answered with {topic.error_code}")


async def listed_topics(link: Link, fates: dict[str, str]) -> tuple[dict[str, bytes], dict[str, str]]:
    """All topics by name, and what was known of their fates before the question."""
    before = dict(fates)
    answer = await link.call(MetadataRequest(topics=None, allow_auto_topic_creation=False))
    assert isinstance(answer.message, MetadataResponse)
    found = {topic.name: topic.topic_id for topic in answer.message.topics if topic.name and topic.error_code == 0}
    return found, before


def check_topics(stage: Stage, who: str, found: dict[str, bytes], before: dict[str, str]) -> None:
    for name, fate in before.items():
        if stage.scratch[name] != fate:
            continue  # somebody changed it meanwhile
        if fate == "made" and name not in found:
            raise Broken("lost topic", f"{who}: {name} was made, and is not listed")
        if fate == "made" and found[name] != stage.scratch_ids[name]:
            raise Broken("lost topic", f"{who}: {name} has another id than when it was made")
        if fate == "gone" and name in found:
            raise Broken("undeleted", f"{who}: {name} was deleted, and is listed")


class Trimmer(Admin):
    """Deletes records that were confirmed."""

    def __init__(self, stage: Stage, host: Host, chance: SimChance, name: str) -> None:
        super().__init__(stage, host, chance, name)
        trimmed = [topic.name for topic in stage.plan.topics if topic.trims]
        self.places = [place for place in stage.history.places() if place[0] in trimmed]

    async def act(self, link: Link) -> None:
        history = self.stage.history
        place = self.chance.pick(self.places)
        end = history.confirmed_end.get(place, 0)
        start = history.trim_asked.get(place, 0)
        if place in history.damaged or end <= start or not self.chance.one_in(3):
            return
        offset = self.chance.between(start, end)
        history.trim_asked[place] = max(offset, start)
        asked = DeleteRecordsPartition(partition_index=place[1], offset=offset)
        request = DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=place[0], partitions=[asked])], timeout_ms=2_000)
        answer = await link.call(request)
        assert isinstance(answer.message, DeleteRecordsResponse)
        (told,) = answer.message.topics[0].partitions
        if told.error_code == 0:
            if told.low_watermark < offset:
                raise Broken("undeleted", f"{self.name}: {place} begins at {told.low_watermark}, {offset} was asked")
            history.trim_done[place] = max(history.trim_done.get(place, 0), told.low_watermark)
        elif told.error_code not in RETRIABLE and place not in history.damaged:
            raise Broken("wrong refusal", f"{self.name}: trimming {place} was answered with {told.error_code}")
