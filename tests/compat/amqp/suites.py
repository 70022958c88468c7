"""Other people's own integration tests, from their source distributions, against a broker of ours.

``passing/NAME.txt`` names what passes and only grows; FINDINGS.md beside it says why the others are left out.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zlib
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.compat.clients import CACHE, built_once

HERE = Path(__file__).parent
LIBRARIES = HERE / "suite_requirements.txt"
SUITE_TIMEOUT_S = 2400


class Suite(NamedTuple):
    """Tests of a distribution. ``choice`` is pytest's ``-k``: TLS is not served yet. With ``libraries`` they need what
    our own tests must not see, pytest plugins among it."""

    distribution: str
    folder: str
    tests: tuple[str, ...]
    choice: str
    libraries: bool = False


SUITES = {
    "py-amqp": Suite("amqp", "amqp", ("t/integration/test_rmq.py",), "not tls"),
    "kombu": Suite("kombu", "kombu", ("t/integration/test_py_amqp.py",), ""),
    "aiormq": Suite(
        "aiormq",
        "aiormq",
        ("tests/test_channel.py", "tests/test_connection.py"),
        "not amqps and not ssl and not stairway",
        libraries=True,
    ),
    "aio-pika": Suite(
        "aio-pika",
        "aio_pika",
        ("tests/test_amqp.py", "tests/test_amqp_robust.py"),
        "not amqps and not ssl",
        libraries=True,
    ),
}


def source(suite: Suite) -> Path:
    """The distribution of the release that is installed, fetched once; skips where no registry can be reached."""
    release = f"{suite.folder}-{version(suite.distribution)}"
    home = CACHE / suite.folder
    with built_once(home / release) as needed:
        if needed:
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir(parents=True)
            fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            wanted = f"{suite.distribution}=={version(suite.distribution)}"
            command = [*fetch, "--no-binary", suite.distribution, wanted, "-d", str(home)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            if done.returncode:
                pytest.skip(f"{wanted} cannot be fetched: {done.stderr[-300:]}")
            (archive,) = home.glob("*.tar.gz")
            shutil.unpack_archive(archive, home / "unpacked", filter="data")
    return home / "unpacked" / release


def libraries() -> Path:
    """What those suites need, in a folder of its own; skips where no registry can be reached."""
    home = CACHE / "amqp-suites"
    stamp = home / f"built-{zlib.crc32(LIBRARIES.read_bytes()):08x}"
    with built_once(stamp) as needed:
        if needed:
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir(parents=True)
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(home / "libs")]
            done = subprocess.run([*command, "-r", str(LIBRARIES)], capture_output=True, text=True, timeout=300)
            if done.returncode:
                pytest.skip(f"what the suites need cannot be fetched: {done.stderr[-300:]}")
    return home / "libs"


def passing(name: str) -> set[str]:
    lines = (HERE / "passing" / f"{name}.txt").read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def run(name: str, address: str, home: Path) -> dict[str, str]:
    """Outcome of every test: passed, failed or skipped."""
    suite = SUITES[name]
    host, _, port = address.rpartition(":")
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "TWINLOG_"))},
        "RABBITMQ_HOST": host,
        "RABBITMQ_5672_TCP": port,
        "TWINLOG_SUITE_AMQP": address,
        "TWINLOG_SUITE_REPORT": str(home / "report"),
        "PYTHONPATH": os.pathsep.join(map(str, [HERE, libraries()] if suite.libraries else [HERE])),
    }
    plugins = ["no:randomly", "no:cacheprovider", "no:xdist", "no:rerunfailures", "no:rst", "suite_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", "--timeout", "60", "-W", "ignore"]
    command += [word for plugin in plugins for word in ("-p", plugin)]
    command += ["-k", suite.choice] if suite.choice else []
    done = subprocess.run(
        [*command, *suite.tests],
        cwd=source(suite),
        env=environment,
        capture_output=True,
        text=True,
        timeout=SUITE_TIMEOUT_S,
    )
    (home / "said").write_text(done.stdout + done.stderr)
    assert (home / "report").exists(), done.stdout[-3000:] + done.stderr[-3000:]
    return dict(json.loads((home / "report").read_text()))
