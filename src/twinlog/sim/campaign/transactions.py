"""The transactions workload: writers of transactions over several partitions, and readers of what is committed."""

from __future__ import annotations

from twinlog.client import admin
from twinlog.host import Host
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.transactions import CommittedReader, TransactionalWriter
from twinlog.sim.stage.history import STRICT, Broken
from twinlog.sim.stage.nemesis import FAULTS, torment
from twinlog.sim.stage.plan import Plan, draw_faults, draw_settings, draw_topic, draw_wires
from twinlog.sim.stage.stage import Life, Stage
from twinlog.sim.world import World
from twinlog.wire.kafka.messages import CreateTopicsResponse

MENU = ("power cut", "kill", *(name for name in FAULTS if name != "clock jump"), "client crash")
DRAIN_MS = 60_000


def draw(chance: SimChance) -> Plan:
    return Plan(
        settings=draw_settings(chance),
        unsafe_ms=chance.pick([1_000, 2_000, 4_000]),
        faults=draw_faults(chance, MENU),
        fault_gap_ms=chance.pick([100, 250, 600]),
        wires=draw_wires(chance),
        topics=[draw_topic(chance, "strict", STRICT)],
        producers=chance.between(1, 3),
        readers=1,
        cut_at_the_end=chance.one_in(2),
    )


def play(world: World, plan: Plan, stage: Stage) -> None:
    trial = TransactionTrial(world, plan, stage)
    trial.begin()
    torment(stage)
    stage.mend()
    stage.is_unsafe = False
    stage.wait_for(lambda: not trial.unfinished(), DRAIN_MS, lambda: ", ".join(trial.unfinished()))
    trial.audit("auditor")
    if plan.cut_at_the_end:
        stage.cut_again()
        trial.audit("second auditor")


class TransactionTrial:
    """See above."""

    def __init__(self, world: World, plan: Plan, stage: Stage) -> None:
        self.world = world
        self.plan = plan
        self.stage = stage
        self.writers: dict[str, TransactionalWriter] = {}

    def begin(self) -> None:
        stage, history = self.stage, self.stage.history
        stage.start_broker()
        for topic in self.plan.topics:
            made = stage.at_once(admin.create_topic(topic.name, topic.partitions, 1, topic.configs))
            assert isinstance(made, CreateTopicsResponse) and made.topics[0].error_code == 0
            history.kinds[topic.name], history.partitions[topic.name] = topic.kind, topic.partitions
        for number in range(self.plan.producers):
            stage.client(f"writer-{number}", self._writer(f"writer-{number}"))
        for number in range(self.plan.readers):
            stage.client(f"reader-{number}", self._reader(f"reader-{number}"))

    def _writer(self, name: str) -> Life:
        async def live(host: Host, chance: SimChance, life: int) -> None:
            # The next life of a writer has the same transactional id: it fences the one before.
            writer = self.writers[name] = TransactionalWriter(self.stage, host, chance, f"{name}.{life}", name)
            await writer.run()

        return live

    def _reader(self, name: str) -> Life:
        async def live(host: Host, chance: SimChance, life: int) -> None:
            await CommittedReader(self.stage, host, chance, f"{name}.{life}").run()

        return live

    def unfinished(self) -> list[str]:
        return [name for name, writer in self.writers.items() if not writer.is_done]

    def audit(self, name: str) -> None:
        """Reads all that is committed, and judges every transaction as a whole."""
        machine = self.world.host(name)
        reader = CommittedReader(self.stage, machine.host, self.world.chance.fork(name), name, once=True)
        machine.host.tasks.start(reader.run(), name)
        # An abandoned transaction is aborted when its time is over; until then it holds everybody up.
        self.stage.wait_for(lambda: reader.is_done, DRAIN_MS, lambda: f"{name} at {reader.positions}")
        found = reader.values
        for value, count in found.items():
            if count > 1:
                raise Broken("duplicate", f"{value!r} is there {count} times")
        for value in self.stage.read_committed:
            if value not in found:
                raise Broken("read and gone", f"{value!r} was committed when it was read")
        for transaction in self.stage.transactions:
            present = [value for value in transaction.values if value in found]
            if transaction.fate == "committed" and len(present) < len(transaction.values):
                raise Broken("lost write", f"{transaction}: only {present} are there")
            if transaction.fate == "aborted" and present:
                raise Broken("aborted read", f"{transaction}: {present} are there")
            if present and len(present) < len(transaction.values):
                raise Broken("torn transaction", f"{transaction}: only {present} are there")
