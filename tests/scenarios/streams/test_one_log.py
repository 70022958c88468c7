"""One log, two protocols: what either side writes, makes and deletes is the other's as well."""

from __future__ import annotations

from typing import Any

import confluent_kafka
import pytest
from confluent_kafka.admin import NewPartitions

from tests.scenarios.amqp.raw import Channel, Message, refused
from tests.scenarios.streams.both import Kafka, offsets, read
from twinlog.wire.amqp import Properties


def test_what_is_published_is_what_kafka_reads(channel: Channel, stream: str, kafka: Kafka) -> None:
    properties = Properties(
        content_type="text/plain",
        delivery_mode=2,
        priority=3,
        message_id="m-1",
        timestamp=1_700_000_000,
        headers={"tenant": "blue", "retries": 5, "x-kafka-key": "k"},
    )
    channel.published("", stream, b"body", properties=properties)
    channel.published("", stream, b"")
    whole, bare = kafka.read(stream, 2)
    assert (whole.value(), whole.key(), bare.value(), bare.key()) == (b"body", b"k", b"", None)
    headers = dict(whole.headers())
    raw = headers.pop("amqp.headers")
    assert b"retries" in raw and b"x-kafka-key" not in raw
    assert headers == {
        "amqp": b"2",
        "amqp.content-type": b"text/plain",
        "amqp.priority": b"3",
        "amqp.message-id": b"m-1",
        "amqp.timestamp": b"1700000000",
        "tenant": b"blue",
        "retries": b"5",
    }
    assert bare.headers() == [("amqp", b"")]


def test_what_kafka_writes_is_what_amqp_reads(channel: Channel, stream: str, kafka: Kafka) -> None:
    headers = [("plain", b"text"), ("bytes", b"\xff\x00"), ("nothing", None), ("amqp.content-type", b"text/x")]
    kafka.produce(stream, b"value", key=b"key", headers=headers, timestamp=1_700_000_000_123)
    kafka.produce(stream, None, key=b"\xfe", timestamp=1_700_000_000_123)
    kafka.produce(stream, b"")
    value, tombstone, empty = read(channel, stream, 3)
    assert (value.body, tombstone.body, empty.body) == (b"value", b"", b"")
    assert value.properties.headers == {
        "plain": "text",
        "bytes": b"\xff\x00",
        "nothing": None,
        "x-kafka-key": "key",
        "x-kafka-timestamp": 1_700_000_000_123,
        "x-stream-offset": 0,
    }
    assert value.properties.content_type == "text/x"
    assert (value.properties.timestamp, value.properties.delivery_mode) == (1_700_000_000, 2)
    assert (value.method.exchange, value.method.routing_key) == ("", stream)
    assert tombstone.properties.headers["x-kafka-tombstone"] is True  # type: ignore[index]
    assert tombstone.properties.headers["x-kafka-key"] == b"\xfe"  # type: ignore[index]
    assert set(empty.properties.headers or {}) == {"x-kafka-timestamp", "x-stream-offset"}


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_compressed_records_are_read_by_amqp(channel: Channel, stream: str, kafka: Kafka, codec: str) -> None:
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": kafka.address, "compression.type": codec, "linger.ms": 50}
    )
    for at in range(500):
        producer.produce(stream, f"value {at}".encode())
    assert producer.flush(20) == 0
    assert [message.body for message in read(channel, stream, 500)] == [f"value {at}".encode() for at in range(500)]


def test_only_committed_records_are_delivered(channel: Channel, stream: str, kafka: Kafka) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": kafka.address, "transactional.id": stream})
    producer.init_transactions(20)
    channel.qos(100)
    channel.consume(stream, arguments={"x-stream-offset": "first"})
    for values, end in ((b"ab", producer.commit_transaction), (b"cd", producer.abort_transaction)):
        producer.begin_transaction()
        for value in values:
            producer.produce(stream, bytes([value]))
        producer.flush(20)
        end(20)
    producer.begin_transaction()
    producer.produce(stream, b"open")
    producer.flush(20)
    channel.published("", stream, b"behind it")
    found = channel.deliveries(2)
    assert [message.body for message in found] == [b"a", b"b"] and offsets(found) == [0, 1]
    producer.commit_transaction(20)
    assert [message.body for message in channel.deliveries(2)] == [b"open", b"behind it"]


def test_a_topic_of_kafka_is_a_stream_at_once(channel: Channel, new_name: Any, kafka: Kafka) -> None:
    topic = new_name()
    kafka.create(topic, retention_ms="60000")
    assert channel.queue(topic, passive=True).message_count == 0
    kafka.produce(topic, b"one", b"two")
    assert channel.count(topic) == 2
    channel.exchange(f"{topic}.x", "topic", auto_delete=True)
    channel.bind(topic, f"{topic}.x", "a.*")
    channel.published(f"{topic}.x", "a.b", b"three")
    found = read(channel, topic, 3)
    assert [message.body for message in found] == [b"one", b"two", b"three"]
    assert (found[2].method.exchange, found[2].method.routing_key) == (f"{topic}.x", "a.b")
    headers = dict(kafka.read(topic, 3)[2].headers())
    assert (headers["amqp.exchange"], headers["amqp.routing-key"]) == (f"{topic}.x".encode(), b"a.b")
    assert channel.delete_queue(topic) == 3
    assert topic not in kafka.admin.list_topics(timeout=20).topics


def test_a_topic_of_several_partitions_is_a_super_stream(channel: Channel, new_name: Any, kafka: Kafka) -> None:
    topic = new_name()
    kafka.create(topic, 3)
    for partition in range(3):
        assert channel.count(f"{topic}-{partition}") == 0
        channel.published(topic, str(partition), b"by amqp %d" % partition)
        kafka.produce(topic, b"by kafka", partition=partition)
        found = read(channel, f"{topic}-{partition}", 2)
        assert [message.body for message in found] == [b"by amqp %d" % partition, b"by kafka"]
        assert kafka.read(topic, 2, partition)[0].value() == b"by amqp %d" % partition
    channel.publish(topic, "3", b"nowhere", mandatory=True)
    assert channel.expect(Message).method.reply_code == 312
    kafka.admin.create_partitions([NewPartitions(topic, 4)])[topic].result(20)
    channel.published(topic, "3", b"there now")
    assert read(channel, f"{topic}-3", 1)[0].body == b"there now"
    with refused(406, "partition of topic"):
        channel.delete_queue(f"{topic}-0")


def test_names_are_refused_on_the_side_that_comes_second(channel: Channel, new_name: Any, kafka: Kafka) -> None:
    name = new_name()
    channel.queue(name, durable=True)
    with pytest.raises(confluent_kafka.KafkaException, match=f"the queue '{name}' in vhost '/'"):
        kafka.create(name)
    channel.delete_queue(name)
    kafka.create(name)
    with refused(406, "inequivalent arg 'x-queue-type'"):
        channel.queue(name, durable=True, arguments={"x-queue-type": "classic"})
