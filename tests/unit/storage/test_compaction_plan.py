"""Which log is compacted, how far, and when."""

from __future__ import annotations

from twinlog.storage import LogSettings, SegmentFacts
from twinlog.storage.compacted import Compacted
from twinlog.storage.compaction_plan import Plan, plan_compaction, roll_is_due

NOW_MS = 1_000_000
SEGMENTS = [
    SegmentFacts(10 * number, 10 * number + 10, 100, NOW_MS - 500, NOW_MS - 600, number < 4) for number in range(5)
]


def plan(offset: int = 0, *, horizon_ms: int = -1, below: int = 40, start: int = 0, **settings: float) -> Plan | None:
    chosen = LogSettings(compacts=True, **settings)  # type: ignore[arg-type]
    return plan_compaction(SEGMENTS, start, Compacted(offset, horizon_ms), below, chosen, NOW_MS)


def test_a_log_is_compacted_up_to_its_active_segment() -> None:
    assert plan() == Plan(0, 40, 1.0, False)
    assert plan(below=1000) == Plan(0, 40, 1.0, False)


def test_it_waits_for_its_share_of_new_data() -> None:
    assert plan(20) is None
    assert plan(20, dirty_ratio_min=0.4) == Plan(20, 40, 0.5, False)
    assert plan(40, dirty_ratio_min=0.0) is None, "without new data there is nothing to do"


def test_nothing_beyond_what_is_decided_and_durable() -> None:
    assert plan(below=25) == Plan(0, 20, 1.0, False)
    assert plan(below=0) is None


def test_young_records_wait_for_their_lag() -> None:
    assert plan(compaction_lag_min_ms=501) is None
    assert plan(compaction_lag_min_ms=500) == Plan(0, 40, 1.0, False)


def test_old_records_do_not_wait_for_others() -> None:
    assert plan(30, compaction_lag_max_ms=600) == Plan(30, 40, 0.25, True)
    assert plan(30, compaction_lag_max_ms=601) is None


def test_a_horizon_that_passed_is_a_reason_of_its_own() -> None:
    assert plan(40, horizon_ms=NOW_MS) == Plan(40, 40, 0.0, True)
    assert plan(40, horizon_ms=NOW_MS + 1) is None


def test_it_begins_at_the_log_start() -> None:
    assert plan(start=15, below=20) == Plan(15, 20, 1.0, False)


def test_other_topics_are_left_alone() -> None:
    assert plan_compaction(SEGMENTS, 0, Compacted(0, -1), 40, LogSettings(), NOW_MS) is None


def test_the_active_segment_is_sealed_when_its_records_wait_too_long() -> None:
    assert roll_is_due(SEGMENTS[4], LogSettings(compacts=True, compaction_lag_max_ms=600), NOW_MS)
    assert not roll_is_due(SEGMENTS[4], LogSettings(compacts=True, compaction_lag_max_ms=601), NOW_MS)
    assert not roll_is_due(SEGMENTS[4], LogSettings(compaction_lag_max_ms=600), NOW_MS)
