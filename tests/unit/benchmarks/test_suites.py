"""What a suite names can be run."""

from __future__ import annotations

import importlib
import inspect

import pytest

from benchmarks.macro.suites import kafka


@pytest.mark.parametrize("name", kafka.OWN)
def test_every_workload_of_our_own_takes_a_broker_and_its_process(name: str) -> None:
    workload = importlib.import_module(f"benchmarks.macro.workloads.{name}")
    assert list(inspect.signature(workload.run).parameters)[:2] == ["bootstrap", "server_pid"]
