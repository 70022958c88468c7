"""Sabotages of compaction, as whole nodes meet them. More of them, nearer to the log: tests/properties."""

from __future__ import annotations

from typing import Final

from twinlog.sim.disk import SimDisk
from twinlog.sim.planted.patch import Bug, Patch
from twinlog.storage.compaction import Compaction
from twinlog.storage.log import PartitionLog
from twinlog.storage.scanning import declared_size
from twinlog.storage.segment import Segment


def compacted_before_sync(patch: Patch) -> None:
    def end_output(self: Compaction) -> None:
        inner = Patch()
        inner.put(SimDisk, "sync_now", lambda self, file: None)
        try:
            before(self)
        finally:
            inner.undo()

    before = patch.put(Compaction, "_end_output", end_output)


def read_by_the_old_index(patch: Patch) -> None:
    def replace_segments(self: PartitionLog, old: list[Segment], new: Segment, written_path: str) -> None:
        new.offsets, new.positions = old[0].offsets, old[0].positions
        before(self, old, new, written_path)

    before = patch.put(PartitionLog, "replace_segments", replace_segments)


def keys_misread(patch: Patch) -> None:
    """Keys count as replaced that are not: their last offset is taken for one that lies further behind."""

    def rewrite_from_start(self: Compaction) -> int:
        self._compactor.begin_reading(0, 1 << 60, True)
        for segment in self._segments[:1]:
            data = self._disk.open(segment.path).read_at(0, segment.size)
            moved = bytearray(data[: declared_size(data)])
            moved[0:8] = (self._segments[-1].offset_end + 1000).to_bytes(8, "big")
            self._compactor.map(bytes(moved))
        return int(before(self))

    before = patch.put(Compaction, "_rewrite_from_start", rewrite_from_start)


BUGS: Final = (
    Bug(
        "compacted-before-sync", "a compacted segment counts before its bytes do", compacted_before_sync, 300, "tables"
    ),
    Bug("read-by-the-old-index", "a compacted segment keeps an old index", read_by_the_old_index, 300, "tables"),
    Bug("keys-misread", "compaction takes values for replaced that are not", keys_misread, 300, "tables"),
)
