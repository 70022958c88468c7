"""The n-th call to the disk fails, for every n: the node loses nothing it confirmed, and the next start is a good one.

A whole node serves producers and readers in the simulator while the call fails, in service or during the next start.
The everyday run takes a few n, `-m slow` the first two hundred.
"""

from __future__ import annotations

import pytest

from twinlog.sim import World
from twinlog.sim.campaign.log import LogTrial
from twinlog.sim.faults import DiskCall
from twinlog.sim.planted import planted_bug
from twinlog.sim.stage.history import STRICT, Broken
from twinlog.sim.stage.plan import Plan, TopicPlan, draw_settings, draw_wires
from twinlog.sim.stage.stage import Stage

FAILURES: tuple[tuple[DiskCall, bool], ...] = (
    ("write", False),
    ("write", True),  # half of it is written, then the disk is full
    ("sync", False),
    ("sync_directory", False),
    ("rename", False),
    ("open", False),
    ("truncate", False),
    ("delete", False),
    ("read", False),
    ("list", False),
)
CASES = [
    (call, full, when)
    for call, full in FAILURES
    for when in ("in service", "at the next start")
    if (call, when) != ("list", "in service")  # nobody lists directories in service
]


def plan_for(world: World) -> Plan:
    chance = world.chance.fork("plan")
    configs = {"segment.ms": "40", "index.interval.bytes": "100", "file.delete.delay.ms": "20"}
    return Plan(
        settings=draw_settings(chance),
        unsafe_ms=0,
        faults=(),
        fault_gap_ms=0,
        wires=draw_wires(chance),
        topics=[TopicPlan("strict", STRICT, 2, configs, trims=True)],
        producers=2,
        readers=1,
        trimmer=True,
        scratcher=True,
    )


def outcome_of(call: DiskCall, full: bool, nth: int, when: str) -> bool:
    """Whether the call came to fail. Raises ``Broken`` when a promise is not kept."""
    with World(nth) as world:
        plan = plan_for(world)
        stage = Stage(world, plan)
        trial = LogTrial(world, plan, stage)
        trial.start()
        faults = stage.broker.machine.platter.faults
        if when == "at the next start":
            world.run_for(300)
            stage.broker.kill()
        faults.fail(call, nth=nth, full=full)
        world.run_for(1200)
        failed = not faults.is_armed
        trial.drain()
        trial.judge("auditor")
        stage.cut_again()
        trial.judge("second auditor")
        assert stage.history.confirmed
        return failed


@pytest.mark.parametrize(("call", "full", "when"), CASES)
def test_a_call_that_fails_costs_nothing_that_was_confirmed(call: DiskCall, full: bool, when: str) -> None:
    failed = [outcome_of(call, full, nth, when) for nth in (1, 3)]
    assert any(failed)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("call", "full", "when"), CASES)
def test_whichever_call_fails(call: DiskCall, full: bool, when: str) -> None:
    failed = [outcome_of(call, full, nth, when) for nth in range(1, 201)]
    print(f"{call}{' full' if full else ''} {when}: {sum(failed)} of {len(failed)} failed")


def test_a_node_that_went_on_after_a_failed_sync_would_be_found_out() -> None:
    with planted_bug("failed-sync-ignored"), pytest.raises(Broken):
        for nth in range(1, 40):
            outcome_of("sync", False, nth, "in service")
