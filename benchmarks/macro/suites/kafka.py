"""Beside Apache Kafka: its own Java tools and librdkafka as clients, and a few programs of ours.

Kafka runs at its defaults (no sync before an acknowledgement), Twinlog with a sync before every acknowledgement of
``acks=all``. ``produce_1KB@sync`` is Kafka with ``flush.messages=1``, which is what an acknowledgement means here.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.macro.report import REFERENCE, TWINLOG, Results, Target, Targets
from benchmarks.macro.workloads import compaction
from twinlog.testing import Broker

CPU: Final = "server_cpu_s_per_million"

TARGETS: Final[Targets] = {
    "produce_1KB": [Target("records_s", at_least=1.0), Target(CPU, at_most=0.6)],
    "produce_1KB@sync": [Target("records_s", at_least=2.0)],
    "produce_1KB_lz4": [Target("records_s", at_least=1.0), Target(CPU, at_most=0.8)],
    "produce_100B": [Target("records_s", at_least=1.0), Target(CPU, at_most=0.8)],
    "produce_100B_lz4": [Target("records_s", at_least=1.0), Target(CPU, at_most=0.8)],
    "consume_100B": [Target("records_s", at_least=1.0), Target(CPU, at_most=0.8)],
    "consume_1KB": [Target("records_s", at_least=1.0), Target(CPU, at_most=0.8)],
    "tiny_requests_acks1": [Target("requests_s", at_least=3.0), Target(CPU, at_most=0.3)],
    "tiny_requests_acksall": [Target("requests_s", at_least=3.0), Target(CPU, at_most=0.3)],
    "e2e_latency": [Target("p50_ms", at_most=1.0), Target("p99_ms", at_most=1.0)],
    "many_partitions:produce": [
        Target("records_s", at_least=2.0),
        Target("create_s", at_most=1.0, ratio=False),
        Target(CPU, at_most=1.0),
    ],
    "many_partitions:consume": [Target("records_s", at_least=2.0), Target(CPU, at_most=1.0)],
    "many_partitions_rdk:produce": [Target("records_s", at_least=2.0)],
    "many_partitions_rdk:consume": [Target("records_s_after_first", at_least=2.0)],
    "group_churn_classic": [Target("join_stable_s", at_most=1.0), Target("leave_stable_s", at_most=1.0)],
    "group_churn_kip848": [Target("join_stable_s", at_most=1.0), Target("leave_stable_s", at_most=1.0)],
    "idle_50": [Target("server_cpu_s_per_minute", at_most=1.0)],
    "idle_0": [Target("server_cpu_s_per_minute", at_most=0.5, ratio=False)],
    "txn_java": [Target("per_s", at_least=1.0), Target("p99_ms", at_most=1.0)],
    "txn_rdk": [Target("per_s", at_least=1.0), Target("p99_ms", at_most=1.0)],
    "startup": [Target("ready_s", at_most=0.8, ratio=False)],
    "compaction": [
        Target("mb_per_cpu_s", at_least=1.0),
        Target("p99_ratio", at_most=1.5, ratio=False),
        Target("records_read_for_a_key", at_most=3.0, ratio=False),
    ],
    "quotas": [
        Target(figure, at_least=0.95, at_most=1.05, ratio=False)
        for figure in ("librdkafka_produce", "librdkafka_fetch", "java_produce", "java_fetch")
    ],
    "memory": [Target("server_peak_rss_mb", at_most=120, ratio=False)],
}
OWN: Final[tuple[str, ...]] = ("group_1000_members", "offset_commits", "transactions", "scale", "compaction", "quotas")
"""Modules of ``benchmarks.macro.workloads`` with ``run(bootstrap, server_pid) -> dict``."""
PROGRAM_NAMES: Final = tuple(
    dict.fromkeys(name.split(":")[0] for name in TARGETS if "@" not in name and name not in ("memory", *OWN))
)
SYNCING: Final = "produce_1KB@sync"


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("workload", nargs="*", help=f"default: all. {', '.join([*PROGRAM_NAMES, SYNCING, *OWN])}")
    command.add_argument("--scale", type=float, default=1.0, help="multiplies the counts (0.1: a quick look)")
    command.add_argument("--kafka-port", type=int, default=0, help="Kafka's port; its controller takes the next one")


def run(arguments: argparse.Namespace, results: Results) -> None:
    bench = Programs(arguments.programs / "kafka", arguments.scale)
    chosen = arguments.workload or [*PROGRAM_NAMES, SYNCING, *OWN]
    unknown = sorted(set(chosen) - {*PROGRAM_NAMES, SYNCING, *OWN})
    if unknown:
        sys.exit(f"no such workload: {', '.join(unknown)}")
    port = arguments.kafka_port or free_port_pair()
    if "startup" in chosen:
        for result in startups(bench, port, arguments):
            results.add(result)
    rest = [name for name in chosen if name != "startup"]
    if not rest:
        return
    with contextlib.ExitStack() as stack:
        servers: list[tuple[str, str, int]] = []
        if arguments.only != REFERENCE:
            broker = stack.enter_context(Broker())
            servers.append((TWINLOG, broker.kafka, broker.pid))
        if arguments.only != TWINLOG:
            settings = compaction.KAFKA_SETTINGS if "compaction" in chosen else ()
            pid = stack.enter_context(bench.kafka(port, *settings))
            servers.append((REFERENCE, f"127.0.0.1:{port}", pid))
            if set(rest) - set(OWN):  # those warm up by themselves
                bench.warm(f"127.0.0.1:{port}", pid)
        for rep in range(arguments.reps):
            for name in rest:
                for label, bootstrap, pid in servers:
                    for result in measure(bench, name, label, bootstrap, pid):
                        results.add({**result, "workload": name, "label": label, "rep": rep + 1})


def measure(bench: Programs, name: str, label: str, bootstrap: str, pid: int) -> Iterator[dict[str, Any]]:
    if name in OWN:
        module = importlib.import_module(f"benchmarks.macro.workloads.{name}")
        yield module.run(bootstrap, pid)
    elif name == SYNCING:
        configs = ["--topic-config", "flush.messages=1"] if label == REFERENCE else []
        yield from bench.run(["produce_1KB"], bootstrap, pid, *configs)
    else:
        yield from bench.run([name], bootstrap, pid)


def startups(bench: Programs, port: int, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """From the start of the process to the first answer, with the files of an earlier life."""
    for rep in range(arguments.reps):
        if arguments.only != REFERENCE:
            with tempfile.TemporaryDirectory() as home:
                own_port = free_port_pair()
                start, stop = twinlog_commands(Path(home), own_port)
                for result in bench.startup(f"127.0.0.1:{own_port}", start, stop):
                    yield {**result, "workload": "startup", "label": TWINLOG, "rep": rep + 1}
        if arguments.only != TWINLOG:
            start, stop = (f"{bench.server} {verb} {port}" for verb in ("start", "stop"))
            for result in bench.startup(f"127.0.0.1:{port}", start, stop):
                yield {**result, "workload": "startup", "label": REFERENCE, "rep": rep + 1}


def twinlog_commands(home: Path, port: int) -> tuple[str, str]:
    doors = ["--kafka", f"127.0.0.1:{port}", "--amqp", "off", "--http", "off"]
    serve = shlex.join([sys.executable, "-m", "twinlog", "serve", "--data-dir", str(home / "data"), *doors])
    pid_file = shlex.quote(str(home / "pid"))
    start = f"{serve} > {shlex.quote(str(home / 'log'))} 2>&1 & echo $! > {pid_file}"
    return start, f"kill $(cat {pid_file})"


def free_port_pair() -> int:
    """A port that is free now, and the next one, too."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port: int = first.getsockname()[1]
            with contextlib.suppress(OSError, OverflowError):
                second.bind(("127.0.0.1", port + 1))
                return port


class Programs:
    """The workload programs for Kafka, with what they fetch in a folder that is kept from run to run."""

    def __init__(self, folder: Path, scale: float) -> None:
        if not (folder / "bench.py").exists():
            sys.exit(f"the workload programs are not in {folder}; name their folder by --programs")
        self._folder = folder
        self._scale = scale
        home = os.environ.get("BENCH_HOME") or str(Path(tempfile.gettempdir()) / "twinlog-bench-kafka")
        self._home = Path(home)
        self._environment = {**os.environ, "BENCH_HOME": home}
        self.server = shlex.quote(str(folder / "kafka_server.sh"))
        subprocess.run([folder / "setup.sh"], env=self._environment, check=True)

    @contextlib.contextmanager
    def kafka(self, port: int, *settings: str) -> Iterator[int]:
        """A Kafka of its own; yields its process id. Its files go with it."""
        script = self._folder / "kafka_server.sh"
        with open(self._home / "kafka-start", "wb") as told:
            subprocess.run([script, "start", str(port), *settings], env=self._environment, stdout=told, check=True)
        pid = int((self._home / "kafka-start").read_text().split()[-1])
        try:
            yield pid
        finally:
            subprocess.run([script, "wipe", str(port)], env=self._environment, check=True)

    def warm(self, bootstrap: str, pid: int) -> None:
        """A cold JVM takes several times the CPU."""
        list(self._lines(["--scale", "0.2", "--bootstrap", bootstrap, "--server-pid", str(pid), "produce_1KB"]))
        list(
            self._lines(["--scale", "0.2", "--bootstrap", bootstrap, "--server-pid", str(pid), "tiny_requests_acksall"])
        )

    def run(self, workloads: list[str], bootstrap: str, pid: int, *more: str) -> Iterator[dict[str, Any]]:
        scale = ["--scale", str(self._scale)]
        return self._lines([*scale, "--bootstrap", bootstrap, "--server-pid", str(pid), *more, *workloads])

    def startup(self, bootstrap: str, start: str, stop: str) -> Iterator[dict[str, Any]]:
        return self._lines(["--bootstrap", bootstrap, "--start-cmd", start, "--stop-cmd", stop, "startup"])

    def _lines(self, arguments: list[str]) -> Iterator[dict[str, Any]]:
        python = self._home / "venv" / "bin" / "python"
        begun = time.monotonic()
        done = subprocess.run(
            [python, self._folder / "bench.py", *arguments], env=self._environment, stdout=subprocess.PIPE, text=True
        )
        if done.returncode:
            print(f"{arguments[-1]} failed after {time.monotonic() - begun:.0f} s", file=sys.stderr)
            yield {"failed": True}
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                yield json.loads(line)
