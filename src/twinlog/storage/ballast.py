"""A file that only takes room: given back when the disk is full to the last byte.

Deleting needs a few bytes, too: the mark that says where a log begins has to be durable before its segments go. On a
disk that is really full that write finds the ballast's room, the segments go, and the ballast comes back with theirs.
"""

from __future__ import annotations

from typing import Final

from twinlog.base import DiskFull, HostFault
from twinlog.base.units import KIB
from twinlog.host import Disk

PIECE: Final = bytes(64 * KIB)


class Ballast:
    """One a data directory; ``size_bytes`` 0 is none."""

    def __init__(self, disk: Disk, path: str, size_bytes: int) -> None:
        self._disk = disk
        self._path = path
        self._size_bytes = size_bytes

    @property
    def is_whole(self) -> bool:
        return not self._size_bytes or (
            self._disk.exists(self._path) and self._disk.size(self._path) >= self._size_bytes
        )

    def take(self) -> None:
        """Takes the room, if there is room to take. Really written: what is only reserved some file systems forget."""
        try:
            if self.is_whole:
                return
            file = self._disk.open(self._path, create=True)
            try:
                while file.size < self._size_bytes:
                    file.append((PIECE[: self._size_bytes - file.size],))
            finally:
                file.close()
        except DiskFull:
            self.drop()
        except HostFault:
            pass  # what matters on this disk will say so itself

    def drop(self) -> bool:
        """Gives the room back; whether there was any."""
        try:
            if not self._disk.exists(self._path) or not self._disk.size(self._path):
                return False
            file = self._disk.open(self._path)
            try:
                file.truncate(0)
            finally:
                file.close()
        except HostFault:
            return False
        return True
