from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.macro.suites.spark import fetch_connector
from pyspark_twinlog.door import SparkDoor
from tests.compat.apache_kafka import apache_kafka
from tests.compat.clients import CACHE, built_once
from tests.compat.fixtures import target
from tests.compat.target import Target
from tests.spark.conftest import pytest_collection_modifyitems, spark
from twinlog.base.address import parse_address
from twinlog.client import Client
from twinlog.client.lookup import persistently

__all__ = ["pytest_collection_modifyitems", "spark", "target"]

_numbers = itertools.count()


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with apache_kafka(tmp_path_factory.mktemp("kafka")) as bootstrap:
        yield bootstrap


@pytest.fixture(params=["twinlog", "kafka"])
def bootstrap(request: pytest.FixtureRequest) -> str:
    """Our broker, then Apache Kafka."""
    if request.param == "kafka":
        return str(request.getfixturevalue("kafka"))
    found: Target = request.getfixturevalue("target")
    return found.bootstrap


@pytest.fixture
def client(bootstrap: str) -> Iterator[Client]:
    with Client([parse_address(bootstrap)], SparkDoor()) as made:
        yield made


@pytest.fixture
def topic(client: Client) -> Callable[..., str]:
    def make(partitions: int = 3) -> str:
        name = f"spark-{os.getpid()}-{next(_numbers)}"
        client.create_topic(name, partitions, configs={"retention.ms": "-1"})
        persistently(client, lambda: client.topic(name))  # Apache Kafka's answers run ahead of its metadata
        return name

    return make


@pytest.fixture(scope="session")
def connector_jars() -> list[Path]:
    """Those of Spark's own connector, from Maven Central; skips where there is no Maven."""
    if shutil.which("mvn") is None:
        pytest.skip("mvn is not installed")
    jars = CACHE / "spark-connector" / "jars"
    with built_once(jars.parent / "built") as needed:
        if needed:
            fetch_connector(jars)
    return sorted(jars.glob("*.jar"))
