"""The broker's process on its simulated machine, and the supervisor that starts it again."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from typing import Final

from twinlog.app.node import Node
from twinlog.app.settings import NodeSettings
from twinlog.base import TwinlogError
from twinlog.base.logs import Silence
from twinlog.host import Host
from twinlog.sim.clients.link import BROKER
from twinlog.sim.loop import SimHandle
from twinlog.sim.world import World

RESTART_MS: Final = (20, 800)


class BrokerProcess:
    """Runs a node; when the process ends in whatever way, it is started again a little later."""

    def __init__(self, world: World, settings: NodeSettings, tell: Callable[[str], None]) -> None:
        self.world = world
        self.machine = world.host(BROKER)
        self.settings = settings
        self.node: Node | None = None
        self.is_ready = False
        self.refusals: list[str] = []  # why it could not start, or had to stop
        self.starts = 0
        self._tell = tell
        self._chance = world.chance.fork("supervisor")
        self._restart: SimHandle | None = None

    def start(self) -> None:
        self._restart = None
        self.is_ready = False
        self.starts += 1
        self.machine.boot(self._program)

    @property
    def is_starting(self) -> bool:
        return self.machine.is_up and not self.is_ready

    @property
    def is_whole(self) -> bool:
        """In service with all its directories, and no door kept shut by what failed at its start."""
        node = self.node
        return (
            self.is_ready
            and node is not None
            and not node.closed_because
            and all(directory.offline is None for directory in node.store.directories)
        )

    def kill(self) -> None:
        self._tell("kill -9")
        self.machine.kill()
        self._gone()

    def cut_power(self) -> None:
        self._tell("power cut")
        self.machine.cut_power()
        self._gone()

    def stop(self) -> None:
        """SIGTERM: drains and stops clean, if it can."""
        node = self.node
        if self.is_ready and node is not None:
            self._tell("clean stop")
            self.is_ready = False
            host = self.machine.host
            host.tasks.start(self._stop(host, node), "stop")

    async def _program(self, host: Host) -> None:
        node = self.node = Node(host, self.settings, Silence())
        node.on_failed = lambda fault: self._exit(host, f"failed: {fault}")
        try:
            await node.start()
        except TwinlogError as fault:
            self._exit(host, f"refused to start: {fault}")
            return
        self.is_ready = True
        self._tell("ready")

    async def _stop(self, host: Host, node: Node) -> None:
        try:
            await node.stop()
        except TwinlogError as fault:
            self._exit(host, f"stopped, but not clean: {fault}")
        else:
            self._exit(host, "stopped clean")

    def _exit(self, host: Host, reason: str) -> None:
        self._tell(reason)
        if reason != "stopped clean":
            self.refusals.append(reason)
        # Not from inside: a process cannot bury itself while one of its callbacks runs.
        self.world.loop.call_soon(self._end, host, context=Context())

    def _end(self, host: Host) -> None:
        if self.machine.is_up and self.machine.host is host:
            self.machine.kill()
            self._gone()

    def _gone(self) -> None:
        self.is_ready = False
        if self._restart is not None:
            self._restart.cancel()
        delay_us = self._chance.between(*RESTART_MS) * 1000
        self._restart = self.world.loop.call_at_us(self.world.loop.now_us + delay_us, self.start, context=Context())
