"""AMQP methods, tables and properties: types survive, other clients' bytes are read, damaged bytes are refused."""

from __future__ import annotations

import re
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen import generate_amqp
from twinlog.base import ProtocolViolation
from twinlog.wire.amqp import (
    Method,
    Properties,
    decode_method,
    decode_properties,
    encode_method,
    encode_properties,
    read_table,
    write_table,
)
from twinlog.wire.amqp import table as types
from twinlog.wire.amqp.codec import encode_arguments
from twinlog.wire.amqp.methods import METHODS

TEXT = st.text(max_size=40)
NUMBERS = {"octet": 8, "short": 16, "long": 32, "longlong": 64, "timestamp": 64}


def in_range(kind: type, bits: int, signed: bool) -> st.SearchStrategy[Any]:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return st.integers(low, high).map(kind)


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(allow_nan=False),
    TEXT,
    st.binary(max_size=20).map(types.ByteArray),
    st.integers(-(1 << 31), (1 << 31) - 1).map(lambda n: Decimal(n).scaleb(-2)),
    st.floats(width=32, allow_nan=False).map(types.Float),
    in_range(types.Int8, 8, True),
    in_range(types.UInt8, 8, False),
    in_range(types.Int16, 16, True),
    in_range(types.UInt16, 16, False),
    in_range(types.Int32, 32, True),
    in_range(types.UInt32, 32, False),
    in_range(types.Int64, 64, True),
    in_range(types.UInt64, 64, True),
    in_range(types.Timestamp, 64, False),
)
TABLES = st.dictionaries(
    TEXT, st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner)), max_size=6
)


def same(one: Any, other: Any) -> bool:
    """Equal in value and, where the value remembers one, in wire type."""
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if type(one) is int:
        return bool(one == other)
    return type(one) is type(other) and one == other


@given(TABLES)
def test_a_table_comes_back_with_its_types(table: dict[str, Any]) -> None:
    data = write_table(table)
    again, end = read_table(data, 0, len(data))
    assert end == len(data)
    assert same(table, again)
    assert write_table(again) == data


@pytest.mark.parametrize("method_class", METHODS.values(), ids=lambda m: m.__name__)
def test_every_method_comes_back(method_class: type[Method]) -> None:
    filled = {"bit": True, "shortstr": "queue-ü", "longstr": b"\x00\xff", "table": {"a": 1, "b": {"c": [True]}}}
    arguments = {
        name: filled[kind] if kind in filled else (1 << NUMBERS[kind]) - 2
        for name, kind in method_class.ARGUMENTS
        if name != "reserved"
    }
    for method in (method_class(), method_class(**arguments)):
        frame = encode_method(7, method)
        kind, channel, size = struct.unpack_from(">BHI", frame)
        assert (kind, channel, size) == (1, 7, len(frame) - 8)
        assert frame[-1] == 0xCE
        class_id, method_id = struct.unpack_from(">HH", frame, 7)
        assert decode_method(class_id, method_id, frame[11:-1]) == method
        for cut in range(len(frame) - 12):
            with pytest.raises(ProtocolViolation):
                decode_method(class_id, method_id, frame[11 : 11 + cut])
        with pytest.raises(ProtocolViolation):
            decode_method(class_id, method_id, frame[11:-1] + b"\x00")


def test_another_client_reads_and_writes_the_same_bytes() -> None:
    spec = pytest.importorskip("pika.spec")
    table = {"x-max-length": 10, "name": "text", "flag": True, "deep": {"list": [1, "two"]}}
    ours = METHODS[50, 10](queue="orders", durable=True, auto_delete=True, arguments=table)
    theirs = spec.Queue.Declare(queue="orders", durable=True, auto_delete=True, arguments=table)
    assert encode_arguments(ours)[4:] == b"".join(theirs.encode())
    assert spec.Queue.Declare().decode(encode_arguments(ours)[4:]).arguments == table


def test_properties_keep_what_is_there_and_what_is_not() -> None:
    full = Properties("t", "e", {"h": 1}, 2, 9, "c", "r", "60000", "m", 1_700_000_000, "ty", "u", "a", "cl")
    for properties in (Properties(), Properties(content_type=""), Properties(headers={}), full):
        data = encode_properties(properties)
        assert decode_properties(data) == properties
        for cut in range(len(data)):
            with pytest.raises(ProtocolViolation):
                decode_properties(data[:cut])


def test_a_table_nested_without_end_is_refused() -> None:
    table: dict[str, Any] = {}
    for _ in range(40):
        table = {"t": table}
    data = write_table(table)
    with pytest.raises(ProtocolViolation, match="nested"):
        read_table(data, 0, len(data))


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x05\x01aS\xff\xff\xff\xff",
        b"\x00\x00\x00\x03\x01aZ",
        b"\x00\x00\x00\x03\x01\xfft\x01",
        b"\x00\x00\x00\x04\x01aI\x00",
    ],
)
def test_a_broken_table_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        read_table(data, 0, len(data))


@given(st.binary(max_size=80))
def test_junk_is_a_table_or_refused(data: bytes) -> None:
    try:
        table, _ = read_table(data, 0, len(data))
    except ProtocolViolation:
        return
    write_table(table)


def test_a_long_name_is_cut_between_two_characters() -> None:
    method = METHODS[10, 50](reply_code=320, reply_text="ü" * 200, failing_class=0, failing_method=0)
    read = decode_method(10, 50, encode_arguments(method)[4:])
    assert read is not None
    assert read.reply_text == "ü" * 127  # type: ignore[attr-defined]


def bare(source: str) -> str:
    """The source without what a formatter may change."""
    return re.sub(r"[\s,()]", "", source)


def test_the_classes_are_what_the_spec_makes() -> None:
    root = Path(__file__).parents[4]
    made = generate_amqp.write(generate_amqp.read((root / "spec/amqp/methods.txt").read_text()))
    kept = (root / "src/twinlog/wire/amqp/methods.py").read_text()
    assert bare(made) == bare(kept)
