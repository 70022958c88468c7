"""Clients of both kinds on one log: pika and aio-pika on one side, librdkafka on the other."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import aio_pika
import confluent_kafka
import pika
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.compat.target import COMPLAINT, Server

STREAM = {"x-queue-type": "stream"}
FIRST = {"x-stream-offset": "first"}
WHEN = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
PROPERTIES = {
    "content_type": "text/plain",
    "content_encoding": "identity",
    "delivery_mode": 2,
    "priority": 7,
    "correlation_id": "corr",
    "reply_to": "back",
    "expiration": "86400000",
    "message_id": "m-1",
    "timestamp": int(WHEN.timestamp()),
    "type": "kind",
    "user_id": "guest",
    "app_id": "tests",
    "cluster_id": "here",
}
HEADERS: dict[str, Any] = {
    "text": "tæxt",
    "number": 2**40,
    "small": -5,
    "truth": True,
    "exact": Decimal("1.25"),
    "when": WHEN,
    "nothing": None,
    "bytes": b"\x00\xff",
    "list": [1, "two", [None, False]],
    "table": {"inner": {"deep": 3}},
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(settings={"amqp.listen": "127.0.0.1:0", "kafka.listen": "127.0.0.1:0"}) as server:
        yield server
        assert server.alive() and not COMPLAINT.search(server.log), server.log[-8000:]


@pytest.fixture
def channel(server: Server) -> Iterator[Any]:
    connection = pika.BlockingConnection(pika.URLParameters(f"amqp://guest:guest@{server.amqp}/%2F"))
    channel = connection.channel()
    channel.confirm_delivery()
    channel.basic_qos(prefetch_count=1000)
    yield channel
    connection.close()


@pytest.fixture
def stream(channel: Any, new_name: Callable[[], str]) -> str:
    name = new_name()
    channel.queue_declare(name, durable=True, arguments=STREAM)
    return name


def messages(channel: Any, queue: str, count: int) -> list[tuple[Any, bytes]]:
    found = []
    for method, properties, body in channel.consume(queue, arguments=FIRST, inactivity_timeout=20):
        assert method is not None, f"{len(found)} of {count} messages came"
        found.append((properties, body))
        if len(found) == count:
            break
    channel.cancel()
    return found


def records(server: Server, topic: str, count: int, partition: int = 0) -> list[confluent_kafka.Message]:
    consumer = confluent_kafka.Consumer({"bootstrap.servers": server.kafka, "group.id": "none"})
    try:
        consumer.assign([confluent_kafka.TopicPartition(topic, partition, 0)])
        found = consumer.consume(count, 20)
        assert len(found) == count and not any(each.error() for each in found)
        return list(found)
    finally:
        consumer.close()


def test_every_property_and_type_of_pika_comes_back_and_kafka_reads_them(
    server: Server, channel: Any, stream: str
) -> None:
    channel.basic_publish("", stream, b"body", pika.BasicProperties(headers=HEADERS, **PROPERTIES))
    channel.basic_publish("", stream, b"", pika.BasicProperties())
    (full, body), (bare, _) = messages(channel, stream, 2)
    assert body == b"body"
    assert {name: getattr(full, name) for name in PROPERTIES} == PROPERTIES
    assert full.headers == {**HEADERS, "x-stream-offset": 0}
    assert all(isinstance(full.headers[name], type(value)) for name, value in HEADERS.items())
    assert all(getattr(bare, name) is None for name in PROPERTIES) and bare.headers == {"x-stream-offset": 1}
    record, _ = records(server, stream, 2)
    assert (record.value(), record.key()) == (b"body", None)
    headers = dict(record.headers())
    for name, value in PROPERTIES.items():
        shown = headers["amqp" if name == "delivery_mode" else f"amqp.{name.replace('_', '-')}"]
        assert shown == str(value).encode(), name
    assert (headers["text"], headers["number"], headers["truth"]) == ("tæxt".encode(), b"1099511627776", b"true")
    assert (headers["nothing"], headers["bytes"]) == (None, b"\x00\xff")


def test_records_of_librdkafka_are_messages_of_pika(server: Server, channel: Any, stream: str) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": server.kafka, "enable.idempotence": True})
    producer.produce(stream, b"value", key=b"k", headers=[("h", b"t"), ("b", b"\xff"), ("n", None)], timestamp=5_500)
    producer.produce(stream, None, key=b"k")
    assert producer.flush(20) == 0
    (value, body), (tombstone, nothing) = messages(channel, stream, 2)
    assert (body, nothing) == (b"value", b"")
    assert value.headers == {
        "h": "t",
        "b": b"\xff",
        "n": None,
        "x-kafka-key": "k",
        "x-kafka-timestamp": 5_500,
        "x-stream-offset": 0,
    }
    assert (value.timestamp, value.delivery_mode, tombstone.headers["x-kafka-tombstone"]) == (5, 2, True)
    # Published again as it came, it is the same record again.
    channel.basic_publish("", stream, nothing, tombstone)
    again = records(server, stream, 3)[2]
    assert (again.key(), again.value()) == (b"k", None)


def test_a_group_of_kafka_reads_what_a_super_stream_was_given(
    server: Server, channel: Any, new_name: Callable[[], str]
) -> None:
    topic = new_name()
    admin = AdminClient({"bootstrap.servers": server.kafka})
    admin.create_topics([NewTopic(topic, 3)])[topic].result(20)
    for number in range(30):
        channel.basic_publish(topic, str(number % 3), b"%d" % number, mandatory=True)
    settings = {"bootstrap.servers": server.kafka, "group.id": topic, "auto.offset.reset": "earliest"}
    consumer = confluent_kafka.Consumer(settings)
    consumer.subscribe([topic])
    try:
        found = []
        while len(found) < 30:
            batch = consumer.consume(30 - len(found), 30)
            assert batch, f"{len(found)} of 30 records came"
            found += batch
    finally:
        consumer.close()
    for partition in range(3):
        mine = [int(each.value()) for each in found if each.partition() == partition]
        assert mine == list(range(partition, 30, 3))


def test_aio_pika_reads_a_stream_from_where_it_says(server: Server, channel: Any, stream: str) -> None:
    for number in range(10):
        channel.basic_publish("", stream, b"%d" % number)

    async def read() -> list[tuple[int, bytes]]:
        connection = await aio_pika.connect(f"amqp://guest:guest@{server.amqp}/")
        async with connection:
            opened = await connection.channel()
            await opened.set_qos(prefetch_count=3)
            queue = await opened.get_queue(stream)
            found: list[tuple[int, bytes]] = []
            async with queue.iterator(arguments={"x-stream-offset": 4}) as iterator:
                async for message in iterator:
                    await message.ack()
                    found.append((message.headers["x-stream-offset"], message.body))
                    if len(found) == 6:
                        return found
        raise AssertionError

    assert asyncio.run(asyncio.wait_for(read(), 30)) == [(number, b"%d" % number) for number in range(4, 10)]
