"""Both sides of a stream: Kafka's, and what AMQP's consumers get."""

from __future__ import annotations

from typing import Any

import confluent_kafka
from confluent_kafka.admin import AdminClient, NewTopic

from tests.scenarios.amqp.raw import Channel, Message

STREAM = {"x-queue-type": "stream"}


class Kafka:
    """The other side."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.admin = AdminClient({"bootstrap.servers": address})

    def create(self, name: str, partitions: int = 1, **configs: str) -> None:
        values = {config.replace("_", "."): value for config, value in configs.items()}
        self.admin.create_topics([NewTopic(name, partitions, config=values)])[name].result(20)

    def delete(self, name: str) -> None:
        self.admin.delete_topics([name])[name].result(20)

    def produce(self, topic: str, *values: bytes | None, **options: Any) -> None:
        producer = confluent_kafka.Producer({"bootstrap.servers": self.address})
        for value in values:
            producer.produce(topic, value, **options)
        assert producer.flush(20) == 0

    def read(self, topic: str, count: int, partition: int = 0, offset: int = 0) -> list[confluent_kafka.Message]:
        consumer = confluent_kafka.Consumer({"bootstrap.servers": self.address, "group.id": "none"})
        try:
            consumer.assign([confluent_kafka.TopicPartition(topic, partition, offset)])
            found = consumer.consume(count, 20)
            assert len(found) == count and not any(each.error() for each in found)
            return list(found)
        finally:
            consumer.close()


def read(channel: Channel, queue: str, count: int, offset: Any = "first", **arguments: Any) -> list[Message]:
    """The first messages from there on, on a channel of its own."""
    with channel.beside() as other:
        other.qos(1000)
        tag = other.consume(queue, arguments={"x-stream-offset": offset, **arguments})
        found = other.deliveries(count)
        other.cancel(tag)
    return found


def offsets(messages: list[Message]) -> list[int]:
    return [message.properties.headers["x-stream-offset"] for message in messages]  # type: ignore[index]
