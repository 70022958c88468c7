"""Beside RabbitMQ: PerfTest and a few programs of ours as clients.

RabbitMQ runs at its defaults (a confirm of a classic queue follows the write, not a sync), Twinlog with a sync before
every confirm of a persistent message. Both stay up, and are measured in turns.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.macro.report import REFERENCE, TWINLOG, Results, Target, Targets
from benchmarks.macro.workloads import amqp
from twinlog.testing import Broker

CPU: Final = "cpu_s_per_M"
OWN: Final = {"flood": amqp.flood, "topic_rotating": amqp.topic_rotating}
"""With clients of our own: an address, the server's process and seconds to a result."""
RABBITMQ_PORT: Final = 15673
CONFIRM: Final = [
    Target("pub_rate", at_least=4.0),
    Target(CPU, at_most=1 / 8),
    Target("confirm_p99_ms", at_most=0.25),
    Target("peak_rss_mib", at_most=150, ratio=False),
]
TARGETS: Final[Targets] = {
    **{
        f"classic_confirm_{size}_c{in_flight}": CONFIRM for size in ("12B", "100B", "1KB") for in_flight in (1000, 3000)
    },
    "classic_noconfirm_transient_100B": [Target("pub_rate", at_least=3.0), Target(CPU, at_most=5, ratio=False)],
    "stream_confirm_100B_c1000": CONFIRM,
    "latency_1": [Target("pub_rate", at_least=1.0), Target("confirm_p50_ms", at_most=0.5, ratio=False)],
    "latency_5k": [Target("confirm_p99_ms", at_most=0.5)],
    "fanout_10": [Target("con_rate", at_least=8.0)],
    "topic_1000": [Target("pub_rate", at_least=4.0)],
    "many_queues": [Target(CPU, at_most=1 / 3)],
    "connection_churn": [Target("cpu_ms_per_op", at_most=1 / 3)],
    "priority_10": [Target("pub_rate", at_least=4.0)],
    "backlog": [Target("pub_rate", at_least=3.0), Target("con_rate", at_least=6.0)],
    "flood": [Target("rate_a_core", at_least=500_000, ratio=False)],
    "topic_rotating": [Target("rate", at_least=3.0)],
    "startup": [Target("ready_s", at_most=1.0, ratio=False)],
    "long_queue": [
        Target("full_rss_mib", at_most=300, ratio=False),
        Target("drain_to_short", at_least=0.8, ratio=False),
        Target("start_s", at_most=3.0, ratio=False),
    ],
}
PERF_TEST: Final = tuple(name for name in TARGETS if name not in ("startup", "long_queue", *OWN))


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("workload", nargs="*", help=f"default: all. {', '.join(TARGETS)}")
    command.add_argument("--seconds", type=int, default=16, help="length of a workload")
    command.add_argument("--rabbitmq-port", type=int, default=RABBITMQ_PORT, help="where RabbitMQ is to listen")


def run(arguments: argparse.Namespace, results: Results) -> None:
    programs = Programs(arguments.programs / "rabbitmq", arguments.seconds)
    chosen = arguments.workload or list(TARGETS)
    unknown = sorted(set(chosen) - set(TARGETS))
    if unknown:
        sys.exit(f"no such workload: {', '.join(unknown)}")
    for name, measure in (("startup", startups), ("long_queue", long_queues)):
        if name in chosen:
            for result in measure(programs, arguments):
                results.add({**result, "workload": name})
    chosen = [name for name in chosen if name in PERF_TEST or name in OWN]
    if not chosen:
        return
    with contextlib.ExitStack() as stack:
        servers: list[tuple[str, str, int]] = []
        if arguments.only != REFERENCE:
            broker = stack.enter_context(Broker(settings={"amqp.listen": "127.0.0.1:0", "kafka.listen": "off"}))
            servers.append((TWINLOG, broker.amqp, broker.pid))
        if arguments.only != TWINLOG:
            pid = stack.enter_context(programs.rabbitmq(arguments.rabbitmq_port))
            servers.append((REFERENCE, f"127.0.0.1:{arguments.rabbitmq_port}", pid))
        for rep in range(arguments.reps):
            for name in chosen:
                for label, address, pid in servers:
                    found = (
                        [OWN[name](address, pid, arguments.seconds)]
                        if name in OWN
                        else programs.run(name, label, address, pid)
                    )
                    for result in found:
                        results.add({**result, "workload": name, "label": label, "rep": rep + 1})


def startups(programs: Programs, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """From the start of the process to the first answer, with the files of an earlier life."""
    for rep in range(arguments.reps):
        if arguments.only != REFERENCE:
            with Broker(settings={"amqp.listen": "127.0.0.1:0", "kafka.listen": "off"}) as broker:
                broker.stop()
                ready_s = amqp.timed(broker.start)
                rss = amqp.resident_mib(broker.pid)
            yield {"label": TWINLOG, "ready_s": round(ready_s, 2), "peak_rss_mib": rss, "rep": rep + 1}
        if arguments.only != TWINLOG:
            with programs.rabbitmq(arguments.rabbitmq_port, wipes=False):
                pass
            begun = time.monotonic()
            with programs.rabbitmq(arguments.rabbitmq_port):
                yield {"label": REFERENCE, "ready_s": round(time.monotonic() - begun, 2), "rep": rep + 1}


def long_queues(programs: Programs, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Ours alone: RabbitMQ would take six minutes to be filled."""
    if arguments.only != REFERENCE:
        yield {**amqp.long_queue(), "label": TWINLOG, "rep": 1}


class Programs:
    """The workload programs for RabbitMQ, with what they fetch in a folder that is kept from run to run."""

    def __init__(self, folder: Path, seconds: int) -> None:
        if not (folder / "bench.py").exists():
            sys.exit(f"the workload programs are not in {folder}; name their folder by --programs")
        self._folder = folder
        self._seconds = seconds
        work = os.environ.get("BENCH_WORK") or str(Path(tempfile.gettempdir()) / "twinlog-bench-rabbitmq")
        self._environment = {**os.environ, "BENCH_WORK": work}
        subprocess.run([folder / "setup.sh"], env=self._environment, stdout=subprocess.DEVNULL, check=True)

    @contextlib.contextmanager
    def rabbitmq(self, port: int, *, wipes: bool = True) -> Iterator[int]:
        """A RabbitMQ of its own; yields its process id. Its files go with it, unless another shall find them."""
        script = self._folder / "rabbit_server.sh"
        subprocess.run([script, "start", str(port)], env=self._environment, stdout=subprocess.DEVNULL, check=True)
        told = subprocess.run(
            [script, "pid", str(port)], env=self._environment, capture_output=True, text=True, check=True
        )
        try:
            yield int(told.stdout.split()[-1])
        finally:
            subprocess.run([script, "wipe" if wipes else "stop", str(port)], env=self._environment, check=True)

    def run(self, workload: str, label: str, address: str, pid: int) -> Iterator[dict[str, Any]]:
        command = [sys.executable, str(self._folder / "bench.py"), "--uri", f"amqp://guest:guest@{address}"]
        command += ["--server-pid", str(pid), "--target", label, "--seconds", str(self._seconds), workload]
        done = subprocess.run(command, env=self._environment, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            print(f"{workload} on {label} failed", file=sys.stderr)
            yield {"failed": True}
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                yield figures(json.loads(line))


def figures(result: dict[str, Any]) -> dict[str, Any]:
    """The program's result in one level: ``confirm_p99_ms``; without the names that the table has by itself."""
    flat: dict[str, Any] = {}
    for name, value in result.items():
        if isinstance(value, dict):
            stem = name.removesuffix("_ms")
            flat |= {f"{stem}_{inner}_ms": each for inner, each in value.items()}
        elif name not in ("workload", "target", "rep"):
            flat[name] = value
    return flat
