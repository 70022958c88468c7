"""Our codec against kio, whose tables come from the same source by another way: the same bytes mean the same."""

from __future__ import annotations

import datetime
import io
import uuid
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import pytest
from kio.index import load_payload_module
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType

from tests.kit.kafka_messages import Filler, decoded, schema_of
from twinlog.wire.kafka import APIS, Message, Struct

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def every_payload() -> list[Any]:
    found = []
    for api in APIS.values():
        for version in range(api.version_min, api.version_max + 1):
            found.append(pytest.param(api.request, version, EntityType.request, id=f"{api.name}-request-v{version}"))
            found.append(pytest.param(api.response, version, EntityType.response, id=f"{api.name}-response-v{version}"))
    return found


@pytest.mark.parametrize(("message_class", "version", "kind"), every_payload())
def test_both_libraries_read_and_write_the_same(message_class: type[Message], version: int, kind: EntityType) -> None:
    theirs_class = getattr(load_payload_module(message_class.KEY, version, kind), message_class.__name__)
    schema = schema_of(message_class, version)
    read, write = entity_reader(theirs_class), entity_writer(theirs_class)
    for seed in range(4):
        wire = schema.encode(Filler(seed, plain=True).message(message_class, version))

        theirs, size = read(wire, 0)
        assert size == len(wire)
        assert plain_theirs(theirs) == plain_ours(decoded(schema.decode(wire), wire), version)

        sink = io.BytesIO()
        write(sink, theirs)
        assert sink.getvalue() == wire


def plain_name(name: str) -> str:
    """kio splits some words elsewhere, and drops the unit where its type is a time."""
    return name.removesuffix("_ms").replace("_", "")


def plain_ours(message: Any, version: int) -> Any:
    """Only what the version has, as dictionaries."""
    if isinstance(message, list):
        return [plain_ours(element, version) for element in message]
    if not isinstance(message, Struct):
        return message
    plain = {}
    for row in message.LAYOUT:
        if row[3] <= version <= row[4]:
            value = getattr(message, row[0])
            # kio has the struct of defaults where we say that nothing is on the wire
            if value is None and row[1] == "struct" and row[2] is not None and row[7] >= 0:
                value = row[2]()
            plain[plain_name(row[0])] = plain_ours(value, version)
    return plain


def plain_theirs(value: Any) -> Any:
    if is_dataclass(value):
        return {plain_name(each.name): plain_theirs(field_value(each, value)) for each in fields(value)}
    if isinstance(value, tuple):
        return [plain_theirs(element) for element in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, uuid.UUID):
        return value.bytes
    if isinstance(value, datetime.timedelta):
        return round(value.total_seconds() * 1000)
    if isinstance(value, datetime.datetime):
        return round((value - EPOCH) / datetime.timedelta(milliseconds=1))
    return value


def field_value(field: Any, owner: Any) -> Any:
    """kio says None for an id of zeros and for a time of -1."""
    value = getattr(owner, field.name)
    kind = field.metadata.get("kafka_type")
    if value is None and kind == "uuid":
        return bytes(16)
    if value is None and kind == "datetime_i64":
        return -1
    return value
