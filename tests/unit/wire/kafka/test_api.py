"""Frames: which header stands in front of which version, and what the client side makes of answers."""

from __future__ import annotations

import subprocess
import sys

import pytest

from twinlog._kernel import kafka_split
from twinlog.base import ProtocolViolation
from twinlog.wire.kafka import (
    APIS,
    FLEXIBLE_FROM,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    encode_response_parts,
)
from twinlog.wire.kafka.messages import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    MetadataRequest,
    OffsetDeleteRequest,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)

HEARTBEAT, SASL_HANDSHAKE, API_VERSIONS, OFFSET_DELETE, METADATA = 12, 17, 18, 47, 3


def body_of(frame: bytes) -> bytes:
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    return frame[4:]


def test_an_old_response_has_its_correlation_id_in_front() -> None:
    assert (
        encode_response(HEARTBEAT, 0, 7, HeartbeatResponse(error_code=16))
        == b"\x00\x00\x00\x06\x00\x00\x00\x07\x00\x10"
    )


def test_a_flexible_response_has_a_tag_section_behind_the_correlation_id() -> None:
    body = body_of(encode_response(HEARTBEAT, 4, -2, HeartbeatResponse(error_code=16)))

    assert body == b"\xff\xff\xff\xfe" + b"\x00" + b"\x00\x00\x00\x00" + b"\x00\x10" + b"\x00"


@pytest.mark.parametrize("version", range(5))
def test_the_response_to_api_versions_never_has_a_tag_section_in_its_header(version: int) -> None:
    body = body_of(encode_response(API_VERSIONS, version, 1, ApiVersionsResponse(error_code=35)))

    assert body[:6] == b"\x00\x00\x00\x01" + b"\x00\x23"
    assert decode_response(API_VERSIONS, version, body) == (1, ApiVersionsResponse(error_code=35))


def test_the_clients_name_is_never_compact() -> None:
    old = body_of(encode_request(HEARTBEAT, 0, 9, "me", HeartbeatRequest()))
    flexible = body_of(encode_request(HEARTBEAT, 4, 9, "me", HeartbeatRequest()))
    nameless = body_of(encode_request(HEARTBEAT, 4, 9, None, HeartbeatRequest()))

    assert old[:12] == b"\x00\x0c" + b"\x00\x00" + b"\x00\x00\x00\x09" + b"\x00\x02me"
    assert flexible[:13] == b"\x00\x0c" + b"\x00\x04" + b"\x00\x00\x00\x09" + b"\x00\x02me" + b"\x00"
    assert nameless[8:11] == b"\xff\xff" + b"\x00"


def test_sasl_handshake_and_offset_delete_are_never_flexible() -> None:
    assert FLEXIBLE_FROM[SASL_HANDSHAKE] == FLEXIBLE_FROM[OFFSET_DELETE] == 255
    assert body_of(encode_request(SASL_HANDSHAKE, 1, 0, "", SaslHandshakeRequest(mechanism="P")))[10:] == b"\x00\x01P"
    assert body_of(encode_response(SASL_HANDSHAKE, 1, 0, SaslHandshakeResponse())) == bytes(4 + 2 + 4)


def test_the_kernel_splits_what_we_encode() -> None:
    frames = encode_request(HEARTBEAT, 4, 1, "a", HeartbeatRequest(group_id="g"))
    frames += encode_request(OFFSET_DELETE, 0, 2, None, OffsetDeleteRequest(group_id="h"))
    frames += encode_request(METADATA, 1, 3, "", MetadataRequest(topics=None))

    _, _, requests = kafka_split(frames, 0, len(frames), 1000, FLEXIBLE_FROM)

    assert [request[:4] for request in requests] == [(12, 4, 1, "a"), (47, 0, 2, None), (3, 1, 3, "")]
    assert [decode_request(key, version, frames, off, end) for key, version, _, _, off, end in requests] == [
        HeartbeatRequest(group_id="g"),
        OffsetDeleteRequest(group_id="h"),
        MetadataRequest(topics=None),
    ]


def test_the_table_names_every_api_once() -> None:
    assert all(key == api.key for key, api in APIS.items())
    assert len({api.name for api in APIS.values()}) == len(APIS)
    assert all(api.request.KEY == api.response.KEY == key for key, api in APIS.items())
    assert all(api.version_min <= api.version_max for api in APIS.values())


def test_request_and_response_of_an_api_have_the_same_versions() -> None:
    for api in APIS.values():
        assert api.request.VERSIONS == api.response.VERSIONS == (api.version_min, api.version_max), api
        assert min(api.request.FLEXIBLE_FROM, 255) == min(api.response.FLEXIBLE_FROM, 255) == api.flexible_from, api


@pytest.mark.parametrize(
    ("key", "oldest", "newest"),
    [
        (0, 3, 13),
        (1, 4, 18),
        (2, 1, 11),
        (3, 0, 13),
        (8, 2, 10),
        (9, 1, 10),
        (11, 0, 9),
        (18, 0, 4),
        (22, 0, 6),
        (68, 0, 1),
    ],
)
def test_the_versions_clients_rely_on_are_there(key: int, oldest: int, newest: int) -> None:
    assert (APIS[key].version_min, APIS[key].version_max) == (oldest, newest)


# -- what others get wrong


@pytest.mark.parametrize(("key", "version"), [(3, 14), (3, -1), (4, 0), (999, 0), (-1, 0)])
def test_a_request_we_do_not_know_is_a_violation(key: int, version: int) -> None:
    with pytest.raises(ProtocolViolation):
        decode_request(key, version, b"", 0, 0)


def test_a_broken_request_is_a_violation_that_says_where() -> None:
    with pytest.raises(ProtocolViolation, match="HeartbeatRequest v0, group_id"):
        decode_request(HEARTBEAT, 0, b"\x00\x09g", 0, 3)


def test_a_request_may_not_have_more_elements_than_a_hundred_thousand() -> None:
    def request_of(count: int) -> bytes:
        return count.to_bytes(4, "big") + b"\x00\x01t" * count

    most, too_many = request_of(100_000), request_of(100_001)

    assert len(decode_request(METADATA, 1, most, 0, len(most)).topics) == 100_000
    with pytest.raises(ProtocolViolation, match="more elements"):
        decode_request(METADATA, 1, too_many, 0, len(too_many))


def test_a_stranger_may_be_allowed_fewer_elements() -> None:
    frame = encode_request(METADATA, 1, 0, None, MetadataRequest(topics=[]))
    wire = b"\x00\x00\x00\x03" + b"\x00\x01t" * 3

    assert decode_request(METADATA, 1, frame, 14, len(frame), elements_max=0).topics == []
    assert len(decode_request(METADATA, 1, wire, 0, len(wire), elements_max=3).topics) == 3
    with pytest.raises(ProtocolViolation, match="more elements"):
        decode_request(METADATA, 1, wire, 0, len(wire), elements_max=2)


@pytest.mark.parametrize(
    "wire",
    [
        b"",
        b"\x00\x00\x00",
        b"\x00\x00\x00\x01",
        b"\x00\x00\x00\x01\x01\x00",
        b"\x00\x00\x00\x01\x01\x00\x09\x00",
        b"\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff",
        b"\x00\x00\x00\x01\x00" + b"\x00\x00\x00\x00\x00\x00\x00extra",
    ],
)
def test_a_broken_response_is_a_violation(wire: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        decode_response(HEARTBEAT, 4, wire)


def test_tags_in_the_header_of_a_response_are_passed_over() -> None:
    wire = b"\x00\x00\x00\x05" + b"\x02" + b"\x00\x01x" + b"\x81\x01\x00" + b"\x00\x00\x00\x00" + b"\x00\x1b" + b"\x00"

    assert decode_response(HEARTBEAT, 4, wire) == (5, HeartbeatResponse(error_code=27))


def test_a_broker_that_does_not_know_our_api_versions_answers_in_the_oldest_form() -> None:
    body = body_of(
        encode_response(
            API_VERSIONS, 0, 3, ApiVersionsResponse(error_code=35, api_keys=[ApiVersion(api_key=18, max_version=3)])
        )
    )

    correlation_id, response = decode_response(API_VERSIONS, 4, body)

    assert (correlation_id, response.error_code, response.api_keys[0].max_version) == (3, 35, 3)


# -- what would be a mistake of ours


def test_a_version_we_do_not_know_cannot_be_encoded() -> None:
    with pytest.raises(ValueError, match="key 12 and version 5"):
        encode_response(HEARTBEAT, 5, 0, HeartbeatResponse())
    with pytest.raises(ValueError, match="key 12 and version 5"):
        encode_request(HEARTBEAT, 5, 0, None, HeartbeatRequest())


def test_the_request_cannot_be_sent_as_a_response() -> None:
    with pytest.raises(TypeError, match="HeartbeatResponse is needed"):
        encode_response(HEARTBEAT, 0, 0, ApiVersionsRequest())


def test_parts_of_a_response_without_records_are_one_piece() -> None:
    message = HeartbeatResponse(error_code=27)

    assert encode_response_parts(HEARTBEAT, 4, 1, message) == [encode_response(HEARTBEAT, 4, 1, message)]


def test_a_message_module_is_imported_when_it_is_needed() -> None:
    program = (
        "import sys; from twinlog.wire.kafka import decode_request; name = 'twinlog.wire.kafka.messages.heartbeat';"
        "print(name in sys.modules); decode_request(12, 0, bytes(8)); print(name in sys.modules)"
    )

    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert run.stdout.split() == ["False", "True"]


def test_librdkafka_may_ask_for_all_topics_in_its_own_way() -> None:
    # Bytes that librdkafka 2.16 sends for "all topics": a null array of four bytes where one belongs.
    asked = decode_request(3, 13, b"\0\0\0\0" + b"\1\0\0")
    assert asked.topics is None
    for other in (b"\0\1\0\0" + b"\1\0\0", b"\0\0\0\0" + b"\1\0\0\0", b"\0\0\0\0" + b"\1\0"):
        with pytest.raises(ProtocolViolation):
            decode_request(3, 13, other)
