"""The Java client, from its confirms to its recovery after a restart of the broker."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compat.amqp import java_suite
from tests.compat.clients import JAVA_OPTIONS
from tests.compat.target import Server

STEPS = ("confirms", "returns", "transactions", "exchanges", "headers", "refusals", "requests", "recovery")


@pytest.fixture
def own_server() -> Iterator[Server]:
    with Server(settings={"amqp.listen": "127.0.0.1:0", "kafka.listen": "off"}) as server:
        yield server
        assert server.alive(), server.log[-4000:]


@pytest.mark.timeout(300)
def test_what_applications_do_with_the_java_client(own_server: Server, tmp_path: Path) -> None:
    command = ["java", *JAVA_OPTIONS, "-cp", java_suite.client(), "Driver", own_server.amqp]
    said = []
    with (
        (tmp_path / "errors").open("w") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as running,
    ):
        assert running.stdout is not None
        for line in running.stdout:
            said.append(line.strip())
            if said[-1] == "restart the broker":
                own_server.restart()
    errors_said = (tmp_path / "errors").read_text()
    assert [line for line in said if line.startswith("ok")] == [f"ok {step}" for step in STEPS], errors_said[-3000:]
    assert running.returncode == 0, errors_said[-3000:]
