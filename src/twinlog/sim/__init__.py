"""Whole nodes in a world that one seed decides.

``World(seed)`` holds hosts by name; each offers the same ports as the real machine, on virtual time, on a
disk that forgets what was not synced, and on wires that delay, cut and reset. A run that fails does so
again with its seed. Nothing outside this room may draw chance or ask for the time on its own.

    with World(seed=1) as world:
        world.host("a").boot(program)       # async def program(host: Host) -> None
        world.run_for(1_000)
        world.host("a").cut_power()
        world.host("a").restart()
"""

from __future__ import annotations

from twinlog.sim.chance import SimChance
from twinlog.sim.fabric import Fabric, LinkProfile
from twinlog.sim.faults import DISK_CALLS, DiskFaults
from twinlog.sim.host import SimHost
from twinlog.sim.loop import NothingLeft
from twinlog.sim.world import World

__all__ = ["DISK_CALLS", "DiskFaults", "Fabric", "LinkProfile", "NothingLeft", "SimChance", "SimHost", "World"]
