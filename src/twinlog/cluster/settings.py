"""What an operator may decide about metadata."""

from __future__ import annotations

from dataclasses import dataclass

from twinlog.base.settings import setting
from twinlog.base.units import GIB, MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataLogSettings:
    snapshot_after_bytes: int = setting(
        4 * MIB,
        unit="bytes",
        min=1024,
        max=GIB,
        doc="A new snapshot of the metadata is written once the log behind the last one has grown by this much.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerSettings:
    partition_count_default: int = setting(
        1, min=1, max=10_000, doc="Partitions of a topic whose creator did not say how many (Kafka's num.partitions)."
    )
    replication_factor_default: int = setting(
        1,
        min=1,
        max=100,
        doc="Replicas of a partition when its creator did not say how many (Kafka's default.replication.factor).",
    )
    partitions_per_topic_max: int = setting(
        10_000, min=1, max=1_000_000, doc="A topic asked for with more partitions than this is refused."
    )
    partitions_max: int = setting(
        10_000,
        min=1,
        max=10_000_000,
        doc="Topics and partitions that would raise the cluster's number of partition replicas above this many for "
        "each node are refused.",
    )
