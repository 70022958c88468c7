"""What one seed draws: which faults may happen, how the node is set, who its clients are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from twinlog.app.settings import IdentitySettings, KafkaListenSettings, NodeSettings
from twinlog.cluster.settings import MetadataLogSettings
from twinlog.kafka.groups import GroupSettings
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.link import BROKER, PORT
from twinlog.sim.fabric import LinkProfile
from twinlog.sim.stage.history import RELAXED, STRICT
from twinlog.storage.settings import StorageSettings

DATA: Final = "/data"
MORE_DATA: Final = "/more"
EAGER: Final = "eager"
COOPERATIVE: Final = "cooperative"
CONSUMER: Final = "consumer"
COPIER: Final = "copier"  # an eager one whose work are transactions
CODECS: Final = (0, 0, 0, 1, 2, 3, 4)


@dataclass(slots=True)
class TopicPlan:
    name: str
    kind: str
    partitions: int
    configs: dict[str, str]
    trims: bool


@dataclass(frozen=True, slots=True)
class MemberPlan:
    """A member of a group. A group with members of both protocols is mixed."""

    name: str
    group: str
    kind: str
    instance_id: str | None = None
    is_mixed: bool = False
    goes: bool = False  # when nothing is broken any more

    def __str__(self) -> str:
        static = f" as {self.instance_id}" if self.instance_id is not None else ""
        return f"{self.kind} in {self.group}{static}{', goes' if self.goes else ''}"


@dataclass(slots=True)
class Plan:
    """Everything about a trial that is fixed before it begins."""

    settings: NodeSettings
    unsafe_ms: int
    faults: tuple[str, ...]
    fault_gap_ms: int
    wires: LinkProfile
    topics: list[TopicPlan] = field(default_factory=list)
    producers: int = 0
    plain_producers: int = 0
    readers: int = 0
    publishers: int = 0  # of AMQP
    stream_readers: int = 0
    members: list[MemberPlan] = field(default_factory=list)
    rivals: int = 0  # writers that have the transactional id of another one
    chains: int = 0  # values that copiers pass on
    trimmer: bool = False
    scratcher: bool = False
    damage: bool = False
    cut_at_the_end: bool = False
    about: str = ""  # of a workload that has none of the above

    def describe(self) -> str:
        if self.about:
            return self.about
        topics = ", ".join(f"{topic.name}({topic.kind}, {topic.partitions})" for topic in self.topics)
        return (
            f"{self.unsafe_ms} ms of {', '.join(self.faults) or 'no fault'}; topics {topics or '-'}; "
            f"{self.producers}+{self.plain_producers} producers, {self.readers} readers, "
            f"{self.publishers} publishers, {self.stream_readers} stream readers, "
            f"{self.rivals} rivals, {self.chains} chains, members: {', '.join(map(str, self.members)) or '-'}"
        )


def draw_faults(chance: SimChance, menu: tuple[str, ...]) -> tuple[str, ...]:
    """A subset, so that one kind of fault does not always hide another. Now and then none at all."""
    if chance.one_in(20):
        return ()
    share = chance.between(2, 6)
    chosen = tuple(fault for fault in menu if chance.below(6) < share)
    return chosen or (chance.pick(menu),)


def draw_wires(chance: SimChance) -> LinkProfile:
    return LinkProfile(
        delay_us=chance.pick([(20, 100), (50, 500), (500, 5_000)]),
        spike_one_in=chance.pick([0, 20, 100]),
        window_bytes=chance.pick([2_048, 16_384, 65_536]),
        odd_reads_one_in=chance.pick([0, 2, 5]),
    )


def draw_settings(chance: SimChance) -> NodeSettings:
    return NodeSettings(
        identity=IdentitySettings(data_dir=DATA, more_data_dirs=(MORE_DATA,) if chance.one_in(4) else ()),
        kafka_listen=KafkaListenSettings(listen=f"{BROKER}:{PORT}"),
        storage=StorageSettings(
            flush_interval_ms=chance.pick([5, 50, 1000]),
            checkpoint_interval_ms=chance.pick([100, 300, 2000]),
            files_open_max=chance.pick([16, 64, 9000]),
            files_idle_close_ms=chance.pick([1000, 60_000]),
            reserve_bytes=0,
            ballast_bytes=0,  # a full disk shall stay full
            # Small enough to be made by the first rounds, and to begin new generations all the time.
            rounds_bytes=chance.pick([0, 16 << 10, 64 << 10]),
        ),
        metadata=MetadataLogSettings(snapshot_after_bytes=chance.pick([1024, 4096, 1 << 20])),
        groups=GroupSettings(
            offsets_partitions=chance.pick([1, 3]),
            session_timeout_min_ms=100,
            initial_rebalance_delay_ms=50,
            consumer_session_timeout_ms=chance.pick([800, 2_500]),
            consumer_heartbeat_interval_ms=200,
        ),
    )


def draw_topic(chance: SimChance, name: str, kind: str) -> TopicPlan:
    configs = {
        # Time is what makes small segments: a size below a megabyte is refused, as Kafka does.
        "segment.ms": str(chance.pick([20, 100, 400, 604_800_000])),
        "index.interval.bytes": str(chance.pick([0, 200, 4096])),
        "file.delete.delay.ms": str(chance.pick([0, 100, 60_000])),
    }
    if chance.one_in(6):
        configs["message.timestamp.type"] = "LogAppendTime"
    if chance.one_in(6):
        configs["flush.messages"] = str(chance.between(1, 5))
    return TopicPlan(name, kind, chance.between(1, 3), configs, trims=chance.one_in(4))


def draw_log_plan(chance: SimChance, menu: tuple[str, ...]) -> Plan:
    plan = Plan(
        settings=draw_settings(chance),
        unsafe_ms=chance.pick([500, 1000, 2000, 4000]),
        faults=draw_faults(chance, menu),
        fault_gap_ms=chance.pick([60, 150, 400]),
        wires=draw_wires(chance),
        producers=chance.between(1, 3),
        plain_producers=chance.below(2),
        readers=chance.between(1, 2),
        scratcher=chance.one_in(3),
        damage=chance.one_in(8),
        cut_at_the_end=chance.one_in(2),
    )
    plan.topics.append(draw_topic(chance, "strict", STRICT))
    if plan.plain_producers:
        plan.topics.append(draw_topic(chance, "relaxed", RELAXED))
    plan.trimmer = any(topic.trims for topic in plan.topics)
    return plan
