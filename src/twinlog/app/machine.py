"""What the process uses of its machine, for those who look after it."""

from __future__ import annotations

import os
import platform
import socket
from importlib.resources import files
from pathlib import Path
from typing import Final

PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
CGROUP_MEMORY: Final = "/sys/fs/cgroup/memory.max"


class LocalMachine:
    """Read from the operating system at each call; what it does not tell is 0."""

    def __init__(self) -> None:
        self.name: Final = socket.gethostname() or "localhost"
        self.process_id: Final = os.getpid()

    def resident_bytes(self) -> int:
        try:
            with open("/proc/self/statm", "rb") as file:
                return int(file.read().split()[1]) * PAGE_BYTES
        except (OSError, IndexError, ValueError):
            import resource

            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def memory_bytes(self) -> int:
        whole = os.sysconf("SC_PHYS_PAGES") * PAGE_BYTES
        try:
            text = Path(CGROUP_MEMORY).read_text().strip()
        except OSError:
            return whole
        return min(whole, int(text)) if text.isdecimal() else whole

    def cpu_seconds(self) -> float:
        times = os.times()
        return times.user + times.system

    def descriptors(self) -> tuple[int, int]:
        import resource

        try:
            used = len(os.listdir("/proc/self/fd"))
        except OSError:
            used = 0
        return used, resource.getrlimit(resource.RLIMIT_NOFILE)[0]

    def python(self) -> str:
        return platform.python_version()


class BuiltFiles:
    """The console as ``make console`` built it into the package. What exists is listed once; a name that is not on the
    list is never looked for, so no name from outside becomes a path."""

    def __init__(self) -> None:
        self._root = files("twinlog.servers.http") / "static"
        self._names: dict[str, tuple[bytes, str] | None] | None = None

    def read(self, name: str) -> tuple[bytes, str] | None:
        if self._names is None:
            self._names = dict.fromkeys(self._listed())
        if name not in self._names:
            return None
        known = self._names[name]
        if known is None:
            import hashlib

            content = self._root.joinpath(*name.split("/")).read_bytes()
            known = self._names[name] = (content, hashlib.sha256(content).hexdigest()[:16])
        return known

    def _listed(self) -> list[str]:
        if not self._root.is_dir():
            return []
        found = [each.name for each in self._root.iterdir() if each.is_file()]
        assets = self._root / "assets"
        if assets.is_dir():
            found += [f"assets/{each.name}" for each in assets.iterdir() if each.is_file()]
        return found
