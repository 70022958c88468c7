from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.compat.fixtures import new_name, own_server, target
from tests.compat.target import Elsewhere, Server, Target
from tests.scenarios.kafka.groups import Group
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


@pytest.fixture
def group(target: Target, kafka: Connection, new_name) -> Iterator[Group]:
    """A group over a fresh topic of four partitions."""
    topic = new_name()
    kafka.create_topic(topic, 4)
    with Group(target.bootstrap, topic + "-group", topic) as made:
        yield made


@pytest.fixture(scope="module")
def hasty(target: Target) -> Iterator[Server]:
    """A broker that gives groups little time and little room, for everything that waits for a timeout."""
    if isinstance(target, Elsewhere):
        pytest.skip("needs settings of its own")
    settings = {
        "groups.initial_rebalance_delay_ms": 100,
        "groups.session_timeout_min_ms": 50,
        "groups.offsets_retention_ms": 300,
        "groups.offsets_expiry_check_ms": 50,
        "groups.size_max": 3,
        "groups.consumer_size_max": 3,
        "groups.consumer_session_timeout_ms": 600,
        "groups.consumer_heartbeat_interval_ms": 50,
        "groups.new_member_timeout_ms": 400,
    }
    with Server(settings=settings) as server:
        yield server


@pytest.fixture
def hasty_group(hasty: Server, new_name) -> Iterator[Group]:
    topic = new_name()
    with Connection(hasty.kafka) as kafka:
        kafka.create_topic(topic, 4)
    with Group(hasty.kafka, topic + "-group", topic) as made:
        yield made
