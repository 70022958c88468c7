"""Splitting a connection's bytes into requests, and Produce down to its checked batches."""

import io
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlog import _kernel

MIB = 1024 * 1024
FLEXIBLE_FROM = bytes([9, 12, 6, 9] + [255] * 14 + [3])


def frame(api_key: int, version: int, correlation_id: int, client_id: bytes | None, body: bytes, tags: bytes) -> bytes:
    name = struct.pack(">h", -1) if client_id is None else struct.pack(">h", len(client_id)) + client_id
    content = struct.pack(">hhi", api_key, version, correlation_id) + name + tags + body
    return struct.pack(">i", len(content)) + content


frames = st.lists(
    st.tuples(
        st.sampled_from([(0, 8, b""), (0, 9, b"\0"), (3, 9, b"\x01\x07\x02ab"), (18, 120, b"\0"), (77, 5, b"")]),
        st.integers(-(2**31), 2**31 - 1),
        st.none() | st.text(max_size=9),
        st.binary(max_size=40),
    ),
    max_size=6,
)


@given(frames, st.binary(max_size=9), st.data())
def test_a_stream_is_split_wherever_it_is_cut(parts: list[tuple], before: bytes, data: st.DataObject) -> None:
    expected, stream = [], before
    for (key, version, tags), correlation_id, client_id, body in parts:
        name = None if client_id is None else client_id.encode()
        stream += frame(key, version, correlation_id, name, body, tags)
        expected.append((key, version, correlation_id, client_id, len(stream) - len(body), len(stream)))
    end = data.draw(st.integers(len(before), len(stream)))
    new_start, need, found = _kernel.kafka_split(stream, len(before), end, 1_000, FLEXIBLE_FROM)
    assert found == [request for request in expected if request[5] <= end]
    assert new_start == (found[-1][5] if found else len(before))
    next_end = next((request[5] for request in expected if request[5] > end), 0)
    assert need == (next_end - new_start if end - new_start >= 4 else 0)


@pytest.mark.parametrize(
    "hostile",
    [
        b"\xff\xff\xff\xff",
        b"\0\0\0\0",
        b"\x7f\xff\xff\xff",
        b"GET / HTTP/1.1\r\n",
        b"\x16\x03\x01\x02\x00",
        b"AMQP\0\0\x09\x01",
        frame(0, 9, 1, b"c", b"", b"\x80\xda\xc4\x09"),
        frame(0, 9, 1, b"c", b"", b"\x01\x00\x7f"),
        struct.pack(">ihhih", 10, 0, 8, 1, 5),
        struct.pack(">ihhih", 10, 0, 8, 1, -2),
    ],
)
def test_what_is_no_request_is_malformed_and_never_costs_the_requests_before_it(hostile: bytes) -> None:
    with pytest.raises(_kernel.Malformed):
        _kernel.kafka_split(hostile, 0, len(hostile), 1_000, FLEXIBLE_FROM)
    good = frame(3, 1, 7, b"c", b"body", b"")
    new_start, need, found = _kernel.kafka_split(good + hostile, 0, len(good + hostile), 1_000, FLEXIBLE_FROM)
    assert (new_start, need, len(found)) == (len(good), 0, 1)


def uvarint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def produce(version: int, topics: list[tuple[bytes, list[tuple[int, bytes | None]]]]) -> bytes:
    """A Produce body, written from the protocol's description."""
    flexible, out = version >= 9, io.BytesIO()

    def sized(content: bytes | None, width: str) -> None:
        if flexible:
            out.write(uvarint(0 if content is None else len(content) + 1))
        else:
            out.write(struct.pack(width, -1 if content is None else len(content)))
        out.write(content or b"")

    def count(number: int) -> None:
        out.write(uvarint(number + 1) if flexible else struct.pack(">i", number))

    def tags() -> None:
        out.write(b"\x01\x63\x01x" if flexible else b"")

    sized(b"transaction", ">h")
    out.write(struct.pack(">hi", -1, 1_500))
    count(len(topics))
    for name, partitions in topics:
        out.write(name) if version >= 13 else sized(name, ">h")
        count(len(partitions))
        for index, records in partitions:
            out.write(struct.pack(">i", index))
            sized(records, ">i")
            tags()
        tags()
    tags()
    return out.getvalue()


@pytest.mark.parametrize("version", range(3, 14))
def test_every_version_of_produce_is_read(version: int) -> None:
    batch = _kernel.build_batch(
        [(7, None, b"value", ())] * 3, codec=4, producer_id=5, producer_epoch=1, base_sequence=9
    )
    names = [b"\x01" * 16, b"\x02" * 16] if version >= 13 else [b"first", "zwö".encode()]
    body = produce(version, [(names[0], [(4, batch), (5, None)]), (names[1], [(0, b"\0" * 80)]), (names[0], [])])
    request = b"header" + body
    transactional_id, acks, timeout_ms, topics = _kernel.parse_produce(request, 6, len(request), version, MIB)
    assert (transactional_id, acks, timeout_ms) == ("transaction", -1, 1_500)
    expected_names = names if version >= 13 else ["first", "zwö"]
    assert [topic for topic, _ in topics] == [expected_names[0], expected_names[1], expected_names[0]]
    at = request.index(batch)
    tuple_of_batch = (at, len(batch), 0, 2, 3, 4, 7, 7, 5, 1, 9, -1)
    assert topics[0][1][0] == (4, at, len(batch), 0, 0, tuple_of_batch)
    assert topics[0][1][1][0] == 5
    assert topics[0][1][1][2:] == (0, 87, -1, None)
    assert topics[1][1][0][2:] == (80, 43, -1, None)
    assert topics[2][1] == []


@pytest.mark.parametrize("version", [3, 8, 9, 12, 13])
def test_a_produce_body_cut_or_extended_anywhere_is_malformed(version: int) -> None:
    name = bytes(16) if version >= 13 else b"topic"
    body = produce(version, [(name, [(0, _kernel.build_batch([(7, None, b"value", ())]))])])
    for end in range(len(body)):
        with pytest.raises(_kernel.Malformed):
            _kernel.parse_produce(body, 0, end, version, MIB)
    with pytest.raises(_kernel.Malformed):
        _kernel.parse_produce(body + b"\0", 0, len(body) + 1, version, MIB)


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_a_compressed_bomb_in_a_request_is_too_large(codec: int) -> None:
    bomb = _kernel.build_batch([(7, None, bytes(16 * MIB), ())], codec=codec)
    body = produce(9, [(b"topic", [(0, bomb)])])
    topics = _kernel.parse_produce(body, 0, len(body), 9, MIB)[3]
    assert topics[0][1][0][3] == 10


def test_a_batch_behind_the_batch_costs_only_its_partition() -> None:
    batch = _kernel.build_batch([(7, None, b"value", ())])
    body = produce(9, [(b"topic", [(0, batch + batch), (1, batch)])])
    topics = _kernel.parse_produce(body, 0, len(body), 9, MIB)[3]
    assert [entry[3] for entry in topics[0][1]] == [87, 0]


@pytest.mark.parametrize("version", [-1, 0, 2, 14])
def test_versions_that_are_not_served_are_malformed(version: int) -> None:
    with pytest.raises(_kernel.Malformed, match="version"):
        _kernel.parse_produce(bytes(50), 0, 50, version, MIB)
