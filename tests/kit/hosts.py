"""The machines that must keep the same promises: the real one on either loop, and the simulated one.

A check is an ``async def check(at: Place)``. ``MACHINES`` run it; see tests/unit/host/test_promises.py.
"""

from __future__ import annotations

import asyncio
import resource
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from twinlog.host import Host
from twinlog.host.local import LoopChoice, run
from twinlog.sim import World
from twinlog.testing.machine import TurnableMachine

SECONDS_MAX = 60


@dataclass(frozen=True)
class Place:
    """Where a check works: a machine, an empty directory, and how to make its disk small."""

    host: Host
    directory: str
    room: Callable[[int], AbstractContextManager[None]]  # files may grow to this size, and no further

    def path(self, name: str) -> str:
        return f"{self.directory}/{name}"


Check: TypeAlias = Callable[[Place], Coroutine[Any, Any, None]]


@dataclass(frozen=True)
class Machine:
    name: str
    run: Callable[[Check], None]


def _real(loop: LoopChoice) -> Machine:
    def run_check(check: Check) -> None:
        async def main(host: Host) -> None:
            with tempfile.TemporaryDirectory() as directory:
                await _checked(check, Place(host, directory, _room_by_limit))

        run(main, loop=loop)

    return Machine(loop, run_check)


def _turnable() -> Machine:
    """The real one, with the knobs of ``twinlog.testing``."""

    def run_check(check: Check) -> None:
        async def main(host: Host) -> None:
            machine = TurnableMachine(host)
            with tempfile.TemporaryDirectory() as directory:
                await _checked(check, Place(machine.host, directory, _room_by_limit))

        run(main, loop="asyncio")

    return Machine("turnable", run_check)


def _simulated(seed: int, *, shuffle: bool) -> Machine:
    def run_check(check: Check) -> None:
        with World(seed, shuffle=shuffle) as world:
            machine = world.host("a")
            host = machine.host
            host.disk.make_directory("data")

            @contextmanager
            def room(size: int) -> Iterator[None]:
                before, machine.platter.capacity_bytes = machine.platter.capacity_bytes, size
                try:
                    yield
                finally:
                    machine.platter.capacity_bytes = before

            machine.run(_checked(check, Place(host, "data", room)))

    return Machine(f"sim-{seed}{'' if shuffle else '-in-order'}", run_check)


@contextmanager
def _room_by_limit(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def _checked(check: Check, place: Place) -> None:
    crashes: list[BaseException] = []
    place.host.tasks.on_crash = crashes.append
    async with asyncio.timeout(SECONDS_MAX):
        await check(place)
    assert not crashes, crashes


MACHINES = [
    _real("uvloop"),
    _real("asyncio"),
    _turnable(),
    _simulated(0, shuffle=False),
    *(_simulated(seed, shuffle=True) for seed in range(1, 6)),
]


async def synced(host: Host, files: Any, directories: Any = ()) -> Exception | None:
    """``start_sync``, awaited: the fault, or None."""
    done: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
    host.disk.start_sync(files, directories, done.set_result)
    return await done
