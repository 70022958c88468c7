"""Reads a segment batch by batch and checks what the checksums cover; the log's own order is checked by recovery."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twinlog._kernel import scan_batches
from twinlog.base.units import MIB
from twinlog.host import File
from twinlog.storage.types import BATCH_HEADER, BATCH_OVERHEAD_BYTES, Batch

CHUNK_BYTES: Final = 4 * MIB


class Scan:
    """Iterates ``(position, batch, data)``: ``data[batch.off : batch.off + batch.size]`` is the batch itself.

    Afterwards ``position`` is the end of the last good batch, and ``reason`` says why it went no further:
    empty when the segment was good to its end.
    """

    def __init__(self, file: File, start: int, end: int) -> None:
        self._file = file
        self._end = end
        self.position = start
        self.reason = ""

    def __iter__(self) -> Iterator[tuple[int, Batch, bytes]]:
        wanted = CHUNK_BYTES
        while self.position < self._end:
            start = self.position
            data = self._file.read_at(start, min(wanted, self._end - start))
            batches, good_bytes, reason = scan_batches(data, 0, len(data))
            for batch in batches:
                yield start + batch[0], batch, data
                self.position = start + batch[0] + batch[1]
            if reason not in ("", "short"):
                self.reason = reason
                return
            if good_bytes:
                wanted = CHUNK_BYTES
                continue
            size = declared_size(data)
            if start + max(size, len(data) + 1) > self._end or size <= len(data):
                self.reason = "short"
                return
            wanted = size


def declared_size(data: bytes) -> int:
    """How long the batch at the start of ``data`` says it is; 0 when even that is missing."""
    if len(data) < BATCH_HEADER.size:
        return 0
    length: int = BATCH_HEADER.unpack_from(data)[1]
    return BATCH_OVERHEAD_BYTES + length if length > 0 else 0
