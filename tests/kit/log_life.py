"""What a log's consumers may see while it is compacted and cut: a plain model, and a reader as clients are."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from tests.kit.storage import INFLATED_MAX
from twinlog import _kernel
from twinlog.sim.faults import DiskCall, DiskFaults
from twinlog.storage import PartitionLog
from twinlog.storage.types import CONTROL, TRANSACTIONAL

HEADERS: Final = [("h", b"1")]
STEPS_ON_DISK: Final = ("write", "truncate", "sync", "sync_directory", "rename", "delete")


class PowerCut(KeyboardInterrupt):
    """The machine is gone in the middle of a call. Not an Exception: nobody may catch it."""


class CutAt(DiskFaults):
    """Faults of a disk whose power goes before its nth change from when it was armed."""

    left = 0

    def arm(self, nth: int) -> None:
        self.left = nth

    def meets_full(self, call: DiskCall, path: str) -> bool:
        if self.left and call in STEPS_ON_DISK:
            self.left -= 1
            if not self.left:
                raise PowerCut
        return super().meets_full(call, path)


@dataclass
class Written:
    """One offset as it was written."""

    key: bytes | None = None
    value: bytes | None = None
    producer: int = -1
    commits: bool | None = None  # a marker
    at_ms: int = 0


@dataclass
class Seen:
    """What a reader of committed records found."""

    records: dict[int, tuple[bytes, bytes | None]] = field(default_factory=dict)
    state: dict[bytes, bytes] = field(default_factory=dict)
    headers: dict[int, list[tuple[str, bytes | None]]] = field(default_factory=dict)
    batches: int = 0

    def apply(self, offset: int, key: bytes, value: bytes | None) -> None:
        self.records[offset] = (key, value)
        if value is None:
            self.state.pop(key, None)
        else:
            self.state[key] = value


def stable_end(log: PartitionLog) -> int:
    undecided = log.first_unstable_offset
    return log.offset_end if undecided is None else min(undecided, log.offset_end)


def read_committed(log: PartitionLog, bytes_max: int = 700) -> Seen:
    """From the log's start to the first undecided record, as clients with read_committed do it."""
    seen = Seen()
    position, end = log.offset_start, stable_end(log)
    while position < end:
        read = log.read(position, bytes_max, end)
        assert read.size, f"nothing to read at {position} of {end}"
        aborted = sorted((each.offset_first, each.producer_id) for each in log.aborted_between(position, end))
        data = b"".join(part.file.read_at(part.position, part.size) for part in read.parts)
        batches, good, reason = _kernel.scan_batches(data, 0, len(data))
        assert good == len(data), f"a reader got broken bytes: {reason}"
        skipped: set[int] = set()
        for batch in batches:
            seen.batches += 1
            last = batch[2] + batch[3]
            assert last >= position, "a batch that was read before"
            while aborted and aborted[0][0] <= last:
                skipped.add(aborted.pop(0)[1])
            records = _kernel.decode_records(data, batch[0], len(data), INFLATED_MAX)
            if batch[5] & CONTROL:
                if records and records[0][2] is not None and records[0][2][2:4] == b"\0\0":
                    skipped.discard(batch[8])
            elif not (batch[5] & TRANSACTIONAL and batch[8] in skipped):
                for offset, _, key, value, headers in records:
                    if offset >= position:
                        assert key is not None
                        seen.headers[offset] = headers
                        seen.apply(offset, key, value)
        assert read.offset_next > position
        position = read.offset_next
    return seen


def expected(written: list[Written], start: int, end: int) -> Seen:
    """The same from the model: every committed record, and the state they amount to."""
    decided: dict[int, bool] = {}  # producer -> what the marker behind says, while walking back
    committed: list[int] = []
    for offset in range(len(written) - 1, start - 1, -1):
        entry = written[offset]
        if entry.commits is not None:
            decided[entry.producer] = entry.commits
        elif offset < end and (entry.producer < 0 or decided.get(entry.producer, False)):
            committed.append(offset)
    seen = Seen()
    for offset in reversed(committed):
        entry = written[offset]
        assert entry.key is not None
        seen.apply(offset, entry.key, entry.value)
    return seen


def check(log: PartitionLog, written: list[Written], now_ms: int) -> Seen:
    """The log shows nothing that was not written or was aborted, and amounts to the same state."""
    assert log.offline is None, log.offline
    assert log.offset_end == len(written), (log.offset_end, len(written))
    seen = read_committed(log)
    model = expected(written, log.offset_start, stable_end(log))
    for offset, record in seen.records.items():
        assert model.records.get(offset) == record, (offset, record, model.records.get(offset))
    assert seen.state == model.state
    assert all(headers == HEADERS for headers in seen.headers.values())
    facts = log.segment_facts()
    assert log.size_bytes == sum(each.size_bytes for each in facts)
    for before, after in pairwise(facts):
        assert before.offset_end == after.offset_base
    if facts and not log.settings.compacts:
        assert seen.records.keys() <= model.records.keys()
    active = facts[-1].offset_base if facts else 0
    missing = [offset for offset in model.records if offset not in seen.records]
    assert not [offset for offset in missing if offset >= active], "the active segment is never compacted"
    lag_ms, tombstone_ms = log.settings.compaction_lag_min_ms, log.settings.delete_retention_ms
    early = [offset for offset in missing if now_ms - written[offset].at_ms < lag_ms]
    assert not early, f"younger than the lag: {early}"
    last = {written[offset].key: offset for offset in model.records}
    gone = [offset for offset in missing if last[written[offset].key] == offset]
    early = [offset for offset in gone if now_ms - written[offset].at_ms < tombstone_ms]
    assert not early, f"tombstones whose time is not up: {early}"
    return seen
