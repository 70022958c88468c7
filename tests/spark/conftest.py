"""One Spark session and one broker per test process; every test has topics and checkpoints of its own."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from twinlog.base.address import parse_address
from twinlog.client import Client
from twinlog.testing.broker import Broker

_numbers = itertools.count()
STARTS_S = 600


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark_twinlog import twinlog_session

        session = twinlog_session(
            "tests",
            "local[2,3]",
            settings={
                "spark.ui.enabled": "false",
                "spark.sql.shuffle.partitions": "2",
                "spark.driver.memory": "1g",
                "spark.python.authenticate.socketTimeout": "120s",
                "spark.sql.python.filterPushdown.enabled": "true",
            },
        )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    with Broker(settings={"amqp.listen": "127.0.0.1:0"}) as made:
        yield made


@pytest.fixture(scope="session")
def bootstrap(broker: Broker) -> str:
    return broker.kafka


@pytest.fixture
def client(bootstrap: str) -> Iterator[Client]:
    from pyspark_twinlog.door import SparkDoor

    with Client([parse_address(bootstrap)], SparkDoor()) as made:
        yield made


@pytest.fixture
def topic(client: Client) -> Callable[..., str]:
    """Makes a topic with a name nobody else has."""

    def make(partitions: int = 3, **configs: str) -> str:
        name = f"t{os.getpid()}-{next(_numbers)}"
        # The records of these tests are old, and shall stay.
        named = {"retention.ms": "-1", **{key.replace("_", "."): value for key, value in configs.items()}}
        client.create_topic(name, partitions, configs=named)
        client.topic(name)
        return name

    return make


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    return str(tmp_path / "checkpoint")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spark takes its time to start, and more so on a machine that is busy."""
    for item in items:
        if "spark" in item.path.parts and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(STARTS_S))
