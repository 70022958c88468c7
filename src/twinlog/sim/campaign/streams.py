"""The streams workload: publishers and readers of both protocols on the same logs, and a node that suffers."""

from __future__ import annotations

from dataclasses import replace

from twinlog.app.settings import AmqpListenSettings
from twinlog.cluster.kinds.users import PermissionPut, UserPut
from twinlog.host import Host
from twinlog.sim.campaign.log import LogTrial
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.link import BROKER
from twinlog.sim.clients.streams import AMQP_PORT, PASSWORD, USER, StreamPublisher, StreamReader
from twinlog.sim.stage.history import STRICT
from twinlog.sim.stage.nemesis import MENU
from twinlog.sim.stage.plan import Plan, draw_faults, draw_settings, draw_topic, draw_wires
from twinlog.sim.stage.stage import Stage
from twinlog.sim.world import World


def draw(chance: SimChance) -> Plan:
    settings = draw_settings(chance)
    amqp = replace(settings.amqp, disk_free_min_bytes=0, stream_cache_bytes=chance.pick([0, 2_000, 1 << 20]))
    plan = Plan(
        settings=replace(settings, amqp=amqp, amqp_listen=AmqpListenSettings(listen=f"{BROKER}:{AMQP_PORT}")),
        unsafe_ms=chance.pick([500, 1000, 2000]),
        faults=draw_faults(chance, MENU),
        fault_gap_ms=chance.pick([60, 150, 400]),
        wires=draw_wires(chance),
        producers=chance.below(2),
        readers=1,
        publishers=chance.between(1, 3),
        stream_readers=chance.between(1, 2),
        cut_at_the_end=chance.one_in(2),
    )
    plan.topics.append(draw_topic(chance, "strict", STRICT))
    plan.topics[0].trims = False
    return plan


def play(world: World, plan: Plan, stage: Stage) -> None:
    StreamsTrial(world, plan, stage).play()


class StreamsTrial(LogTrial):
    """As the log's trial, with AMQP's clients beside Kafka's."""

    def __init__(self, world: World, plan: Plan, stage: Stage) -> None:
        super().__init__(world, plan, stage)
        self.stream_readers: dict[str, StreamReader] = {}

    def begin(self) -> None:
        self._make_user()
        super().begin()
        for number in range(self.plan.publishers):
            self.cast(f"publisher-{number}", self._publisher)
        for number in range(self.plan.stream_readers):
            self.cast(f"stream-reader-{number}", self._stream_reader)

    def _make_user(self) -> None:
        """``guest`` may only come from the broker's own machine, and nobody is there."""
        node = self.stage.broker.node
        assert node is not None
        administration = node.amqp.administration
        heard: list[object] = []
        user = UserPut(USER, administration.hashed(PASSWORD), "rabbit_password_hashing_sha256", ())
        administration.put_user(user, heard.append)
        administration.put_permission(PermissionPut("/", USER, ".*", ".*", ".*"), heard.append)
        self.stage.wait_for(lambda: heard == [None, None], 10_000, lambda: f"no user: {heard}")

    def _publisher(self, host: Host, chance: SimChance, name: str, before: object) -> StreamPublisher:
        return StreamPublisher(self.stage, host, chance, name, self.stage.history.places())

    def _stream_reader(self, host: Host, chance: SimChance, name: str, before: object) -> StreamReader:
        reader = StreamReader(self.stage, host, chance, name, self.stage.history.places())
        self.stream_readers[name.rpartition(".")[0]] = reader
        return reader

    def unfinished(self) -> list[str]:
        found = [name for name in super().unfinished() if name not in self.stream_readers]
        behind = {name: reader.behind() for name, reader in self.stream_readers.items()}
        return found + [f"{name} at {places}" for name, places in behind.items() if places]
