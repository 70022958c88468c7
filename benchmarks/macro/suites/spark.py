"""Beside Spark's own Kafka connector: the same workloads, one broker, one machine, in turns.

The connector's jars come from Maven Central and run on the PySpark they were made for; our data source runs on the
PySpark of this environment, with the settings of ``twinlog_session``. Streams are written exactly
once by ours and at least once by the connector. Both talk to one broker: Twinlog's, or Kafka's by ``--broker kafka``.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.macro.report import REFERENCE, TWINLOG, Results, Target, Targets
from benchmarks.macro.suites import kafka
from twinlog.testing import Broker

TARGETS: Final[Targets] = {
    "batch_read_100B": [Target("rows_s", at_least=2.7)],
    "batch_read_100B_count": [Target("rows_s", at_least=2.7)],
    "batch_read_1KB": [Target("rows_s", at_least=2.3)],
    "batch_read_100B_parquet": [Target("rows_s", at_least=1.8)],
    "batch_write": [Target("rows_s", at_least=2.0)],
    "stream_available_now": [Target("rows_s", at_least=2.0)],
    "kafka_to_kafka": [Target("rows_s", at_least=1.5)],
    "kafka_copy": [Target("rows_s", at_least=3.0)],
    "stream_latency": [Target("p50_ms", at_most=0.75), Target("p99_ms", at_most=0.8)],
    "restart": [Target("duplicates", at_most=0, ratio=False)],
    "restart_copy": [Target("duplicates", at_most=0, ratio=False), Target("lost", at_most=0, ratio=False)],
    "startup": [Target("first_row_s", at_most=1.0)],
}
ALONE: Final = frozenset({"restart", "restart_copy", "startup"})
"""Workloads that start their own processes, once each; the others share a session and repeat within it."""
PROGRAM: Final = "SPARK_BENCH"
OURS: Final = Path(__file__).resolve().parents[1] / "workloads" / "spark_twinlog.py"
INPUTS: Final = "fill:in100,in1k"
CONNECTOR: Final = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.2",
    "org.apache.commons:commons-pool2:2.13.1",
)
CONNECTORS_PYTHON: Final = ("pyspark==4.2.0", "pyarrow", "pandas<3", "numpy", "confluent-kafka", "psutil")


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("workload", nargs="*", help=f"default: all. {', '.join(TARGETS)}")
    command.add_argument("--broker", choices=["twinlog", "kafka"], default="twinlog", help="what both talk to")
    command.add_argument("--bootstrap", help="a broker that runs already; it keeps the input topics from run to run")
    command.add_argument("--inner", type=int, default=2, help="repetitions in one session; the best counts")
    command.add_argument("--same-settings", action="store_true", help="the connector, too, with our session's settings")
    command.add_argument("--smoke", action="store_true", help="a hundredth of the rows: figures mean nothing")


def run(arguments: argparse.Namespace, results: Results) -> None:
    chosen = arguments.workload or list(TARGETS)
    unknown = sorted(set(chosen) - set(TARGETS))
    if unknown:
        sys.exit(f"no such workload: {', '.join(unknown)}")
    programs = Programs(arguments.programs / "spark", smoke=arguments.smoke, same_settings=arguments.same_settings)
    sides = [each for each in (TWINLOG, REFERENCE) if arguments.only in (None, each)]
    with broker(arguments) as bootstrap:
        for line in programs.run(TWINLOG, bootstrap, 1, [INPUTS]):
            print(json.dumps(line), file=sys.stderr, flush=True)
        for rep in range(arguments.reps):
            for label in sides:
                for result in programs.measure(label, bootstrap, arguments.inner, chosen):
                    results.add({**result, "label": label, "rep": rep + 1, "broker": arguments.broker})


@contextlib.contextmanager
def broker(arguments: argparse.Namespace) -> Iterator[str]:
    if arguments.bootstrap:
        yield arguments.bootstrap
    elif arguments.broker == "twinlog":
        with Broker() as own:
            yield own.kafka
    else:
        port = kafka.free_port_pair()
        with kafka.Programs(arguments.programs / "kafka", 1.0).kafka(port):
            yield f"127.0.0.1:{port}"


def connector_home() -> Path:
    """The connector's jars and its PySpark, fetched once and kept from run to run: ``jars`` and ``venv``."""
    home = Path(os.environ.get("SPARK_CONNECTOR_HOME") or Path(tempfile.gettempdir()) / "twinlog-bench-spark")
    venv = home / "venv"
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "jars" / ".done").exists():
        fetch_connector(home / "jars")
        (home / "jars" / ".done").touch()
    if not (venv / ".done").exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin" / "pip", "-q", "install", *CONNECTORS_PYTHON], check=True)
        (venv / ".done").touch()
    return home


def fetch_connector(jars: Path) -> None:
    """Copies the jars of Spark's Kafka connector from Maven Central; what they need besides comes with Spark."""
    for artifact in CONNECTOR:
        copy = ["dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={jars}"]
        subprocess.run(["mvn", "-B", "-q", *copy], check=True, stdout=subprocess.DEVNULL)


class Programs:
    """The workload program for Spark, on either side."""

    def __init__(self, folder: Path, *, smoke: bool, same_settings: bool) -> None:
        if not (folder / "bench.py").exists():
            sys.exit(f"the workload program is not in {folder}; name the folder of all programs by --programs")
        from pyspark_twinlog.session import prepare_environment, settings_for

        prepare_environment()
        self._program = folder / "bench.py"
        home = connector_home()
        # Both run with two shuffle partitions, as the program says.
        chosen = {key: value for key, value in settings_for("local").items() if "shuffle" not in key}
        settings = [word for key, value in chosen.items() for word in ("--conf", f"{key}={value}")]
        self._sides = {
            TWINLOG: [sys.executable, str(OURS), "--format", "twinlog", *settings],
            REFERENCE: [str(home / "venv/bin/python"), str(self._program), "--format", "kafka",
                        "--jars", str(home / "jars"), *(settings if same_settings else [])],
        }  # fmt: skip
        self._more = ["--smoke"] if smoke else []

    def measure(self, label: str, bootstrap: str, inner: int, workloads: list[str]) -> Iterator[dict[str, Any]]:
        together = [name for name in workloads if name not in ALONE]
        if together:
            yield from self.run(label, bootstrap, inner, together)
        for name in workloads:
            if name in ALONE:
                yield from self.run(label, bootstrap, 1, [name])

    def run(self, label: str, bootstrap: str, reps: int, workloads: list[str]) -> Iterator[dict[str, Any]]:
        # Each side finds its own Python for its workers, and no settings of ours.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")}
        environment[PROGRAM] = str(self._program)
        command = [*self._sides[label], "--bootstrap", bootstrap, "--reps", str(reps), *self._more, *workloads]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode or not lines:
            print(f"{' '.join(workloads)} failed:\n{done.stderr[-2000:]}", file=sys.stderr)
            lines.append({"workload": workloads[-1], "failed": True})
        yield from lines
