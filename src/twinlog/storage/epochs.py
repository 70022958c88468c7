"""Which leader epoch wrote from which offset on: a few pairs, in memory and in one file of the log's directory.

Followers and consumers find by them where their history parts from ours. Epochs and offsets only grow.
The file is a row of frames: first a head with its version, then one pair a frame. Pairs are added at the end;
anything else writes the file anew. Recovery makes it from the batches when it is lost.
"""

from __future__ import annotations

from bisect import bisect_right
from struct import Struct
from typing import Final

from twinlog._kernel import frame_build, frame_scan
from twinlog.storage.types import EpochEnd

PAIR: Final = Struct("<iq")
HEAD: Final = b"TLEP\x01\x00"  # magic, version
UNKNOWN: Final = EpochEnd(-1, -1)


class EpochHistory:
    """Answers by epoch and by offset. Persisting it is the log's business."""

    __slots__ = ("epochs", "starts")

    def __init__(self) -> None:
        self.epochs: list[int] = []
        self.starts: list[int] = []

    @property
    def latest(self) -> int:
        return self.epochs[-1] if self.epochs else -1

    def pairs(self) -> list[tuple[int, int]]:
        return list(zip(self.epochs, self.starts))

    def assign(self, epoch: int, offset: int) -> None:
        """``epoch`` writes from ``offset`` on. An epoch that never wrote anything gives way."""
        assert epoch > self.latest, (epoch, self.latest)
        while self.starts and self.starts[-1] >= offset:
            self.starts.pop()
            self.epochs.pop()
        self.epochs.append(epoch)
        self.starts.append(offset)

    def epoch_at(self, offset: int) -> int:
        """The epoch that wrote ``offset``; -1 when it is older than the history."""
        slot = bisect_right(self.starts, offset) - 1
        return self.epochs[slot] if slot >= 0 else -1

    def end_of(self, epoch: int, offset_end: int) -> EpochEnd:
        """The greatest known epoch up to ``epoch``, and where it ended."""
        if not self.epochs or epoch < 0 or epoch > self.epochs[-1]:
            return UNKNOWN
        slot = bisect_right(self.epochs, epoch)
        if slot == 0:
            return EpochEnd(epoch, self.starts[0])
        return EpochEnd(self.epochs[slot - 1], self.starts[slot] if slot < len(self.starts) else offset_end)

    def truncate_to(self, offset: int) -> bool:
        """Drops epochs that began at or after ``offset``; says whether there were any."""
        kept = len(self.starts)
        while kept and self.starts[kept - 1] >= offset:
            kept -= 1
        changed = kept < len(self.starts)
        del self.starts[kept:], self.epochs[kept:]
        return changed

    def delete_to(self, offset: int) -> bool:
        """Drops epochs that ended at or before ``offset``; the one that holds it then begins there."""
        slot = bisect_right(self.starts, offset) - 1
        if slot < 0 or (slot == 0 and self.starts[0] == offset):
            return False
        del self.starts[:slot], self.epochs[:slot]
        self.starts[0] = offset
        return True

    def encode(self) -> bytes:
        return bytes(frame_build([HEAD, *(PAIR.pack(*pair) for pair in self.pairs())]))

    @staticmethod
    def encode_pair(epoch: int, offset: int) -> bytes:
        """What is added to the file for one more epoch."""
        return bytes(frame_build([PAIR.pack(epoch, offset)]))

    @classmethod
    def decode(cls, data: bytes) -> tuple[EpochHistory, bool]:
        """The pairs up to the first that is not whole or not in order; and whether that was all."""
        frames, _, reason = frame_scan(data, 0, len(data))
        payloads = [bytes(data[at : at + size]) for at, size in frames]
        history = cls()
        if not payloads or payloads[0] != HEAD:
            return history, False
        for payload in payloads[1:]:
            if len(payload) != PAIR.size:
                return history, False
            epoch, start = PAIR.unpack(payload)
            if epoch <= history.latest or (history.starts and start <= history.starts[-1]):
                return history, False
            history.epochs.append(epoch)
            history.starts.append(start)
        return history, not reason
