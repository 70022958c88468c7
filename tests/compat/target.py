"""The broker under test: ours as a process of its own, or any other that the environment names.

``TWINLOG_TEST_BOOTSTRAP=host:port`` tests that address instead (Apache Kafka is the reference for these tests);
``TWINLOG_TEST_PID`` then tells whose memory to watch, ``TWINLOG_TEST_RESTART`` is a command that restarts it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from twinlog.testing.broker import Broker

COMPLAINT = re.compile(r"Traceback|AssertionError")


def accepts(bootstrap: str) -> bool:
    host, _, port = bootstrap.rpartition(":")
    try:
        socket.create_connection((host, int(port)), 1).close()
    except OSError:
        return False
    return True


class Server(Broker):
    """Our broker as a process; the same address and data directory from start to start."""

    is_twinlog = True

    @property
    def bootstrap(self) -> str:
        return self.kafka

    def alive(self) -> bool:
        return self.running

    def restart(self) -> None:
        assert self.stop() == 0, self.log[-4000:]
        self.start()


class Elsewhere:
    """A broker that somebody else started."""

    is_twinlog = False

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.pid = int(os.environ.get("TWINLOG_TEST_PID", "0"))

    def alive(self) -> bool:
        return accepts(self.bootstrap)

    def can_restart(self) -> bool:
        return "TWINLOG_TEST_RESTART" in os.environ

    def restart(self) -> None:
        said = subprocess.run(
            shlex.split(os.environ["TWINLOG_TEST_RESTART"]), check=True, timeout=120, capture_output=True, text=True
        )
        self.pid = int(said.stdout.split()[-1]) if said.stdout.split() else self.pid


Target = Server | Elsewhere


@contextlib.contextmanager
def running() -> Iterator[Target]:
    """The broker under test, for as long as the block lasts."""
    if elsewhere := os.environ.get("TWINLOG_TEST_BOOTSTRAP"):
        yield Elsewhere(elsewhere)
        return
    with Server() as server:
        yield server
        assert server.alive(), f"the broker died:\n{server.log[-4000:]}"
        if complaints := COMPLAINT.search(server.log):
            sys.stderr.write(server.log[complaints.start() :][:8000])  # so that a failing test's report holds it


def seen(target: Target, holds: Callable[[], bool], what: str = "", within_s: float = 15.0) -> None:
    """What was just changed and answered is visible. Ours at once; Apache Kafka's answers run ahead of its metadata."""
    if target.is_twinlog:
        assert holds(), what
        return
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, what or "still not so"
        time.sleep(0.05)


def resident_bytes(pid: int) -> int:
    """What the process holds in memory now."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"no memory figure for {pid}")
