"""How far a log was compacted, and when another pass would find something to drop.

One small file in the log's directory, replaced whole after each pass. Losing it costs one pass that begins at the
log's start, so whatever looks wrong in it counts as nothing.
"""

from __future__ import annotations

from struct import Struct
from typing import Final, NamedTuple

from twinlog._kernel import frame_build, frame_scan
from twinlog.base import HostFault
from twinlog.host import Disk
from twinlog.storage.files import read_whole, write_whole

HEAD: Final = b"TLCP\x01\x00"  # magic, version
BODY: Final = Struct("<qq")
NEVER: Final = -1
FILE_BYTES_MAX: Final = 4096


class Compacted(NamedTuple):
    """Below ``offset`` every key is there once. Tombstones and markers may go from ``horizon_ms`` on; -1: none wait."""

    offset: int
    horizon_ms: int

    def up_to(self, offset_end: int) -> Compacted:
        """The log was cut: what lies behind its end will be new."""
        return self if self.offset <= offset_end else Compacted(offset_end, self.horizon_ms)


NEVER_COMPACTED: Final = Compacted(0, NEVER)


def read_compacted(disk: Disk, directory: str) -> Compacted:
    try:
        data = read_whole(disk, f"{directory}/compaction", FILE_BYTES_MAX) or b""
    except HostFault:
        return NEVER_COMPACTED
    frames, _, _ = frame_scan(data, 0, len(data))
    payloads = [bytes(data[at : at + size]) for at, size in frames]
    if len(payloads) != 2 or payloads[0] != HEAD or len(payloads[1]) != BODY.size:
        return NEVER_COMPACTED
    compacted = Compacted(*BODY.unpack(payloads[1]))
    return compacted if compacted.offset >= 0 else NEVER_COMPACTED


def write_compacted(disk: Disk, directory: str, compacted: Compacted) -> None:
    write_whole(disk, f"{directory}/compaction", encode_compacted(compacted))


def encode_compacted(compacted: Compacted) -> bytes:
    return bytes(frame_build([HEAD, BODY.pack(*compacted)]))
