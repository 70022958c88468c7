"""A pytest plugin for kafka-python's own integration tests: our broker in place of one that they would start.

The source distribution leaves out the module that starts processes; with a broker from elsewhere it is not needed.
``TWINLOG_SUITE_LEFT_OUT`` names a file of test ids not to run, ``TWINLOG_SUITE_REPORT`` where the outcomes go.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest


class ExternalService:
    """A broker that is there already."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port

    def open(self) -> None:
        pass

    def close(self) -> None:
        pass

    def stop(self) -> None:
        pass


package = ModuleType("test")  # the distribution leaves out its ``__init__.py``, and Python has a ``test`` of its own
package.__path__ = [str(Path.cwd() / "test")]
service = ModuleType("test.service")
service.ExternalService = ExternalService  # type: ignore[attr-defined]
service.SpawnedService = None  # type: ignore[attr-defined]
sys.modules["test"] = package
sys.modules["test.service"] = service

outcomes: dict[str, str] = {}


def short(node_id: str) -> str:
    """``test_admin_integration.py::test_x[y]`` without the folder."""
    return node_id.rpartition("/")[2]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = set(Path(os.environ["TWINLOG_SUITE_LEFT_OUT"]).read_text().splitlines())
    outcomes.update({short(item.nodeid): "left out" for item in items})
    gone = [item for item in items if short(item.nodeid) in left_out]
    config.hook.pytest_deselected(items=gone)
    items[:] = [item for item in items if item not in gone]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    name = short(report.nodeid)
    if report.failed:
        outcomes[name] = "failed"
    elif report.skipped:
        outcomes[name] = "skipped"
    elif report.when == "call":
        outcomes[name] = "passed"


def pytest_sessionfinish() -> None:
    Path(os.environ["TWINLOG_SUITE_REPORT"]).write_text(json.dumps(outcomes))
