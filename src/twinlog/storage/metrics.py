"""What the room counts: plain numbers that only grow, unless their line says otherwise."""

from __future__ import annotations


class StorageMetrics:
    """One object a node."""

    __slots__ = (
        "bytes_expired",
        "compaction_bytes_after",
        "compaction_bytes_before",
        "compaction_records_kept",
        "compaction_records_read",
        "compactions",
        "compactions_failed",
        "logs_uncompactable",
        "segments_expired",
        "writes_refused",
    )

    def __init__(self) -> None:
        self.writes_refused = 0  # batches that clients have to send again, because the disk is low
        self.segments_expired = 0  # by age or size
        self.bytes_expired = 0
        self.compactions = 0  # passes that reached their end
        self.compactions_failed = 0
        self.compaction_bytes_before = 0  # of the segments that were replaced
        self.compaction_bytes_after = 0
        self.compaction_records_read = 0
        self.compaction_records_kept = 0
        self.logs_uncompactable = 0  # now: left alone until the next start, because something in them is damaged
