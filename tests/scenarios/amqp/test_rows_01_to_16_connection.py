"""Rows 1 to 16 of the list of AMQP behaviours: frames, handshake, channels, errors, tables, properties."""

from __future__ import annotations

import itertools
import struct
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from tests.scenarios.amqp.raw import (
    BEAT,
    BODY,
    HEADER,
    METHOD,
    PERSISTENT,
    Channel,
    Client,
    Refusal,
    content_header,
    frame,
    publish_frames,
    refused,
)
from twinlog.wire.amqp import Properties, encode_method, encode_properties
from twinlog.wire.amqp import methods as wire
from twinlog.wire.amqp.table import ByteArray, Float, Int8, Int16, Int32, Int64, Timestamp, UInt8, UInt16, UInt32

Connect = Callable[..., Client]


@pytest.mark.parametrize("size", [4096 - 8, 4096 - 7, 40_960])
def test_row_01_bodies_are_cut_to_the_agreed_frame_size(
    connect: Connect, new_name: Callable[[], str], size: int
) -> None:
    channel = connect(frame_max=4096).channel()
    name = channel.queue(new_name(), exclusive=True).queue
    body = bytes(index % 251 for index in range(size))
    channel.publish("", name, body)
    message = channel.got(name)
    assert message.body == body
    assert max(message.body_frames) <= 4096 - 8
    assert len(message.body_frames) == -(-size // (4096 - 8))


def test_row_02_an_empty_body_has_no_body_frame(channel: Channel, queue: str) -> None:
    channel.publish("", queue, b"")
    message = channel.got(queue)
    assert (message.body, message.body_frames) == (b"", [])


def test_row_03_frames_of_channels_may_be_interleaved(client: Client, queue: str) -> None:
    one, two = client.channel(11), client.channel(12)
    parts = [
        [
            encode_method(each.number, wire.BasicPublish(routing_key=queue)),
            frame(HEADER, each.number, content_header(6)),
            frame(BODY, each.number, body[:3]),
            frame(BODY, each.number, body[3:]),
        ]
        for each, body in ((one, b"first!"), (two, b"second"))
    ]
    client.send_bytes(b"".join(itertools.chain(*zip(*parts, strict=True))))
    one.quiet()
    two.quiet()
    assert sorted(one.bodies(queue)) == [b"first!", b"second"]


PUBLISH = encode_method(1, wire.BasicPublish(routing_key="nowhere"))


@pytest.mark.parametrize(
    ("code", "frames"),
    [
        (501, PUBLISH + frame(HEADER, 1, content_header(3)) + frame(BODY, 1, b"four")),
        (505, PUBLISH + frame(BODY, 1, b"abc")),
        (505, PUBLISH + frame(HEADER, 1, content_header(3, class_id=50))),
        (505, PUBLISH + frame(HEADER, 1, content_header(3, weight=1))),
        (505, PUBLISH + PUBLISH),
        (501, frame(9, 1, b"")),
        (505, frame(BEAT, 1, b"")),
        (505, frame(HEADER, 1, content_header(3))),
        (502, frame(METHOD, 1, b"\0")),
    ],
    ids=lambda value: None if isinstance(value, bytes) else str(value),
)
def test_row_04_frames_out_of_order_close_the_connection_and_the_reason_arrives(
    client: Client, code: int, frames: bytes
) -> None:
    client.channel()
    client.send_bytes(frames)
    client.expect_close(code)


def test_row_05_a_frame_without_its_end_is_501(client: Client) -> None:
    client.send_bytes(frame(METHOD, 0, struct.pack(">HH", 10, 51), end=0xCD))
    client.expect_close(501)


@pytest.mark.parametrize(
    "header", [b"AMQP\0\0\x09\x02", b"AMQP\x03\x01\0\0", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\0\x01\0\x01"]
)
def test_row_06_another_protocol_is_answered_with_ours_and_closed(address: str, header: bytes) -> None:
    with Client(address) as client:
        client.send_bytes(header)
        assert client.expect_gone() == b"AMQP\0\0\x09\x01"


def test_row_06_the_old_header_is_as_good(address: str) -> None:
    with Client(address) as client:
        client.send_bytes(b"AMQP\x01\x01\0\x09")
        assert isinstance(client.next_thing(0), wire.ConnectionStart)


@pytest.mark.parametrize(
    "agreed", [{"frame_max": 200_000}, {"frame_max": 100}, {"frame_max": 0}, {"channel_max": 4000}, {"channel_max": 0}]
)
def test_row_07_agreeing_on_more_than_was_offered_is_530(address: str, agreed: dict[str, int]) -> None:
    with Client(address) as client:
        client.start()
        client.log_in()
        client.agree(**agreed)
        client.frame_max = 131_072
        client.expect_close(530)


def test_row_07_one_channel_more_than_agreed_is_530(connect: Connect) -> None:
    client = connect(channel_max=2)
    client.channel(5)
    client.channel(6)
    client.send(7, wire.ChannelOpen())
    client.expect_close(530)


def test_row_08_a_heartbeat_comes_at_half_time_although_other_data_was_sent(connect: Connect) -> None:
    client = connect(heartbeat=2)
    began = time.monotonic()
    client.channel()
    assert client.next_thing(0) == "heartbeat"
    assert time.monotonic() - began < 1.9


def test_row_08_a_client_that_says_nothing_is_dropped(connect: Connect) -> None:
    client = connect(heartbeat=1)
    began = time.monotonic()
    client.expect_gone(10)
    assert 1.9 < time.monotonic() - began < 5


def test_row_08_any_bytes_count_as_a_sign_of_life(connect: Connect) -> None:
    client = connect(heartbeat=1)
    channel = client.channel()
    end = time.monotonic() + 3.5
    while time.monotonic() < end:
        channel.quiet()
        time.sleep(0.4)
    channel.quiet()


def test_row_09_a_wrong_password_is_told_only_to_who_wants_to_hear_it(address: str) -> None:
    with Client(address) as client:
        client.start()
        client.log_in(password="wrong", capabilities=("authentication_failure_close",))
        close = client.expect_close(403)
        assert close.reply_text.startswith("ACCESS_REFUSED")
    with Client(address) as client:
        client.start()
        client.log_in(password="wrong", capabilities=())
        assert client.expect_gone() == b""


def test_row_09_both_ways_to_log_in_are_offered(address: str) -> None:
    with Client(address) as client:
        start = client.start()
        assert {b"PLAIN", b"AMQPLAIN"} <= set(start.mechanisms.split())
        response = b"\x05LOGINS\0\0\0\x05guest\x08PASSWORDS\0\0\0\x05guest"
        client.send(0, wire.ConnectionStartOk(mechanism="AMQPLAIN", response=response, locale="en_US"))
        client.agree()
        client.enter()


@pytest.mark.parametrize(
    ("mechanism", "response", "code"), [("NOISE", b"", 503), ("PLAIN", b"guest", 502), ("AMQPLAIN", b"\xff", 502)]
)
def test_row_09_what_is_no_login_is_refused(address: str, mechanism: str, response: bytes, code: int) -> None:
    with Client(address) as client:
        client.start()
        client.send(0, wire.ConnectionStartOk(mechanism=mechanism, response=response, locale="en_US"))
        client.expect_close(code)


def test_row_10_a_missing_vhost_is_530(address: str) -> None:
    with Client(address) as client, refused(530, "vhost"):
        client.opened(vhost="/nowhere")


def test_row_11_closing_while_a_channel_error_is_pending(client: Client, channel: Channel) -> None:
    client.send_bytes(
        encode_method(1, wire.QueueDeclare(queue="missing", passive=True))
        + encode_method(0, wire.ConnectionClose(reply_code=200))
    )
    assert isinstance(client.next_thing(1), wire.ChannelClose)
    assert isinstance(client.next_thing(0), wire.ConnectionCloseOk)
    assert client.expect_gone() == b""


def test_row_11_exclusive_queues_are_gone_when_close_is_answered(
    connect: Connect, client: Client, new_name: Callable[[], str]
) -> None:
    name = new_name()
    client.channel().queue(name, exclusive=True)
    client.close()
    with refused(404):
        connect().channel().queue(name, passive=True)


def test_row_12_after_a_channel_was_closed_only_the_agreement_counts(client: Client, queue: str) -> None:
    channel = client.channel(3)
    client.send_bytes(
        encode_method(3, wire.QueueDeclare(queue="missing", passive=True))
        + publish_frames(3, "", queue, b"too late")
        + encode_method(3, wire.BasicAck(delivery_tag=7))
        + encode_method(3, wire.QueueDeclare(queue="missing", passive=True))
    )
    with refused(404):
        channel.next_thing()
    again = client.channel(3)
    again.quiet()
    assert client.channel(4).count(queue) == 0


def test_row_12_closing_a_channel_that_is_being_closed(client: Client) -> None:
    channel = client.channel(3)
    client.send_bytes(
        encode_method(3, wire.QueueDeclare(queue="missing", passive=True))
        + encode_method(3, wire.ChannelClose(reply_code=200))
    )
    assert isinstance(client.next_thing(3), wire.ChannelClose)
    channel.expect(wire.ChannelCloseOk)
    client.channel(3).quiet()


@pytest.mark.parametrize(
    ("code", "method"),
    [
        (540, wire.BasicQos(prefetch_size=10)),
        (540, wire.ChannelFlow(active=False)),
        (503, wire.ConnectionTuneOk(channel_max=1, frame_max=4096)),
        (504, wire.ChannelOpen()),
    ],
)
def test_row_13_hard_errors_close_the_connection(client: Client, channel: Channel, code: int, method: Any) -> None:
    channel.send(method)
    client.expect_close(code)


def test_row_13_a_method_that_nobody_knows_is_503(client: Client, channel: Channel) -> None:
    client.send_bytes(frame(METHOD, 1, struct.pack(">HH", 60, 999)))
    client.expect_close(503)


def test_row_13_a_consumer_tag_twice_is_530(client: Client, channel: Channel, queue: str) -> None:
    channel.consume(queue, "tag")
    with refused(530, "tag"):
        channel.consume(queue, "tag")


def test_row_13_a_method_on_a_channel_that_is_not_open_is_504(client: Client) -> None:
    client.send(9, wire.BasicQos())
    client.expect_close(504)


def test_row_13_soft_errors_close_the_channel_and_name_the_method(client: Client, channel: Channel) -> None:
    with pytest.raises(Refusal) as found:
        channel.queue("missing", passive=True)
    close = found.value.close
    assert (close.failing_class, close.failing_method) == (50, 10)
    assert close.reply_text.startswith("NOT_FOUND - no queue 'missing' in vhost '/'")
    client.channel(2).quiet()


TABLE = {
    "text": "täxt",
    "bytes": b"\xff\xfe",
    "int32": Int32(-1),
    "uint32": UInt32(1 << 31),
    "int64": Int64(-(1 << 60)),
    "int8": Int8(-5),
    "uint8": UInt8(250),
    "int16": Int16(-300),
    "uint16": UInt16(65_000),
    "bool": True,
    "time": Timestamp(1_700_000_000),
    "table": {"in": {"deep": [1, [2, {"x": None}]]}},
    "array": ["a", 1, False, None, []],
    "decimal": Decimal("-3.14"),
    "double": 2.5,
    "float": Float(0.5),
    "void": None,
    "blob": ByteArray(b"\0\1"),
    "empty": {},
    "k" * 128: 1,
}


def test_row_14_tables_come_back_with_their_types(channel: Channel, queue: str) -> None:
    sent = Properties(headers=TABLE)
    channel.publish("", queue, b"", sent)
    message = channel.got(queue)
    assert message.properties.headers == TABLE
    assert message.raw_properties == encode_properties(sent)


ALL = {
    "content_type": "text/plain",
    "content_encoding": "utf-8",
    "headers": {"x": 1},
    "delivery_mode": 2,
    "priority": 9,
    "correlation_id": "c",
    "reply_to": "r",
    "expiration": "600000",
    "message_id": "m",
    "timestamp": 1 << 40,
    "type": "t",
    "user_id": "guest",
    "app_id": "a",
    "cluster_id": "cl",
}


def test_row_15_every_property_comes_back_and_none_comes_along(channel: Channel, queue: str) -> None:
    names = list(ALL)
    choices = [(), tuple(names), *((name,) for name in names), *itertools.combinations(names, 2)]
    for chosen in choices:
        channel.publish("", queue, b"b", Properties(**{name: ALL[name] for name in chosen}))  # type: ignore[arg-type]
    for chosen in choices:
        assert channel.got(queue).properties == Properties(**{name: ALL[name] for name in chosen})  # type: ignore[arg-type]


def test_row_16_what_is_sent_in_one_go_is_answered_in_order(client: Client, new_name: Callable[[], str]) -> None:
    channel = client.channel()
    name, exchange = new_name(), new_name()
    client.send_bytes(
        encode_method(1, wire.ExchangeDeclare(exchange=exchange, type="fanout", durable=True))
        + encode_method(1, wire.QueueDeclare(queue=name, durable=True))
        + encode_method(1, wire.QueueBind(queue=name, exchange=exchange))
        + encode_method(1, wire.ConfirmSelect())
        + publish_frames(1, exchange, "", b"first", PERSISTENT)
        + encode_method(1, wire.BasicConsume(queue=name, consumer_tag="me"))
    )
    for kind in (wire.ExchangeDeclareOk, wire.QueueDeclareOk, wire.QueueBindOk, wire.ConfirmSelectOk):
        channel.expect(kind)
    rest = [channel.next_thing() for _ in range(3)]
    assert sum(isinstance(each, wire.BasicAck) for each in rest) == 1
    others = [each for each in rest if not isinstance(each, wire.BasicAck)]
    assert isinstance(others[0], wire.BasicConsumeOk)
    assert others[1].body == b"first"
    client.channel(2).delete_queue(name)
    client.channel(3).delete_exchange(exchange)


def test_row_16_who_wants_no_answer_gets_none(client: Client, new_name: Callable[[], str]) -> None:
    channel = client.channel()
    name, exchange = new_name(), new_name()
    channel.send(
        wire.ExchangeDeclare(exchange=exchange, type="fanout", no_wait=True),
        wire.QueueDeclare(queue=name, exclusive=True, no_wait=True),
        wire.QueueBind(queue=name, exchange=exchange, no_wait=True),
        wire.ConfirmSelect(no_wait=True),
        wire.QueuePurge(queue=name, no_wait=True),
        wire.BasicConsume(queue=name, consumer_tag="me", no_wait=True),
        wire.BasicCancel(consumer_tag="me", no_wait=True),
        wire.QueueDelete(queue=name, no_wait=True),
        wire.ExchangeDelete(exchange=exchange, no_wait=True),
    )
    channel.quiet()
