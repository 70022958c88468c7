from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from tests.compat.fixtures import new_name
from tests.compat.target import Server
from tests.scenarios.amqp.raw import Channel, Client

__all__ = ["new_name"]


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Where AMQP is spoken: by our broker, or by the one that ``TWINLOG_TEST_AMQP`` names (RabbitMQ is the model)."""
    if elsewhere := os.environ.get("TWINLOG_TEST_AMQP"):
        yield elsewhere
        return
    settings = {"amqp.listen": "127.0.0.1:0", "kafka.listen": "off", "amqp.login_failure_delay_ms": 50}
    with Server(settings=settings) as server:
        yield server.amqp
        assert server.alive(), server.log[-4000:]
        assert "Traceback" not in server.log, server.log[-8000:]


@pytest.fixture
def connect(address: str) -> Iterator[Callable[..., Client]]:
    """Makes open connections; they go with the test."""
    clients: list[Client] = []

    def open_one(**how: object) -> Client:
        client = Client(address)
        clients.append(client)
        return client.opened(**how)  # type: ignore[arg-type]

    yield open_one
    for client in clients:
        client.drop()


@pytest.fixture
def client(connect: Callable[..., Client]) -> Client:
    return connect()


@pytest.fixture
def channel(client: Client) -> Channel:
    return client.channel()


@pytest.fixture
def queue(channel: Channel, new_name: Callable[[], str]) -> str:
    """A fresh queue that goes with its connection."""
    name = new_name()
    channel.queue(name, exclusive=True)
    return name
