"""Files cut or flipped anywhere: what starts serves what was promised, or is refused, and twice the same.

This is a sample of the places; `make cutandflip` tries all of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.cut_and_flip import logs
from tests.faults.cut_and_flip.campaign import SUBJECTS, BrokenPromise, load, run, subject, try_places
from tests.faults.cut_and_flip.damage import Damage, Places, Subject
from tests.kit.storage import SMALL, records

# Every so many places; primes, so that they meet all fields in time.
SAMPLE = {"log-tail": 7, "log": 251, "log-stopped": 251, "log-rounds": 131, "queues-tail": 3, "queues": 211}
SAMPLE_METADATA = 61  # tests/unit/cluster/test_on_disk.py tries a bit of every byte


@pytest.mark.parametrize("name", list(SUBJECTS))
def test_a_flipped_bit_or_a_cut_file_is_found_or_does_no_harm(name: str) -> None:
    every = SAMPLE.get(name, SAMPLE_METADATA)
    outcomes = try_places(name, range(subject(name).count % every, subject(name).count, every))
    assert outcomes["served"]
    if not name.endswith("-tail"):
        assert outcomes["refused"]


def test_the_check_itself_sees_a_missing_and_a_changed_record() -> None:
    found = logs.life(clean=False)
    assert records(b"") == []
    with pytest.raises(AssertionError):
        logs.boot_twice(found.files, found._replace(values=found.values[1:]))
    with pytest.raises(AssertionError):
        logs.boot_twice(found.files, found._replace(offset_synced=found.offset_synced + 1))
    assert SMALL.segment_bytes < sum(len(data) for path, data in found.files.items() if path.endswith(".log"))


def test_every_place_has_a_number() -> None:
    places = [Places("a", "flip", 0, 8), Places("b", "cut", 0, 0), Places("b", "cut", 3, 5)]
    made = Subject("two files", {"a": b"\1", "b": b"12345"}, places, lambda files, damage: [])
    damages = [made.damage(number) for number in range(made.count)]
    assert damages == [*(Damage("a", "flip", bit) for bit in range(8)), Damage("b", "cut", 3), Damage("b", "cut", 4)]
    assert damages[2].done_to(made.files) == {"a": b"\5", "b": b"12345"}
    assert damages[-1].done_to(made.files) == {"a": b"\1", "b": b"1234"}


def test_a_broken_promise_is_told_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject("log-tail"), "_judge", lambda files, damage: 1 // 0)
    with pytest.raises(BrokenPromise, match=r"log-tail 5 .*\n.*--only log-tail 5"):
        try_places("log-tail", range(5, 6))


def test_a_campaign_goes_on_where_it_stopped(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    progress = load(state, ["queues-tail"])
    run(progress, state, jobs=1, seconds=0, tell=lambda progress: None)
    assert 0 < progress.places[0] < progress.places[1]
    progress = load(state, ["queues-tail"])
    run(progress, state, jobs=1, seconds=60, tell=lambda progress: None)
    assert progress.is_over and progress.outcomes["queues-tail"] == {"served": progress.counts["queues-tail"]}
