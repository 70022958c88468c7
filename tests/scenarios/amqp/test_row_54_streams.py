"""Row 54 of the checklist, and what makes it more than a queue type: the stream is a topic that Kafka's clients see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from tests.compat.target import Server
from tests.scenarios.amqp.raw import PERSISTENT, Channel, Client, Message, eventually, refused
from twinlog.wire.amqp import Properties
from twinlog.wire.amqp import methods as wire
from twinlog.wire.amqp.table import ByteArray, Int16, Timestamp

STREAM = {"x-queue-type": "stream"}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    settings = {"amqp.listen": "127.0.0.1:0", "kafka.listen": "127.0.0.1:0"}
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


@pytest.fixture(scope="module")
def kafka(server: Server) -> Kafka:
    return Kafka(server.kafka)


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


# ---- the row --------------------------------------------------------------------------------------------------------


def test_row_54_without_a_prefetch_limit_consuming_is_406(channel: Channel, stream: str) -> None:
    with refused(406, "prefetch"):
        channel.consume(stream)


def test_row_54_without_acknowledgements_consuming_is_540(channel: Channel, stream: str) -> None:
    channel.qos(10)
    with refused(540, "acknowledgement"):
        channel.consume(stream, no_ack=True)


def test_row_54_a_limit_for_the_whole_channel_is_540(connect: Callable[..., Client], stream: str) -> None:
    before = connect().channel()
    before.qos(10, is_global=True)
    with refused(540, "global"):
        before.consume(stream)
    after = connect().channel()
    after.qos(10)
    after.consume(stream)
    with refused(540):
        after.qos(10, is_global=True)


@pytest.mark.parametrize("method", [wire.BasicGet, wire.QueuePurge])
def test_row_54_get_and_purge_are_540(channel: Channel, stream: str, method: type[Any]) -> None:
    channel.send(method(queue=stream))
    with refused(540, "not supported"):
        channel.next_thing()


@pytest.mark.parametrize("bad", ["", "middle", "5X", -1, 1.5, True, [], {"a": 1}, ByteArray(b"first")])
def test_row_54_an_offset_that_is_none_is_406(channel: Channel, stream: str, bad: Any) -> None:
    channel.qos(10)
    with refused(406, "x-stream-offset"):
        channel.consume(stream, arguments={"x-stream-offset": bad})


@pytest.mark.parametrize(
    ("argument", "bad"),
    [("x-priority", 5), ("x-stream-filter", 5), ("x-stream-filter", [1]), ("x-stream-match-unfiltered", "yes")],
)
def test_row_54_other_arguments_of_consumers(channel: Channel, stream: str, argument: str, bad: Any) -> None:
    channel.qos(10)
    with refused(406, argument):
        channel.consume(stream, arguments={argument: bad})


def test_row_54_offsets_are_first_last_next_a_number_a_time_or_an_age(channel: Channel, stream: str) -> None:
    channel.published("", stream, b"0", b"1", b"2")
    channel.published("", stream, b"3")
    for offset, first in (("first", 0), (0, 0), (2, 2), (Int16(3), 3), (Timestamp(1), 0), ("1h", 0), ("last", 3)):
        found = read(channel, stream, 4 - first, offset)
        assert [message.body for message in found] == [str(at).encode() for at in range(first, 4)], offset
        assert offsets(found) == list(range(first, 4))
        assert all(message.properties.headers.keys() == {"x-stream-offset"} for message in found)  # type: ignore[union-attr]
    channel.qos(10)
    for offset in ("next", None, 4, Timestamp(4_000_000_000)):
        channel.consume(stream, arguments={} if offset is None else {"x-stream-offset": offset})
    channel.published("", stream, b"4")
    assert offsets(channel.deliveries(4)) == [4] * 4


def test_row_54_acknowledgements_are_credit_and_nothing_else(channel: Channel, stream: str) -> None:
    channel.published("", stream, *(str(at).encode() for at in range(10)))
    channel.qos(3)
    tag = channel.consume(stream, arguments={"x-stream-offset": "first"})
    found = channel.deliveries(3)
    with channel.beside() as other:
        assert other.count(stream) == 10
    channel.ack(found[0].tag)
    channel.nack(found[1].tag, requeue=True)
    channel.send(wire.BasicReject(delivery_tag=found[2].tag, requeue=False))
    found += channel.deliveries(3)
    assert offsets(found) == [0, 1, 2, 3, 4, 5], "what was given back does not come again"
    assert not any(message.method.redelivered for message in found)
    channel.ack(found[-1].tag, multiple=True)
    found += channel.deliveries(3)
    channel.cancel(tag)
    assert offsets(found) == list(range(9))
    assert offsets(read(channel, stream, 10)) == list(range(10)), "and everybody sees everything"


def test_row_54_a_tag_that_was_never_given_is_406(channel: Channel, stream: str) -> None:
    channel.qos(3)
    channel.consume(stream)
    channel.ack(5)
    with refused(406, "unknown delivery tag 5"):
        channel.next_thing()


def test_row_54_who_reads_it_is_told_when_a_stream_is_deleted(channel: Channel, stream: str, kafka: Kafka) -> None:
    channel.qos(3)
    tag = channel.consume(stream)
    kafka.delete(stream)
    assert channel.expect(wire.BasicCancel).consumer_tag == tag
    channel.cancel(tag)
    with refused(404):
        channel.count(stream)


def test_row_54_filters_of_consumers(channel: Channel, stream: str) -> None:
    for at, value in enumerate(["a", "b", None, "a", "c"]):
        headers = {"x-stream-filter-value": value} if value else {"other": at}
        channel.published("", stream, str(at).encode(), properties=Properties(headers=headers))
    for wanted, unfiltered, expected in (
        ("a", False, [0, 3]),
        (["a", "c"], False, [0, 3, 4]),
        ("c", True, [2, 4]),
        ("b", False, [1]),
    ):
        more = {"x-stream-filter": wanted, "x-stream-match-unfiltered": unfiltered}
        assert offsets(read(channel, stream, len(expected), **more)) == expected


# ---- declaring ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [{}, {"durable": True, "exclusive": True}, {"durable": True, "auto_delete": True}])
def test_row_54_a_stream_is_durable_and_shared(channel: Channel, new_name: Any, flags: dict[str, bool]) -> None:
    with refused(406, "stream"):
        channel.queue(new_name(), arguments=STREAM, **flags)


def test_row_54_a_stream_has_a_name(channel: Channel) -> None:
    with refused(406):
        channel.queue("", durable=True, arguments=STREAM)


def test_row_54_what_limits_a_stream_is_told_and_compared(channel: Channel, new_name: Any, kafka: Kafka) -> None:
    name = new_name()
    arguments = {**STREAM, "x-max-age": "7D", "x-max-length-bytes": 5_000_000}
    channel.queue(name, durable=True, arguments=arguments)
    channel.queue(name, durable=True, arguments={**arguments, "x-max-age": "168h"})
    (future,) = kafka.admin.describe_configs(
        [confluent_kafka.admin.ConfigResource(confluent_kafka.admin.ResourceType.TOPIC, name)]
    ).values()
    configs = future.result(20)
    assert (configs["retention.ms"].value, configs["retention.bytes"].value) == (str(7 * 86_400_000), "5000000")
    with refused(406, "inequivalent arg", "x-max-age"):
        channel.queue(name, durable=True, arguments={**arguments, "x-max-age": "8D"})


# ---- one log, two protocols -----------------------------------------------------------------------------------------


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


# ---- publishing -----------------------------------------------------------------------------------------------------


def test_streams_and_queues_behind_one_exchange_get_the_same(channel: Channel, stream: str, new_name: Any) -> None:
    exchange, queue = new_name(), new_name()
    channel.exchange(exchange, "fanout", auto_delete=True)
    channel.queue(queue, exclusive=True)
    for name in (stream, queue):
        channel.bind(name, exchange)
    bodies = [str(at).encode() for at in range(50)]
    channel.published(exchange, "k", *bodies, properties=PERSISTENT)
    assert channel.bodies(queue) == bodies
    assert [message.body for message in read(channel, stream, 50)] == bodies


def test_a_message_that_no_record_can_be_is_not_confirmed(channel: Channel, new_name: Any, kafka: Kafka) -> None:
    topic = new_name()
    kafka.create(topic, max_message_bytes="2000")
    channel.confirm_select()
    channel.publish("", topic, b"x" * 1000)
    channel.confirmed(1)
    channel.publish("", topic, b"x" * 3000)
    assert channel.expect(wire.BasicNack).delivery_tag == 2
    for _ in range(5):
        channel.publish("", topic, b"x" * 1500)
    channel.confirmed(7)
    assert channel.count(topic) == 6
    channel.client.close()


def test_a_compacted_topic_takes_only_messages_with_a_key(channel: Channel, new_name: Any, kafka: Kafka) -> None:
    topic = new_name()
    kafka.create(topic, cleanup_policy="compact")
    channel.confirm_select()
    channel.publish("", topic, b"value", Properties(headers={"x-kafka-key": "k"}))
    channel.confirmed(1)
    channel.publish("", topic, b"value")
    assert channel.expect(wire.BasicNack).delivery_tag == 2
    channel.publish("", topic, b"", Properties(headers={"x-kafka-key": "k", "x-kafka-tombstone": True}))
    channel.confirmed(3)
    assert [message.value() for message in kafka.read(topic, 2)] == [b"value", None]


def test_a_transaction_of_amqp_ends_when_the_stream_has_it(channel: Channel, stream: str) -> None:
    channel.call(wire.TxSelect(), wire.TxSelectOk)
    channel.publish("", stream, b"kept")
    with channel.beside() as other:
        assert other.count(stream) == 0
    channel.call(wire.TxCommit(), wire.TxCommitOk)
    with channel.beside() as other:
        assert other.count(stream) == 1
    channel.publish("", stream, b"dropped")
    channel.call(wire.TxRollback(), wire.TxRollbackOk)
    with channel.beside() as other:
        assert other.count(stream) == 1


def test_dead_letters_and_alternates_end_in_streams(channel: Channel, stream: str, new_name: Any) -> None:
    queue, exchange = new_name(), new_name()
    letters = {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": stream}
    channel.queue(queue, durable=True, arguments=letters)
    channel.published("", queue, b"bad", properties=PERSISTENT)
    channel.nack(channel.got(queue, no_ack=False).tag, requeue=False)
    (letter,) = read(channel, stream, 1)
    assert letter.properties.headers["x-death"][0]["queue"] == queue  # type: ignore[index]
    eventually(lambda: channel.count(queue) == 0)
    other = new_name()
    channel.exchange(other, "fanout")
    channel.bind(stream, other)
    channel.exchange(exchange, "direct", arguments={"alternate-exchange": other})
    channel.publish(exchange, "nobody", b"lost", mandatory=True)
    assert read(channel, stream, 2)[1].body == b"lost"


# ---- many messages --------------------------------------------------------------------------------------------------


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
