"""Rows A1 to A13 of the list of hostile inputs: the AMQP port."""

from __future__ import annotations

import contextlib
import os
import struct
import time
from collections.abc import Iterator

import pytest

from tests.compat.target import Server
from tests.faults.hostile.amqp_attack import VICTIM, AmqpAttack, make_victim, under_amqp_attack
from tests.scenarios.amqp.raw import (
    BODY,
    HEADER,
    METHOD,
    PROTOCOL_HEADER,
    Client,
    Closed,
    Refusal,
    content_header,
    eventually,
    frame,
    publish_frames,
    refused,
)
from tests.scenarios.amqp.test_rows_17_to_30_topology import is_there
from twinlog.wire.amqp import Method, Properties, encode_method
from twinlog.wire.amqp import methods as wire

SETTINGS = {
    "amqp.listen": "127.0.0.1:0",
    "kafka.listen": "off",
    "amqp.login_failure_delay_ms": 300,
    "amqp.handshake_max_ms": 1500,
    "amqp.close_wait_ms": 1000,
    "amqp.send_stalled_max_ms": 2000,
    "amqp.handshakes_per_address_max": 300,
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(settings=SETTINGS) as server:
        make_victim(server)
        with Client(server.amqp).opened() as client:
            channel = client.channel()
            name = channel.queue("", exclusive=True).queue
            for _ in range(20):  # so that its memory stands still
                channel.publish("", name, bytes(1_000_000))
                channel.got(name)
        yield server


@pytest.fixture
def attack(server: Server) -> Iterator[AmqpAttack]:
    with under_amqp_attack(server) as found:
        yield found


@pytest.mark.parametrize(
    "header",
    [
        b"AMQP\0\1\0\0",
        b"AMQP\1\1\0\x0a",
        b"GET / HTTP/1.1\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03",
        bytes(range(130, 194)),
    ],
)
def test_a01_other_protocols(attack: AmqpAttack, header: bytes) -> None:
    with attack.stranger() as stranger:
        stranger.send_bytes(header)
        assert stranger.expect_gone(5) == PROTOCOL_HEADER


def test_a02_frames_beyond_what_was_agreed(attack: AmqpAttack) -> None:
    with attack.stranger() as stranger:
        stranger.start()
        stranger.send_bytes(struct.pack(">BHI", METHOD, 0, 8193) + bytes(9000))
        stranger.expect_close(501)
    with attack.client(frame_max=4096) as client:
        client.send_bytes(struct.pack(">BHI", METHOD, 0, 1 << 31) + bytes(9000))
        client.expect_close(501)


@pytest.mark.parametrize(
    ("code", "data"),
    [
        (501, frame(METHOD, 0, struct.pack(">HH", 10, 51), end=0)),
        (501, frame(0, 0, b"")),
        (501, frame(9, 0, b"")),
        (505, frame(8, 5, b"")),
        (505, frame(BODY, 1, b"abc")),
        (505, encode_method(1, wire.BasicPublish()) + encode_method(1, wire.BasicQos())),
        (505, frame(HEADER, 0, content_header(3))),
        (503, frame(METHOD, 0, struct.pack(">HH", 999, 1))),
        (503, frame(METHOD, 1, struct.pack(">HH", 60, 777))),
        (504, encode_method(7, wire.BasicQos())),
        (503, encode_method(0, wire.BasicPublish())),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else None,
)
def test_a03_a04_frames_that_make_no_sense(attack: AmqpAttack, code: int, data: bytes) -> None:
    with attack.client() as client:
        client.channel()
        client.send_bytes(data + os.urandom(200))
        client.expect_close(code)


def test_a05_bodies_of_impossible_sizes(attack: AmqpAttack) -> None:
    start = encode_method(1, wire.BasicPublish(routing_key=VICTIM))
    for size in (1 << 63, (512 << 20) + 1):
        with attack.client() as client:
            client.channel()
            client.send_bytes(start + frame(HEADER, 1, content_header(size)))
            client.expect_close(501)
    with attack.client() as client:
        channel = client.channel()
        client.send_bytes(start + frame(HEADER, 1, content_header(17 << 20)))
        body = memoryview(bytes(17 << 20))
        for at in range(0, len(body), 131_000):
            client.send_bytes(frame(BODY, 1, bytes(body[at : at + 131_000])))
        with refused(406):
            channel.next_thing()
        client.channel(2).quiet()
    with attack.client() as client:
        client.channel()
        client.send_bytes(start + frame(HEADER, 1, content_header(5)) + frame(BODY, 1, b"") * 1000)
        client.expect_close(501)


def test_a05_contents_that_never_end_are_bounded(attack: AmqpAttack) -> None:
    attack.memory_growth_max = 96 << 20  # four messages of the largest size may be under way
    with attack.client() as client:
        with contextlib.suppress(ConnectionError, Closed, Refusal, OSError):
            for number in range(1, 12):
                client.channel(number)
                head = encode_method(number, wire.BasicPublish(routing_key=VICTIM))
                client.send_bytes(head + frame(HEADER, number, content_header(16 << 20)))
                for _ in range(100):
                    client.send_bytes(frame(BODY, number, bytes(131_000)))
        with contextlib.suppress(ConnectionError, Closed):
            client.expect_close(506)


def nested(depth: int) -> bytes:
    value = b"V"
    for _ in range(depth):
        inner = b"\x01k" + value
        value = b"F" + struct.pack(">I", len(inner)) + inner
        if len(value) > 100_000:
            break
    table = b"\x01k" + value
    return struct.pack(">I", len(table)) + table


@pytest.mark.parametrize(
    "table",
    [
        nested(10_000),
        struct.pack(">I", 1 << 30) + b"\x01kV",
        struct.pack(">I", 3) + b"\x01k?",
        struct.pack(">I", 5) + b"\x01kS\0\0",
        struct.pack(">I", 3) + b"\x01\xffV",
    ],
    ids=["nested", "too long", "unknown type", "cut", "not utf-8"],
)
def test_a06_field_tables_that_are_none(attack: AmqpAttack, table: bytes) -> None:
    declare = struct.pack(">HHH", 50, 10, 0) + b"\x01q\0" + table
    headers = struct.pack(">HHQH", 60, 0, 0, 0x2000) + table
    for data in (frame(METHOD, 1, declare), encode_method(1, wire.BasicPublish()) + frame(HEADER, 1, headers)):
        with attack.client() as client:
            client.channel()
            client.send_bytes(data)
            client.expect_close(502)


def test_a06_a_table_with_very_many_keys_costs_little(attack: AmqpAttack) -> None:
    table = b"".join(b"\x05%05dV" % number for number in range(18_000))
    declare = struct.pack(">HHH", 50, 10, 0) + b"\x00\x0c" + struct.pack(">I", len(table)) + table
    with attack.client() as client:
        channel = client.channel()
        client.send_bytes(frame(METHOD, 1, declare))
        with contextlib.suppress(Refusal, Closed):
            channel.expect(wire.QueueDeclareOk)


def test_a07_passwords_cannot_be_guessed_quickly(attack: AmqpAttack) -> None:
    strangers = [attack.stranger() for _ in range(50)]
    began = time.monotonic()
    for stranger in strangers:
        stranger.start()
        stranger.log_in(password="guess", capabilities=())
    for stranger in strangers:
        assert stranger.expect_gone(10) == b""
        stranger.drop()
    assert time.monotonic() - began >= 0.3
    with attack.stranger() as stranger:
        stranger.start()
        stranger.send(0, wire.ConnectionStartOk(mechanism="ANONYMOUS", response=b"", locale="en_US"))
        stranger.expect_close(503)


@pytest.mark.parametrize(
    ("code", "methods"),
    [
        (530, [wire.ConnectionTuneOk(channel_max=10, frame_max=100)]),
        (530, [wire.ConnectionTuneOk(channel_max=65_535, frame_max=131_072)]),
        (503, [wire.ConnectionOpen(virtual_host="/")]),
        (504, [wire.ConnectionTuneOk(channel_max=10, frame_max=4096), wire.ChannelOpen()]),
    ],
)
def test_a08_handshakes_in_the_wrong_order(attack: AmqpAttack, code: int, methods: list[Method]) -> None:
    with attack.stranger() as stranger:
        stranger.start()
        stranger.log_in()
        assert isinstance(stranger.next_thing(0), wire.ConnectionTune)
        for method in methods:
            stranger.send(1 if isinstance(method, wire.ChannelOpen) else 0, method)
        stranger.expect_close(code)


def test_a08_opening_twice_is_503_and_any_heartbeat_is_fine(attack: AmqpAttack) -> None:
    with attack.client(heartbeat=65_535) as client:
        client.send(0, wire.ConnectionOpen(virtual_host="/"))
        client.expect_close(503)


def test_a09_channels_opened_and_closed_very_often_cost_no_memory(attack: AmqpAttack) -> None:
    cycle = encode_method(1, wire.ChannelOpen()) + encode_method(1, wire.ChannelClose(reply_code=200))
    attack.memory_growth_max = 16 << 20
    with attack.client() as client:
        for _ in range(40):
            client.send_bytes(cycle * 250)
            for _ in range(250):
                assert isinstance(client.next_thing(1), wire.ChannelOpenOk)
                assert isinstance(client.next_thing(1), wire.ChannelCloseOk)
        client.channel(1).quiet()


@pytest.mark.parametrize(
    "method",
    [
        wire.BasicAck(delivery_tag=1 << 63),
        wire.BasicAck(delivery_tag=3, multiple=True),
        wire.BasicNack(delivery_tag=9),
        wire.BasicReject(delivery_tag=9),
    ],
)
def test_a10_acknowledging_what_was_never_delivered(attack: AmqpAttack, method: Method) -> None:
    with attack.client() as client:
        channel = client.channel()
        name = channel.queue("", exclusive=True).queue
        channel.published("", name, b"1", b"2")
        channel.got(name, no_ack=False)
        channel.ack(0, multiple=True)
        channel.ack(0, multiple=True)
        channel.quiet()
        channel.send(method)
        with refused(406, "unknown delivery tag"):
            channel.next_thing()
        assert client.channel(2).bodies(name) == [b"2"]


@pytest.mark.parametrize(
    ("code", "flags"),
    [
        (403, {"name": "amq.mine"}),
        (406, {"arguments": {"x-max-length": -1}}),
        (406, {"arguments": {"x-max-priority": 10**9}}),
        (406, {"arguments": {"x-message-ttl": 1 << 62}}),
    ],
)
def test_a11_queues_that_cannot_be(attack: AmqpAttack, code: int, flags: dict[str, object]) -> None:
    with attack.client() as client, refused(code):
        client.channel().queue(**{"name": "bad", **flags})


@pytest.mark.parametrize("name", ["../../etc/passwd", "a\0b", "<script>alert(1)</script>", "\u202eevil", "n" * 255])
def test_a11_any_text_can_be_a_name(attack: AmqpAttack, server: Server, name: str) -> None:
    with attack.client() as client:
        channel = client.channel()
        channel.queue(name, durable=True)
        channel.published("", name, b"m")
        assert channel.bodies(name) == [b"m"]
        channel.delete_queue(name)
    inside = {path.name for path in server.data_dir.rglob("*")}
    assert not any("passwd" in found or "script" in found for found in inside)


def test_a12_publishes_that_ask_for_too_much(attack: AmqpAttack) -> None:
    with attack.client() as client:
        channel = client.channel()
        channel.publish("", VICTIM, b"m", Properties(headers={"CC": ["k"] * 10_000}))
        with refused(406):
            channel.next_thing()
    with attack.client() as client:
        channel = client.channel()
        name = channel.queue("", exclusive=True).queue
        channel.exchange("many", "headers", auto_delete=True)
        pairs = {f"k{number}": number for number in range(5_000)}
        channel.bind(name, "many", "", {"x-match": "all", **pairs})
        channel.publish("many", "", b"m", Properties(headers=pairs))
        assert channel.bodies(name) == [b"m"]


def test_a13_a_consumer_that_never_reads_is_cut_off(attack: AmqpAttack) -> None:
    with attack.client() as lazy, attack.client() as feeder:
        channel, feeds = lazy.channel(), feeder.channel()
        name = channel.queue("never-read", auto_delete=True).queue
        channel.send(wire.BasicConsume(queue=name, no_ack=True))
        feeds.confirm_select()
        for number in range(1, 65):
            feeds.publish("", name, bytes(1 << 20))
            feeds.confirmed(number)
        # The queue goes with its only consumer, and that with its connection.
        eventually(lambda: not is_there(feeder, name))


def test_a13_silent_connections_are_closed_and_too_many_are_not_let_in(attack: AmqpAttack) -> None:
    strangers = [attack.stranger() for _ in range(400)]
    began = time.monotonic()
    for stranger in strangers:
        stranger.expect_gone(10)
        stranger.drop()
    assert time.monotonic() - began < 8


def test_a13_a_peer_that_is_gone_is_noticed(attack: AmqpAttack) -> None:
    with attack.client(heartbeat=1) as client:
        client.expect_gone(8)


FLOODS = {
    "gets": encode_method(1, wire.BasicGet(queue=VICTIM)) * 20_000,
    "publishes": publish_frames(1, "", "nowhere", b"") * 20_000,
    "acks of nothing": encode_method(1, wire.BasicAck(delivery_tag=0, multiple=True)) * 40_000,
    "declarations": encode_method(1, wire.QueueDeclare(queue=VICTIM, durable=True)) * 10_000,
    "heartbeats": frame(8, 0, b"") * 100_000,
}


@pytest.mark.parametrize("kind", FLOODS)
def test_a13_a_flood_from_a_client_that_does_not_read_leaves_the_others_served(attack: AmqpAttack, kind: str) -> None:
    with attack.client() as client:
        client.channel()
        client.socket.settimeout(1)
        with contextlib.suppress(OSError):
            client.send_bytes(FLOODS[kind])
