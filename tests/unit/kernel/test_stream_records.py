"""Messages as records and records as messages: what docs/formats/stream-records.md promises."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlog._kernel import (
    Malformed,
    build_batch,
    build_run,
    decode_records,
    place_batch,
    records_to_runs,
    run_info,
    run_to_batches,
    split_run,
)
from twinlog.wire.amqp import Properties, decode_properties, encode_properties
from twinlog.wire.amqp.table import ByteArray, Float, Int8, Int16, Int64, Timestamp, UInt8, UInt16, UInt32, UInt64

NOW_MS = 1_700_000_000_123
EVERYTHING = Properties(
    content_type="text/plain",
    content_encoding="gzip",
    headers={"a": "b"},
    delivery_mode=2,
    priority=9,
    correlation_id="c",
    reply_to="r",
    expiration="60000",
    message_id="m",
    timestamp=2**64 - 1,
    type="t",
    user_id="u",
    app_id="i",
    cluster_id="k",
)


def written(messages: list[tuple[Properties, bytes]], *, exchange: str = "", key: str = "q", **how: Any) -> list[bytes]:
    """As batches of the stream ``q``, placed one behind the other."""
    run = build_run(exchange, key, 0, [(encode_properties(properties), body) for properties, body in messages])
    batches, taken = run_to_batches(run, "q", NOW_MS, **{"size_max": 1 << 20, **how})
    assert taken == len(messages)
    placed, offset = [], 0
    for buffer, batch, _ in batches:
        place_batch(buffer, 0, offset, 0, -1)
        offset += batch[3] + 1
        placed.append(bytes(buffer))
    return placed


def read(data: bytes, position: int = 0, stop: int = 1000, **how: Any) -> tuple[list[Any], int]:
    """[(offset, exchange, key, properties as encoded, body)], the offset to go on from."""
    limits = {"size_max": 1 << 20, "properties_size_max": 100_000, "inflated_max": 1 << 20}
    aborted = how.pop("aborted", [])
    runs, behind = records_to_runs(data, position, stop, aborted, "q", **{**limits, **how})
    found = []
    for offset, count, blob in runs:
        exchange, key, _, in_run, *_ = run_info(blob)
        assert in_run == count
        for at, (_, properties, body) in enumerate(split_run(blob, 0, count)):
            found.append((offset + at, exchange, key, properties, body))
    return found, behind


def there_and_back(properties: Properties, body: bytes = b"body") -> Properties:
    ((_, _, _, encoded, same),), _ = read(written([(properties, body)])[0])
    assert same == body
    found = decode_properties(encoded)
    assert found.headers is not None and list(found.headers)[-1] == "x-stream-offset"
    assert isinstance(found.headers["x-stream-offset"], Int64) and found.headers.pop("x-stream-offset") == 0
    return found


@pytest.mark.parametrize("present", range(1 << 5))
def test_properties_come_back_as_they_were(present: int) -> None:
    names = list(EVERYTHING.__dataclass_fields__)
    # Each property with and without its neighbours.
    chosen = {name: getattr(EVERYTHING, name) for at, name in enumerate(names) if present >> at % 5 & 1}
    properties = Properties(**chosen)
    found = there_and_back(properties)
    found.headers = found.headers or None
    assert found == properties


@pytest.mark.parametrize(
    "value",
    [
        True, Int8(-1), UInt8(255), Int16(-2), UInt16(2), 5, UInt32(2**32 - 1), 2**40, UInt64(2**63 - 1), Float(0.5),
        1.25, Decimal("1.25"), "text", "", ByteArray(b"\xff"), ByteArray(b"text"), Timestamp(5), None, [1, "a", [None]],
        {"a": {"b": [Int8(1)]}}, b"\xff no text",
    ],
)  # fmt: skip
def test_types_of_headers_come_back_as_they_were(value: object) -> None:
    for headers in ({"h": value}, {"before": "x", "h": value, "": "y"}):
        raw = encode_properties(Properties(headers=headers))
        back = encode_properties(there_and_back(Properties(headers=headers)))
        assert back == raw


def test_a_plain_message_is_its_body_and_one_mark() -> None:
    ((_, timestamp, key, value, headers),) = decode_records(
        batch := written([(Properties(), b"hi")])[0], 0, len(batch), 0
    )
    assert (timestamp, key, value, headers) == (NOW_MS, None, b"hi", [("amqp", b"")])


def test_every_property_is_a_header_with_a_name() -> None:
    (batch,) = written([(EVERYTHING, b"")], exchange="x", key="a.b")
    ((_, _, _, value, headers),) = decode_records(batch, 0, len(batch), 1 << 20)
    assert value == b""
    assert dict(headers) == {
        "amqp": b"2",
        "amqp.app-id": b"i",
        "amqp.cluster-id": b"k",
        "amqp.content-encoding": b"gzip",
        "amqp.content-type": b"text/plain",
        "amqp.correlation-id": b"c",
        "amqp.exchange": b"x",
        "amqp.expiration": b"60000",
        "amqp.message-id": b"m",
        "amqp.priority": b"9",
        "amqp.reply-to": b"r",
        "amqp.routing-key": b"a.b",
        "amqp.timestamp": b"18446744073709551615",
        "amqp.type": b"t",
        "amqp.user-id": b"u",
        "a": b"b",
    }


def test_headers_are_text_for_readers_of_records() -> None:
    headers = {
        "b": True, "i8": Int8(-1), "u64": UInt64(2**63 - 1), "f": Float(0.5), "d": 1.25, "bytes": ByteArray(b"\xff"),
        "time": Timestamp(7), "void": None, "list": [1], "amqp": "mine", "amqp.type": "mine", "text": "t",
    }  # fmt: skip
    (batch,) = written([(Properties(headers=headers), b"")])
    ((_, _, _, _, found),) = decode_records(batch, 0, len(batch), 1 << 20)
    shown = dict(found)
    assert shown.pop("amqp.headers") and shown.pop("amqp") == b""
    assert shown == {
        "b": b"true", "i8": b"-1", "u64": b"9223372036854775807", "f": b"0.5", "d": b"1.25", "bytes": b"\xff",
        "time": b"7", "void": None, "text": b"t",
    }  # fmt: skip
    assert there_and_back(Properties(headers=headers)).headers == headers


@pytest.mark.parametrize(
    ("headers", "body", "key", "value"),
    [
        ({"x-kafka-key": "k"}, b"v", b"k", b"v"),
        ({"x-kafka-key": ""}, b"", b"", b""),
        ({"x-kafka-key": ByteArray(b"\xff")}, b"v", b"\xff", b"v"),
        ({"x-kafka-key": None}, b"v", None, b"v"),
        ({"x-kafka-key": 5}, b"v", None, b"v"),
        ({"x-kafka-tombstone": True}, b"", None, None),
        ({"x-kafka-tombstone": True}, b"not empty", None, b"not empty"),
        ({"x-kafka-tombstone": False}, b"", None, b""),
        ({"x-kafka-timestamp": 5, "x-stream-offset": 7}, b"v", None, b"v"),
    ],
)
def test_some_headers_are_about_the_record(
    headers: dict[str, Any], body: bytes, key: bytes | None, value: bytes | None
) -> None:
    (batch,) = written([(Properties(headers=headers), body)])
    ((_, _, *found, _),) = decode_records(batch, 0, len(batch), 1 << 20)
    assert found == [key, value]
    ((*_, encoded, same),), _ = read(batch)
    back = decode_properties(encoded).headers or {}
    assert same == body and back.pop("x-stream-offset") == 0
    kept = {"x-kafka-key": key.decode() if key != b"\xff" else key} if key is not None else {}
    assert back == kept | ({"x-kafka-tombstone": True} if value is None else {})


def test_a_foreign_record_is_a_persistent_message_with_its_headers() -> None:
    batch = build_batch([(5_999, b"\x00\xff", b"v", [("h", b"t"), ("amqp.priority", b"4"), ("amqp.type", b"x" * 256)])])
    ((offset, exchange, key, encoded, body),), behind = read(batch)
    assert (offset, exchange, key, body, behind) == (0, "", "q", b"v", 1)
    assert decode_properties(encoded) == Properties(
        delivery_mode=2,
        priority=4,
        timestamp=5,
        headers={
            "h": "t",
            "amqp.type": "x" * 256,
            "x-kafka-key": b"\x00\xff",
            "x-kafka-timestamp": 5_999,
            "x-stream-offset": 0,
        },
    )


@pytest.mark.parametrize(
    "headers",
    [
        [("amqp.priority", b"256"), ("amqp.timestamp", b"-1"), ("amqp.headers", b"\x01k?")],
        [("amqp.exchange", b"\xff"), ("amqp.routing-key", b"x" * 256)],
        [("amqp.headers", b"\x0fx-stream-offsetV")],
        [("x-stream-offset", b"9"), ("x-kafka-key", b"k"), ("x-kafka-tombstone", b"true")],
        [("name" * 64, b""), ("h", None)],
    ],
)
def test_what_only_pretends_to_be_of_a_message_harms_nobody(headers: list[tuple[str, bytes | None]]) -> None:
    ((_, exchange, key, encoded, _),), _ = read(build_batch([(0, None, b"", headers)]))
    found = decode_properties(encoded).headers or {}
    assert (exchange, key, found["x-stream-offset"]) == ("", "q", 0)
    assert "x-kafka-key" not in found and "x-kafka-tombstone" not in found


def test_headers_beyond_a_frame_are_left_out_and_told_of() -> None:
    headers = [("a", b"x" * 600), ("b", b"y" * 600), ("c", b"z")]
    ((*_, encoded, body),), _ = read(build_batch([(0, b"k" * 900, b"v", headers)]), properties_size_max=1000)
    found = decode_properties(encoded).headers or {}
    assert len(encoded) <= 1000 and body == b"v"
    assert (found["c"], found["x-kafka-truncated"]) == ("z", True) and not {"b", "x-kafka-key"} & set(found)


def test_batches_are_no_larger_than_the_topic_takes() -> None:
    messages = [(Properties(), bytes(50))] * 40
    batches = written(messages, size_max=1000)
    assert len(batches) > 2 and all(len(batch) <= 1000 for batch in batches)
    found, behind = read(b"".join(batches))
    assert [offset for offset, *_ in found] == list(range(40)) and behind == 40
    run = build_run("", "q", 0, [(b"\0\0", b"small"), (b"\0\0", bytes(2000)), (b"\0\0", b"small")])
    (only,), taken = run_to_batches(run, "q", NOW_MS, 1000)
    assert taken == 1 and only[1][4] == 1, "nothing overtakes the message that does not fit"
    assert run_to_batches(build_run("", "q", 0, [(b"\0\0", bytes(2000))]), "q", NOW_MS, 1000) == ([], 0)


def test_the_first_record_without_a_key_is_named() -> None:
    keyed = encode_properties(Properties(headers={"x-kafka-key": "k"}))
    run = build_run("", "q", 8, [(keyed, b""), (b"\0\0", b""), (keyed, b"")])
    ((_, _, keyless_at),), _ = run_to_batches(run, "q", NOW_MS, 1 << 20)
    assert keyless_at == 1


@pytest.mark.parametrize("codec", range(5))
def test_runs_break_where_offsets_or_names_do(codec: int) -> None:
    names = [("x", b"1"), ("x", b"1"), ("x", b"2"), ("y", b"2")]
    records = [(0, None, b"", [("amqp.exchange", x.encode()), ("amqp.routing-key", key)]) for x, key in names]
    data = build_batch(records, codec=codec) + build_batch(records[:1], base_offset=9, codec=codec)
    runs, behind = records_to_runs(data, 1, 99, [], "q", size_max=1 << 20, properties_size_max=9999, inflated_max=9999)
    assert [(offset, count, *run_info(blob)[:2]) for offset, count, blob in runs] == [
        (1, 1, "x", "1"), (2, 1, "x", "2"), (3, 1, "y", "2"), (9, 1, "x", "1"),
    ]  # fmt: skip
    assert behind == 10


def test_a_slice_ends_at_its_size_or_the_stop_and_goes_on_inside_a_batch() -> None:
    (data,) = written([(Properties(), bytes([at])) for at in range(100)])
    seen, position = [], 0
    while position < 90:
        found, position = read(data, position, 90, size_max=300)
        assert 0 < len(found) < 20
        seen += [body[0] for *_, body in found]
    assert seen == list(range(90)) and position == 90


def test_markers_and_what_was_rolled_back_are_passed_over() -> None:
    kept, lost = [(0, None, b"kept", [])], [(0, None, b"lost", [])]
    transactional, control = 0x10, 0x20
    data = (
        build_batch(lost, producer_id=7, producer_epoch=0, attributes=transactional)
        + build_batch(kept, base_offset=1)
        + build_batch([(0, b"\0\0\0\0", b"", [])], base_offset=2, producer_id=7, attributes=transactional | control)
        + build_batch(kept, base_offset=3, producer_id=7, producer_epoch=0, attributes=transactional)
    )
    found, behind = read(data, aborted=[(0, 7)])
    assert [(offset, body) for offset, *_, body in found] == [(1, b"kept"), (3, b"kept")] and behind == 4


def test_filters_look_at_one_header() -> None:
    records = [
        (0, None, b"", [("x-stream-filter-value", value)] if value else []) for value in (b"a", b"b", None, b"a")
    ]
    data = build_batch(records)
    for wanted, unfiltered, offsets in ((b"a", False, [0, 3]), (b"b", True, [1, 2]), (b"z", False, [])):
        found, behind = read(data, wanted=[wanted], match_unfiltered=unfiltered)
        assert [offset for offset, *_ in found] == offsets and behind == 4


def test_damage_is_told_and_a_torn_end_is_not_there_yet() -> None:
    (first,), (second,) = written([(Properties(), b"one")]), [build_batch([(0, None, b"two", [])], base_offset=1)]
    found, behind = read(first + second[:-1])
    assert len(found) == behind == 1
    with pytest.raises(Malformed):
        read(first[:-1] + bytes([first[-1] ^ 1]) + second)


@given(
    st.dictionaries(
        st.text(max_size=8), st.text(max_size=8) | st.integers(-(2**63), 2**63 - 1) | st.none(), max_size=4
    ),
    st.binary(max_size=40),
)
def test_any_message_comes_back(headers: dict[str, Any], body: bytes) -> None:
    headers = {name: value for name, value in headers.items() if not name.startswith("x-kafka-")}
    headers.pop("x-stream-offset", None)
    assert there_and_back(Properties(headers=headers), body).headers == headers


@given(st.lists(st.tuples(st.text(max_size=20), st.none() | st.binary(max_size=20)), max_size=5), st.binary(max_size=9))
def test_any_record_is_a_message(headers: list[tuple[str, bytes | None]], value: bytes) -> None:
    ((*_, encoded, body),), _ = read(build_batch([(0, None, value, headers)]))
    found = decode_properties(encoded).headers or {}
    assert body == value and found["x-stream-offset"] == 0


def test_what_is_no_text_stays_a_header_of_whoever_wrote_the_record() -> None:
    """AMQP's clients give up on a property that is none."""
    headers = [("amqp", b"2"), ("amqp.content-type", b"\xff"), ("amqp.user-id", b"\xc3"), ("amqp.type", "é".encode())]
    batch = build_batch([(NOW_MS, None, b"v", headers)])
    ((*_, encoded, _),), _ = read(bytes(batch))
    found = decode_properties(encoded)
    assert (found.content_type, found.user_id, found.type) == (None, None, "é")
    assert found.headers == {
        "amqp.content-type": ByteArray(b"\xff"),
        "amqp.user-id": ByteArray(b"\xc3"),
        "x-stream-offset": 0,
    }
