"""Files, as a broker needs them.

Writes reach the page cache; only a sync makes them durable, and a new, renamed or deleted name is
durable only after its directory was synced. Every call may raise ``HostFault``; a write that meets the
end of the disk raises ``DiskFull`` and leaves the file as long as it was before the call.
A sync that failed once fails for that file (and, when many were synced at once, for its whole file
system) until the process ends: after a failure the kernel counts the lost pages as clean, so a second
try would lie. Paths are strings with ``/``, absolute or relative to the process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview
SyncDone: TypeAlias = Callable[[Exception | None], None]


class File(Protocol):
    """An open file. ``size`` is what was written so far, tracked without asking the kernel."""

    @property
    def path(self) -> str: ...

    @property
    def size(self) -> int: ...

    def append(self, parts: Sequence[Buffer]) -> int:
        """Writes all parts at the end (whole or not at all); returns the position of the first."""

    def write_at(self, position: int, data: Buffer) -> None:
        """Overwrites from ``position``, at most ``size``; what reaches beyond makes the file longer."""

    def read_at(self, position: int, size: int) -> bytes:
        """Up to ``size`` bytes; fewer only at the end of the file."""

    def truncate(self, size: int) -> None: ...

    def reserve(self, size: int) -> None:
        """Asks for room up to ``size`` without changing the file's length; a hint, never an error."""

    def close(self) -> None:
        """Nothing new may be asked afterwards; syncs and sends under way still end well."""


class Lock(Protocol):
    """Exclusive use of a path, gone with the process at the latest."""

    def release(self) -> None: ...


class FileSlice(NamedTuple):
    """Bytes of a file, to be sent without passing through us."""

    file: File
    position: int
    size: int


class Disk(Protocol):
    """One storage device's door. Sync is asked for, and answered on the loop."""

    def open(self, path: str, *, create: bool = False) -> File:
        """Opens for reading and writing. ``create`` makes a missing file, else missing is ``HostFault``."""

    def exists(self, path: str) -> bool: ...

    def size(self, path: str) -> int:
        """The length of a file that need not be open; ``HostFault`` when it is missing."""

    def list(self, path: str) -> list[str]:
        """Sorted names in a directory; ``HostFault`` when it is missing."""

    def make_directory(self, path: str) -> None:
        """With its parents; an existing one is fine."""

    def rename(self, old: str, new: str) -> None:
        """Replaces ``new`` if it is there, at once and wholly."""

    def delete(self, path: str) -> None: ...
    def delete_tree(self, path: str) -> None:
        """A directory and all in it; a missing one is fine."""

    def free_bytes(self, path: str) -> int:
        """What we may still write to the file system that holds ``path``."""

    def total_bytes(self, path: str) -> int: ...

    def lock(self, path: str) -> Lock:
        """Takes the file ``path`` (made when missing) for this process alone; ``HostFault`` when another holds it."""

    def sync_now(self, file: File) -> None:
        """Blocks until the file's bytes are durable. For start-up and rare events only."""

    def sync_directory_now(self, path: str) -> None: ...

    def start_sync(
        self, files: Sequence[File], directories: Sequence[str], done: SyncDone, *, small: bool = False
    ) -> None:
        """Makes all of them durable away from the loop, then calls ``done(fault or None)`` on the loop.

        It covers what was written before the call. Many files are made durable by one sync of their
        file system. Rounds asked for meanwhile wait for their turn. ``small``: a few kilobytes in a file that does not
        grow; a disk that is quicker than the way to another thread and back may do that at once, and then ``done``
        is called before this call returns.
        """
