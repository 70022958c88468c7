"""Our data source beside Spark's own Kafka connector: the same workloads, one broker, one run, alternately.

    python -m benchmarks.spark --bench BENCH.py --bootstrap HOST:PORT --official PYTHON --jars FOLDER WORKLOAD...

``BENCH.py`` is the program of named workloads that takes ``--format`` and prints one JSON line each; ``PYTHON`` is an
environment with the pyspark that the connector's jars are for. Prints those lines, and a last one with the ratios.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

FAST_CHECKPOINTS = (
    "spark.sql.streaming.checkpointFileManagerClass="
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)


def measured(python: str, arguments: list[str]) -> list[dict[str, Any]]:
    done = subprocess.run([python, *arguments], capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        sys.exit(f"{' '.join(arguments)} printed nothing:\n{done.stderr[-2000:]}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--official", required=True, help="a python with the pyspark of the jars")
    parser.add_argument("--jars", required=True)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--reps", default="2")
    parser.add_argument("workloads", nargs="+")
    given = parser.parse_args()
    common = [given.bench, "--bootstrap", given.bootstrap, "--reps", given.reps]
    best: dict[tuple[str, str], float] = {}
    for _ in range(given.rounds):
        for name, python, extra in (
            ("kafka", given.official, ["--format", "kafka", "--jars", given.jars]),
            ("twinlog", sys.executable, ["--format", "twinlog", "--conf", FAST_CHECKPOINTS]),
        ):
            for line in measured(python, [*common, *extra, *given.workloads]):
                print(json.dumps(line), flush=True)
                rows = float(line.get("rows_s", 0))
                place = (str(line["workload"]), name)
                best[place] = max(rows, best.get(place, 0.0))
    ratios = {
        workload: round(best[workload, "twinlog"] / rate, 2)
        for (workload, name), rate in best.items()
        if name == "kafka" and rate and (workload, "twinlog") in best
    }
    print(json.dumps({"ratios": ratios}))


if __name__ == "__main__":
    main()
