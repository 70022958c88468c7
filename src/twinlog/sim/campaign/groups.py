"""The groups workload: members of both protocols that crash, pause and come back, and a coordinator that suffers.

The group "old" speaks the classic protocol, "new" the consumer protocol; in "mixed" there are members of both, and it
goes from one to the other as they come and go.
"""

from __future__ import annotations

from collections.abc import Callable

from twinlog.host import Host
from twinlog.sim.campaign.course import Course
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.classic_members import ClassicMember
from twinlog.sim.clients.consumer_members import ConsumerMember
from twinlog.sim.clients.link import Link
from twinlog.sim.clients.members import Member
from twinlog.sim.clients.observer import Observer
from twinlog.sim.stage.history import STRICT, Broken
from twinlog.sim.stage.nemesis import FAULTS
from twinlog.sim.stage.plan import (
    CONSUMER,
    COOPERATIVE,
    EAGER,
    MemberPlan,
    Plan,
    TopicPlan,
    draw_faults,
    draw_settings,
    draw_wires,
)
from twinlog.sim.stage.stage import Stage
from twinlog.sim.world import World

# Sessions are measured on the broker's clock: one that jumps ends them, and nothing could be said about owners.
MENU = (*(name for name in FAULTS if name != "clock jump"), "client crash", "client pause", "kill")
CONVERGE_MS = 30_000
LOOK_AGAIN_MS = 3_000
GROUPS = ("old", "new", "mixed")


def draw(chance: SimChance) -> Plan:
    return Plan(
        settings=draw_settings(chance),
        unsafe_ms=chance.pick([2_000, 5_000, 8_000]),
        faults=draw_faults(chance, MENU),
        fault_gap_ms=chance.pick([150, 400, 1_000]),
        wires=draw_wires(chance),
        topics=[
            TopicPlan(name, STRICT, chance.between(1, 4), {}, trims=False)
            for name in ("one", "two")[: chance.between(1, 2)]
        ],
        members=draw_members(chance),
        cut_at_the_end=chance.one_in(2),
    )


def draw_members(chance: SimChance) -> list[MemberPlan]:
    kind = chance.pick([EAGER, COOPERATIVE])
    if chance.one_in(2):
        goes = chance.one_in(3)
        return [
            *_members(chance, "mixed", kind, chance.between(1, 3), is_mixed=True),
            *_members(chance, "mixed", CONSUMER, chance.between(1, 2), is_mixed=True, goes=goes),
        ]
    return [
        *_members(chance, "old", kind, chance.below(5)),
        *_members(chance, "new", CONSUMER, chance.below(5)),
    ]


def _members(
    chance: SimChance, group: str, kind: str, count: int, *, is_mixed: bool = False, goes: bool = False
) -> list[MemberPlan]:
    names = [f"{kind}-{number}" for number in range(count)]
    statics = [f"static-{name}" if chance.one_in(3) else None for name in names]
    return [
        MemberPlan(name, group, kind, static, is_mixed=is_mixed, goes=goes)
        for name, static in zip(names, statics, strict=True)
    ]


def play(world: World, plan: Plan, stage: Stage) -> None:
    GroupTrial(world, plan, stage).play()


class GroupTrial(Course):
    """See above."""

    finish_ms = CONVERGE_MS

    def __init__(self, world: World, plan: Plan, stage: Stage) -> None:
        super().__init__(world, plan, stage)
        self.members: dict[str, Member] = {}
        self.groups = [group for group in GROUPS if any(each.group == group for each in plan.members)]

    def begin(self) -> None:
        for plan in self.plan.members:
            self.cast(plan.name, self._member(plan))
        self.cast("observer", lambda host, chance, name, before: Observer(self.stage, host, chance, name, self.groups))

    def _member(self, plan: MemberPlan) -> Callable[[Host, SimChance, str, Member | None], Member]:
        kind: type[Member] = ConsumerMember if plan.kind == CONSUMER else ClassicMember

        def make(host: Host, chance: SimChance, name: str, before: Member | None) -> Member:
            member = self.members[plan.name] = kind(self.stage, host, chance, name, plan, before)
            return member

        return make

    def unfinished(self) -> list[str]:
        """Every partition has one owner in each group."""
        found = super().unfinished()
        for group in self.groups:
            members = [member for member in self.members.values() if member.group == group]
            owned = sorted(place for member in members for place in member.places)
            if members and owned != sorted(self.stage.history.places()):
                found.append(f"{group} owns {owned}")
        return found

    def judge(self, name: str) -> None:
        """All is settled and stays so, since nobody is put out who does everything right; offsets can be read."""
        for _ in range(2):
            self.stage.wait_for(lambda: not self.unfinished(), CONVERGE_MS, lambda: ", ".join(self.unfinished()))
            self.world.run_for(LOOK_AGAIN_MS)
        if self.stage.groups.committed:
            self._look(name)

    def _look(self, name: str) -> None:
        machine = self.world.host(name)
        seen: list[bool] = []

        async def look(host: Host) -> None:
            observer = Observer(self.stage, host, self.world.chance.fork(name), name, [])
            link = await Link(host, name, self.world.chance.fork(f"{name} link"), 10_000).open()
            for group in self.groups:
                seen.append(await observer.look(link, group))
            link.close()

        machine.run(look(machine.host))
        if not all(seen):
            raise Broken("stuck", "offsets cannot be read")
