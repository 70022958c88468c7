"""One seed, one trace: in this process, in the next, and under another hash seed."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.unit.sim.scenario import digest_of_run

PROGRAM = "from tests.unit.sim.scenario import digest_of_run; print(digest_of_run({seed}, careless={careless}))"


def digest_elsewhere(hash_seed: int, *, careless: bool) -> str:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(seed=5, careless=careless)],
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def test_the_same_seed_gives_the_same_digest() -> None:
    assert [digest_of_run(seed) for seed in range(6)] == [digest_of_run(seed) for seed in range(6)]


def test_other_seeds_give_other_digests() -> None:
    assert len({digest_of_run(seed) for seed in range(6)}) == 6


def test_no_process_and_no_hash_seed_changes_the_digest() -> None:
    assert digest_elsewhere(1, careless=False) == digest_elsewhere(2, careless=False) == digest_of_run(5)


def test_a_walk_over_a_set_of_words_is_found_out() -> None:
    # The control: without it, equal digests above could mean that the digest sees nothing.
    assert len({digest_elsewhere(hash_seed, careless=True) for hash_seed in (1, 2, 3)}) > 1
