"""``kill -9`` under a stream: what was confirmed, or shown to a reader of either protocol, is there and stays."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path

import confluent_kafka
import pytest

from tests.compat.target import Server
from tests.faults.queue_load import GONE, WINDOW
from tests.scenarios.amqp.raw import PERSISTENT, Client, Message
from twinlog.wire.amqp import methods as wire

STREAM = "log"


class Publisher(threading.Thread):
    """Publishes numbered messages under confirm until the broker is gone. No number is ever used twice."""

    def __init__(self, address: str, name: str) -> None:
        super().__init__(name=name)
        self.address = address
        self.sent = 0
        self.confirmed = 0

    def bodies(self) -> list[bytes]:
        """Those that were confirmed."""
        return [self.body(number) for number in range(1, self.confirmed + 1)]

    def body(self, number: int) -> bytes:
        return f"{self.name}:{number:08d}".encode()

    def run(self) -> None:
        with contextlib.suppress(*GONE), Client(self.address).opened() as client:
            channel = client.channel()
            channel.confirm_select()
            while True:
                while self.sent - self.confirmed < WINDOW:
                    self.sent += 1
                    channel.publish("", STREAM, self.body(self.sent), PERSISTENT)
                self.confirmed = channel.expect(wire.BasicAck).delivery_tag


class StreamReader(threading.Thread):
    """Reads a stream from its beginning, until the broker is gone."""

    def __init__(self, address: str) -> None:
        super().__init__(name="stream reader")
        self.address = address
        self.seen: list[tuple[int, bytes]] = []

    def run(self) -> None:
        with contextlib.suppress(*GONE), Client(self.address).opened() as client:
            channel = client.channel()
            channel.qos(50)
            channel.consume(STREAM, arguments={"x-stream-offset": "first"})
            while True:
                message = channel.expect(Message)
                assert message.properties.headers is not None
                self.seen.append((message.properties.headers["x-stream-offset"], message.body))
                channel.ack(message.tag)


def records(address: str, count: int) -> list[bytes]:
    """All that Kafka's clients find in the stream."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": address, "group.id": "none"})
    try:
        consumer.assign([confluent_kafka.TopicPartition(STREAM, 0, 0)])
        found: list[bytes] = []
        while len(found) < count:
            batch = consumer.consume(count - len(found), 20)
            assert batch, f"{len(found)} of {count} records came"
            found += [each.value() for each in batch]
        return found
    finally:
        consumer.close()


@pytest.mark.parametrize("kills", [3])
def test_what_a_stream_confirmed_or_showed_survives_being_killed(tmp_path: Path, kills: int) -> None:
    settings = {"amqp.listen": "127.0.0.1:0", "kafka.listen": "127.0.0.1:0"}
    confirmed: list[list[bytes]] = []
    shown: dict[int, bytes] = {}
    with Server(tmp_path / "data", settings=settings) as server:
        with Client(server.amqp).opened() as client:
            client.channel().queue(STREAM, durable=True, arguments={"x-queue-type": "stream"})
        for life in range(kills):
            publishers = [Publisher(server.amqp, f"p{life}{number}") for number in range(2)]
            reader = StreamReader(server.amqp)
            for thread in (*publishers, reader):
                thread.start()
            deadline = time.monotonic() + 30
            while any(each.confirmed < 300 for each in publishers) and time.monotonic() < deadline:
                time.sleep(0.005)
            server.kill()
            for thread in (*publishers, reader):
                thread.join(20)
            confirmed += [each.bodies() for each in publishers]
            for offset, body in reader.seen:
                assert shown.setdefault(offset, body) == body, "an offset never shows two messages"
            server.start()
        with Client(server.amqp).opened() as client:
            count = client.channel().count(STREAM)
        found = records(server.kafka, count)
    assert all(len(bodies) >= 300 for bodies in confirmed)
    places = {body: place for place, body in enumerate(found)}
    assert len(places) == len(found), "nothing is there twice"
    for bodies in confirmed:
        there = [places[body] for body in bodies]  # KeyError: a confirmed message is lost
        assert there == sorted(there)
    assert all(found[offset] == body for offset, body in shown.items()), "what a reader saw stays"
