"""Offsets committed while the broker is killed: none that was confirmed is lost, and none goes back."""

from __future__ import annotations

import os
import random

import pytest

from tests.faults.kill.commits import commit_and_kill


def test_no_confirmed_commit_is_lost(pytestconfig: pytest.Config) -> None:
    commit_and_kill(4, random.Random(f"{pytestconfig.getoption('randomly_seed', 1)}"))


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_no_confirmed_commit_is_lost_in_a_storm_of_kills(capsys: pytest.CaptureFixture[str]) -> None:
    rounds = int(os.environ.get("ROUNDS", "50"))
    total = commit_and_kill(rounds, random.Random(int(os.environ.get("SEED", "6"))))
    with capsys.disabled():
        print(f"\n{rounds} kills: {total} commits confirmed of which 0 lost, 0 back")
