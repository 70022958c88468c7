"""A simulated machine: it boots, runs a program, and dies in the ways machines die."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeAlias

from twinlog.host import Host
from twinlog.sim.clock import SimClock
from twinlog.sim.disk import SimDisk, SimPlatter
from twinlog.sim.loop import Owner
from twinlog.sim.network import SimNetwork
from twinlog.sim.tasks import SimTasks

if TYPE_CHECKING:
    from twinlog.sim.world import World

Program: TypeAlias = Callable[[Host], Coroutine[Any, Any, None]]


class SimHost:
    """The machine's name, clock and disk last; everything else belongs to one life."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self.lives = 0
        self.clock = SimClock(world.loop)
        self._chance = world.chance.fork(f"host {name}")
        self.platter = SimPlatter(name, world.loop, self._chance, world.trace)
        self._program: Program | None = None
        self._owner: Owner | None = None
        self._port: Host | None = None
        self._has_power = False

    @property
    def is_up(self) -> bool:
        return self._owner is not None

    @property
    def host(self) -> Host:
        """What a program sees of this machine, in its present life; begins one if there is none."""
        if self._port is None:
            self._begin_life()
        assert self._port is not None
        return self._port

    def boot(self, program: Program) -> None:
        """Starts the program; it will be started again by every ``restart``."""
        assert not self.is_up, f"{self.name} is up"
        self._program = program
        self.host.tasks.start(program(self.host), f"{self.name}.main")

    def restart(self) -> None:
        assert self._program is not None, "nothing was booted"
        self.boot(self._program)

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Runs ``work`` as part of this host, to its end."""
        host = self.host
        assert self._owner is not None and host is self._port
        task = self.world.loop.create_task(work, context=self._owner.context())
        return self.world.run_until(task)

    def kill(self) -> None:
        """The process dies. What it wrote is with the kernel, and connections are ended for it."""
        if self._owner is not None:
            self.world.trace.note(self.name, "kill")
            self._end_life()

    def cut_power(self) -> None:
        """Nothing survives but the platter; peers are not told."""
        self.world.trace.note(self.name, "power cut")
        if self._owner is not None:
            self.world.fabric.power_lost(self.name, self._owner)
            self._end_life()
        self.world.fabric.up[self.name] = self._has_power = False
        self.platter.cut_power()

    def pause(self) -> None:
        """The process stands still, as after SIGSTOP; its clocks go on."""
        if self._owner is not None and self._owner.stopped is None:
            self.world.trace.note(self.name, "pause")
            self._owner.stopped = []

    def go_on(self) -> None:
        if self._owner is not None and self._owner.stopped is not None:
            self.world.trace.note(self.name, "go on")
            self.world.loop.go_on(self._owner)

    def _begin_life(self) -> None:
        self.lives += 1
        self.world.trace.note(self.name, "life", self.lives)
        owner = self._owner = Owner(f"{self.name}/{self.lives}", self.world.fail)
        chance = self._chance.fork(f"life {self.lives}")
        self._port = Host(
            self.clock,
            chance.fork("program"),
            SimDisk(self.platter, owner),
            SimNetwork(self.world.fabric, self.name, owner),
            SimTasks(self.world.loop, owner, chance.fork("tasks")),
        )
        if not self._has_power:
            self._has_power = True
            self.world.fabric.power_returned(self.name)

    def _end_life(self) -> None:
        assert self._owner is not None
        self.world.fabric.process_died(self._owner)
        self.world.loop.bury(self._owner)
        self._owner = self._port = None
