"""Where a trial happens: the world, the broker in it, the history, and what the models need to know of one another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from twinlog.base import HostFault
from twinlog.client import admin
from twinlog.host import Host
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.link import BROKER, Link, LinkLost
from twinlog.sim.stage.group_history import GroupHistory
from twinlog.sim.stage.history import Broken, History
from twinlog.sim.stage.plan import Plan, TopicPlan
from twinlog.sim.stage.process import BrokerProcess
from twinlog.sim.stage.transaction_history import TransactionHistory
from twinlog.sim.world import World
from twinlog.wire.kafka.message import Message
from twinlog.wire.kafka.messages import CreateTopicsResponse

Life: TypeAlias = Callable[[Host, SimChance, int], Coroutine[Any, Any, None]]
"""One life of a client, from its start to whatever ends it; the last argument counts them."""


class Stage:
    """Shared by the director and all clients of a trial."""

    def __init__(self, world: World, plan: Plan) -> None:
        self.world = world
        self.plan = plan
        self.broker = BrokerProcess(world, plan.settings, self.tell)
        self.history = History(lambda: self.broker.machine.platter.losses)
        self.groups = GroupHistory(lambda: world.loop.now_us)
        self.transactions = TransactionHistory()
        self.topic_ids: dict[str, bytes] = {}
        self.story: list[str] = []  # what happened, for people
        self.faults: Counter[str] = Counter()
        self.clients: list[str] = []
        self.producer_ids: dict[tuple[int, int], str] = {}  # who was given them
        self.scratch: dict[str, str] = {}  # topic -> making, made, deleting or gone
        self.scratch_ids: dict[str, bytes] = {}
        self.is_unsafe = True  # clients begin new work
        self._forms: dict[str, str] = {}  # group -> the protocol it was seen to speak last
        world.fabric.profile = plan.wires

    def tell(self, event: str) -> None:
        self.world.trace.note("story", event)
        self.story.append(f"{self.world.loop.now_us / 1e6:10.6f}  {event}")

    def mark(self, name: str) -> None:
        self.world.mark(name)

    def note_form(self, group: str, form: str) -> None:
        """A member of a mixed group saw which protocol the group speaks."""
        before = self._forms.setdefault(group, form)
        if before != form:
            self._forms[group] = form
            self.mark(f"live group became {form}")

    # Topics and clients.

    def make_topic(self, topic: TopicPlan) -> None:
        made = self.at_once(admin.create_topic(topic.name, topic.partitions, 1, topic.configs))
        assert isinstance(made, CreateTopicsResponse)
        assert made.topics[0].error_code == 0, made.topics[0].error_message
        self.history.kinds[topic.name], self.history.partitions[topic.name] = topic.kind, topic.partitions
        self.topic_ids[topic.name] = made.topics[0].topic_id

    def client(self, name: str, life: Life) -> None:
        """A client on a host of its own. It may be killed; then its next life begins."""
        machine = self.world.host(name)
        self.clients.append(name)

        async def program(host: Host) -> None:
            lives = machine.lives
            await life(host, self.world.chance.fork(f"client {name} {lives}"), lives)

        machine.boot(program)

    def at_once(self, request: Message, name: str = "operator") -> Any:
        """Asks the broker while nothing is broken, and runs the world until it has answered; the message."""
        machine = self.world.host(name)
        host = machine.host
        chance = self.world.chance.fork(f"{name} {len(self.story)}")

        async def ask() -> Message:
            link = await Link(host, name, chance, timeout_ms=30_000).open()
            answer = await link.call(request)
            link.close()
            return answer.message

        try:
            return machine.run(ask())
        except (LinkLost, HostFault) as fault:
            raise Broken("unreachable", f"{type(request).__name__}: {fault!r}") from fault

    # Time.

    def wait_for(self, fact: Callable[[], bool], within_ms: int, what: Callable[[], str]) -> None:
        """Liveness: the fact has to become true within that much virtual time."""
        deadline_us = self.world.loop.now_us + within_ms * 1000
        while not fact():
            if self.world.loop.now_us >= deadline_us:
                raise Broken("stuck", what())
            self.world.run_for(20)

    def start_broker(self) -> None:
        self.broker.start()
        self.wait_for(lambda: self.broker.is_ready, 60_000, lambda: f"no first start: {self.broker.refusals}")

    # Mending.

    def mend(self) -> None:
        """Nothing is broken any more but what damage at rest has broken for good."""
        self.tell("mended")
        platter, fabric = self.broker.machine.platter, self.world.fabric
        platter.faults.clear()
        platter.capacity_bytes = 1 << 40
        platter.stalled_until_us = 0
        fabric.heal()
        fabric.profile.reset_one_in = 0
        self.broker.machine.go_on()
        for name in self.clients:
            machine = self.world.host(name)
            machine.go_on()
            if not machine.is_up:
                machine.restart()
        refused = len(self.broker.refusals)
        self.wait_for(
            lambda: self._is_whole_or_restarts() or len(self.broker.refusals) > refused + 3,
            120_000,
            lambda: f"the broker does not come back: {self.broker.refusals[-3:]}",
        )
        if not self.broker.is_whole:
            raise Broken("start refused", self.broker.refusals[-1])

    def _is_whole_or_restarts(self) -> bool:
        if self.broker.is_ready and not self.broker.is_whole:
            self.broker.kill()  # a directory failed while things were broken: that takes a restart, as documented
        return self.broker.is_whole

    def cut_again(self) -> None:
        """A second crash after the recovery: what came back once has to come back again."""
        self.broker.cut_power()
        self.wait_for(lambda: self.broker.is_whole, 60_000, lambda: f"no second start: {self.broker.refusals[-3:]}")

    def reset_wires(self) -> None:
        for name in self.clients:
            self.world.fabric.reset_between(name, BROKER)
