"""What the authors of AMQP clients test against RabbitMQ holds against us, but for what FINDINGS.md leaves out."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compat.amqp import java_suite, suites
from tests.compat.clients import CACHE
from tests.compat.target import Server

GO_MODULE = "github.com/rabbitmq/amqp091-go@v1.16.0"
# Closing connections from outside needs the management port where that client looks for it; TLS is not served yet.
GO_LEFT_OUT = "TLS|Cluster|ConnectionRecovery"


@pytest.fixture
def own_address() -> Iterator[str]:
    """A broker for one suite alone: they use the same names for different things."""
    with Server(
        settings={"amqp.listen": "127.0.0.1:0", "kafka.listen": "off", "amqp.message_size_max_bytes": 64 << 20}
    ) as server:
        yield server.amqp
        assert server.alive()


def check(name: str, address: str, home: Path) -> None:
    outcomes = suites.run(name, address, home)
    wrong = {test: outcomes.get(test) for test in suites.passing(name) if outcomes.get(test) != "passed"}
    assert wrong == {}, (home / "said").read_text()[-6000:]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["py-amqp", "kombu"])
def test_what_passed_once_passes(name: str, own_address: str, tmp_path: Path) -> None:
    check(name, own_address, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(1000)
@pytest.mark.parametrize("name", ["aiormq", "aio-pika"])
def test_what_passed_once_passes_in_the_long_suites(name: str, own_address: str, tmp_path: Path) -> None:
    check(name, own_address, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(1000)
def test_the_go_client_s_own_integration_tests(own_address: str) -> None:
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    home = CACHE / "go-amqp"
    home.mkdir(parents=True, exist_ok=True)
    (home / "go.mod").write_text("module suite\n\ngo 1.20\n")
    fetched = subprocess.run(["go", "mod", "download", "-json", GO_MODULE], cwd=home, capture_output=True, text=True)
    if fetched.returncode:
        pytest.skip(f"{GO_MODULE} cannot be fetched: {fetched.stderr[-300:]}")
    where = next(line.split('"')[3] for line in fetched.stdout.splitlines() if '"Dir"' in line)
    copy = home / "source"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(where, copy)
    for path in [copy, *copy.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    command = ["go", "test", "-tags", "integration", "-timeout", "600s", "-skip", GO_LEFT_OUT, "."]
    environment = {**os.environ, "AMQP_URL": f"amqp://guest:guest@{own_address}/"}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.timeout(1600)
def test_the_java_client_s_own_functional_tests(tmp_path: Path) -> None:
    class_path = java_suite.client()
    found = java_suite.outcomes(class_path, java_suite.compiled(class_path), tmp_path)
    wrong = {test: found.get(test) for test in suites.passing("java") if found.get(test) != "passed"}
    assert wrong == {}, (tmp_path / "said").read_text()[-6000:]
