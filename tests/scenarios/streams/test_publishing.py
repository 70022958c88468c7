"""Publishing to streams: beside queues, beyond limits, in transactions, from dead letters."""

from __future__ import annotations

from typing import Any

from tests.compat.target import Server
from tests.kit.http import Api
from tests.scenarios.amqp.raw import PERSISTENT, Channel, Client, eventually
from tests.scenarios.streams.both import Kafka, read
from twinlog.wire.amqp import Properties
from twinlog.wire.amqp import methods as wire


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


def test_a_delayed_message_ends_in_a_stream_once(channel: Channel, stream: str) -> None:
    channel.published("", stream, b"later", properties=Properties(headers={"x-delay": 50}, delivery_mode=2))
    (found,) = read(channel, stream, 1, "first")
    assert (found.body, (found.properties.headers or {})["x-delay"]) == (b"later", -50)
    assert channel.count(stream) == 1


def test_messages_over_the_http_api_are_records(server: Server, channel: Channel, stream: str, kafka: Kafka) -> None:
    message = {"routing_key": stream, "payload": "by http", "properties": {"message_id": "m", "headers": {"n": 1}}}
    assert Api(server.http).post("/api/exchanges/%2F/amq.default/publish", message) == {"routed": True}
    (record,) = kafka.read(stream, 1)
    assert (record.value(), dict(record.headers())["amqp.message-id"]) == (b"by http", b"m")


def test_quotas_of_producers_slow_publishers_of_streams_down(server: Server, stream: str, new_name: Any) -> None:
    api, user = Api(server.http), new_name()
    api.put(f"/api/users/{user}", {"password": "secret", "tags": ""})
    api.put(f"/api/permissions/%2F/{user}", {"configure": ".*", "write": ".*", "read": ".*"})
    api.put("/api/quotas", {"user": user, "values": {"producer_byte_rate": 100_000}})
    with Client(server.amqp) as client:
        channel = client.opened(user=user, password="secret").channel()
        channel.confirm_select()
        for number in range(1, 10):
            channel.publish("", stream, bytes(10_000))
            channel.confirmed(number)
        assert channel.count(stream) == 9
    line = next(each for each in api.call("GET", "/metrics").body.decode().splitlines() if 'quota="produce"' in each)
    assert float(line.rpartition(" ")[2]) > 0
