"""Whether a log is worth compacting, and how far: decides, and touches nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from twinlog.storage.compacted import NEVER, Compacted
from twinlog.storage.retention import age_counts_from
from twinlog.storage.settings import LogSettings
from twinlog.storage.types import SegmentFacts


class Plan(NamedTuple):
    """Compact what lies below ``offset_end``; keys are new from ``offset_dirty`` on. The dirtiest log comes first."""

    offset_dirty: int
    offset_end: int
    dirty_ratio: float
    is_due: bool  # somebody's max.compaction.lag.ms or delete.retention.ms has passed


def plan_compaction(
    segments: Sequence[SegmentFacts],
    offset_start: int,
    compacted: Compacted,
    offset_below: int,
    settings: LogSettings,
    now_ms: int,
) -> Plan | None:
    """None: nothing to do now. ``offset_below`` is where the sealed, durable and decided part ends."""
    if not settings.compacts:
        return None
    offset_dirty = max(compacted.offset, offset_start)
    clean_bytes = dirty_bytes = 0
    offset_end = offset_start
    oldest_ms: int | None = None
    for segment in segments:
        if segment.offset_end <= offset_start:
            continue
        if segment.offset_end > offset_below or not segment.sealed:
            break
        if segment.offset_end <= offset_dirty:
            clean_bytes += segment.size_bytes
        else:
            if now_ms - age_counts_from(segment) < settings.compaction_lag_min_ms:
                break
            dirty_bytes += segment.size_bytes
            if oldest_ms is None:
                oldest_ms = segment.first_append_ms
        offset_end = segment.offset_end
    horizon_passed = compacted.horizon_ms != NEVER and compacted.horizon_ms <= now_ms and offset_end > offset_start
    too_old = oldest_ms is not None and now_ms - oldest_ms >= settings.compaction_lag_max_ms
    ratio = dirty_bytes / (clean_bytes + dirty_bytes) if dirty_bytes else 0.0
    if not (horizon_passed or too_old or (dirty_bytes and ratio > settings.dirty_ratio_min)):
        return None
    return Plan(min(offset_dirty, offset_end), offset_end, ratio, horizon_passed or too_old)


def roll_is_due(active: SegmentFacts, settings: LogSettings, now_ms: int) -> bool:
    """A compacted log must not keep a record uncompacted for longer than it was told because nothing follows it."""
    return (
        settings.compacts
        and active.size_bytes > 0
        and now_ms - active.first_append_ms >= settings.compaction_lag_max_ms
    )
