"""Peers that make a node hold much memory for them: others are slowed down, then kept out, and the greediest go.

Connections may hold 100 MiB here. Each attacker makes its own hold 20 MiB, by a request that it never finishes.
"""

from __future__ import annotations

import base64
import contextlib
import re
import socket
import struct
from collections.abc import Callable, Iterator

import pytest

from tests.kit.http import Api
from tests.scenarios.amqp.raw import BODY, HEADER, PERSISTENT, Client, content_header, eventually, frame
from tests.scenarios.amqp.raw import Closed as AmqpClosed
from tests.scenarios.kafka.batches import Record, batch
from tests.scenarios.kafka.raw import Closed, Connection, produce_request
from twinlog.testing import Broker
from twinlog.wire.amqp import encode_method
from twinlog.wire.amqp import methods as wire
from twinlog.wire.kafka.messages.api_versions import ApiVersionsRequest

MIB = 1 << 20
SETTINGS = {
    "amqp.listen": "127.0.0.1:0",
    "http.listen": "127.0.0.1:0",
    "memory.connections_max_bytes": 100 * MIB,
    "memory.connection_max_bytes": 30 * MIB,
}
REQUEST_BYTES = 20 * MIB
SENT_BYTES = 9 * MIB  # from eight on the buffer has room for all of it


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(settings=SETTINGS) as broker:
        yield broker
        assert "Traceback" not in broker.log


def metric(broker: Broker, name: str) -> float:
    text = Api(broker.http).call("GET", "/metrics").body.decode()
    found = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)
    assert found, name
    return float(found[1])


def grow(attacker: Connection, request_bytes: int = REQUEST_BYTES) -> None:
    attacker.send_bytes(struct.pack(">i", request_bytes) + struct.pack(">hhi", 0, 9, 1) + bytes(SENT_BYTES))


def throttled(producer: Connection) -> int:
    """What the answer to one more record tells its producer to wait."""
    request, version = produce_request("t", batch([Record(b"v")]))
    answer = producer.call(request, version)
    assert answer.responses[0].partition_responses[0].error_code == 0
    return int(answer.throttle_time_ms)


def is_let_in(knock: Callable[[], object]) -> bool:
    try:
        knock()
    except (Closed, AmqpClosed, ConnectionError):
        return False
    return True


def test_producers_wait_then_nobody_comes_in_then_the_greediest_go_and_consumers_never_notice(broker: Broker) -> None:
    with contextlib.ExitStack() as open_now:
        attackers = [open_now.enter_context(Connection(broker.kafka)) for _ in range(5)]
        producer = open_now.enter_context(Connection(broker.kafka))
        publisher, consumer = (open_now.enter_context(Client(broker.amqp).opened()) for _ in range(2))
        overload(broker, attackers, producer, publisher, consumer)


def overload(
    broker: Broker, attackers: list[Connection], producer: Connection, publisher: Client, consumer: Client
) -> None:
    producer.create_topic("t")
    sending, taking = publisher.channel(), consumer.channel()
    taking.queue("q", durable=True)
    sending.published("", "q", *(b"%d" % number for number in range(30)), properties=PERSISTENT)

    def consumer_goes_on() -> None:
        for _ in range(5):
            message = taking.get("q")
            assert message is not None
            taking.ack(message.tag)
        with taking.beside() as other:
            other.count("q")

    def knock_kafka() -> None:
        with Connection(broker.kafka) as stranger:
            stranger.call(ApiVersionsRequest(), 0)

    def knock_amqp() -> None:
        with Client(broker.amqp) as stranger:
            stranger.opened()

    assert throttled(producer) == 0
    for attacker in attackers[:3]:  # six tenths
        grow(attacker)
    assert isinstance(publisher.next_thing(0), wire.ConnectionBlocked)
    assert throttled(producer) == 200
    assert is_let_in(knock_kafka) and is_let_in(knock_amqp)
    consumer_goes_on()

    grow(attackers[3])  # eight tenths
    eventually(lambda: not is_let_in(knock_kafka) and not is_let_in(knock_amqp))
    consumer_goes_on()
    assert producer.fetch("t", 0).error_code == 0

    grow(attackers[4])  # all of it
    assert any(attacker.is_closed_within(10) for attacker in attackers[:5])
    eventually(lambda: metric(broker, "twinlog_connections_memory_bytes") <= 80 * MIB)
    consumer_goes_on()

    for attacker in attackers:
        attacker.socket.close()
    assert isinstance(publisher.next_thing(0), wire.ConnectionUnblocked)
    eventually(lambda: is_let_in(knock_kafka) and is_let_in(knock_amqp))
    eventually(lambda: throttled(producer) == 0)
    consumer_goes_on()
    assert metric(broker, "twinlog_connections_closed_for_memory_total") >= 1
    assert metric(broker, "twinlog_connections_turned_away_total") >= 2
    assert metric(broker, "twinlog_connections_memory_bytes") < 20 * MIB
    assert taking.count("q") == 10


def test_a_connection_that_holds_more_than_one_may_is_closed_alone(broker: Broker) -> None:
    with Connection(broker.kafka) as greedy, Connection(broker.kafka) as other:
        grow(greedy, 50 * MIB)
        assert greedy.is_closed_within(20)
        assert other.call(ApiVersionsRequest(), 0).error_code == 0
    assert metric(broker, "twinlog_connections_closed_for_memory_total") == 1


def test_half_a_message_on_many_channels_counts_for_its_connection(broker: Broker) -> None:
    """Sixteen channels, each with the first two MiB of a body: what the parser keeps is more than a connection may."""
    with Client(broker.amqp).opened() as greedy:
        for number in range(1, 17):
            greedy.channel(number)
        held = {each["memory"] for each in Api(broker.http).get("/api/connections") if each["protocol"] != "Kafka"}
        assert max(held) < 2 * MIB
        body = bytes(131_072 - 8)
        try:
            for number in range(1, 17):
                whole = publish_begin(number, 16 * len(body) + 1)
                greedy.send_bytes(whole + content_frames(number, body, 16))
        except (BrokenPipeError, ConnectionResetError):
            pass  # it was closed while we were still sending
        greedy.expect_gone()
    eventually(lambda: metric(broker, "twinlog_connections_closed_for_memory_total") == 1)


def publish_begin(number: int, size: int) -> bytes:
    method = encode_method(number, wire.BasicPublish(exchange="", routing_key="nowhere"))
    return method + frame(HEADER, number, content_header(size))


def content_frames(number: int, body: bytes, count: int) -> bytes:
    return frame(BODY, number, body) * count


def test_half_a_body_counts_for_its_http_connection(broker: Broker) -> None:
    before = metric(broker, "twinlog_connections_memory_bytes")
    token = base64.b64encode(b"guest:guest").decode()
    head = (
        f"POST /api/definitions HTTP/1.1\r\nHost: {broker.http}\r\nAuthorization: Basic {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {9 * MIB}\r\n\r\n"
    )
    host, _, port = broker.http.rpartition(":")
    with socket.create_connection((host, int(port)), 20) as stranger:
        stranger.sendall(head.encode() + bytes(8 * MIB))
        eventually(lambda: metric(broker, "twinlog_connections_memory_bytes") >= before + 8 * MIB)
    eventually(lambda: metric(broker, "twinlog_connections_memory_bytes") < before + MIB)
