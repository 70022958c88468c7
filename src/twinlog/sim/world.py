"""Everything that happens in one simulated run, from one seed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from types import TracebackType
from typing import Any, TypeVar

from twinlog.sim.chance import SimChance
from twinlog.sim.fabric import Fabric
from twinlog.sim.host import SimHost
from twinlog.sim.loop import SimLoop
from twinlog.sim.trace import Trace

T = TypeVar("T")


class World:
    """Hosts, the wires between them, one clock. The same seed and the same program give the same digest.

    ``shuffle=False`` runs ready callbacks in the order of their scheduling, as asyncio does.
    """

    def __init__(self, seed: int, *, shuffle: bool = True, keep_trace: bool = False) -> None:
        self.seed = seed
        self.chance = SimChance(seed)
        self.loop = SimLoop(self.chance.fork("loop"), shuffle=shuffle)  # type: ignore[abstract]
        self.trace = Trace(self.loop, keep=keep_trace)
        self.fabric = Fabric(self.loop, self.chance.fork("fabric"), self.trace)
        self.hosts: dict[str, SimHost] = {}

    def host(self, name: str) -> SimHost:
        if name not in self.hosts:
            self.hosts[name] = SimHost(self, name)
        return self.hosts[name]

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs ``work``, which belongs to no host and survives them all, to its end."""
        return self.loop.run_until_complete(work)

    def run_until(self, awaited: Awaitable[T]) -> T:
        return self.loop.run_until_complete(awaited)

    def run_for(self, span_ms: float) -> None:
        self.loop.run_for_us(round(span_ms * 1000))

    def wait_for(self, fact: Callable[[], bool], *, within_ms: int) -> None:
        """Runs until the fact is true; an ``AssertionError`` if that takes longer."""
        self.loop.run_while(lambda: not fact(), within_us=within_ms * 1000)

    def mark(self, name: str) -> None:
        self.trace.mark(name)

    def fail(self, error: BaseException) -> None:
        """The run is over: ``error`` is raised where it was started."""
        self.loop.on_error(error)

    def digest(self) -> str:
        """Of everything so far; also of how many callbacks it took."""
        self.trace.note("callbacks", self.loop.callbacks_run)
        return self.trace.digest()

    def close(self) -> None:
        for host in self.hosts.values():
            host.kill()
        self.loop.close()

    def __enter__(self) -> World:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
