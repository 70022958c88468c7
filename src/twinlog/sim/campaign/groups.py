"""The groups workload: members of both protocols that crash, pause and come back, and a coordinator that suffers."""

from __future__ import annotations

from twinlog.client import admin
from twinlog.host import Host
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.link import Link
from twinlog.sim.clients.members import ClassicMember, ConsumerMember, Member, Observer
from twinlog.sim.stage.history import STRICT, Broken
from twinlog.sim.stage.nemesis import FAULTS, torment
from twinlog.sim.stage.plan import Plan, draw_faults, draw_settings, draw_wires
from twinlog.sim.stage.stage import Life, Stage
from twinlog.sim.world import World
from twinlog.wire.kafka.messages import CreateTopicsResponse

# Sessions are measured on the broker's clock: one that jumps ends them, and nothing could be said about owners.
MENU = (*(name for name in FAULTS if name != "clock jump"), "client crash", "client pause", "kill")
CONVERGE_MS = 30_000
LOOK_AGAIN_MS = 3_000


def draw(chance: SimChance) -> Plan:
    return Plan(
        settings=draw_settings(chance),
        unsafe_ms=chance.pick([2_000, 5_000, 8_000]),
        faults=draw_faults(chance, MENU),
        fault_gap_ms=chance.pick([150, 400, 1_000]),
        wires=draw_wires(chance),
        classic_members=chance.below(5),
        consumer_members=chance.below(5),
        cut_at_the_end=chance.one_in(2),
    )


def play(world: World, plan: Plan, stage: Stage) -> None:
    trial = GroupTrial(world, plan, stage)
    trial.begin()
    torment(stage)
    stage.mend()
    stage.is_unsafe = False
    trial.converge()
    if plan.cut_at_the_end:
        stage.cut_again()
        trial.converge()


class GroupTrial:
    """See above."""

    def __init__(self, world: World, plan: Plan, stage: Stage) -> None:
        self.world = world
        self.plan = plan
        self.stage = stage
        self.members: dict[str, Member] = {}
        self.looks = 0

    def begin(self) -> None:
        stage, history = self.stage, self.stage.history
        stage.start_broker()
        chance = self.world.chance.fork("topics")
        for name in ("one", "two")[: chance.between(1, 2)]:
            partitions = chance.between(1, 4)
            made = stage.at_once(admin.create_topic(name, partitions, 1, {}))
            assert isinstance(made, CreateTopicsResponse) and made.topics[0].error_code == 0
            history.kinds[name], history.partitions[name] = STRICT, partitions
            stage.topic_ids[name] = made.topics[0].topic_id
        for number in range(self.plan.classic_members):
            stage.client(f"classic-{number}", self._member(f"classic-{number}", ClassicMember, "old"))
        for number in range(self.plan.consumer_members):
            stage.client(f"consumer-{number}", self._member(f"consumer-{number}", ConsumerMember, "new"))

        async def observe(host: Host, chance: SimChance, life: int) -> None:
            await Observer(stage, host, chance, f"observer.{life}", ["old", "new"]).run()

        stage.client("observer", observe)

    def _member(self, name: str, kind: type[Member], group: str) -> Life:
        async def live(host: Host, chance: SimChance, life: int) -> None:
            before = self.members.get(name)
            if before is not None:
                self.stage.groups.give_up(group, before.member_id)  # it died, and uses nothing any more
            member = self.members[name] = kind(self.stage, host, chance, f"{name}.{life}", group)
            await member.run()

        return live

    def converge(self) -> None:
        """Every partition has one owner in each group, and offsets can be read."""
        self.stage.wait_for(lambda: not self._unsettled(), CONVERGE_MS, lambda: ", ".join(self._unsettled()))
        # And it stays so: nobody is put out who does everything right.
        self.world.run_for(LOOK_AGAIN_MS)
        self.stage.wait_for(lambda: not self._unsettled(), CONVERGE_MS, lambda: ", ".join(self._unsettled()))
        if self.stage.groups.committed:
            self._look()

    def _unsettled(self) -> list[str]:
        found = [name for name, member in self.members.items() if not member.is_settled]
        for group in ("old", "new"):
            members = [member for member in self.members.values() if member.group == group]
            owned = sorted(place for member in members for place in member.places)
            if members and owned != sorted(self.stage.history.places()):
                found.append(f"{group} owns {owned}")
        return found

    def _look(self) -> None:
        self.looks += 1
        name = f"auditor-{self.looks}"
        machine = self.world.host(name)
        seen: list[bool] = []

        async def look(host: Host) -> None:
            observer = Observer(self.stage, host, self.world.chance.fork(name), name, [])
            link = await Link(host, name, self.world.chance.fork(f"{name} link"), 10_000).open()
            for group in ("old", "new"):
                seen.append(await observer.look(link, group))
            link.close()

        machine.run(look(machine.host))
        if seen != [True, True]:
            raise Broken("stuck", "offsets cannot be read")
