"""The log workload: producers, readers and administrators on a few partitions, and a node that suffers."""

from __future__ import annotations

from collections.abc import Callable

from twinlog.host import Host
from twinlog.sim.campaign.course import Course
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.admin import SCRATCH, Scratcher, Trimmer, check_topics
from twinlog.sim.clients.producer import IdempotentProducer, PlainProducer
from twinlog.sim.clients.reader import SimReader
from twinlog.sim.stage.history import RELAXED, Broken, Place
from twinlog.sim.stage.nemesis import MENU, damage_at_rest
from twinlog.sim.stage.plan import Plan, draw_log_plan
from twinlog.sim.stage.stage import Stage
from twinlog.sim.world import World
from twinlog.wire.kafka.messages import MetadataRequest, MetadataResponse


def draw(chance: SimChance) -> Plan:
    return draw_log_plan(chance, MENU)


def play(world: World, plan: Plan, stage: Stage) -> None:
    LogTrial(world, plan, stage).play()


class LogTrial(Course):
    """See above."""

    def __init__(self, world: World, plan: Plan, stage: Stage) -> None:
        super().__init__(world, plan, stage)
        self.readers: dict[str, SimReader] = {}

    def begin(self) -> None:
        for number in range(self.plan.producers):
            self.cast(f"producer-{number}", self._producer)
        for number in range(self.plan.plain_producers):
            self.cast(f"plain-{number}", self._plain)
        for number in range(self.plan.readers):
            self.cast(f"reader-{number}", self._reader(f"reader-{number}"))
        if self.plan.scratcher:
            self.cast("scratcher", lambda host, chance, name, before: Scratcher(self.stage, host, chance, name))
        if self.plan.trimmer:
            self.cast("trimmer", lambda host, chance, name, before: Trimmer(self.stage, host, chance, name))

    def _producer(self, host: Host, chance: SimChance, name: str, before: object) -> IdempotentProducer:
        places = [place for place in self.stage.history.places() if not chance.one_in(4)]
        return IdempotentProducer(self.stage, host, chance, name, places or self.stage.history.places()[:1])

    def _plain(self, host: Host, chance: SimChance, name: str, before: object) -> PlainProducer:
        kinds = self.stage.history.kinds
        places = [place for place in self.stage.history.places() if kinds[place[0]] == RELAXED]
        return PlainProducer(self.stage, host, chance, name, places)

    def _reader(self, client: str) -> Callable[[Host, SimChance, str, object], SimReader]:
        def make(host: Host, chance: SimChance, name: str, before: object) -> SimReader:
            reader = self.readers[client] = SimReader(self.stage, host, chance, name, self.stage.history.places())
            return reader

        return make

    def harm(self) -> None:
        if not self.plan.damage:
            return
        self.stage.broker.kill()
        if damage_at_rest(self.stage) is not None:
            self.stage.mark("damage at rest")

    def unfinished(self) -> list[str]:
        found = [name for name in super().unfinished() if name not in self.readers]  # those read on for ever
        for name, reader in self.readers.items():
            behind = [place for place in reader.held if not self._caught_up(reader, place)]
            found += [f"{name} in {place}" for place in behind]
        return found

    def _caught_up(self, reader: SimReader, place: Place) -> bool:
        if place in self.stage.history.damaged:
            return True
        return reader.positions.get(place, -1) >= self.stage.history.confirmed_end.get(place, 0)

    def judge(self, name: str) -> None:
        """Reads everything from the start, and judges."""
        stage = self.stage
        machine = self.world.host(name)
        auditor = SimReader(stage, machine.host, self.world.chance.fork(name), name, stage.history.places(), once=True)
        machine.host.tasks.start(auditor.run(), name)
        stage.wait_for(lambda: auditor.is_done, self.finish_ms, lambda: f"{name} at {auditor.positions}")
        stage.history.judge({place: held for place, held in auditor.held.items() if place not in auditor.unreadable})
        for place in auditor.unreadable:
            if place not in stage.history.damaged:
                raise Broken("unreadable", f"{place} cannot be read")
        if stage.scratch:
            listed = stage.at_once(MetadataRequest(topics=None, allow_auto_topic_creation=False))
            assert isinstance(listed, MetadataResponse)
            found = {topic.name: topic.topic_id for topic in listed.topics if topic.name}
            check_topics(stage, name, found, dict(stage.scratch))
            strangers = [each for each in found if each.startswith(SCRATCH) and each not in stage.scratch]
            if strangers:
                raise Broken("garbage", f"topics that nobody made: {strangers}")
