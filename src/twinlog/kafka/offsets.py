"""Questions about offsets: where does it begin, where does it end, what was first at a time."""

from __future__ import annotations

from typing import Final, NamedTuple

from twinlog.base import HostFault, Refused
from twinlog.kafka.partition import Partition
from twinlog.kafka.partition_table import PartitionTable
from twinlog.wire.kafka.errors import ErrorCode

LATEST: Final = -1
EARLIEST: Final = -2
MAX_TIMESTAMP: Final = -3
EARLIEST_LOCAL: Final = -4
LATEST_TIERED: Final = -5
EARLIEST_PENDING_UPLOAD: Final = -6


class OffsetAt(NamedTuple):
    """An offset, its record's time and leader epoch; all -1 when there is none."""

    timestamp: int = -1
    offset: int = -1
    leader_epoch: int = -1


NOWHERE: Final = OffsetAt()


def led_partition(partitions: PartitionTable, topic: str, index: int, epoch: int = -1) -> Partition:
    """The partition, if this node may answer for it to a client that believes in leader epoch ``epoch``."""
    partition = partitions.get(topic, index)
    if partition is None:
        raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    code = partition.refusal() or partition.check_epoch(epoch)
    if code is not None:
        raise Refused(code)
    return partition


def offset_at(partition: Partition, timestamp: int, *, committed: bool) -> OffsetAt:
    """What a reader finds at a time, or at one of the places that negative times stand for."""
    log = partition.log
    offset_below = partition.stable_offset if committed else partition.high_watermark
    if timestamp == LATEST:
        return OffsetAt(-1, offset_below, partition.leader_epoch)
    if timestamp in (EARLIEST, EARLIEST_LOCAL):  # nothing is tiered: all there is, is local
        epoch = log.epoch_at(log.offset_start)
        return OffsetAt(-1, log.offset_start, epoch if epoch >= 0 else partition.leader_epoch)
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return NOWHERE
    if timestamp < 0 and timestamp != MAX_TIMESTAMP:
        raise Refused(ErrorCode.INVALID_REQUEST, f"{timestamp} stands for no place in a log.")
    try:
        found = log.max_timestamp() if timestamp == MAX_TIMESTAMP else log.offset_for_time(timestamp)
    except HostFault:
        raise Refused(ErrorCode.KAFKA_STORAGE_ERROR) from None
    if found is None or found[0] >= offset_below:
        return NOWHERE  # what readers cannot see yet is not there
    offset, time, epoch = found
    return OffsetAt(time, offset, epoch)
