"""Which segments retention lets go."""

from __future__ import annotations

from twinlog.storage import LogSettings, SegmentFacts
from twinlog.storage.retention import first_offset_to_keep

NOW_MS = 1_000_000


def segments(*timestamps: int, size: int = 100) -> list[SegmentFacts]:
    """Ten offsets each; the last one is active."""
    return [
        SegmentFacts(10 * number, 10 * number + 10, size, timestamp, 5, number < len(timestamps) - 1)
        for number, timestamp in enumerate(timestamps)
    ]


def kept_from(facts: list[SegmentFacts], *, start: int = 0, below: int = 1000, **settings: int) -> int:
    return first_offset_to_keep(facts, start, below, LogSettings(deletes=True, **settings), NOW_MS)


def test_a_segment_goes_when_its_youngest_record_is_too_old() -> None:
    facts = segments(NOW_MS - 1001, NOW_MS - 1000, NOW_MS - 500)
    assert kept_from(facts, retention_ms=1000) == 10
    assert kept_from(facts, retention_ms=499) == 30, "the active one, too"
    assert kept_from(facts, retention_ms=-1) == 0


def test_a_young_segment_protects_those_behind_it() -> None:
    assert kept_from(segments(NOW_MS, 0, 0, 0), retention_ms=1000) == 0


def test_without_timestamps_age_counts_from_the_first_write() -> None:
    assert kept_from(segments(-1, -1), retention_ms=NOW_MS - 6) == 20
    assert kept_from(segments(-1, -1), retention_ms=NOW_MS - 5) == 0


def test_segments_go_while_the_rest_still_has_the_size_to_keep() -> None:
    facts = segments(0, 0, 0, 0)
    assert kept_from(facts, retention_bytes=400) == 0
    assert kept_from(facts, retention_bytes=301) == 0
    assert kept_from(facts, retention_bytes=300) == 10
    assert kept_from(facts, retention_bytes=0) == 30, "the active one stays"


def test_what_the_log_start_passed_already_does_not_count() -> None:
    facts = segments(0, 0, 0, 0)
    assert kept_from(facts, start=10, retention_bytes=300) == 10
    assert kept_from(facts, start=10, retention_bytes=200) == 20


def test_nothing_goes_that_is_not_committed() -> None:
    assert kept_from(segments(0, 0, 0), below=19, retention_ms=1) == 10


def test_a_topic_that_does_not_delete_keeps_everything() -> None:
    assert first_offset_to_keep(segments(0, 0), 0, 100, LogSettings(retention_ms=0, retention_bytes=0), NOW_MS) == 0
