"""Watches what may run out, memory and disk, and raises the alarms that keep publishers from making it worse."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from twinlog.amqp.alarms import DISK, MEMORY, Alarms
from twinlog.amqp.settings import AmqpSettings
from twinlog.base import HostFault
from twinlog.base.logs import Log
from twinlog.host import Disk, Tasks, Timer

MEMORY_SHARE: Final = 0.6
INTERVAL_MS: Final = 1000


class AlarmWatch:
    """Looks once a second. ``resident_bytes`` is what the process holds, or 0 where nobody knows."""

    def __init__(
        self,
        alarms: Alarms,
        settings: AmqpSettings,
        disk: Disk,
        directory: str,
        tasks: Tasks,
        log: Log,
        *,
        resident_bytes: Callable[[], int] = lambda: 0,
        memory_total_bytes: int = 0,
    ) -> None:
        self._alarms = alarms
        self._settings = settings
        self._disk = disk
        self._directory = directory
        self._tasks = tasks
        self._log = log
        self._resident_bytes = resident_bytes
        self._memory_max = settings.memory_alarm_bytes or int(memory_total_bytes * MEMORY_SHARE)
        self._timer: Timer | None = None
        self.on_memory: Callable[[int, int], None] = lambda used, wanted_max: None

    def start(self) -> None:
        self._look()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        used = self._resident_bytes()
        self.on_memory(used, self._memory_max)
        self._set(MEMORY, bool(self._memory_max) and used > self._memory_max, f"{used} of {self._memory_max} bytes")
        try:
            free = self._disk.free_bytes(self._directory)
        except HostFault:
            free = 0
        wanted = self._settings.disk_free_min_bytes
        self._set(DISK, free < wanted, f"{free} bytes free, {wanted} wanted")
        self._timer = self._tasks.later(INTERVAL_MS, self._look)

    def _set(self, name: str, is_low: bool, why: str) -> None:
        if is_low and name not in self._alarms.active:
            self._log.warning("publishers are not read: the node is low", on=name, why=why)
            self._alarms.raise_alarm(name, why)
        elif not is_low and name in self._alarms.active:
            self._log.info("publishers are read again", on=name)
            self._alarms.clear(name)


def resident_bytes() -> int:
    """Of this process, where the system tells."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def memory_total_bytes() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
