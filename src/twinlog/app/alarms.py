"""Watches what may run out, memory and disk, and raises the alarms that keep clients from making it worse.

Memory is looked at in two ways: what the process holds, once a second, and what connections hold (``host.memory``),
which is counted as it changes. Either of them may be short, and then scarce; when connections hold all that they may,
those that hold most are closed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from twinlog.amqp.alarms import DISK, MEMORY, Alarms
from twinlog.app.settings import MemorySettings
from twinlog.base import HostFault
from twinlog.base.logs import Log
from twinlog.host import Host, Timer

MEMORY_SHARE: Final = 0.6  # of the machine's, that the process may hold before it counts as short
CONNECTIONS_SHARE: Final = 0.25  # of the machine's, that connections may hold
SHORT_AT: Final = 0.6  # of what connections may hold
SCARCE_AT: Final = 0.8
SCARCE_FROM_SHORT: Final = SCARCE_AT / SHORT_AT
INTERVAL_MS: Final = 1000


class AlarmWatch:
    """``resident_bytes`` is what the process holds, or 0 where nobody knows. ``on_memory`` is told whether memory is
    short, and whether it is scarce, whenever that changes."""

    def __init__(
        self,
        host: Host,
        alarms: Alarms,
        settings: MemorySettings,
        directory: str,
        log: Log,
        on_memory: Callable[[bool, bool], None],
        *,
        memory_alarm_bytes: int,
        disk_free_min_bytes: int,
        resident_bytes: Callable[[], int] = lambda: 0,
        memory_total_bytes: int = 0,
    ) -> None:
        self._host = host
        self._alarms = alarms
        self._directory = directory
        self._log = log
        self._on_memory = on_memory
        self._disk_free_min_bytes = disk_free_min_bytes
        self._resident_bytes = resident_bytes
        self._memory_max = memory_alarm_bytes or int(memory_total_bytes * MEMORY_SHARE)
        self._connections_max = settings.connections_max_bytes or int(memory_total_bytes * CONNECTIONS_SHARE)
        self._used = 0
        self._told = (False, False)
        self._timer: Timer | None = None
        marks = [int(self._connections_max * share) for share in (SHORT_AT, SCARCE_AT, 1)]
        memory = self._memory = host.network.memory
        memory.limit(marks if self._connections_max else (), settings.connection_max_bytes)
        host.network.queue_high_bytes = settings.send_queue_max_bytes

    @property
    def connections_max_bytes(self) -> int:
        """What connections may hold; 0: nobody knows how much there is."""
        return self._connections_max

    def start(self) -> None:
        self._memory.on_level = lambda level: self._host.tasks.soon(self._judge_memory)
        self._look()

    def stop(self) -> None:
        self._memory.on_level = lambda level: None
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        self._used = self._resident_bytes()
        self._judge_memory()
        try:
            free = self._host.disk.free_bytes(self._directory)
        except HostFault:
            free = 0
        wanted = self._disk_free_min_bytes
        self._set(DISK, free < wanted, f"{free} bytes free, {wanted} wanted")
        self._timer = self._host.tasks.later(INTERVAL_MS, self._look)

    def _judge_memory(self) -> None:
        level, held = self._memory.level, self._memory.held_bytes
        over = self._used / self._memory_max if self._memory_max else 0
        is_short, is_scarce = over > 1 or level >= 1, over > SCARCE_FROM_SHORT or level >= 2
        why = f"connections hold {held} of {self._connections_max} bytes" if level else ""
        self._set(MEMORY, is_short, why or f"{self._used} of {self._memory_max} bytes")
        if (is_short, is_scarce) != self._told:
            self._told = is_short, is_scarce
            self._on_memory(is_short, is_scarce)
        if level >= 3:
            closed = self._memory.closed_count
            self._memory.shed(int(self._connections_max * SCARCE_AT))
            count = self._memory.closed_count - closed
            self._log.warning("closed the connections that held most memory", count=count, held_bytes=held)

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
