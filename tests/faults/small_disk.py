"""An ext4 file system in a file, whose power can be cut: what was not synced when that happens is gone.

The forced shutdown of ext4 without a flush of its journal is as close to pulling the plug as a running machine comes:
dirty pages and names that the journal did not commit yet never reach the image, and the process gets EIO from then on.
Needs root and loop devices.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
import time
from pathlib import Path
from typing import Final

IMAGE_BYTES: Final = 256 << 20
SHUTDOWN: Final = 0x8004587D  # EXT4_IOC_SHUTDOWN
WITHOUT_FLUSH: Final = struct.pack("I", 2)  # EXT4_GOING_FLAGS_NOLOGFLUSH
UMOUNT_WAIT_S: Final = 20


class NoSmallDisk(Exception):
    """This machine does not allow it; the text says why."""


class SmallDisk:
    def __init__(self, folder: Path) -> None:
        self.image = folder / "image"
        self.path = folder / "mounted"

    def make(self) -> None:
        if os.geteuid() != 0:
            raise NoSmallDisk("mounting a disk image needs root")
        for tool in ("mkfs.ext4", "mount", "umount"):
            if shutil.which(tool, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") is None:
                raise NoSmallDisk(f"there is no {tool}")
        self.path.mkdir()
        with self.image.open("wb") as file:
            file.truncate(IMAGE_BYTES)
        self._run("mkfs.ext4", "-q", "-F", str(self.image))
        self.mount()

    def mount(self) -> None:
        self._run("mount", "-o", "loop", str(self.image), str(self.path))

    def cut_power(self) -> None:
        fd = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(fd, SHUTDOWN, WITHOUT_FLUSH)
        except OSError as error:
            raise NoSmallDisk(f"ext4 cannot be shut down here: {error}") from error
        finally:
            os.close(fd)

    def come_back(self) -> None:
        """Nobody may use it any more. Afterwards it holds what it would hold after a power cut."""
        self.unmount()
        self.mount()

    def unmount(self) -> None:
        deadline_s = time.monotonic() + UMOUNT_WAIT_S
        while True:
            try:
                self._run("umount", str(self.path))
            except NoSmallDisk:
                if time.monotonic() > deadline_s:
                    raise
                time.sleep(0.05)
            else:
                return

    def remove(self) -> None:
        if os.path.ismount(self.path):
            self.unmount()

    @staticmethod
    def _run(*command: str) -> None:
        environment = {**os.environ, "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode != 0:
            raise NoSmallDisk(f"{' '.join(command)}: {done.stderr.strip()}")
