"""The workload of compacted topics: keyed writers and readers while compaction runs all the time, and a node that
suffers. Everything of the log workload holds, except that a value may be gone once a newer one of its key is there."""

from __future__ import annotations

from dataclasses import replace

from twinlog.sim.campaign.log import play
from twinlog.sim.chance import SimChance
from twinlog.sim.stage.history import TABLE
from twinlog.sim.stage.nemesis import MENU
from twinlog.sim.stage.plan import Plan, draw_faults, draw_settings, draw_topic, draw_wires

__all__ = ["draw", "play"]

TABLE_NAME = "table"


def draw(chance: SimChance) -> Plan:
    settings = draw_settings(chance)
    storage = replace(
        settings.storage,
        checkpoint_interval_ms=100,
        flush_interval_ms=chance.pick([5, 50]),
        retention_check_interval_ms=100,
        compaction_check_interval_ms=100,
        # Slow enough that everything else happens in the middle of it.
        compaction_bytes_per_second_max=chance.pick([0, 20_000, 100_000]),
    )
    plan = Plan(
        settings=replace(settings, storage=storage),
        unsafe_ms=chance.pick([1000, 2000, 4000]),
        faults=draw_faults(chance, MENU),
        fault_gap_ms=chance.pick([60, 150, 400]),
        wires=draw_wires(chance),
        producers=chance.between(1, 3),
        readers=chance.between(1, 2),
        cut_at_the_end=chance.one_in(2),
    )
    topic = draw_topic(chance, TABLE_NAME, TABLE)
    topic.configs |= {
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": chance.pick(["0", "0.3"]),
        "segment.ms": chance.pick(["20", "100", "400"]),
        "max.compaction.lag.ms": chance.pick(["50", "200", "9223372036854775807"]),
        "file.delete.delay.ms": chance.pick(["0", "100"]),
    }
    topic.trims = False
    plan.topics.append(topic)
    return plan
