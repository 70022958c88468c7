"""The planted bugs are found: what says nothing about a sabotage says nothing about the code either."""

from __future__ import annotations

import pytest

from twinlog.sim.campaign import try_seed
from twinlog.sim.planted import BUGS, planted_bug
from twinlog.sim.planted.patch import Bug

# Those that a few seeds find; all of them are hunted by `make sim`.
SOON = 80
EVERYDAY = (
    "assignments-swapped",
    "begin-aborts-nothing",
    "classic-members-not-called",
    "commits-marked-as-aborts",
    "nobody-deals-on-the-way-back",
    "offsets-left-out",
    "offsets-outside",
    "one-partition-aborted",
    "owners-lost-on-the-way",
    "static-consumer-name-suffices",
    "static-name-suffices",
    "undecided-shown-to-copiers",
    "zombies-served",
    "aborted-forgotten",
    "aborts-marked-as-commits",
    "compacted-before-sync",
    "coordinator-forgets",
    "undecided-forgotten",
    "ack-before-sync",
    "any-epoch-commits",
    "any-generation-commits",
    "damage-cut",
    "dead-consumers-kept",
    "dedupe-lost-on-restart",
    "dedupe-off",
    "dedupe-window-of-one",
    "directory-not-synced",
    "disk-that-lies",
    "duplicate-answered-with-end",
    "generations-forgotten",
    "group-answered-before-stored",
    "handed-on-while-held",
    "keys-misread",
    "metadata-before-sync",
    "offsets-not-replayed",
    "queue-acks-lost-with-journal",
    "queue-acks-not-written",
    "queue-confirm-before-sync",
    "queue-confirm-too-early",
    "queue-counts-twice",
    "queue-crash-unmarked",
    "queue-dead-letters-dropped",
    "queue-expired-delivered",
    "queue-journal-name-lost",
    "queue-length-off-by-one",
    "queue-moved-without-copy",
    "queue-requeue-forgets",
    "queue-requeue-to-the-end",
    "queue-requeue-unmarked",
    "queue-torn-tail-kept",
    "queue-transient-survives",
    "read-by-the-old-index",
    "sequence-gap-accepted",
)


def found_at(bug: Bug, seeds_max: int) -> int | None:
    seeds = range(1, seeds_max + 1)
    return next((seed for seed in seeds if bug.is_shown_by(try_seed(seed, bug.workload, bug.name).kind)), None)


@pytest.mark.parametrize("name", EVERYDAY)
def test_a_planted_bug_is_found_soon(name: str) -> None:
    assert found_at(BUGS[name], min(SOON, BUGS[name].seeds_max)) is not None


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", sorted(BUGS))
def test_every_planted_bug_is_found(name: str) -> None:
    assert found_at(BUGS[name], BUGS[name].seeds_max) is not None


@pytest.mark.parametrize("name", sorted(BUGS))
def test_a_planted_bug_leaves_nothing_behind(name: str) -> None:
    before = try_seed(1, BUGS[name].workload).digest
    with planted_bug(name):
        pass
    assert try_seed(1, BUGS[name].workload).digest == before
