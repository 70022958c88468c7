"""Consume, transform, produce and commit as one step, under kill -9 of everything: exactly one committed copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.copy_job.job import CopyJob


@pytest.mark.timeout(180)
def test_a_small_copy_is_exact_although_copiers_and_the_broker_are_killed(tmp_path: Path) -> None:
    outcome = CopyJob(tmp_path, records=6_000, batch=100, copiers=2, kills=4, every_s=(0.3, 0.9), seed=1).run()
    assert outcome.is_exact, outcome
    assert outcome.brokers_killed and outcome.copiers_killed, outcome


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_copy_of_100_000_records_is_exact(tmp_path: Path, seed: int) -> None:
    outcome = CopyJob(tmp_path, records=100_000, batch=750, copiers=3, kills=12, every_s=(0.3, 2.0), seed=seed).run()
    print(outcome)
    assert outcome.is_exact, outcome
    assert outcome.brokers_killed >= 3 and outcome.copiers_killed >= 3, outcome
