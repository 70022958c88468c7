"""What strangers send as JSON and as targets is one thing or refused."""

from __future__ import annotations

import pytest

from twinlog.servers.http.json_text import BadJson, decode, encode
from twinlog.servers.http.listing import field_of, only, order_key
from twinlog.servers.http.message import HttpError, split_target


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"9" * 100_000,
        b"1e999",
        b"NaN",
        b"-Infinity",
        b'{"a": 1, "a": 2}',
        b"\xff",
        b"{",
        b"",
        b'{"a": 1} x',
        b"[" * 65 + b"]" * 65,
    ],
)
def test_json_that_means_two_things_or_costs_too_much_is_refused(text: bytes) -> None:
    with pytest.raises(BadJson):
        decode(text)


def test_json_that_is_fine_is_read_and_written() -> None:
    value = {"a": [1, 2.5, None, True, "é\u202e"], "b": {"c": {}}}
    assert decode(encode(value)) == value
    assert decode(b"[" * 63 + b"]" * 63)


def test_a_lone_surrogate_does_not_break_an_answer() -> None:
    assert encode({"name": "\ud800"}) == b'{"name": "\\ud800"}'


@pytest.mark.parametrize(
    "target",
    [
        "http://host/api",
        "//host/api",
        "api",
        "*",
        "/a/../b",
        "/a/./b",
        "/a\\b",
        "/a%00b",
        "/%zz",
        "/%4",
        "/%ff",
        "/a#b",
    ],
)
def test_targets_that_could_be_read_in_two_ways_are_refused(target: str) -> None:
    with pytest.raises(HttpError) as refusal:
        split_target(target)
    assert refusal.value.status == 400


def test_parts_are_decoded_once_and_may_hold_slashes() -> None:
    parts, query = split_target("/api/queues/%2F/..%2fetc/%252e%252e?a=1+2&b=%26&c")
    assert parts == ["api", "queues", "/", "../etc", "%2e%2e"]
    assert query == {"a": "1 2", "b": "&", "c": ""}


def test_columns_reach_into_inner_objects() -> None:
    view = {"name": "q", "messages_details": {"rate": 1.5, "other": 2}, "messages": 3}
    assert only(view, ["name", "messages_details.rate", "nothing.there"]) == {
        "name": "q",
        "messages_details": {"rate": 1.5},
    }
    assert field_of(view, "name.inner") is None


def test_any_two_values_can_be_put_in_order() -> None:
    values = ["b", 3, None, 1.5, "a", True, {"x": 1}]
    assert sorted(values, key=order_key)[-2:] == ["a", "b"]
