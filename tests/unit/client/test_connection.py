"""The client's connection core: versions are agreed on first, answers come whole and in order."""

from __future__ import annotations

import pytest

from twinlog.base import ProtocolViolation
from twinlog.client import ClientError, Connection
from twinlog.wire.kafka.api import encode_response
from twinlog.wire.kafka.messages import (
    ApiVersion,
    ApiVersionsResponse,
    CreateTopicsRequest,
    FetchRequest,
    MetadataRequest,
    MetadataResponse,
)


def versions_answer(correlation_id: int, *, asked: int = 3, error: int = 0, **ranges: tuple[int, int]) -> bytes:
    keys = {"produce": 0, "fetch": 1, "metadata": 3, "hello": 18}
    listed = [ApiVersion(api_key=keys[name], min_version=low, max_version=high) for name, (low, high) in ranges.items()]
    return encode_response(18, asked, correlation_id, ApiVersionsResponse(error_code=error, api_keys=listed))


def connection(**ranges: tuple[int, int]) -> Connection:
    made = Connection()
    made.hello()
    made.receive(versions_answer(1, **ranges))
    return made


def test_requests_go_out_in_the_newest_version_that_both_sides_know() -> None:
    assert connection(metadata=(0, 9)).version_for(MetadataRequest.KEY) == 9
    assert connection(metadata=(0, 99)).version_for(MetadataRequest.KEY) == 13
    assert connection(fetch=(4, 18)).version_for(FetchRequest.KEY) == 12  # the last one with topic names


def test_what_a_broker_does_not_serve_is_said_before_it_is_sent() -> None:
    with pytest.raises(ClientError, match="does not serve CreateTopics"):
        connection(metadata=(0, 9)).request(CreateTopicsRequest())
    with pytest.raises(ClientError, match="does not serve Metadata"):
        connection(metadata=(99, 100)).request(MetadataRequest())


def test_a_broker_that_does_not_know_our_hello_tells_its_versions_in_the_oldest_form() -> None:
    made = Connection()
    made.hello()
    made.receive(versions_answer(1, asked=0, error=35, metadata=(0, 8), hello=(0, 2)))
    assert made.version_for(MetadataRequest.KEY) == 8


def test_answers_arrive_in_any_pieces() -> None:
    made = connection(metadata=(0, 13))
    first, _ = made.request(MetadataRequest())
    second, _ = made.request(MetadataRequest())
    data = b"".join(encode_response(3, 13, number, MetadataResponse(cluster_id="c")) for number in (first, second))
    answers = [answer for at in range(len(data)) for answer in made.receive(data[at : at + 1])]
    assert [answer.correlation_id for answer in answers] == [first, second]
    assert answers[0].message == MetadataResponse(cluster_id="c")
    assert made.waiting == 0


@pytest.mark.parametrize("size", [-1, 0, 3, 2**31 - 1])
def test_an_impossible_length_ends_the_conversation(size: int) -> None:
    made = connection(metadata=(0, 13))
    made.request(MetadataRequest())
    with pytest.raises(ProtocolViolation):
        made.receive(size.to_bytes(4, "big", signed=True))


def test_answers_out_of_order_or_unasked_end_the_conversation() -> None:
    with pytest.raises(ProtocolViolation, match="not asked"):
        connection(metadata=(0, 13)).receive(encode_response(3, 13, 2, MetadataResponse()))
    made = connection(metadata=(0, 13))
    asked, _ = made.request(MetadataRequest())
    with pytest.raises(ProtocolViolation, match="instead of"):
        made.receive(encode_response(3, 13, asked + 1, MetadataResponse()))


def test_an_unanswered_request_leaves_nothing_waiting() -> None:
    made = connection(metadata=(0, 13))
    made.request(MetadataRequest(), answered=False)
    assert made.waiting == 0
