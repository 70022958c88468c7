"""What the authors of AMQP clients test against RabbitMQ holds against us, but for what FINDINGS.md leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compat.amqp import go_suite, java_suite, suites
from tests.compat.target import Server


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
@pytest.mark.timeout(2500)
@pytest.mark.parametrize("name", ["aiormq", "aio-pika"])
def test_what_passed_once_passes_in_the_long_suites(name: str, own_address: str, tmp_path: Path) -> None:
    check(name, own_address, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(1000)
def test_the_go_client_s_own_integration_tests(own_address: str) -> None:
    found, said = go_suite.outcomes(own_address)
    wrong = {test: found.get(test) for test in suites.passing("go") if found.get(test) != "passed"}
    assert wrong == {}, said[-6000:]


@pytest.mark.slow
@pytest.mark.timeout(1600)
def test_the_java_client_s_own_functional_tests(tmp_path: Path) -> None:
    class_path = java_suite.client()
    found = java_suite.outcomes(class_path, java_suite.compiled(class_path), tmp_path)
    wrong = {test: found.get(test) for test in suites.passing("java") if found.get(test) != "passed"}
    assert wrong == {}, (tmp_path / "said").read_text()[-6000:]
