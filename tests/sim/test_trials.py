"""Seeds of every workload keep every promise, and do the same again."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from twinlog.sim.__main__ import main
from twinlog.sim.campaign import WORKLOADS, Outcome, try_seed
from twinlog.sim.campaign.many import campaign
from twinlog.sim.planted import BUGS

CHUNKS = {"log": 10, "tables": 4, "queues": 8, "groups": 6, "transactions": 4, "streams": 5}
CHUNK_SEEDS = 15
PROGRAM = "from twinlog.sim.campaign import try_seed; print(try_seed({seed}, {workload!r}).digest)"


def complaint(outcome: Outcome) -> str:
    return f"{outcome.kind}: {outcome.text} (python -m twinlog.sim --workload {outcome.workload} --seed {outcome.seed})"


@pytest.mark.parametrize(("workload", "chunk"), [(name, chunk) for name in WORKLOADS for chunk in range(CHUNKS[name])])
def test_seeds_keep_every_promise(workload: str, chunk: int) -> None:
    outcomes = [try_seed(chunk * CHUNK_SEEDS + number, workload) for number in range(CHUNK_SEEDS)]
    assert [complaint(outcome) for outcome in outcomes if outcome.kind] == []
    assert sum(outcome.confirmed for outcome in outcomes) > 0, "nothing was confirmed"


@pytest.mark.parametrize("workload", list(WORKLOADS))
def test_a_seed_does_the_same_in_every_process(workload: str) -> None:
    def elsewhere(seed: int, hash_seed: int) -> str:
        return subprocess.run(
            [sys.executable, "-c", PROGRAM.format(seed=seed, workload=workload)],
            env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    digests = [try_seed(seed, workload).digest for seed in (3, 4)]
    assert [try_seed(seed, workload).digest for seed in (3, 4)] == digests
    assert [elsewhere(3, 1), elsewhere(4, 2)] == digests
    assert digests[0] != digests[1]


def test_a_campaign_counts_and_replays() -> None:
    totals = campaign(range(6), "log", jobs=1, replay_one_in=3)
    assert totals.is_good
    assert (totals.seeds, totals.replayed) == (6, 2)
    assert totals.confirmed > 0 and totals.simulated_ms > 0 and totals.faults


def test_a_broken_promise_ends_the_campaign_and_says_how_to_see_it_again(capsys: pytest.CaptureFixture[str]) -> None:
    broken = next(seed for seed in range(1, 100) if try_seed(seed, "log", "dedupe-off").kind)
    assert main(["--seed", str(broken), "--planted", "dedupe-off"]) == 1
    told = capsys.readouterr().out
    assert f"python -m twinlog.sim --workload log --seed {broken} --planted dedupe-off" in told
    assert main(["--seed", str(broken)]) == 0, "without the bug the same seed is good"


def test_planted_bugs_are_hunted_together_and_in_parts(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--planted", "all", "--workload", "queues", "--jobs", "1"]
    parts = [[*arguments, "--part", f"{part}/6"] for part in (2, 6)]
    assert [main(part) for part in parts] == [0, 0]
    told = capsys.readouterr().out.splitlines()
    found = [line.partition(":")[0] for line in told if ": seed " in line]
    names = [name for name, bug in BUGS.items() if bug.workload == "queues"]
    assert sorted(found) == sorted(names[1::6] + names[5::6])
    assert f"{len(names[1::6])} of {len(names[1::6])} planted bugs found" in told
    with pytest.raises(SystemExit):
        main([*arguments, "--part", "7/6"])


def test_names_are_listed_and_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert "ack-before-sync" in capsys.readouterr().out
    assert main(["--planted", "no-such-bug"]) == 2


@pytest.mark.parametrize(
    ("workload", "seed"),
    [("queues", 823), ("queues", 2333), ("queues", 5740), ("tables", 155), ("queues", 200754), ("transactions", 624)],
)
def test_a_seed_that_found_something_once_is_good_now(workload: str, seed: int) -> None:
    outcome = try_seed(seed, workload)
    assert not outcome.kind, complaint(outcome)


def test_the_story_of_queues_tells_how_each_life_ended() -> None:
    outcome = try_seed(5740, "queues")
    ends = [line.rpartition(" ")[2] for line in outcome.story]
    assert ends == ["stop", "cut_power", "kill", "kill"]
    assert "power cut" in outcome.plan
