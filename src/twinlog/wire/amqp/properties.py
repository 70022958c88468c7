"""The basic properties of a message, which travel in its content header.

Most messages pass through without their properties being read: the header's bytes are forwarded as they came.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, fields
from typing import Any, Final

from twinlog.base import ProtocolViolation
from twinlog.wire.amqp.codec import read_short_string, short_string
from twinlog.wire.amqp.table import Reader, read_table, write_table

FLAGS: Final = struct.Struct(">H")
U8: Final = struct.Struct(">B")
U64: Final = struct.Struct(">Q")


@dataclass(slots=True)
class Properties:
    """In wire order; None means that the property is absent, which is not the same as empty."""

    content_type: str | None = None
    content_encoding: str | None = None
    headers: dict[str, Any] | None = None
    delivery_mode: int | None = None
    priority: int | None = None
    correlation_id: str | None = None
    reply_to: str | None = None
    expiration: str | None = None
    message_id: str | None = None
    timestamp: int | None = None
    type: str | None = None
    user_id: str | None = None
    app_id: str | None = None
    cluster_id: str | None = None


ORDER: Final = tuple(field.name for field in fields(Properties))
OTHER_TYPES: Final = {"headers": "table", "delivery_mode": "octet", "priority": "octet", "timestamp": "timestamp"}


def flag_of(name: str) -> int:
    """The bit by which the flags of a content header say that the property is there."""
    return 1 << (15 - ORDER.index(name))


def decode_properties(data: bytes | memoryview, offset: int = 0, end: int | None = None) -> Properties:
    """Reads property flags and properties: what follows the body size in a content header."""
    reader = Reader(data, offset, len(data) if end is None else end)
    flags = reader.unpack(FLAGS)
    if flags & 1:
        raise ProtocolViolation("property flags go on beyond the fourteen that exist")
    result = Properties()
    for place, name in enumerate(ORDER):
        if flags >> (15 - place) & 1:
            setattr(result, name, _read(reader, OTHER_TYPES.get(name)))
    if reader.offset != reader.end:
        raise ProtocolViolation("a content header has bytes behind its last property")
    return result


def _read(reader: Reader, kind: str | None) -> Any:
    if kind is None:
        return read_short_string(reader)
    if kind == "table":
        table, reader.offset = read_table(reader.data, reader.offset, reader.end)
        return table
    return reader.unpack(U8 if kind == "octet" else U64)


def encode_properties(properties: Properties) -> bytes:
    flags = 0
    out = bytearray()
    for place, name in enumerate(ORDER):
        value = getattr(properties, name)
        if value is None:
            continue
        flags |= 1 << (15 - place)
        kind = OTHER_TYPES.get(name)
        if kind is None:
            out += short_string(value)
        elif kind == "table":
            out += write_table(value)
        else:
            out += (U8 if kind == "octet" else U64).pack(value)
    return FLAGS.pack(flags) + bytes(out)
