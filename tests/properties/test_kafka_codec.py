"""Whatever a message holds comes back from its bytes, and whatever bytes come in, nothing but a refusal comes out."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kit.kafka_messages import Filler, decoded, every_message, messages, name_of, schema_of
from twinlog._kernel import Malformed
from twinlog.wire.kafka import Message

EVERY_MESSAGE = list(every_message())
SHORT = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("message", EVERY_MESSAGE, ids=name_of)
def test_a_message_comes_back_from_its_bytes(message: tuple[type[Message], int]) -> None:
    schema = schema_of(*message)
    for seed in range(12):
        filled = Filler(seed).message(*message)
        wire = schema.encode(filled)
        assert decoded(schema.decode(wire), wire) == without_default_structs(filled)
        assert schema.encode(decoded(schema.decode(wire), wire)) == wire


@pytest.mark.parametrize("message", EVERY_MESSAGE, ids=name_of)
def test_a_message_cut_short_or_followed_by_more_is_malformed(message: tuple[type[Message], int]) -> None:
    schema = schema_of(*message)
    wire = schema.encode(Filler(1).message(*message))
    for size in range(len(wire)):
        with pytest.raises(Malformed):
            schema.decode(wire[:size])
        with pytest.raises(Malformed):
            schema.decode(wire, 0, size)
    with pytest.raises(Malformed):
        schema.decode(wire + b"\0")


@SHORT
@given(st.data())
def test_any_message_comes_back_from_its_bytes(data: st.DataObject) -> None:
    message = data.draw(st.sampled_from(EVERY_MESSAGE))
    schema = schema_of(*message)
    drawn = data.draw(messages(*message))
    wire = schema.encode(drawn)
    assert decoded(schema.decode(wire), wire) == without_default_structs(drawn)


@SHORT
@given(st.sampled_from(EVERY_MESSAGE), st.binary(max_size=200))
def test_any_bytes_are_a_message_or_malformed(message: tuple[type[Message], int], wire: bytes) -> None:
    assert_message_or_malformed(message, wire)


@pytest.mark.parametrize("message", EVERY_MESSAGE, ids=name_of)
def test_damaged_bytes_are_a_message_or_malformed(message: tuple[type[Message], int]) -> None:
    wire = schema_of(*message).encode(Filler(2).message(*message))
    pick = random.Random(len(wire))
    for _ in range(30 if wire else 0):
        damaged = bytearray(wire)
        for _ in range(pick.choice([1, 1, 2, 5])):
            damaged[pick.randrange(len(damaged))] = pick.choice([0, 1, 0x7F, 0x80, 0xFF, pick.randrange(256)])
        assert_message_or_malformed(message, bytes(damaged))


def assert_message_or_malformed(message: tuple[type[Message], int], wire: bytes) -> None:
    schema = schema_of(*message)
    try:
        first = decoded(schema.decode(wire), wire)
    except Malformed:
        return
    again = schema.encode(first)
    # Compared as bytes, because a NaN is not equal to itself.
    assert schema.encode(decoded(schema.decode(again), again)) == again


def without_default_structs(message: object) -> object:
    """A tagged struct that holds only defaults is not written, and comes back as None."""
    for row in getattr(message, "LAYOUT", ()):
        value = getattr(message, row[0])
        for part in value if isinstance(value, list) else [value]:
            without_default_structs(part)
        if row[2] is not None and row[1] == "struct" and row[7] >= 0 and row[9] is None and value == row[2]():
            setattr(message, row[0], None)
    return message
