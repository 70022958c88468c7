"""The metadata log's journal on disk: ``cluster.ports.Journal`` over ``storage.FrameLog``."""

from __future__ import annotations

from collections import deque

from twinlog.base import HostFault
from twinlog.host import SyncDone
from twinlog.storage.frames import FrameLog


class FrameJournal:
    """One entry a group: it is there whole after a crash, or not at all."""

    def __init__(self, frames: FrameLog) -> None:
        self._frames = frames
        self._waiting: deque[tuple[int, SyncDone]] = deque()
        frames.on_synced = self._synced
        frames.on_failed = self._failed

    @property
    def size_bytes(self) -> int:
        return self._frames.size_bytes

    @size_bytes.setter
    def size_bytes(self, _: int) -> None:  # the port declares an attribute
        raise AttributeError("the size is what was written")

    def open(self) -> tuple[bytes | None, list[bytes]]:
        replay = self._frames.open()
        return replay.state, replay.records

    def append(self, payload: bytes, done: SyncDone) -> None:
        position = self._frames.append([payload])
        self._waiting.append((position, done))

    def snapshot(self, payload: bytes) -> None:
        self._frames.snapshot(payload)

    def close(self) -> None:
        self._frames.close()

    def _synced(self, position: int) -> None:
        while self._waiting and self._waiting[0][0] <= position:
            self._waiting.popleft()[1](None)

    def _failed(self, fault: HostFault) -> None:
        while self._waiting:
            self._waiting.popleft()[1](fault)
