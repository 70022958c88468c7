"""What goes through queues, exchanges, channels and connections is counted for each, as RabbitMQ tells it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pika
import pytest
from pika.adapters.blocking_connection import BlockingChannel

from tests.kit.http import Api
from twinlog.testing import Broker


@pytest.fixture
def channel(http_broker: Broker, vhost: str, api: Api) -> Iterator[BlockingChannel]:
    api.put(f"/api/permissions/{vhost}/guest", {"configure": ".*", "write": ".*", "read": ".*"})
    host, _, port = http_broker.amqp.rpartition(":")
    connection = pika.BlockingConnection(pika.ConnectionParameters(host, int(port), virtual_host=vhost))
    channel = connection.channel()
    channel.confirm_delivery()
    yield channel
    connection.close()


def until(read: Callable[[], Any], wanted: Callable[[Any], bool]) -> Any:
    deadline = time.monotonic() + 20
    while not wanted(found := read()):
        assert time.monotonic() < deadline, found
    return found


def counts(found: dict[str, Any]) -> dict[str, int]:
    return {name: value for name, value in found.get("message_stats", {}).items() if not name.endswith("_details")}


def test_each_thing_counts_its_own(api: Api, vhost: str, channel: BlockingChannel) -> None:
    channel.exchange_declare("fan", "fanout")
    for queue in ("one", "two"):
        channel.queue_declare(queue)
        channel.queue_bind(queue, "fan")
    assert counts(api.get(f"/api/queues/{vhost}/one")) == {}
    for _ in range(3):
        channel.basic_publish("fan", "", b"m")
    channel.basic_publish("fan", "", b"m")
    method, _, _ = channel.basic_get("one")
    channel.basic_nack(method.delivery_tag, requeue=True)
    for method, _, _ in channel.consume("one", inactivity_timeout=20):
        channel.basic_ack(method.delivery_tag)
        if method.delivery_tag == 5:
            break
    channel.basic_get("two", auto_ack=True)
    until(lambda: counts(api.get(f"/api/queues/{vhost}/one")), lambda found: found.get("ack") == 4)
    assert counts(api.get(f"/api/queues/{vhost}/one")) == {
        "publish": 4,
        "get": 1,
        "deliver": 4,
        "deliver_get": 5,
        "redeliver": 1,
        "ack": 4,
    }
    assert counts(api.get(f"/api/queues/{vhost}/two")) == {"publish": 4, "get_no_ack": 1, "deliver_get": 1}
    assert counts(api.get(f"/api/exchanges/{vhost}/fan")) == {"publish_in": 4, "publish_out": 8}
    everything = {
        "publish": 4,
        "confirm": 4,
        "get": 1,
        "get_no_ack": 1,
        "deliver": 4,
        "deliver_get": 6,
        "redeliver": 1,
        "ack": 4,
    }
    (of_channel,) = api.get(f"/api/vhosts/{vhost}/channels")
    assert counts(of_channel) == everything
    (of_connection,) = api.get(f"/api/vhosts/{vhost}/connections")
    assert counts(of_connection) == everything
    assert of_connection["recv_oct"] > 100
    channel.close()
    assert counts(api.get(f"/api/connections/{quote(of_connection['name'])}")) == everything


def test_rates_and_a_past_come_from_what_was_counted(api: Api, vhost: str, channel: BlockingChannel) -> None:
    channel.queue_declare("q")
    path = f"/api/queues/{vhost}/q"
    sent = 0

    def grows() -> Any:
        nonlocal sent
        channel.basic_publish("", "q", b"m")
        sent += 1
        return api.get(path)

    found = until(grows, lambda each: each.get("message_stats", {}).get("publish_details", {}).get("rate", 0) > 0)
    assert found["messages_ready_details"]["rate"] > 0
    (of_channel,) = api.get(f"/api/vhosts/{vhost}/channels")
    assert set(of_channel["message_stats"]) >= {"publish", "publish_details"}
    # Nobody asked for its past before: it was kept because the queue changed.
    past = until(lambda: api.get(f"{path}/figures"), lambda each: each["values"].get("publish", [])[-1:] == [sent])
    assert past["values"]["ready"] == past["values"]["publish"]
    assert past["values"]["publish"] == sorted(past["values"]["publish"])
    assert past["at_ms"] == sorted(past["at_ms"])
    assert len(past["at_ms"]) >= 2


def test_what_is_sent_and_taken_over_http_counts_too(api: Api, vhost: str) -> None:
    api.put(f"/api/queues/{vhost}/q")
    body = {"routing_key": "q", "payload": "m", "payload_encoding": "string", "properties": {}}
    before = api.get("/api/overview")["message_stats"]
    api.post(f"/api/exchanges/{vhost}/amq.default/publish", body)
    api.post(f"/api/queues/{vhost}/q/get", {"ackmode": "ack_requeue_true"})
    api.post(f"/api/queues/{vhost}/q/get", {"ackmode": "ack_requeue_false"})
    assert counts(api.get(f"/api/queues/{vhost}/q")) == {
        "publish": 1,
        "get": 2,
        "deliver_get": 2,
        "redeliver": 1,
        "ack": 1,
    }
    after = until(lambda: api.get("/api/overview")["message_stats"], lambda each: each["publish"] > before["publish"])
    assert after["get"] - before["get"] >= 2
