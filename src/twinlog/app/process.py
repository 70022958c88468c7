"""A node as a process: descriptors, signals, crashes, exit codes.

The first SIGTERM or Ctrl-C drains and stops clean (exit code 0), a second one ends at once. A broken invariant
(anything that escapes from a callback or task) stops the node without the clean mark, so that the next start checks
every log; exit code 1. A node that cannot start says why in one line; exit code 1.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Final

from twinlog import __version__, _kernel
from twinlog.app.alarms import memory_total_bytes, resident_bytes
from twinlog.app.logs import LineLog, escaped
from twinlog.app.node import Node
from twinlog.app.settings import NodeSettings
from twinlog.base import HostFault, TwinlogError
from twinlog.host import Host
from twinlog.host.local import run, settle_garbage

EXIT_FAILED: Final = 1
EXIT_AT_ONCE: Final = 130


def refuse_without_asserts() -> None:
    """Our invariants are assert statements; ``python -O`` would remove them."""
    if not __debug__:
        sys.exit("Twinlog does not run under python -O or PYTHONOPTIMIZE: its invariants are assert statements.")


def serve(
    settings: NodeSettings,
    *,
    announce: Callable[[Node], None],
    warnings: tuple[str, ...] = (),
    ready_file: str | None = None,
    on_log_open: Callable[[int, int], None] | None = None,
) -> int:
    """Runs a node until it is told to stop; the exit code."""
    refuse_without_asserts()
    raise_descriptor_limit()
    _kernel.set_malloc_thresholds()

    async def main(host: Host) -> int:
        return await NodeProcess(host, settings, announce, ready_file, on_log_open).run(warnings)

    return run(main)


class NodeProcess:
    """One node, one loop, until the end of both."""

    def __init__(
        self,
        host: Host,
        settings: NodeSettings,
        announce: Callable[[Node], None],
        ready_file: str | None,
        on_log_open: Callable[[int, int], None] | None = None,
    ) -> None:
        self._log = LineLog(host.clock, write_line, settings.log_lines)
        self._node = Node(host, settings, self._log)
        self._node.on_failed = self._failed
        if on_log_open is not None:
            self._node.on_log_open = on_log_open
        self._node.resident_bytes = resident_bytes
        self._node.memory_total_bytes = memory_total_bytes()
        self._node.descriptors_max = descriptors_max()
        self._host = host
        self._announce = announce
        self._ready_file = ready_file
        self._stopping = asyncio.Event()
        self._crashed: BaseException | None = None

    async def run(self, warnings: tuple[str, ...]) -> int:
        self._host.tasks.on_crash = self._crash
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop_asked)
        for warning in warnings:
            self._log.warning(warning)
        try:
            await self._node.start()
        except TwinlogError as fault:
            self._log.error("cannot start", reason=fault)
            return EXIT_FAILED
        settle_garbage()
        if self._ready_file:
            write_ready_file(self._ready_file, self._node)
        self._announce(self._node)
        await self._stopping.wait()
        return await self._stop()

    async def _stop(self) -> int:
        if self._crashed is not None:
            self._log.error("stopping, the next start will check every log", reason=self._crashed)
            return EXIT_FAILED
        self._log.info("stopping")
        try:
            await self._node.stop()
        except TwinlogError as fault:
            self._log.error("stopped, but not clean", reason=fault)
            return EXIT_FAILED
        if self._crashed is not None:
            return EXIT_FAILED
        self._log.info("stopped clean")
        return 0

    def _stop_asked(self) -> None:
        if self._stopping.is_set():
            self._log.warning("told twice: ending at once")
            os._exit(EXIT_AT_ONCE)
        self._stopping.set()

    def _failed(self, fault: HostFault) -> None:
        self._crashed = self._crashed or fault
        self._stopping.set()

    def _crash(self, error: BaseException) -> None:
        if self._crashed is None:
            self._crashed = error
            for lines in traceback.format_exception(error):
                for line in lines.splitlines():
                    write_line(escaped(line) + "\n")
        self._stopping.set()


def write_line(line: str) -> None:
    try:
        sys.stderr.write(line)
        sys.stderr.flush()
    except OSError:
        pass  # nobody reads standard error any more; that is no reason to stop serving


def raise_descriptor_limit() -> None:
    """Each connection and each open segment is a descriptor; take as many as we are allowed to."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):
        pass  # some systems name an endless hard limit and then refuse it


def descriptors_max() -> int:
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft if soft > 0 else 0


def write_ready_file(path: str, node: Node) -> None:
    """Tells programs what ``announce`` tells people; the file appears whole or not at all."""
    told = {
        "pid": os.getpid(),
        "version": __version__,
        "data_dir": os.path.abspath(node.settings.identity.data_dir),
        **{side: str(address) if address else None for side, address in node.addresses.items()},
    }
    partial = f"{path}.partial"
    with open(partial, "w") as file:
        json.dump(told, file)
    os.replace(partial, path)
