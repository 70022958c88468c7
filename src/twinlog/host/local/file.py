"""One open file of the real machine."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from typing import Final

from twinlog.base.errors import DiskFull, HostFault
from twinlog.base.units import KIB, MIB
from twinlog.host.disk import Buffer
from twinlog.host.local import system_calls

_NO_ROOM: Final = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
_PARTS_PER_CALL_MAX: Final = 1024  # IOV_MAX of Linux
_HOT_TAIL_BYTES: Final = 4 * MIB
_WARM_STEP_BYTES: Final = 256 * KIB


def disk_fault(path: str, error: OSError) -> HostFault:
    family = DiskFull if error.errno in _NO_ROOM else HostFault
    return family(path, error.strerror or str(error))


class LocalFile:
    """A plain descriptor and its size. The descriptor stays open while a sync or a send still needs it,
    so that its number is never taken by another file behind their back."""

    __slots__ = ("_held", "_open", "device", "fault", "fd", "path", "size")

    def __init__(self, path: str, fd: int) -> None:
        self.path = path
        self.fd = fd
        status = os.fstat(fd)
        self.size = status.st_size
        self.device = status.st_dev
        self.fault: HostFault | None = None  # a failed sync, for good
        self._open = True
        self._held = 0

    def append(self, parts: Sequence[Buffer]) -> int:
        position = self.size
        try:
            if len(parts) == 1:
                size = len(parts[0])
                written = os.pwrite(self.fd, parts[0], position)
            else:
                size = sum(map(len, parts))
                written = os.pwritev(self.fd, parts, position) if len(parts) <= _PARTS_PER_CALL_MAX else 0
            if written != size:
                self._write_rest(b"".join(parts), position, written)
        except OSError as error:
            raise self._cut_back(position, error) from error
        self.size = position + size
        return position

    def write_at(self, position: int, data: Buffer) -> None:
        assert 0 <= position <= self.size, (position, self.size)
        try:
            written = os.pwrite(self.fd, data, position)
            if written != len(data):
                self._write_rest(data, position, written)
        except OSError as error:
            raise self._cut_back(self.size, error) from error
        self.size = max(self.size, position + len(data))

    def read_at(self, position: int, size: int) -> bytes:
        left = min(size, self.size - position)
        if left <= 0:
            return b""
        try:
            data = os.pread(self.fd, left, position)
            if len(data) == left:
                return data
            pieces = [data]
            while data and left > len(data):
                left -= len(data)
                position += len(data)
                data = os.pread(self.fd, left, position)
                pieces.append(data)
        except OSError as error:
            raise disk_fault(self.path, error) from error
        return b"".join(pieces)

    def truncate(self, size: int) -> None:
        try:
            os.ftruncate(self.fd, size)
        except OSError as error:
            raise disk_fault(self.path, error) from error
        self.size = size

    def reserve(self, size: int) -> None:
        if size > self.size:
            try:
                system_calls.reserve(self.fd, self.size, size - self.size)
            except OSError:  # not every file system can, and a full disk will say so at the write
                pass

    def close(self) -> None:
        self._open = False
        self._close_unless_held()

    # For the disk and the network of this machine.

    def hold(self) -> None:
        if self.fd < 0:
            raise HostFault(self.path, "closed")
        self._held += 1

    def release(self) -> None:
        self._held -= 1
        self._close_unless_held()

    def is_hot(self, position: int) -> bool:
        """Whether it was written so lately that it must be in memory."""
        return position >= self.size - _HOT_TAIL_BYTES

    def is_warm(self, position: int, size: int) -> bool:
        """Whether a read would not wait for the device, as far as both ends of the stretch can tell."""
        probe = bytearray(1)
        try:
            for place in (position, position + size - 1):
                os.preadv(self.fd, (probe,), place, os.RWF_NOWAIT)
        except OSError as error:  # else the file system does not tell, and sendfile will see
            return error.errno != errno.EAGAIN
        return True

    def warming(self, position: int, size: int) -> Callable[[], None]:
        """Work for a thread: brings the stretch into memory, and asks for the next one."""
        fd = self.fd

        def warm() -> None:
            os.posix_fadvise(fd, position, 2 * size, os.POSIX_FADV_WILLNEED)
            scratch = bytearray(_WARM_STEP_BYTES)
            place, end = position, position + size
            while place < end:
                count = os.preadv(fd, (scratch,), place)
                if count == 0:
                    break
                place += count

        return warm

    def _close_unless_held(self) -> None:
        if not self._open and self._held == 0 and self.fd >= 0:
            fd, self.fd = self.fd, -1
            os.close(fd)

    def _write_rest(self, data: Buffer, position: int, written: int) -> None:
        # The kernel stops in the middle when the disk is nearly full; only the next try says why.
        with memoryview(data) as view:
            while written < len(view):
                written += os.pwrite(self.fd, view[written:], position + written)

    def _cut_back(self, size: int, error: OSError) -> HostFault:
        try:
            os.ftruncate(self.fd, size)
        except OSError as second:
            return HostFault(self.path, f"{error.strerror}; then could not cut back: {second.strerror}")
        return disk_fault(self.path, error)
