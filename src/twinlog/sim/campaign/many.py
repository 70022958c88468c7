"""Many seeds on all cores: progress, totals, and proof that a seed replays.

A share of the seeds runs a second time, in a process with another hash seed. Both runs must have the same digest, else
something in the node or in the trial depends on more than the seed.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, as_completed, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from twinlog.sim.campaign.trial import Outcome, try_seed
from twinlog.sim.planted import BUGS

CHUNK_SEEDS: Final = 4
HASH_SEEDS: Final = ("1", "2")


@dataclass(slots=True)
class Totals:
    """What a campaign has seen so far."""

    seeds: int = 0
    simulated_ms: int = 0
    confirmed: int = 0
    read: int = 0
    replayed: int = 0
    marks: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    broken: list[Outcome] = field(default_factory=list)
    not_replayed: list[Outcome] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        self.seeds += 1
        self.simulated_ms += outcome.simulated_ms
        self.confirmed += outcome.confirmed
        self.read += outcome.read
        self.marks += outcome.marks
        self.faults += outcome.faults
        if outcome.kind:
            self.broken.append(outcome)

    @property
    def is_good(self) -> bool:
        return not self.broken and not self.not_replayed


def try_chunk(seeds: list[int], workload: str, planted: str) -> list[Outcome]:
    return [try_seed(seed, workload, planted) for seed in seeds]


def campaign(
    seeds: Iterable[int],
    workload: str,
    planted: str = "",
    *,
    jobs: int,
    replay_one_in: int,
    stop_after: int = 1,
    progress: Callable[[Totals], None] = lambda totals: None,
) -> Totals:
    """Tries the seeds until ``stop_after`` of them are broken (0: all of them)."""
    totals = Totals()
    chunks = _chunks(seeds)
    with _workers(jobs, HASH_SEEDS[0]) as pool, _workers(1, HASH_SEEDS[1]) as other:
        running: set[Future[list[Outcome]]] = set()
        replays: list[tuple[Outcome, Future[list[Outcome]]]] = []
        for chunk in chunks:
            running.add(pool.submit(try_chunk, chunk, workload, planted))
            while len(running) >= 2 * jobs:
                running = _take(running, totals, other, replays, replay_one_in)
                progress(totals)
            if stop_after and len(totals.broken) >= stop_after:
                break
        while running:
            running = _take(running, totals, other, replays, replay_one_in)
            progress(totals)
        for outcome, replay in replays:
            (again,) = replay.result()
            totals.replayed += 1
            if (again.digest, again.kind) != (outcome.digest, outcome.kind):
                totals.not_replayed.append(outcome)
    return totals


def find_bug(name: str, first: int) -> Outcome | None:
    """The first seed that shows a planted bug, from ``first`` on."""
    bug = BUGS[name]
    seeds = range(first, first + bug.seeds_max)
    outcomes = (try_seed(seed, bug.workload, name) for seed in seeds)
    return next((outcome for outcome in outcomes if bug.is_shown_by(outcome.kind)), None)


def hunt(names: Iterable[str], first: int, *, jobs: int) -> Iterator[tuple[str, Outcome | None]]:
    """Looks for several planted bugs at a time; tells of each as it is found, or is not."""
    with _workers(jobs, HASH_SEEDS[0]) as pool:
        running = {pool.submit(find_bug, name, first): name for name in names}
        for future in as_completed(running):
            yield running[future], future.result()


def _take(
    running: set[Future[list[Outcome]]],
    totals: Totals,
    other: ProcessPoolExecutor,
    replays: list[tuple[Outcome, Future[list[Outcome]]]],
    replay_one_in: int,
) -> set[Future[list[Outcome]]]:
    done, left = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        for outcome in future.result():
            totals.add(outcome)
            if replay_one_in and totals.seeds % replay_one_in == 0:
                again = other.submit(try_chunk, [outcome.seed], outcome.workload, outcome.planted)
                replays.append((outcome, again))
    return left


def _chunks(seeds: Iterable[int]) -> Iterator[list[int]]:
    chunk: list[int] = []
    for seed in seeds:
        chunk.append(seed)
        if len(chunk) == CHUNK_SEEDS:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


@contextmanager
def _workers(jobs: int, hash_seed: str) -> Iterator[ProcessPoolExecutor]:
    """Fresh processes; theirs is the hash seed, which can only be chosen before a process starts."""
    before = os.environ.get("PYTHONHASHSEED")
    os.environ["PYTHONHASHSEED"] = hash_seed
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))
    try:
        for _ in range(jobs):
            pool.submit(int).result()  # started while the environment says so
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
        if before is None:
            os.environ.pop("PYTHONHASHSEED", None)
        else:
            os.environ["PYTHONHASHSEED"] = before
