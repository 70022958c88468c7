"""kill -9 under load with real clients: what each was told to be stored is there, once, in its order."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.faults.kill.storm import RECORDS, storm

KILLS_FEW = 3
KILLS_PER_LINE = 10


def test_real_clients_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    toll = storm(KILLS_FEW, seed=5, home=tmp_path)
    assert toll.confirmed >= RECORDS and toll.commits
    assert toll.queue_confirmed


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_storm_of_kills(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`make killstorm ROUNDS=n`; SEED draws other moments."""
    began = time.monotonic()

    def tell(kills: int) -> None:
        if kills % KILLS_PER_LINE == 0:
            with capsys.disabled():
                print(f"\n{kills} kills in {time.monotonic() - began:.0f} s", end="", flush=True)

    toll = storm(int(os.environ.get("ROUNDS", "50")), int(os.environ.get("SEED", "6")), tmp_path, tell)
    with capsys.disabled():
        print(f"\n{toll}")
