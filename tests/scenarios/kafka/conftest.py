from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.compat.fixtures import new_name, own_server, target
from tests.compat.target import Target
from tests.scenarios.kafka.raw import Connection

__all__ = ["new_name", "own_server", "target"]


@pytest.fixture
def kafka(target: Target) -> Iterator[Connection]:
    """A connection to the broker under test."""
    with Connection(target.bootstrap) as connection:
        yield connection


@pytest.fixture
def topic(kafka: Connection, new_name) -> str:
    """A fresh topic of one partition."""
    name = new_name()
    kafka.create_topic(name)
    return name
