"""The only door to the machine: clock, chance, disk, network, tasks.

Everything above takes a ``Host`` through its constructor. ``host.local`` is the real machine,
``twinlog.sim`` the simulated one; both pass the conformance kit in ``tests/kit``.
"""

from __future__ import annotations

from dataclasses import dataclass

from twinlog.host.chance import Chance
from twinlog.host.clock import Clock
from twinlog.host.disk import Buffer, Disk, File, FileSlice, Lock, SyncDone
from twinlog.host.network import Listener, Network, Stream, StreamHandler
from twinlog.host.tasks import Tasks, Timer


@dataclass(frozen=True, slots=True)
class Host:
    """A machine, real or simulated."""

    clock: Clock
    chance: Chance
    disk: Disk
    network: Network
    tasks: Tasks


__all__ = [
    "Buffer",
    "Chance",
    "Clock",
    "Disk",
    "File",
    "FileSlice",
    "Host",
    "Listener",
    "Lock",
    "Network",
    "Stream",
    "StreamHandler",
    "SyncDone",
    "Tasks",
    "Timer",
]
