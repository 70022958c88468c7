"""Which segments have had their time: decides, and touches nothing."""

from __future__ import annotations

from collections.abc import Sequence

from twinlog.storage.settings import LogSettings
from twinlog.storage.types import NO_TIMESTAMP, SegmentFacts


def age_counts_from(segment: SegmentFacts) -> int:
    """The youngest record's timestamp; when its first batch was written, if its records have none."""
    return segment.max_timestamp if segment.max_timestamp != NO_TIMESTAMP else segment.first_append_ms


def first_offset_to_keep(
    segments: Sequence[SegmentFacts], offset_start: int, offset_below: int, settings: LogSettings, now_ms: int
) -> int:
    """Where the log is to begin. Only whole segments go, oldest first, and none that reaches beyond ``offset_below``.

    A segment goes when even its youngest record is older than ``retention.ms``, or when the rest alone still has
    ``retention.bytes``. The last one may be among them: then it has to be sealed first.
    """
    if not settings.deletes:
        return offset_start
    kept = [segment for segment in segments if segment.offset_end > offset_start]
    size_bytes = sum(segment.size_bytes for segment in kept)
    keep_from = offset_start
    for segment in kept:
        if segment.offset_end > offset_below or not segment.size_bytes:
            break
        too_old = 0 <= settings.retention_ms < now_ms - age_counts_from(segment)
        size_bytes -= segment.size_bytes
        too_much = segment.sealed and 0 <= settings.retention_bytes <= size_bytes
        if not (too_old or too_much):
            break
        keep_from = segment.offset_end
    return keep_from
