"""The broker under test: ours as a process of its own, or any other that the environment names.

``TWINLOG_TEST_BOOTSTRAP=host:port`` tests that address instead (Apache Kafka is the reference for these tests);
``TWINLOG_TEST_PID`` then tells whose memory to watch, ``TWINLOG_TEST_RESTART`` is a command that restarts it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 30.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def accepts(bootstrap: str) -> bool:
    host, _, port = bootstrap.rpartition(":")
    try:
        socket.create_connection((host, int(port)), 1).close()
    except OSError:
        return False
    return True


class Server:
    """Our broker as a process; the same address and data directory from start to start."""

    is_twinlog = True

    def __init__(
        self, data_dir: Path, *, environment: dict[str, str] | None = None, options: tuple[str, ...] = ()
    ) -> None:
        self.data_dir = data_dir
        self.bootstrap = f"127.0.0.1:{free_port()}"
        self.environment = environment or {}
        self.options = options
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def log_file(self) -> Path:
        return self.data_dir.with_suffix(".output")

    def output(self) -> str:
        return self.log_file.read_text(errors="replace")

    def start(self) -> None:
        command = [sys.executable, "-m", "twinlog", "serve", "--data-dir", str(self.data_dir)]
        command += ["--kafka", self.bootstrap, "--amqp", "off", "--http", "off", *self.options]
        with self.log_file.open("ab") as output:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self.data_dir.parent,
                env=os.environ | {"PYTHONPATH": str(REPOSITORY / "src")} | self.environment,
            )
        deadline = time.monotonic() + START_TIMEOUT_S
        while not accepts(self.bootstrap):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the broker did not start:\n{self.output()[-4000:]}")
            time.sleep(0.02)

    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self) -> int:
        """SIGTERM, then waits; the exit code."""
        assert self.process is not None
        self.process.terminate()
        try:
            return self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the broker did not stop:\n{self.output()[-4000:]}") from None

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def restart(self) -> None:
        assert self.stop() == 0, self.output()[-4000:]
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
    with tempfile.TemporaryDirectory(prefix="twinlog-test-") as home:
        server = Server(Path(home) / "data")
        server.start()
        try:
            yield server
            assert server.alive(), f"the broker died:\n{server.output()[-4000:]}"
        finally:
            if server.alive():
                server.stop()
            print_complaints(server.output())


def seen(target: Target, holds: Callable[[], bool], what: str = "", within_s: float = 15.0) -> None:
    """What was just changed and answered is visible. Ours at once; Apache Kafka's answers run ahead of its metadata."""
    if target.is_twinlog:
        assert holds(), what
        return
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, what or "still not so"
        time.sleep(0.05)


def print_complaints(output: str) -> None:
    """Shows what the broker said about crashes, so that a failing test's report holds it."""
    if re.search(r"Traceback|AssertionError", output):
        sys.stderr.write(output[-8000:])


def resident_bytes(pid: int) -> int:
    """What the process holds in memory now."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"no memory figure for {pid}")
