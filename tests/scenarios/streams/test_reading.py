"""Reading streams: long ones, with any limit, from a log that grows and goes."""

from __future__ import annotations

from typing import Any

import confluent_kafka

from tests.scenarios.amqp.raw import Channel, Message
from tests.scenarios.streams.both import Kafka, offsets, read


def test_a_reader_catches_up_in_order_whatever_its_limit(channel: Channel, stream: str) -> None:
    bodies = [f"{at}".encode() * (1 + at % 7) for at in range(3000)]
    channel.published("", stream, *bodies)
    for prefetch, batch in ((1, 1), (7, 3), (5000, 500)):
        with channel.beside() as other:
            other.qos(prefetch)
            count = 300 if prefetch == 1 else 3000
            tag = other.consume(stream, arguments={"x-stream-offset": 100 if prefetch == 7 else "first"})
            first = 100 if prefetch == 7 else 0
            found: list[Message] = []
            while len(found) < count - first:
                found += other.deliveries(min(batch, count - first - len(found)))
                other.ack(found[-1].tag, multiple=True)
            other.cancel(tag)
            assert offsets(found) == list(range(first, count))
            assert [message.body for message in found] == bodies[first:count]


def test_keys_that_change_with_every_message_keep_their_order(channel: Channel, stream: str, new_name: Any) -> None:
    exchange = new_name()
    channel.exchange(exchange, "topic", auto_delete=True)
    channel.bind(stream, exchange, "#")
    with channel.beside() as other:
        other.confirm_select()
        for at in range(200):
            other.publish(exchange, f"key.{at}", str(at).encode())
        other.confirmed(200)
    found = read(channel, stream, 200)
    assert [message.method.routing_key for message in found] == [f"key.{at}" for at in range(200)]


def test_readers_of_both_protocols_are_woken_by_writers_of_both(channel: Channel, stream: str, kafka: Kafka) -> None:
    channel.qos(10)
    channel.consume(stream)
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": kafka.address, "group.id": "none", "fetch.wait.max.ms": 20_000}
    )
    consumer.assign([confluent_kafka.TopicPartition(stream, 0, 0)])
    try:
        for at in range(3):
            for write in (
                lambda at=at: channel.published("", stream, b"a%d" % at),
                lambda: kafka.produce(stream, b"k"),
            ):
                write()
                mine, theirs = channel.delivered(), consumer.consume(1, 20)
                assert mine.body == theirs[0].value()
    finally:
        consumer.close()


def test_records_deleted_under_a_reader_are_passed_over(channel: Channel, stream: str, kafka: Kafka) -> None:
    channel.published("", stream, *(str(at).encode() for at in range(20)))
    channel.qos(5)
    channel.consume(stream, arguments={"x-stream-offset": "first"})
    found = channel.deliveries(5)
    place = confluent_kafka.TopicPartition(stream, 0, 15)
    kafka.admin.delete_records([place])[place].result(20)
    channel.ack(found[-1].tag, multiple=True)
    assert offsets(channel.deliveries(5)) == [15, 16, 17, 18, 19]
    with channel.beside() as other:
        assert other.count(stream) == 5
