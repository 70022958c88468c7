from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.compat.fixtures import new_name
from tests.compat.target import Server
from tests.scenarios.amqp.raw import Channel, Client
from tests.scenarios.streams.both import STREAM, Kafka

__all__ = ["new_name"]


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    settings = {"amqp.listen": "127.0.0.1:0", "kafka.listen": "127.0.0.1:0", "http.listen": "127.0.0.1:0"}
    with Server(settings=settings) as server:
        yield server
        assert server.alive() and "Traceback" not in server.log, server.log[-8000:]


@pytest.fixture
def connect(server: Server) -> Iterator[Callable[..., Client]]:
    clients: list[Client] = []

    def open_one(**how: Any) -> Client:
        clients.append(Client(server.amqp))
        return clients[-1].opened(**how)

    yield open_one
    for client in clients:
        client.drop()


@pytest.fixture
def channel(connect: Callable[..., Client]) -> Channel:
    return connect().channel()


@pytest.fixture
def stream(channel: Channel, new_name: Callable[[], str]) -> str:
    name = new_name()
    channel.queue(name, durable=True, arguments=STREAM)
    return name


@pytest.fixture(scope="session")
def kafka(server: Server) -> Kafka:
    return Kafka(server.kafka)
