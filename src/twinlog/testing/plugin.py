"""The pytest plugin: ask for ``twinlog_broker`` and there is a broker.

It is found by its entry point, so that nothing has to be configured:

    def test_orders(twinlog_broker, twinlog_topic):
        producer = confluent_kafka.Producer({"bootstrap.servers": twinlog_broker.kafka})
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from twinlog.testing.broker import Broker
    from twinlog.testing.faults import Faults

NUMBERS = count(1)


@pytest.fixture(scope="session")
def twinlog_settings() -> dict[str, object]:
    """Settings of the session's broker; override it in your conftest.py."""
    return {}


@pytest.fixture(scope="session")
def twinlog_session_broker(twinlog_settings: dict[str, object]) -> Iterator[Broker]:
    from twinlog.testing import Broker

    everything = {"amqp.listen": "127.0.0.1:0", "http.listen": "127.0.0.1:0"}
    with Broker(settings={**everything, **twinlog_settings}, faults=True) as broker:
        yield broker


@pytest.fixture
def twinlog_broker(twinlog_session_broker: Broker) -> Iterator[Broker]:
    """One broker for all tests of the session, with every fault off again after each."""
    yield alive(twinlog_session_broker)
    alive(twinlog_session_broker).faults.heal()


def alive(broker: Broker) -> Broker:
    """Also after a test that killed it."""
    return broker if broker.running else broker.start()


@pytest.fixture
def twinlog_faults(twinlog_broker: Broker) -> Faults:
    """Knobs that break things: connections, the disk, deliveries."""
    return twinlog_broker.faults


@pytest.fixture
def twinlog_advance(twinlog_broker: Broker) -> Callable[..., int]:
    """Moves the broker's time on: ``twinlog_advance(hours=1)``. It stays there for the tests to come: time goes one
    way. Their records and messages are stamped anew, so they notice only if they compare clocks."""
    return twinlog_broker.advance


@pytest.fixture
def twinlog_new_topic(twinlog_broker: Broker) -> Iterator[Callable[..., str]]:
    """Creates topics of this test's own: ``twinlog_new_topic(partitions=3, **{"retention.ms": 1000})``."""
    made: list[str] = []

    def create(partitions: int = 1, **configs: object) -> str:
        name = f"test-topic-{next(NUMBERS)}"
        twinlog_broker.create_topic(name, partitions=partitions, configs=configs)
        made.append(name)
        return name

    yield create
    for name in made:
        alive(twinlog_broker).delete_topic(name)


@pytest.fixture
def twinlog_topic(twinlog_new_topic: Callable[..., str]) -> str:
    """A fresh topic with one partition; deleted after the test."""
    return twinlog_new_topic()


@pytest.fixture
def twinlog_new_queue(twinlog_broker: Broker) -> Iterator[Callable[..., str]]:
    """A function that declares a queue of this test's own: ``twinlog_new_queue(**{"x-max-length": 10})``."""
    made: list[str] = []

    def create(*, durable: bool = True, **arguments: object) -> str:
        name = f"test-queue-{next(NUMBERS)}"
        twinlog_broker.create_queue(name, durable=durable, arguments=arguments)
        made.append(name)
        return name

    yield create
    for name in made:
        alive(twinlog_broker).delete_queue(name)


@pytest.fixture
def twinlog_queue(twinlog_new_queue: Callable[..., str]) -> str:
    """A fresh durable queue; deleted after the test."""
    return twinlog_new_queue()
