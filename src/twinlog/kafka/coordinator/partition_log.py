"""A coordinator's log on a real partition: records out as batches, records back while loading."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from twinlog._kernel import build_batch, decode_records, scan_batches
from twinlog.base import ProtocolViolation, Refused
from twinlog.kafka.coordinator.ports import StoredRecord
from twinlog.kafka.partition import Partition
from twinlog.wire.kafka.records import CONTROL_COMMIT, decode_control_key

TRANSACTIONAL: Final = 0x10
CONTROL: Final = 0x20
INFLATED_MAX_BYTES: Final = 256 << 20

Done: TypeAlias = Callable[[Exception | None], None]


class PartitionCoordinatorLog:
    """Sees everything that was ever appended, also what no reader may see yet: its own promises wait for it."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.waiting = 0  # counted by the partition for whoever waits

    @property
    def leader_epoch(self) -> int:
        return self.partition.leader_epoch

    def start_offset(self) -> int:
        return self.partition.log.offset_start

    def append(self, records: list[tuple[bytes, bytes | None]], now_ms: int) -> int:
        built = build_batch([(now_ms, key, value, []) for key, value in records])
        return self.partition.append_own(built, now_ms)

    def append_transactional(
        self, records: list[tuple[bytes, bytes | None]], producer_id: int, producer_epoch: int, now_ms: int
    ) -> int:
        built = build_batch(
            [(now_ms, key, value, []) for key, value in records],
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            attributes=TRANSACTIONAL,
        )
        return self.partition.append_own(built, now_ms)

    def when_durable(self, offset: int, done: Done) -> None:
        if not self.partition.when_stable(offset, self, done):
            done(None)

    def stored(self, token: object) -> None:
        self.waiting -= 1
        assert callable(token)
        token(None)

    def failed(self, token: object, code: int) -> None:
        self.waiting -= 1
        assert callable(token)
        token(Refused(code))

    def read(self, offset: int, bytes_max: int) -> tuple[list[StoredRecord], int]:
        log = self.partition.log
        if offset >= log.offset_end:
            return [], offset
        data = log.read_bytes(max(offset, log.offset_start), bytes_max, log.offset_end)
        records: list[StoredRecord] = []
        offset_next = offset
        for batch in scan_batches(data, 0, len(data))[0]:
            at, size, base_offset, last_offset_delta, _, attributes, _, _, producer_id, producer_epoch, _, _ = batch
            found = decode_records(data, at, at + size, INFLATED_MAX_BYTES)
            offset_next = base_offset + last_offset_delta + 1
            if attributes & CONTROL:
                records += _markers(found, producer_id, producer_epoch)
                continue
            owner = producer_id if attributes & TRANSACTIONAL else -1
            records += [
                StoredRecord(record[0], record[1], record[2], record[3], owner, producer_epoch)
                for record in found
                if record[0] >= offset
            ]
        return records, offset_next


def _markers(
    found: list[tuple[int, int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]],
    producer_id: int,
    producer_epoch: int,
) -> list[StoredRecord]:
    markers = []
    for offset, timestamp, key, _, _ in found:
        try:
            commit = decode_control_key(key or b"") == CONTROL_COMMIT
        except ProtocolViolation:
            continue
        markers.append(StoredRecord(offset, timestamp, None, None, producer_id, producer_epoch, commit))
    return markers
