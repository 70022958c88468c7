"""Files of the real machine."""

from __future__ import annotations

import fcntl
import os
import shutil
from asyncio import AbstractEventLoop
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from twinlog.base.errors import HostFault
from twinlog.host.disk import File, SyncDone
from twinlog.host.local.file import LocalFile, disk_fault
from twinlog.host.local.sync import SyncRound, SyncThread, sync_directory

T = TypeVar("T")


class LocalDisk:
    """Plain descriptors, and one thread that makes them durable."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._sync_thread = SyncThread(loop)

    def open(self, path: str, *, create: bool = False) -> LocalFile:
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        file = LocalFile(path, _asked(path, lambda: os.open(path, flags, 0o640)))
        self._sync_thread.watch(file)
        return file

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def size(self, path: str) -> int:
        return _asked(path, lambda: os.stat(path)).st_size

    def list(self, path: str) -> list[str]:
        return sorted(_asked(path, lambda: os.listdir(path)))

    def make_directory(self, path: str) -> None:
        _asked(path, lambda: os.makedirs(path, mode=0o750, exist_ok=True))

    def rename(self, old: str, new: str) -> None:
        _asked(old, lambda: os.replace(old, new))

    def delete(self, path: str) -> None:
        _asked(path, lambda: os.unlink(path))

    def delete_tree(self, path: str) -> None:
        if os.path.lexists(path):
            _asked(path, lambda: shutil.rmtree(path))

    def free_bytes(self, path: str) -> int:
        status = _asked(path, lambda: os.statvfs(path))
        return status.f_bavail * status.f_frsize

    def total_bytes(self, path: str) -> int:
        status = _asked(path, lambda: os.statvfs(path))
        return status.f_blocks * status.f_frsize

    def lock(self, path: str) -> LocalLock:
        return LocalLock(path)

    def sync_now(self, file: File) -> None:
        self._sync_thread.sync_now(cast(LocalFile, file))

    def sync_directory_now(self, path: str) -> None:
        sync_directory(path)

    def start_sync(
        self, files: Sequence[File], directories: Sequence[str], done: SyncDone, *, small: bool = False
    ) -> None:
        self._sync_thread.start(SyncRound(cast("Sequence[LocalFile]", tuple(files)), tuple(directories), done, small))

    def close(self) -> None:
        """After the syncs already asked for. Files still open stay usable, but cannot be synced in rounds."""
        self._sync_thread.close()


class LocalLock:
    """An ``flock``: it goes with its descriptor, however the process ends. The file stays."""

    def __init__(self, path: str) -> None:
        self._fd = _asked(path, lambda: os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640))
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.release()
            raise HostFault(path, "another process holds it") from error

    def release(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)


def _asked(path: str, call: Callable[[], T]) -> T:
    try:
        return call()
    except OSError as error:
        raise disk_fault(path, error) from error
