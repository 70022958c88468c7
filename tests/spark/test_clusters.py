"""The same pipeline on a standalone cluster of two processes, and over Spark Connect."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from pyspark_twinlog.pipelines import template
from tests.spark.processes import connect_server, standalone_cluster
from tests.spark.records import values_of
from tests.spark.test_pipelines import BAD, orders_of
from twinlog.client import Client
from twinlog.client.pipelines import reports

EXPECTED = {("ann", "2024-05-01T10:00"): 1, ("bob", "2024-05-01T10:00"): 2, ("ann", "2024-05-01T10:01"): 1}


def check_pipeline(where: list[str], client: Client, bootstrap: str, topic: Callable[..., str], home: Path) -> None:
    """Windows and dead letters by the command."""
    source, out, dead = topic(1), topic(1), topic(1)
    orders_of(client, source)
    name = f"totals-{out}"
    text = template("aggregate", name, bootstrap)
    for old, new in (("orders-by-minute", out), ("orders-dead", dead), ('"orders"', f'"{source}"')):
        text = text.replace(old, new)
    file = home / "totals.toml"
    file.write_text(f'{text}\n[spark]\n"spark.sql.shuffle.partitions" = "2"\n"spark.ui.enabled" = "false"\n')
    command = [sys.executable, "-m", "twinlog", "pipeline", "run", str(file), *where]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    found = Counter((each["customer"], each["start"][:16], each["orders"]) for each in values_of(client, out))
    assert found == Counter((*where_and_when, count) for where_and_when, count in EXPECTED.items())
    assert values_of(client, dead, raw=True) == [BAD]
    report = reports(client)[name]
    assert (report["state"], report["lag"]["total"]) == ("finished", 0)


@pytest.mark.timeout(600)
def test_a_pipeline_runs_on_a_master_and_a_worker(
    client: Client, bootstrap: str, topic: Callable[..., str], tmp_path: Path
) -> None:
    with standalone_cluster(tmp_path) as master:
        check_pipeline(["--master", master], client, bootstrap, topic, tmp_path)


@pytest.mark.timeout(600)
def test_a_pipeline_runs_over_spark_connect(
    client: Client, bootstrap: str, topic: Callable[..., str], tmp_path: Path
) -> None:
    pytest.importorskip("grpc")
    with connect_server(tmp_path) as remote:
        check_pipeline(["--remote", remote], client, bootstrap, topic, tmp_path)
