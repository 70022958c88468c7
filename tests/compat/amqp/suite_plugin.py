"""A pytest plugin for other people's integration tests: our broker in place of one in a container of theirs.

``TWINLOG_SUITE_AMQP`` is the broker's address, ``TWINLOG_SUITE_REPORT`` names where the outcomes go. Loaded by its file
name alone, because the suites have packages called ``tests`` of their own.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


class DockerNotAvailableError(Exception):
    """Never raised: no container is needed."""


@dataclass
class DockerHostInfo:
    container_host: str = "127.0.0.1"


@dataclass
class ContainerInfo:
    id: str
    host: str
    ports: dict[str, int]


def check_docker_available() -> DockerHostInfo:
    return DockerHostInfo()


class DockerClient:
    """Every container is the broker that runs already. Nothing listens where TLS would be."""

    def __init__(self, info: Any = None) -> None:
        self.info = info

    def run(self, image: str, ports: list[str], environment: Any = None) -> ContainerInfo:
        host, _, port = os.environ["TWINLOG_SUITE_AMQP"].rpartition(":")
        return ContainerInfo("ours", host, {"5672/tcp": int(port), "5671/tcp": 1})

    def kill(self, container_id: str) -> None:
        """It is not theirs to end."""

    remove = kill


module = ModuleType("tests.docker_client")
for each in (DockerNotAvailableError, DockerHostInfo, ContainerInfo, check_docker_available, DockerClient):
    setattr(module, each.__name__, each)
sys.modules["tests.docker_client"] = module


@pytest.fixture(scope="session")
def rabbitmq_container() -> ContainerInfo:
    return DockerClient().run("", [])


@pytest.fixture(scope="session")
def amqp_direct_url(rabbitmq_container: ContainerInfo) -> Any:
    from yarl import URL

    host, port = rabbitmq_container.host, rabbitmq_container.ports["5672/tcp"]
    return URL.build(scheme="amqp", user="guest", password="guest", host=host, port=port, path="//")


outcomes: dict[str, str] = {}


def pytest_configure(config: pytest.Config) -> None:
    for mark in ("env(name)", "flaky(reruns, reruns_delay)"):
        config.addinivalue_line("markers", mark)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    path, _, test = report.nodeid.partition("::")  # a parameter may have a slash in it
    name = f"{path.rpartition('/')[2]}::{test}"
    if report.failed:
        outcomes[name] = "failed"
    elif report.skipped:
        outcomes[name] = "skipped"
    elif report.when == "call":
        outcomes[name] = "passed"


def pytest_sessionfinish() -> None:
    Path(os.environ["TWINLOG_SUITE_REPORT"]).write_text(json.dumps(outcomes))
