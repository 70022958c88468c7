"""Hostile frames, headers and bodies: what is no Kafka, too much of it, or Kafka out of turn."""

from __future__ import annotations

import struct
import time

import pytest

from tests.compat.target import Target
from tests.faults.hostile.attack import Attack, frame
from tests.scenarios.kafka.batches import Record, batch
from tests.scenarios.kafka.raw import API_VERSIONS, Closed, Connection, fetch_request, produce_request
from twinlog.wire.kafka import APIS, encode_request
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import api_versions, sasl_authenticate, sasl_handshake

FRAME_MAX = 100 * 1024 * 1024


def advertised(target: Target) -> dict[int, tuple[int, int]]:
    with Connection(target.bootstrap) as connection:
        answer = connection.call(api_versions.ApiVersionsRequest(), 0)
    return {found.api_key: (found.min_version, found.max_version) for found in answer.api_keys}


@pytest.mark.parametrize("size", [-1, 0, 1, 7, 0x7FFFFFFF, -0x80000000, FRAME_MAX + 1])
def test_k01_a_frame_of_absurd_size_is_closed_at_once(attack: Attack, size: int) -> None:
    for _ in range(20):
        attack.sends(struct.pack(">i", size) + bytes(32))


def test_k02_a_frame_that_never_comes_takes_no_memory(attack: Attack) -> None:
    """Fifty promises of 100 MiB each, then a byte now and then."""
    waiting = [attack.connect() for _ in range(50)]
    try:
        for connection in waiting:
            connection.send_bytes(struct.pack(">i", FRAME_MAX) + struct.pack(">hhi", 0, 9, 1))
        for _ in range(10):
            time.sleep(0.1)
            for connection in waiting:
                connection.send_bytes(b"x")
    finally:
        for connection in waiting:
            connection.socket.close()


def test_k02_connections_that_say_nothing_cost_little(attack: Attack) -> None:
    silent = [attack.connect() for _ in range(300)]
    for connection in silent:
        connection.socket.close()


GREETINGS = [
    (b"GET / HTTP/1.1\r\nHost: broker\r\n\r\n", "HTTP"),
    (b"POST /topics HTTP/1.1\r\nHost: broker\r\nContent-Length: 2\r\n\r\n{}", "HTTP"),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP"),
    (bytes.fromhex("16030100c8010000c40303") + bytes(200), "TLS"),
    (b"AMQP\x00\x00\x09\x01", "AMQP"),
    (b"AMQP\x00\x01\x00\x00", "AMQP"),
]


@pytest.mark.parametrize("number", range(len(GREETINGS)))
def test_k03_another_protocol_is_closed_with_a_hint_in_the_log(attack: Attack, number: int) -> None:
    greeting, hint = GREETINGS[number]
    source = f"127.0.3.{number + 1}"  # lines about one peer are limited, so each has an address of its own
    attack.sends(greeting, source=source)
    if attack.target.is_twinlog:
        (line,) = [line for line in attack.target.log.splitlines() if f"peer={source} " in line]
        assert hint in line


@pytest.mark.parametrize("count", [20_000_000, 0x7FFFFFFF, 10_001])
def test_k04_a_header_with_too_many_tags_is_refused_by_the_count(attack: Attack, count: int) -> None:
    declared = bytearray()
    while count > 0x7F:
        declared.append(count & 0x7F | 0x80)
        count >>= 7
    declared.append(count)
    attack.sends(frame(API_VERSIONS, 3, bytes(declared) + b"\x01\x00\x02\x00"))


def test_k04_a_million_real_tags_build_nothing(attack: Attack) -> None:
    """Skipped or refused, but nothing is made of them."""
    one = b"\x80\x80\x00\x00"  # a tag's number in three bytes, and its size: none
    attack.sends(frame(API_VERSIONS, 3, b"\x80\x80\x40" + one * (1 << 20) + b"\x08hostile\x021\0"), None)


BODIES = {
    "all ones": b"\xff" * 64,
    "largest int32 everywhere": b"\x7f\xff\xff\xff" * 16,
    "smallest int32 everywhere": b"\x80\0\0\0" * 16,
    "number of ten bytes": b"\0" + b"\x80" * 9 + b"\x01" * 40,
    "largest short": b"\x7f\xff" * 32,
    "largest varint": b"\0" + b"\xff\xff\xff\xff\x0f" * 10,
    "zeros": bytes(64),
    "nothing": b"",
    "one byte": b"\x01",
    "text": b"the quick brown fox jumps over the lazy dog " * 3,
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_k05_lengths_and_counts_that_lie_in_every_api(attack: Attack, body: bytes) -> None:
    """Each request is answered or closes its connection; nothing hangs, nothing grows."""
    for key, (low, high) in advertised(attack.target).items():
        for version in {low, high}:
            with attack.connect(timeout_s=10) as connection:
                try:
                    connection.send_bytes(frame(key, version, body))
                    # A well-formed question behind it: if the first was taken, both are answered.
                    connection.send_bytes(frame(API_VERSIONS, 0, b""))
                    connection.receive_frame()
                except (Closed, ConnectionError):
                    pass
                except TimeoutError:
                    raise AssertionError(f"key {key} version {version} hangs on {body[:10]!r}") from None


def test_k05_every_prefix_of_a_real_request(attack: Attack) -> None:
    for request, version in (
        produce_request(attack.topic, batch([Record()]), version=9),
        fetch_request(attack.topic, 0, version=12),
    ):
        whole = encode_request(request.KEY, version, 1, "hostile", request)[4:]
        for size in range(8, len(whole)):
            part = whole[:size]
            with attack.connect(timeout_s=10) as connection:
                try:
                    connection.send_bytes(struct.pack(">i", size) + part)
                    answer = connection.receive_frame()
                    assert len(answer) > 4  # refused by name, as the log end below proves
                except (Closed, ConnectionError):
                    pass


def test_k06_unknown_keys_and_versions_close_and_api_versions_answers(attack: Attack) -> None:
    known = advertised(attack.target)
    for key in (-1, 4, 52, 53, 56, 58, 62, 63, 99, 127, 1000, 0x7FFF):
        if key not in known:
            attack.sends(frame(key, 0, bytes(16)))
    for key, (_, high) in known.items():
        if key != API_VERSIONS:
            for version in (high + 1, 99, 0x7FFF, -1):
                attack.sends(frame(key, version, bytes(16)))
    for version in (5, 99, 0x7FFF):
        if version > known[API_VERSIONS][1]:
            with attack.connect() as connection:
                connection.send_bytes(frame(API_VERSIONS, version, bytes(16)))
                assert connection.receive_frame()[:6] == struct.pack(">ih", 7, ErrorCode.UNSUPPORTED_VERSION)


def test_k07_sasl_without_sasl_is_refused_and_stores_nothing(attack: Attack) -> None:
    for asked, version in (
        (sasl_handshake.SaslHandshakeRequest(mechanism="PLAIN"), 1),
        (sasl_handshake.SaslHandshakeRequest(mechanism="SHOUTING"), 0),
        (sasl_authenticate.SaslAuthenticateRequest(auth_bytes=b"\0admin\0admin"), 2),
    ):
        with attack.connect() as connection:
            try:
                answer = connection.call(asked, version)
                assert answer.error_code in (ErrorCode.ILLEGAL_SASL_STATE, ErrorCode.UNSUPPORTED_SASL_MECHANISM)
            except Closed:
                pass


def test_k07_raw_sasl_tokens_without_a_header_are_closed(attack: Attack) -> None:
    token = b"\0admin\0secret"
    attack.sends(struct.pack(">i", len(token)) + token)


def test_a_slow_reader_does_not_make_the_broker_hoard(attack: Attack) -> None:
    """Asks for much and reads nothing: answers wait in the socket and the file, not in memory."""
    with attack.connect() as connection:
        connection.create_topic(attack.topic + "-large")
        for _ in range(30):
            connection.produce(attack.topic + "-large", batch([Record(bytes(1_000_000), None)]))
    deaf = [attack.connect() for _ in range(4)]
    try:
        for connection in deaf:
            connection.socket.settimeout(1)
            request, version = fetch_request(attack.topic + "-large", 0)
            for _ in range(50):
                connection.send(request, version)
        time.sleep(0.5)
    finally:
        for connection in deaf:
            connection.socket.close()


def test_requests_that_are_never_read_do_not_pile_up(attack: Attack) -> None:
    """Questions without end, answers never taken: the broker stops reading instead of keeping all answers."""
    with attack.connect() as connection:
        connection.socket.settimeout(0.5)
        question = frame(API_VERSIONS, 0, b"") * 1000
        try:
            for _ in range(2000):
                connection.send_bytes(question)
            raise AssertionError("two million questions were taken in though no answer was read")
        except (TimeoutError, ConnectionError):
            pass


def test_every_api_of_the_table_is_known_to_this_test(attack: Attack) -> None:
    assert set(advertised(attack.target)) <= set(APIS)
