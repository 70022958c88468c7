"""The transactions workload: writers over several partitions, rivals that have the same transactional ids, copiers that
commit offsets with what they write, and readers of what is committed."""

from __future__ import annotations

from collections.abc import Callable

from twinlog import _kernel
from twinlog.host import Host
from twinlog.sim.campaign.course import Course
from twinlog.sim.chance import SimChance
from twinlog.sim.clients import copiers
from twinlog.sim.clients.copiers import Copier
from twinlog.sim.clients.members import Member
from twinlog.sim.clients.transactions import CommittedReader, TransactionalWriter
from twinlog.sim.stage.history import STRICT, Broken, Place
from twinlog.sim.stage.nemesis import FAULTS
from twinlog.sim.stage.plan import COPIER, MemberPlan, Plan, draw_faults, draw_settings, draw_topic, draw_wires
from twinlog.sim.stage.stage import Stage
from twinlog.sim.world import World
from twinlog.wire.kafka.messages import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData

MENU = ("power cut", "kill", *(name for name in FAULTS if name != "clock jump"), "client crash", "client pause")
WRITTEN = "strict"
FINISH_MS = 60_000
LOOK_AGAIN_MS = 500


def draw(chance: SimChance) -> Plan:
    plan = Plan(
        settings=draw_settings(chance),
        unsafe_ms=chance.pick([1_000, 2_000, 4_000]),
        faults=draw_faults(chance, MENU),
        fault_gap_ms=chance.pick([100, 250, 600]),
        wires=draw_wires(chance),
        topics=[draw_topic(chance, WRITTEN, STRICT)],
        producers=chance.between(1, 3),
        readers=1,
        cut_at_the_end=chance.one_in(2),
    )
    if chance.one_in(3):
        plan.rivals = chance.between(1, plan.producers)
    if chance.one_in(2):
        plan.producers = plan.rivals = chance.below(2)
        plan.readers = chance.below(2)
        plan.chains = chance.between(3, 12)
        plan.topics += [draw_topic(chance, name, STRICT) for name in (copiers.FIRST, copiers.SECOND, copiers.LAST)]
        plan.members = [
            MemberPlan(f"{group}-{number}", group, COPIER, f"static-{group}-{number}" if chance.one_in(4) else None)
            for group in copiers.WAYS
            for number in range(chance.between(1, 2))
        ]
    return plan


def play(world: World, plan: Plan, stage: Stage) -> None:
    TransactionTrial(world, plan, stage).play()


class TransactionTrial(Course):
    """See above."""

    def begin(self) -> None:
        if self.plan.chains:
            self._fill()
        for number in range(self.plan.producers):
            self.cast(f"writer-{number}", self._writer(f"writer-{number}"))
        for number in range(self.plan.rivals):
            self.cast(f"rival-{number}", self._writer(f"writer-{number}"))
        for plan in self.plan.members:
            self.cast(plan.name, self._copier(plan))
        for number in range(self.plan.readers):
            self.cast(f"reader-{number}", self._reader)

    def _fill(self) -> None:
        values = copiers.first_values(self.plan.chains)
        self.stage.transactions.fill(values)
        now_ms = self.stage.broker.machine.clock.now_ms()
        batch = _kernel.build_batch([(now_ms, None, value, None) for value in values])
        data = [PartitionProduceData(index=0, records=batch)]
        topic = TopicProduceData(name=copiers.FIRST, partition_data=data)
        answer = self.stage.at_once(ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=[topic]))
        assert isinstance(answer, ProduceResponse)
        assert answer.responses[0].partition_responses[0].error_code == 0

    def _written(self) -> list[Place]:
        return [place for place in self.stage.history.places() if place[0] == WRITTEN]

    def _writer(
        self, transactional_id: str
    ) -> Callable[[Host, SimChance, str, TransactionalWriter | None], TransactionalWriter]:
        """The next life of a writer has the same transactional id: it fences the one before."""
        return lambda host, chance, name, before: TransactionalWriter(
            self.stage, host, chance, name, transactional_id, self._written()
        )

    def _copier(self, plan: MemberPlan) -> Callable[[Host, SimChance, str, Member | None], Copier]:
        return lambda host, chance, name, before: Copier(self.stage, host, chance, name, plan, before)

    def _reader(self, host: Host, chance: SimChance, name: str, before: CommittedReader | None) -> CommittedReader:
        return CommittedReader(self.stage, host, chance, name, self.stage.history.places())

    def judge(self, name: str) -> None:
        """Reads all that is committed, and judges every transaction as a whole; copiers have to come to their end."""
        deadline_us = self.world.loop.now_us + FINISH_MS * 1000
        looks = 0
        while True:
            looks += 1
            found = self._read_all(f"{name} {looks}")
            missing = set(range(self.plan.chains)) - copiers.chains_done(found)
            if not missing:
                break
            if self.world.loop.now_us >= deadline_us:
                raise Broken("stuck", f"chains {sorted(missing)} were never copied to their end")
            self.world.run_for(LOOK_AGAIN_MS)
        self.stage.transactions.judge(found)

    def _read_all(self, name: str) -> dict[bytes, int]:
        machine = self.world.host(name)
        places = self.stage.history.places()
        reader = CommittedReader(self.stage, machine.host, self.world.chance.fork(name), name, places, once=True)
        machine.host.tasks.start(reader.run(), name)
        # An abandoned transaction is aborted when its time is over; until then it holds everybody up.
        self.stage.wait_for(lambda: reader.is_done, FINISH_MS, lambda: f"{name} at {reader.positions}")
        return reader.values
