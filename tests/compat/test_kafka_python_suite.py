"""What kafka-python tests against Apache Kafka holds against us, but for what FINDINGS.md leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compat import kafka_python_suite as suite
from tests.compat.target import Elsewhere, Target


@pytest.fixture(scope="module", autouse=True)
def ours(target: Target) -> None:
    if isinstance(target, Elsewhere):
        pytest.skip("its authors run it against that one")


@pytest.mark.timeout(400)
def test_what_passed_once_passes(tmp_path: Path) -> None:
    outcomes = suite.run(suite.left_out(), tmp_path)
    wrong = {name: outcomes.get(name) for name in suite.passing() if outcomes.get(name) != "passed"}
    assert wrong == {}, (tmp_path / "said").read_text()[-6000:]
    assert set(outcomes) == suite.passing() | set(suite.left_out()), "every test is in one of the two lists"
    assert suite.passing() & set(suite.left_out()) == set()


def test_what_is_left_out_has_a_reason() -> None:
    assert [name for name, reason in suite.left_out().items() if len(reason) < 20] == []


@pytest.mark.slow
@pytest.mark.timeout(700)
def test_what_is_left_out_still_has_to_be(tmp_path: Path) -> None:
    outcomes = suite.run(suite.passing(), tmp_path)
    ready = sorted(name for name in suite.left_out() if outcomes[name] == "passed")
    assert ready == [], "these pass now: move them from FINDINGS.md to kafka_python_passing.txt"
