"""All subjects one behind the other, in other processes, and what is known so far in a file."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from itertools import islice
from pathlib import Path

from tests.faults.cut_and_flip import logs, metadata, queues
from tests.faults.cut_and_flip.damage import Subject

CHUNK = 200

SUBJECTS: dict[str, Callable[[], Subject]] = {
    "log-tail": logs.torn_tail,
    "log": lambda: logs.spoilt("log", logs.life(clean=False)),
    "log-stopped": lambda: logs.spoilt("log-stopped", logs.life(clean=True)),
    "log-rounds": logs.spoilt_rounds,
    "metadata": partial(metadata.spoilt, snapshots=False),
    "metadata-snapshots": partial(metadata.spoilt, snapshots=True),
    "queues-tail": queues.torn_tail,
    "queues": queues.spoilt,
}


@cache
def subject(name: str) -> Subject:
    return SUBJECTS[name]()


class BrokenPromise(AssertionError):
    """Which damage broke one, and how to see it again."""


def try_places(name: str, numbers: range) -> dict[str, int]:
    """Counts what came of them."""
    outcomes: dict[str, int] = {}
    for number in numbers:
        try:
            told = subject(name).try_one(number)
        except Exception as broken:
            raise BrokenPromise(
                f"{name} {number} ({subject(name).damage(number)}): {type(broken).__name__} {broken}\n"
                f"  again: python -m tests.faults.cut_and_flip --only {name} {number}"
            ) from broken
        for outcome in told:
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
    return outcomes


@dataclass
class Progress:
    """How far each subject is, and what was counted. ``counts``: a campaign over other files begins anew."""

    counts: dict[str, int]
    done: dict[str, int] = field(default_factory=dict)
    outcomes: dict[str, dict[str, int]] = field(default_factory=dict)

    def note(self, name: str, end: int, outcomes: dict[str, int]) -> None:
        self.done[name] = end
        sums = self.outcomes.setdefault(name, {})
        for outcome, count in outcomes.items():
            sums[outcome] = sums.get(outcome, 0) + count

    def left(self) -> Iterator[tuple[str, range]]:
        for name, count in self.counts.items():
            for start in range(self.done.get(name, 0), count, CHUNK):
                yield name, range(start, min(start + CHUNK, count))

    @property
    def is_over(self) -> bool:
        return all(self.done.get(name, 0) == count for name, count in self.counts.items())

    @property
    def places(self) -> tuple[int, int]:
        """Done, and in all."""
        return sum(self.done.values()), sum(self.counts.values())


def load(path: Path, names: list[str]) -> Progress:
    counts = {name: subject(name).count for name in names}
    if path.exists():
        known = Progress(**json.loads(path.read_text()))
        if known.counts == counts:
            return known
    return Progress(counts)


def run(progress: Progress, path: Path, *, jobs: int, seconds: float, tell: Callable[[Progress], None]) -> None:
    """Until all is done or the time is over; what is known is in the file after every chunk."""
    deadline = time.monotonic() + seconds
    chunks = progress.left()
    with ProcessPoolExecutor(jobs) as pool:
        running = [(*chunk, pool.submit(try_places, *chunk)) for chunk in islice(chunks, 2 * jobs)]
        while running:
            name, numbers, future = running.pop(0)
            progress.note(name, numbers.stop, future.result())
            path.write_text(json.dumps(asdict(progress)))
            tell(progress)
            if time.monotonic() < deadline:
                running += [(*chunk, pool.submit(try_places, *chunk)) for chunk in islice(chunks, 1)]
