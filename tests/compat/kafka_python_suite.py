"""kafka-python's own integration tests, from its source distribution, against a broker of ours.

``kafka_python_passing.txt`` names what passes and only grows; FINDINGS.md names every other test with the reason.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.compat.clients import CACHE, HERE, REPOSITORY, built_once
from tests.compat.findings import PAGE
from tests.compat.target import Server

FILES = ("test_consumer_integration.py", "test_admin_integration.py", "test_producer_integration.py")
PASSING = HERE / "kafka_python_passing.txt"
# The broker that the tests expect: short sessions, node number 0, several partitions in topics that nobody planned.
SETTINGS = {"node.id": 0, "groups.session_timeout_min_ms": 1000, "topics.partition_count_default": 4}
KAFKA_VERSION = "4.3"
SUITE_TIMEOUT_S = 300


def source() -> Path:
    """The distribution of the release that is installed, fetched once; skips where no registry can be reached."""
    name = f"kafka_python-{version('kafka-python')}"
    home = CACHE / "kafka_python"
    with built_once(home / name) as needed:
        if needed:
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir(parents=True)
            fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
            wanted = f"kafka-python=={version('kafka-python')}"
            done = subprocess.run([*fetch, wanted, "-d", str(home)], capture_output=True, text=True, timeout=300)
            if done.returncode:
                pytest.skip(f"{wanted} cannot be fetched: {done.stderr[-300:]}")
            shutil.unpack_archive(home / f"{name}.tar.gz", home / "unpacked", filter="data")
    return home / "unpacked" / name


def passing() -> set[str]:
    return {line for line in PASSING.read_text().splitlines() if line and not line.startswith("#")}


def left_out() -> dict[str, str]:
    """Test -> reason, from the page's own table of them."""
    found = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 2 and cells[0].startswith("`test_"):
            found[cells[0].strip("`")] = cells[1]
    return found


def run(skipped: Iterable[str], home: Path) -> dict[str, str]:
    """Outcome of every test that there is: passed, failed, skipped, or "left out" for those not to run."""
    (home / "left-out").write_text("\n".join(skipped))
    root = source()
    plugins = ["no:randomly", "no:cacheprovider", "no:xdist", "tests.compat.kafka_python_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", "--timeout", "60", *(f"-p{name}" for name in plugins)]
    with Server(settings=SETTINGS) as server:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TWINLOG_"))},
            "KAFKA_VERSION": KAFKA_VERSION,
            "KAFKA_URI": f"kafka://{server.bootstrap}",
            "KAFKA_ROOT": str(root),
            "PYTHONPATH": str(REPOSITORY),
            "TWINLOG_SUITE_LEFT_OUT": str(home / "left-out"),
            "TWINLOG_SUITE_REPORT": str(home / "report"),
        }
        done = subprocess.run(
            [*command, *(f"test/integration/{name}" for name in FILES)],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SUITE_TIMEOUT_S,
        )
        (home / "said").write_text(done.stdout + done.stderr)
        assert server.alive()
    assert (home / "report").exists(), done.stdout[-3000:] + done.stderr[-3000:]
    return dict(json.loads((home / "report").read_text()))
