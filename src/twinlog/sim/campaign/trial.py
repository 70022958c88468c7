"""One seed from its beginning to its judgement."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from twinlog.sim.campaign import groups, log, queues, streams, tables, transactions
from twinlog.sim.chance import SimChance
from twinlog.sim.planted import planted_bug
from twinlog.sim.stage.history import Broken
from twinlog.sim.stage.plan import Plan
from twinlog.sim.stage.stage import Stage
from twinlog.sim.world import World


class Workload(NamedTuple):
    """``draw`` fixes a plan, ``play`` carries it out and raises ``Broken``."""

    about: str
    draw: Callable[[SimChance], Plan]
    play: Callable[[World, Plan, Stage], None]


WORKLOADS: Final[dict[str, Workload]] = {
    "log": Workload("producers, readers and administrators of topics", log.draw, log.play),
    "tables": Workload("keyed writers and readers of compacted topics", tables.draw, tables.play),
    "queues": Workload("publishers and consumers of queues, without a network", queues.draw, queues.play),
    "transactions": Workload("writers of transactions over several partitions", transactions.draw, transactions.play),
    "streams": Workload("clients of both protocols on the same logs", streams.draw, streams.play),
    "groups": Workload("members of consumer groups, and their offsets", groups.draw, groups.play),
}


@dataclass(slots=True)
class Outcome:
    """What became of a seed. ``kind`` is empty when every promise was kept."""

    seed: int
    workload: str
    planted: str = ""
    kind: str = ""
    text: str = ""
    digest: str = ""
    plan: str = ""
    simulated_ms: int = 0
    confirmed: int = 0
    read: int = 0
    marks: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    story: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)


def try_seed(seed: int, workload: str = "log", planted: str = "", *, keep_events: bool = False) -> Outcome:
    """Never raises for what the node does: a crash of it is an outcome."""
    chosen = WORKLOADS[workload]
    outcome = Outcome(seed, workload, planted)
    with planted_bug(planted), World(seed, keep_trace=keep_events) as world:
        plan = chosen.draw(world.chance.fork("plan"))
        outcome.plan = plan.describe()
        stage = Stage(world, plan)
        try:
            chosen.play(world, plan, stage)
        except Broken as broken:
            outcome.kind, outcome.text = broken.kind, broken.text
        except Exception as error:
            outcome.kind = "crash"
            outcome.text = "".join(traceback.format_exception(error))
        history = stage.history
        outcome.digest = world.digest()
        outcome.simulated_ms = world.loop.now_us // 1000
        outcome.confirmed = history.confirmed + stage.groups.commits + stage.transactions.commits
        outcome.read = history.read + stage.groups.rebalances + len(stage.transactions.seen)
        outcome.marks, outcome.faults = world.trace.marks, stage.faults
        outcome.story, outcome.events = stage.story, world.trace.events
    return outcome
