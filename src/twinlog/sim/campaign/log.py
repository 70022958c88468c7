"""The log workload: producers, readers and administrators on a few partitions, and a node that suffers."""

from __future__ import annotations

from twinlog.client import admin
from twinlog.host import Host
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.admin import SCRATCH, Admin, Scratcher, Trimmer, check_topics
from twinlog.sim.clients.producer import IdempotentProducer, PlainProducer
from twinlog.sim.clients.reader import SimReader
from twinlog.sim.stage.history import RELAXED, Broken, Place
from twinlog.sim.stage.nemesis import MENU, damage_at_rest, torment
from twinlog.sim.stage.plan import Plan, draw_log_plan
from twinlog.sim.stage.stage import Life, Stage
from twinlog.sim.world import World
from twinlog.wire.kafka.messages import CreateTopicsResponse, MetadataRequest, MetadataResponse

DRAIN_MS = 60_000  # the longest timeout of a client, several times


def draw(chance: SimChance) -> Plan:
    return draw_log_plan(chance, MENU)


def play(world: World, plan: Plan, stage: Stage) -> None:
    trial = LogTrial(world, plan, stage)
    trial.begin()
    torment(stage)
    trial.damage()
    trial.drain()
    trial.audit("auditor")
    if plan.cut_at_the_end:
        stage.cut_again()
        trial.audit("second auditor")


class LogTrial:
    """See above."""

    def __init__(self, world: World, plan: Plan, stage: Stage) -> None:
        self.world = world
        self.plan = plan
        self.stage = stage
        self.producers: dict[str, IdempotentProducer] = {}
        self.readers: dict[str, SimReader] = {}
        self.admins: dict[str, Admin] = {}

    def begin(self) -> None:
        stage, history = self.stage, self.stage.history
        stage.start_broker()
        for topic in self.plan.topics:
            made = stage.at_once(admin.create_topic(topic.name, topic.partitions, 1, topic.configs))
            assert isinstance(made, CreateTopicsResponse)
            assert made.topics[0].error_code == 0, made.topics[0].error_message
            history.kinds[topic.name] = topic.kind
            history.partitions[topic.name] = topic.partitions
        for number in range(self.plan.producers):
            stage.client(f"producer-{number}", self._producer(f"producer-{number}"))
        for number in range(self.plan.plain_producers):
            stage.client(f"plain-{number}", self._plain(f"plain-{number}"))
        for number in range(self.plan.readers):
            stage.client(f"reader-{number}", self._reader(f"reader-{number}"))
        if self.plan.scratcher:
            stage.client("scratcher", self._admin("scratcher", Scratcher))
        if self.plan.trimmer:
            stage.client("trimmer", self._admin("trimmer", Trimmer))

    def _producer(self, name: str) -> Life:
        async def live(host: Host, chance: SimChance, life: int) -> None:
            places = [place for place in self.stage.history.places() if not chance.one_in(4)]
            producer = IdempotentProducer(
                self.stage, host, chance, f"{name}.{life}", places or self.stage.history.places()[:1]
            )
            self.producers[name] = producer
            await producer.run()

        return live

    def _plain(self, name: str) -> Life:
        async def live(host: Host, chance: SimChance, life: int) -> None:
            kinds = self.stage.history.kinds
            places = [place for place in self.stage.history.places() if kinds[place[0]] == RELAXED]
            await PlainProducer(self.stage, host, chance, f"{name}.{life}", places).run()

        return live

    def _reader(self, name: str) -> Life:
        async def live(host: Host, chance: SimChance, life: int) -> None:
            reader = SimReader(self.stage, host, chance, f"{name}.{life}", self.stage.history.places())
            self.readers[name] = reader
            await reader.run()

        return live

    def _admin(self, name: str, kind: type[Admin]) -> Life:
        async def live(host: Host, chance: SimChance, life: int) -> None:
            client = self.admins[name] = kind(self.stage, host, chance, f"{name}.{life}")
            await client.run()

        return live

    def damage(self) -> None:
        if not self.plan.damage:
            return
        self.stage.broker.kill()
        if damage_at_rest(self.stage) is not None:
            self.stage.mark("damage at rest")

    # The second half.

    def drain(self) -> None:
        stage = self.stage
        stage.mend()
        stage.is_unsafe = False
        stage.wait_for(lambda: not self._unfinished(), DRAIN_MS, lambda: ", ".join(self._unfinished()))

    def _unfinished(self) -> list[str]:
        writers: dict[str, IdempotentProducer | Admin] = {**self.producers, **self.admins}
        found = [name for name, writer in writers.items() if not writer.is_done]
        for name, reader in self.readers.items():
            behind = [place for place in reader.held if not self._caught_up(reader, place)]
            found += [f"{name} in {place}" for place in behind]
        return found

    def _caught_up(self, reader: SimReader, place: Place) -> bool:
        if place in self.stage.history.damaged:
            return True
        return reader.positions.get(place, -1) >= self.stage.history.confirmed_end.get(place, 0)

    def audit(self, name: str) -> None:
        """Reads everything from the start, and judges."""
        stage = self.stage
        machine = self.world.host(name)
        auditor = SimReader(stage, machine.host, self.world.chance.fork(name), name, stage.history.places(), once=True)
        machine.host.tasks.start(auditor.run(), name)
        stage.wait_for(lambda: auditor.is_done, DRAIN_MS, lambda: f"{name} at {auditor.positions}")
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
