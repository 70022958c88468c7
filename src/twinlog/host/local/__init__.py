"""The real machine.

``run`` starts a loop, hands a ``Host`` to the given coroutine function, and takes everything down again
when it returns. uvloop is used when it is installed; plain asyncio keeps the same promises.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
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


@asynccontextmanager
async def local_host() -> AsyncIterator[Host]:
    """This machine, on the running loop. Leaving cancels its tasks, then aborts what is still connected,
    then ends its threads after the work they already have."""
    loop = asyncio.get_running_loop()
    tasks = LocalTasks(loop)
    disk = LocalDisk(loop)
    network = LocalNetwork(loop, tasks)
    try:
        yield Host(LocalClock(), LocalChance(), disk, network, tasks)
    finally:
        await tasks.stop()
        network.close()
        await asyncio.sleep(0)  # aborted streams tell their handlers in the next turn
        tasks.close()
        disk.close()
        await asyncio.sleep(0)  # and so do the last answers of the threads


def run(main: Callable[[Host], Coroutine[Any, Any, T]], *, loop: LoopChoice = "auto") -> T:
    """Runs ``main(host)`` to its end on a new loop."""

    async def on_loop() -> T:
        async with local_host() as host:
            return await main(host)

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
