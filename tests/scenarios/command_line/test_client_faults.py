"""The client, when the broker dies under it: nothing confirmed is lost, nothing is written twice."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from twinlog.base.address import parse_address
from twinlog.cli.door import SocketDoor
from twinlog.client import BrokerError, Client, Consumer, Producer
from twinlog.client.blocking import EARLIEST, LATEST
from twinlog.testing import Broker


@contextmanager
def client_of(broker: Broker) -> Iterator[Client]:
    with Client([parse_address(broker.kafka)], SocketDoor()) as client:
        yield client


def values(client: Client, topic: str, partition: int = 0) -> list[bytes]:
    client.topic(topic)
    ends = client.offsets(topic, [partition], LATEST)
    consumer = Consumer(client)
    consumer.assign(topic, client.offsets(topic, [partition], EARLIEST))
    found: list[bytes] = []
    while consumer.positions[topic, partition] < ends[partition]:
        found += [record.value or b"" for record in consumer.poll()]
    return found


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_a_producer_goes_on_after_kills_with_every_record_once(tmp_path: Path, codec: str) -> None:
    broker = Broker(tmp_path / "data").start()
    written = [b"%07d" % number for number in range(60_000)]
    killed_at = {10_000, 25_000, 26_000, 50_000}
    with client_of(broker) as client:
        producer = Producer(client, codec=codec, batch_bytes=4096)
        for number, value in enumerate(written):
            if number in killed_at:
                broker.kill()
                restart = threading.Timer(0.2, broker.start)
                restart.start()
            producer.add("t", value)
            if number in killed_at:
                restart.join()
        producer.flush()
        assert producer.confirmed_records == len(written)
    with client_of(broker) as client:
        assert values(client, "t") == written
    broker.stop()
    broker.remove()


def test_a_consumer_goes_on_after_a_kill_with_every_record_once(tmp_path: Path) -> None:
    broker = Broker(tmp_path / "data").start()
    with client_of(broker) as client:
        producer = Producer(client)
        for number in range(2000):
            producer.add("t", b"%d" % number)
        producer.flush()
        consumer = Consumer(client, wait_ms=50)
        consumer.assign("t", {0: 0})
        found = [record.offset for record in consumer.poll()]
        broker.kill()
        broker.start()
        producer.add("t", b"after")
        producer.flush()
        while len(found) < 2001:
            found += [record.offset for record in consumer.poll()]
        assert found == list(range(2001))
    broker.stop()
    broker.remove()


def test_what_a_broker_refuses_is_raised_once_and_for_all(tmp_path: Path) -> None:
    with Broker(tmp_path / "data") as broker, client_of(broker) as client:
        client.create_topic("small", 1, 1, {"max.message.bytes": "1000"})
        producer = Producer(client)
        producer.add("small", bytes(5000))
        with pytest.raises(BrokerError, match="MESSAGE_TOO_LARGE"):
            producer.flush()
        producer = Producer(client)
        producer.add("small", b"fits")
        producer.flush()
        assert values(client, "small") == [b"fits"]
