from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.compat.fixtures import new_name
from tests.compat.target import Target, running
from tests.faults.hostile.attack import Attack, under_attack
from tests.scenarios.kafka.batches import Record, batch
from tests.scenarios.kafka.raw import Connection

__all__ = ["new_name"]


@pytest.fixture(scope="session")
def warm_target() -> Iterator[Target]:
    """A broker of the hostile tests' own that has worked a little already, so that its memory stands still."""
    with running() as target:
        with Connection(target.bootstrap) as connection:
            connection.create_topic("warm")
            for turn in range(200):
                connection.produce("warm", batch([Record(bytes(100_000))]))
                connection.read("warm", turn)
        yield target


@pytest.fixture
def attack(warm_target: Target, new_name) -> Iterator[Attack]:
    topic, busy = new_name(), new_name()
    with Connection(warm_target.bootstrap) as connection:
        connection.create_topic(topic)
        connection.create_topic(busy)
    with under_attack(warm_target, topic, busy) as found:
        yield found
