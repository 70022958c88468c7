"""Linux calls that Python does not offer.

``ctypes`` lets go of the interpreter lock while they run, which is what the sync thread needs.
"""

from __future__ import annotations

import ctypes
import os
from typing import Final

_FALLOC_FL_KEEP_SIZE: Final = 0x01
# Before 5.8 syncfs waited for the writes and then kept their errors to itself.
_SYNCFS_REPORTS_FROM: Final = (5, 8)

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syncfs.argtypes = [ctypes.c_int]
_libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]


def syncfs(fd: int) -> None:
    """Makes everything on the file system of ``fd`` durable."""
    if _libc.syncfs(fd) != 0:
        _raise_errno()


def reserve(fd: int, position: int, size: int) -> None:
    """Allocates blocks without making the file longer."""
    if _libc.fallocate(fd, _FALLOC_FL_KEEP_SIZE, position, size) != 0:
        _raise_errno()


def syncfs_reports_errors() -> bool:
    major, minor = os.uname().release.split(".")[:2]
    return (int(major), int(minor.split("-")[0])) >= _SYNCFS_REPORTS_FROM


def _raise_errno() -> None:
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number))
