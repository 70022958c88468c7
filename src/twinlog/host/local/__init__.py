"""The real machine.

``run`` starts a loop, hands a ``Host`` to the given coroutine function, and takes everything down again
when it returns. uvloop is used when it is installed; plain asyncio keeps the same promises.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias, TypeVar

from twinlog.host import Host
from twinlog.host.local.chance import LocalChance
from twinlog.host.local.clock import LocalClock
from twinlog.host.local.disk import LocalDisk
from twinlog.host.local.network import LocalNetwork
from twinlog.host.local.tasks import LocalTasks

LoopChoice: TypeAlias = Literal["auto", "uvloop", "asyncio"]
T = TypeVar("T")


def new_loop(choice: LoopChoice = "auto") -> asyncio.AbstractEventLoop:
    """``auto`` takes uvloop if it is there; asking for ``uvloop`` by name insists on it."""
    if choice != "asyncio":
        try:
            import uvloop
        except ImportError:
            if choice == "uvloop":
                raise
        else:
            return uvloop.new_event_loop()
    return asyncio.new_event_loop()


@contextmanager
def local_host(loop: asyncio.AbstractEventLoop) -> Iterator[Host]:
    """This machine, on ``loop``. Leaving ends its threads; streams still open are aborted."""
    tasks = LocalTasks(loop)
    disk = LocalDisk(loop)
    network = LocalNetwork(loop, tasks)
    try:
        yield Host(LocalClock(), LocalChance(), disk, network, tasks)
    finally:
        network.close()
        tasks.close()
        disk.close()


def run(main: Callable[[Host], Coroutine[Any, Any, T]], *, loop: LoopChoice = "auto") -> T:
    """Runs ``main(host)`` to its end on a new loop."""

    async def on_loop() -> T:
        with local_host(asyncio.get_running_loop()) as host:
            try:
                return await main(host)
            finally:
                await host.tasks.stop()

    with asyncio.Runner(loop_factory=lambda: new_loop(loop)) as runner:
        return runner.run(on_loop())


def settle_garbage() -> None:
    """Said once after start-up: what lives now will live on, so the collector need not walk it again.

    Rarer young collections, since the hot paths make few objects and no cycles; a full one over a million
    live objects stops the loop for 100 ms and more.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
