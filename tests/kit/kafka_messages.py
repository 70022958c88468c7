"""Kafka messages made up for tests: every message class in every version, with values for every field it has there."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from twinlog._kernel import Schema
from twinlog.wire.kafka import APIS, Message, Struct
from twinlog.wire.kafka.messages import consumer_protocol, control_records, group_records, transaction_records

INT_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
STRINGS = ["", "a", "orders", "größe", "日本語", "x" * 300]


def every_message() -> Iterator[tuple[type[Message], int]]:
    """(class, version) of everything the codec knows."""
    for api in APIS.values():
        for version in range(api.version_min, api.version_max + 1):
            yield api.request, version
            yield api.response, version
    embedded = [
        consumer_protocol.ConsumerProtocolSubscription,
        consumer_protocol.ConsumerProtocolAssignment,
        control_records.ControlRecordTypeSchema,
        control_records.EndTxnMarker,
    ]
    stored = [
        message_class
        for records in (group_records.RECORDS, transaction_records.RECORDS)
        for pair in records.values()
        for message_class in pair
    ]
    for message_class in [*embedded, *stored]:
        for version in range(message_class.VERSIONS[0], message_class.VERSIONS[1] + 1):
            yield message_class, version


def schema_of(message_class: type[Message], version: int) -> Schema:
    return Schema(message_class, version, version >= message_class.FLEXIBLE_FROM)


def name_of(message: tuple[type[Message], int]) -> str:
    return f"{message[0].__name__}-v{message[1]}"


class Filler:
    """Deterministic values: ``random.Random`` decides, so a seed names a message."""

    def __init__(self, seed: int, *, plain: bool = False) -> None:
        self.random = random.Random(seed)
        # Plain values are those that a library with narrower types (times, known error codes) can hold as well.
        self.plain = plain

    def message(self, message_class: type[Struct], version: int) -> Any:
        values = {}
        for name, kind, inner, first, last, null_first, null_last, _tag, _ignorable, _default in message_class.LAYOUT:
            if first <= version <= last:
                nullable = null_first <= version <= null_last
                values[name] = self.field(name, kind, inner, nullable, version)
        return message_class(**values)

    def field(self, name: str, kind: str, inner: type[Struct] | None, nullable: bool, version: int) -> Any:
        if nullable and self.random.random() < 0.2:
            return None
        if kind.startswith("[]"):
            return [self.value(name, kind[2:], inner, version) for _ in range(self.random.choice([0, 1, 1, 2, 3]))]
        return self.value(name, kind, inner, version)

    def value(self, name: str, kind: str, inner: type[Struct] | None, version: int) -> Any:
        pick = self.random
        if kind == "struct":
            assert inner is not None
            return self.message(inner, version)
        if kind in INT_BITS:
            return self.number(name, kind)
        return {
            "bool": lambda: pick.random() < 0.5,
            "uint16": lambda: pick.randrange(2**16),
            "float64": lambda: pick.choice([0.0, -1.5, 2.0**70]),
            "uuid": lambda: pick.randbytes(16),
            "string": lambda: pick.choice(STRINGS),
            "bytes": lambda: pick.randbytes(pick.choice([0, 1, 200])),
            "records": lambda: pick.randbytes(pick.choice([0, 1, 200])),
        }[kind]()

    def number(self, name: str, kind: str) -> int:
        if self.plain and kind == "int16" and "error_code" in name:
            return self.random.choice([-1, 0, 3, 35])
        if self.plain and (name.endswith("ms") or "timestamp" in name or "timeout" in name):
            return self.random.randrange(2 ** (INT_BITS[kind] // 2))
        top = 2 ** (INT_BITS[kind] - 1)
        return self.random.choice([0, 1, -1, top - 1, -top, self.random.randrange(-top, top)])


def decoded(message: Any, wire: bytes) -> Any:
    """The message with its records cut out of the bytes: decoding leaves (offset, size) in their place."""
    for row in message.LAYOUT:
        value = getattr(message, row[0])
        if row[1] == "records" and value is not None:
            offset, size = value
            setattr(message, row[0], wire[offset : offset + size])
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, Struct):
                decoded(part, wire)
    return message


# -- strategies

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "uint16": st.integers(0, 2**16 - 1),
    "float64": st.floats(allow_nan=False),
    "uuid": st.binary(min_size=16, max_size=16),
    "string": _TEXT,
    "bytes": st.binary(max_size=40),
    "records": st.binary(max_size=40),
    **{kind: st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for kind, bits in INT_BITS.items()},
}


def messages(message_class: type[Struct], version: int) -> st.SearchStrategy[Any]:
    """Any message of a class, with defaults in the fields that the version lacks."""
    fields = {}
    for name, kind, inner, first, last, null_first, null_last, tag, _ignorable, default in message_class.LAYOUT:
        if not first <= version <= last:
            continue
        scalar = kind.removeprefix("[]")
        values = messages(inner, version) if inner is not None else _SCALARS[scalar]
        if kind.startswith("[]"):
            values = st.lists(values, max_size=3)
        absent = tag >= 0 and kind == "struct" and default is None
        if absent or null_first <= version <= null_last:
            values = st.none() | values
        fields[name] = values
    return st.builds(message_class, **fields)
