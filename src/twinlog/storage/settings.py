"""What can be set about storage: for the node, and for each log."""

from __future__ import annotations

from dataclasses import dataclass

from twinlog.base.settings import setting
from twinlog.base.units import DAY_MS, GIB, HOUR_MS, KIB, MIB, MINUTE_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageSettings:
    """The node's settings."""

    flush_interval_ms: int = setting(
        1000, unit="ms", min=1, max=60_000, doc="Data that nobody waits for is synced to disk within this time."
    )
    checkpoint_interval_ms: int = setting(
        5000,
        unit="ms",
        min=100,
        max=600_000,
        doc="How often the durable marks of all logs are written, by which a start after a crash tells damage from a "
        "torn tail.",
    )
    files_open_max: int = setting(
        9000, min=16, max=1_000_000, doc="Segment files kept open at once; the least used are closed first."
    )
    files_idle_close_ms: int = setting(
        MINUTE_MS, unit="ms", min=1000, max=HOUR_MS, doc="A segment file that nobody used for this time is closed."
    )
    verify: str = setting(
        "tail",
        choices=("tail", "all"),
        doc="What a start after a crash reads and checks: the tail of every log, or all of it. 'all' also reads "
        "everything after a clean stop.",
    )
    producer_id_expiration_ms: int = setting(
        DAY_MS, unit="ms", min=1000, max=365 * DAY_MS, doc="A producer silent for this time is forgotten."
    )
    producer_ids_max: int = setting(
        100_000,
        min=1,
        max=10_000_000,
        doc="Producers remembered per log; beyond it the longest silent one is forgotten.",
    )
    retention_check_interval_ms: int = setting(
        10_000,
        unit="ms",
        min=100,
        max=HOUR_MS,
        doc="How often every log is looked at for segments that are too old or too many.",
    )
    compaction_check_interval_ms: int = setting(
        15_000,
        unit="ms",
        min=100,
        max=HOUR_MS,
        doc="How often compacted topics are looked at for something to compact.",
    )
    compaction_map_bytes: int = setting(
        128 * MIB,
        unit="bytes",
        min=MIB,
        max=64 * GIB,
        doc="The most memory that the map of keys takes while a log is compacted; a key takes 27 bytes. A log with "
        "more keys is compacted in several passes.",
    )
    compaction_bytes_per_second_max: int = setting(
        256 * MIB,
        unit="bytes",
        min=0,
        max=1024 * GIB,
        doc="Compaction reads and writes no more than this in a second, so that it leaves the disk to others; "
        "0 is no limit.",
    )
    disk_low_bytes: int = setting(
        GIB,
        unit="bytes",
        min=0,
        max=1024 * GIB,
        doc="With less room than this in a data directory its topics take no records until there is more; reading, "
        "deleting and group offsets go on. Never more than half of the disk.",
    )
    disk_low_percent: int = setting(
        5, unit="%", min=0, max=90, doc="The same as a share of the disk; the larger of both counts."
    )
    ballast_bytes: int = setting(
        MIB,
        unit="bytes",
        min=0,
        max=GIB,
        doc="A file of this size in each data directory is given back when the disk is full to the last byte, so that "
        "deleting still has the few bytes it needs; 0 is none.",
    )
    reserve_bytes: int = setting(
        64 * MIB, unit="bytes", min=0, max=GIB, doc="Room asked for ahead of a busy log's writes; 0 asks for none."
    )
    rounds_bytes: int = setting(
        8 * MIB,
        unit="bytes",
        min=0,
        max=GIB,
        doc="Size of the journal that makes syncs of a few kilobytes cheap, one for each data directory; 0 uses none.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """One log's settings; they come from topic configs and may be replaced while the log is in use."""

    segment_bytes: int = GIB
    segment_ms: int = 7 * DAY_MS
    index_interval_bytes: int = 4 * KIB
    file_delete_delay_ms: int = MINUTE_MS
    inflated_bytes_max: int = 128 * MIB
    deletes: bool = False  # old segments go by age and size
    retention_ms: int = -1
    retention_bytes: int = -1
    compacts: bool = False  # only the last record of every key stays
    delete_retention_ms: int = DAY_MS
    compaction_lag_min_ms: int = 0
    compaction_lag_max_ms: int = 1 << 62
    dirty_ratio_min: float = 0.5
