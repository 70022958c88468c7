"""AMQP frames to events, runs and deliveries; the frames are made and read here by hand, after the specification."""

import struct
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlog import _kernel

METHOD, HEADER, BODY, HEARTBEAT = 1, 2, 3, 8
PUBLISH, DELIVER, ACK = 40, 60, 80


def frame(kind: int, channel: int, payload: bytes) -> bytes:
    return struct.pack(">BHI", kind, channel, len(payload)) + payload + b"\xce"


def short(text: str) -> bytes:
    return bytes([len(text.encode())]) + text.encode()


def publish(
    channel: int, exchange: str, key: str, properties: bytes, body: bytes, part_size: int = 4088
) -> list[bytes]:
    method = struct.pack(">HHH", 60, PUBLISH, 0) + short(exchange) + short(key) + b"\0"
    header = struct.pack(">HHQ", 60, 0, len(body)) + properties
    parts = [frame(BODY, channel, body[at : at + part_size]) for at in range(0, len(body), part_size)]
    return [frame(METHOD, channel, method), frame(HEADER, channel, header), *parts]


def frames_of(content: bytes) -> Iterator[tuple[int, int, bytes]]:
    at = 0
    while at < len(content):
        kind, channel, size = struct.unpack_from(">BHI", content, at)
        assert content[at + 7 + size] == 0xCE
        yield kind, channel, content[at + 7 : at + 7 + size]
        at += 8 + size


def deliveries_of(content: bytes) -> list[tuple[int, str, int, bool, str, str, bytes, bytes]]:
    """(channel, consumer tag, delivery tag, redelivered, exchange, key, properties, body)"""
    out, frames = [], list(frames_of(content))
    while frames:
        kind, channel, method = frames.pop(0)
        assert (kind, method[:4]) == (METHOD, struct.pack(">HH", 60, DELIVER))
        tag_size = method[4]
        consumer_tag, rest = method[5 : 5 + tag_size].decode(), method[5 + tag_size :]
        tag, redelivered, exchange_size = struct.unpack_from(">QBB", rest)
        exchange, rest = rest[10 : 10 + exchange_size].decode(), rest[10 + exchange_size :]
        assert len(rest) == 1 + rest[0]
        kind, header_channel, header = frames.pop(0)
        class_id, weight, body_size = struct.unpack_from(">HHQ", header)
        assert (kind, header_channel, class_id, weight) == (HEADER, channel, 60, 0)
        body = b""
        while len(body) < body_size:
            kind, body_channel, part = frames.pop(0)
            assert (kind, body_channel) == (BODY, channel)
            body += part
        out.append((channel, consumer_tag, tag, bool(redelivered), exchange, rest[1:].decode(), header[12:], body))
    return out


plain_properties = st.sampled_from([b"\0\0", b"\x10\0\x02", b"\x10\0\x01", b"\x80\0\x04text", b"\x02\0\x05reply"])
messages = st.tuples(
    st.integers(1, 3),
    st.sampled_from(["", "ex", "größe"]),
    st.sampled_from(["a", "b", ""]),
    plain_properties,
    st.one_of(st.binary(max_size=20), st.integers(0, 9_000).map(lambda size: b"x" * size)),
)


def messages_in(events: list[tuple]) -> list[tuple[int, str, str, bytes, bytes]]:
    out = []
    for kind, channel, exchange, key, flags, count, blob, concerns in events:
        assert (kind, concerns) == (_kernel.AMQP_RUN, None)
        assert _kernel.run_info(blob)[:4] == (exchange, key, flags, count)
        parts = _kernel.split_run(blob, 0, count + 1)
        assert len(parts) == count
        out += [(channel, exchange, key, properties, body) for _, properties, body in parts]
    return out


@given(st.lists(messages, max_size=12), st.data())
def test_published_messages_come_out_whole_and_in_order_whatever_the_pieces(
    published: list[tuple[int, str, str, bytes, bytes]], data: st.DataObject
) -> None:
    stream = b"".join(part for message in published for part in publish(*message))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=5)))
    parser, start, events = _kernel.AmqpParser(), 0, []
    for end in [*cuts, len(stream)]:
        start, found = parser.parse(stream, start, end)
        events += found
    assert start == len(stream)
    assert parser.partial_bytes == 0
    assert messages_in(events) == published


@given(st.lists(st.tuples(plain_properties, st.binary(max_size=9_000)), min_size=1, max_size=6), st.data())
def test_a_run_is_delivered_in_any_portions(contents: list[tuple[bytes, bytes]], data: st.DataObject) -> None:
    blob = _kernel.build_run("größe", "key", 0, contents)
    position, tag, sent = 0, 7, b""
    while tag - 7 < len(contents):
        count = data.draw(st.integers(1, 3))
        part, position = _kernel.encode_run(blob, position, count, 5, "ctag", tag, tag % 2 == 0, 4096)
        assert all(len(payload) <= 4088 for _, _, payload in frames_of(part))
        delivered = deliveries_of(part)
        expected = contents[tag - 7 : tag - 7 + count]
        assert delivered == [
            (5, "ctag", tag + at, tag % 2 == 0, "größe", "key", properties, body)
            for at, (properties, body) in enumerate(expected)
        ]
        tag += len(delivered)
        sent += part
    assert position == len(blob)


def parse(content: bytes, **limits: int) -> list[tuple]:
    parser = _kernel.AmqpParser(**limits)
    consumed, events = parser.parse(content, 0, len(content))
    assert consumed == len(content)
    return events


def test_a_run_shows_what_its_messages_have_in_common() -> None:
    urgent = b"\x19\x10\x02\x07\x0260\x05guest"
    content = b"".join(part for at in range(3) for part in publish(1, "ex", "k", urgent, b"%d" % at))
    ((kind, channel, exchange, key, flags, count, blob, concerns),) = parse(content)
    assert (kind, channel, exchange, key, count) == (_kernel.AMQP_RUN, 1, "ex", "k", 3)
    assert flags == _kernel.RUN_PERSISTENT
    assert concerns == (7, "60", "guest", None)
    assert _kernel.run_info(blob)[5] == concerns
    assert [body for _, _, body in _kernel.split_run(blob, 0, 99)] == [b"0", b"1", b"2"]


def test_a_message_of_a_run_can_be_named_by_its_position() -> None:
    blob = _kernel.build_run("ex", "k", 4, [(b"\0\0", b"one"), (b"\0\0", b"two"), (b"\0\0", b"three")])
    positions = [position for position, _, _ in _kernel.split_run(blob, 0, 3)]
    assert positions[0] == _kernel.run_info(blob)[4]
    assert _kernel.split_run(blob, positions[2], 9) == [(positions[2], b"\0\0", b"three")]
    assert _kernel.encode_run(blob, positions[1], 1, 1, "c", 1, False, 4096)[1] == positions[2]


def test_headers_with_copies_make_a_run_of_one() -> None:
    table = b"\x02CCA" + struct.pack(">I", 6) + b"S\0\0\0\x01q"
    properties = b"\x20\0" + struct.pack(">I", len(table)) + table
    events = parse(b"".join(publish(1, "ex", "k", properties, b"x") * 2))
    assert [(event[4], event[5]) for event in events] == [(_kernel.RUN_HEADERS | _kernel.RUN_COPIES, 1)] * 2


def test_methods_acks_and_heartbeats_keep_their_order() -> None:
    def ack(channel: int, tag: int, multiple: bool) -> bytes:
        return frame(METHOD, channel, struct.pack(">HHQB", 60, ACK, tag, multiple))

    content = (
        ack(1, 1, False)
        + ack(1, 2, False)
        + frame(METHOD, 0, b"\0\x0a\0\x1frest")
        + frame(HEARTBEAT, 0, b"")
        + ack(1, 9, True)
    )
    assert parse(content) == [
        (_kernel.AMQP_ACK, 1, 1, 2),
        (_kernel.AMQP_METHOD, 0, 10, 31, b"rest"),
        (_kernel.AMQP_HEARTBEAT,),
        (_kernel.AMQP_ACK_MULTIPLE, 1, 9),
    ]


def test_a_violation_is_an_event_and_only_closing_is_heard_after_it() -> None:
    content = frame(BODY, 3, b"x") + frame(METHOD, 3, b"\0\x14\0\x28") + frame(METHOD, 0, b"\0\x0a\0\x33")
    error, close_ok = parse(content)
    assert error[:3] == (_kernel.AMQP_ERROR, 3, 505)
    assert error[4:] == (60, 40)
    assert close_ok == (_kernel.AMQP_METHOD, 0, 10, 51, b"")


def test_a_parser_that_was_closed_hears_only_channel_0() -> None:
    parser = _kernel.AmqpParser()
    parser.close()
    content = b"".join(publish(1, "", "q", b"\0\0", b"x")) + frame(METHOD, 0, b"\0\x0a\0\x33")
    assert parser.parse(content, 0, len(content))[1] == [(_kernel.AMQP_METHOD, 0, 10, 51, b"")]


def test_frames_are_8192_bytes_until_more_is_agreed_on() -> None:
    content = frame(METHOD, 1, b"\0\x3c\0\x14" + bytes(20_000))
    assert parse(content)[0][:3] == (_kernel.AMQP_ERROR, 1, 501)
    parser = _kernel.AmqpParser()
    parser.frame_max = 131_072
    assert parser.parse(content, 0, len(content))[1][0][0] == _kernel.AMQP_METHOD
    with pytest.raises(ValueError, match="below 4096"):
        parser.frame_max = 4095
    with pytest.raises(ValueError, match="below 4096"):
        _kernel.AmqpParser(frame_max=0)


def test_a_message_over_the_limit_costs_only_its_channel() -> None:
    large = b"".join(publish(1, "ex", "k", b"\0\0", bytes(10_000)))
    small = b"".join(publish(1, "ex", "k", b"\0\0", b"small"))
    error, run = parse(large + small, body_size_max=9_999)
    assert error[:3] == (_kernel.AMQP_ERROR, 1, 406)
    assert run[5] == 1


def test_unfinished_messages_are_counted_and_bounded() -> None:
    parser = _kernel.AmqpParser(body_size_max=10_000)
    begun = publish(1, "ex", "k", b"\0\0", bytes(10_000))[:-1]
    content = b"".join(begun)
    parser.parse(content, 0, len(content))
    assert 8_000 < parser.partial_bytes < 30_000
    parser.partial_bytes_max = parser.partial_bytes
    more = b"".join(publish(2, "ex", "k", b"\0\0", bytes(10_000))[:1])
    assert parser.parse(more, 0, len(more))[1][0][:3] == (_kernel.AMQP_ERROR, 2, 506)
    assert parser.partial_bytes == 0


def test_a_run_is_what_the_format_page_shows_and_a_frame_of_the_log() -> None:
    blob = _kernel.build_run("ex", "k", _kernel.RUN_PERSISTENT, [(b"\x10\0\x02", b"hi")])
    payload = bytes.fromhex("01040201 01000000 6578 6b 03000000 02000000 100002 6869")
    assert blob == struct.pack("<II", len(payload), _kernel.crc32c(payload)) + payload
    assert blob == _kernel.frame_build([payload])
    other = _kernel.frame_build([b"\x02 another kind of record"])
    log = b"x" + blob + other + blob[:-1]
    found, valid_end, reason = _kernel.scan_log(log, 1, len(log))
    assert found == [(1, len(blob), 1), (1 + len(blob), len(other), 0)]
    assert (valid_end, reason) == (1 + len(blob) + len(other), "short")


def test_single_contents_are_encoded_for_returns_and_gets() -> None:
    out = list(frames_of(_kernel.encode_content(9, b"\0\x3c\0\x32rest", b"\x10\0\x02", bytes(5_000), 4096)))
    assert [(kind, channel, len(payload)) for kind, channel, payload in out] == [
        (METHOD, 9, 8),
        (HEADER, 9, 15),
        (BODY, 9, 4088),
        (BODY, 9, 912),
    ]


def test_what_is_no_run_is_malformed() -> None:
    blob = _kernel.build_run("ex", "k", 0, [(b"\0\0", b"hi")])
    for broken in (b"", blob[:-1], blob + b"x", _kernel.frame_build([b"\x02" + blob[9:]])):
        for call in (
            lambda broken=broken: _kernel.run_info(broken),
            lambda broken=broken: _kernel.split_run(broken, 0, 1),
            lambda broken=broken: _kernel.encode_run(broken, 0, 1, 1, "c", 1, False, 4096),
        ):
            with pytest.raises(_kernel.Malformed):
                call()
    with pytest.raises(ValueError, match="beyond 255"):
        _kernel.build_run("e" * 256, "k", 0, [])
