"""What a partition log needs from the data directory it lives in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from twinlog.base import HostFault
from twinlog.host import Disk
from twinlog.storage.files import FilePool
from twinlog.storage.flusher import Flusher
from twinlog.storage.marks import LogKey, MarksFile
from twinlog.storage.metrics import StorageMetrics
from twinlog.storage.settings import StorageSettings
from twinlog.storage.small_rounds import SmallRounds


class LogHome(Protocol):
    """A data directory."""

    path: str
    logs_path: str
    disk: Disk
    pool: FilePool
    flusher: Flusher
    small_rounds: SmallRounds
    marks: MarksFile
    settings: StorageSettings
    offline: HostFault | None
    is_low: bool
    metrics: StorageMetrics

    def path_of(self, key: LogKey) -> str: ...

    def now_ms(self) -> int: ...

    def soon(self, callback: Callable[[], None]) -> None: ...

    def fail(self, fault: HostFault) -> None:
        """A write failed: the whole directory goes offline."""

    def on_full(self) -> None:
        """A write met the end of the disk; nothing was written."""

    def quietly(self, work: Callable[..., object], *args: object) -> None:
        """Does what only makes later work cheaper. A full disk must not turn it into a failure."""

    def discard(self, paths: list[str], delay_ms: int) -> None:
        """Takes files away under their names now, and their bytes after the delay."""
