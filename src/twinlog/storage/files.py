"""Open files within a limit, and files that are replaced whole."""

from __future__ import annotations

from typing import Final, Protocol

from twinlog.host import Disk, File, Tasks

REWRITE_BYTES: Final = 1 << 20
LOOKS_MAX: Final = 64  # files passed over in search of one to close


class Pooled(Protocol):
    """Somebody whose file may be closed behind his back. He reopens it through the pool when he needs it again."""

    path: str
    file: File | None
    touched: bool  # set by the owner at every use; cleared by the pool when it passes by
    unsynced: bool  # the file must stay open: a sync through another descriptor could miss an error

    def let_go(self) -> None:
        """Forgets the file and what was read from it."""


class FilePool:
    """Keeps at most ``limit`` files open, and closes those that nobody used for a while.

    A second-chance clock instead of an ordered list: a use costs its owner one attribute, not a call.
    """

    def __init__(self, disk: Disk, tasks: Tasks, limit: int) -> None:
        self._disk = disk
        self._tasks = tasks
        self._limit = limit
        self._open: dict[Pooled, None] = {}

    def __len__(self) -> int:
        return len(self._open)

    def open(self, owner: Pooled, *, create: bool = False) -> File:
        """The owner's file, opened if it is not."""
        if owner.file is not None:
            return owner.file
        if len(self._open) >= self._limit:
            self._make_room()
        file = self._disk.open(owner.path, create=create)
        owner.file = file
        owner.touched = True
        self._open[owner] = None
        return file

    def close(self, owner: Pooled) -> None:
        """Closes the owner's file if it is open."""
        if self._open.pop(owner, self) is None and owner.file is not None:
            # Not at once: a read of this very moment may have handed out a slice that is not yet on its way.
            self._tasks.soon(owner.file.close)
            owner.let_go()

    def close_idle(self) -> None:
        """Closes what was not used since the last call."""
        for owner in list(self._open):
            if owner.touched:
                owner.touched = False
            elif not owner.unsynced:
                self.close(owner)

    def _make_room(self) -> None:
        # Twice around at most: the first pass may only take the second chances away. Files that wait for a sync
        # are passed over, so the limit can be exceeded until the next round has ended.
        for _ in range(min(2 * len(self._open), LOOKS_MAX)):
            owner = next(iter(self._open))
            if owner.touched or owner.unsynced:
                owner.touched = False
                del self._open[owner]
                self._open[owner] = None
            else:
                self.close(owner)
                return


def write_whole(disk: Disk, path: str, data: bytes) -> None:
    """Replaces a file at once and durably: after a crash it holds the old bytes or the new ones, never a mix."""
    temporary = path + ".new"
    file = disk.open(temporary, create=True)
    try:
        file.truncate(0)
        file.append((data,))
        disk.sync_now(file)
    finally:
        file.close()
    disk.rename(temporary, path)
    disk.sync_directory_now(parent(path))


def write_cache(disk: Disk, path: str, data: bytes) -> None:
    """Writes a file that may be lost, but carries a checksum: it is not synced."""
    file = disk.open(path, create=True)
    try:
        file.truncate(0)
        file.append((data,))
    finally:
        file.close()


def write_again(file: File, position: int = 0) -> None:
    """Writes the bytes from ``position`` on over themselves, so that the next sync is about them.

    After a sync that failed, the kernel holds bytes that are not on the disk and takes them for clean: a process that
    starts then reads them, syncs them with success, and the next power cut takes them.
    """
    while position < file.size:
        data = file.read_at(position, REWRITE_BYTES)
        file.write_at(position, data)
        position += len(data)


def read_whole(disk: Disk, path: str, limit: int = 1 << 30) -> bytes | None:
    """The bytes of a file, or None when it is missing."""
    if not disk.exists(path):
        return None
    file = disk.open(path)
    try:
        return file.read_at(0, min(file.size, limit))
    finally:
        file.close()


def parent(path: str) -> str:
    return path.rpartition("/")[0]
