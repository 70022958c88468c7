"""AMQP methods and frames as bytes, and back."""

from __future__ import annotations

import struct
from typing import Any, Final

from twinlog.base import ProtocolViolation
from twinlog.wire.amqp.method import Method
from twinlog.wire.amqp.methods import METHODS
from twinlog.wire.amqp.table import Reader, read_table, write_table

FRAME_METHOD: Final = 1
FRAME_HEADER: Final = 2
FRAME_BODY: Final = 3
FRAME_HEARTBEAT: Final = 8
FRAME_END: Final = 0xCE
FRAME_OVERHEAD: Final = 8  # bytes around a frame's payload

HEAD: Final = struct.Struct(">BHI")
IDS: Final = struct.Struct(">HH")
HEARTBEAT: Final = HEAD.pack(FRAME_HEARTBEAT, 0, 0) + bytes([FRAME_END])

NUMBERS: Final = {
    "octet": struct.Struct(">B"),
    "short": struct.Struct(">H"),
    "long": struct.Struct(">I"),
    "longlong": struct.Struct(">Q"),
    "timestamp": struct.Struct(">Q"),
}


def decode_method(class_id: int, method_id: int, data: bytes | memoryview, offset: int = 0) -> Method | None:
    """The method whose arguments lie at ``offset``; None when there is no such method."""
    method_class = METHODS.get((class_id, method_id))
    if method_class is None:
        return None
    reader = Reader(data, offset, len(data))
    values: dict[str, Any] = {}
    bits = -1  # how many bits of the current octet were used; -1: none is open
    octet = 0
    for name, kind in method_class.ARGUMENTS:
        if kind == "bit":
            if bits < 0 or bits == 8:
                octet, bits = reader.unpack(NUMBERS["octet"]), 0
            value: Any = bool(octet >> bits & 1)
            bits += 1
        else:
            bits = -1
            value = _read(reader, kind)
        if name != "reserved":
            values[name] = value
    if reader.offset != reader.end:
        raise ProtocolViolation("a method has bytes behind its last argument")
    return method_class(**values)


def _read(reader: Reader, kind: str) -> Any:
    if kind == "shortstr":
        return read_short_string(reader)
    if kind == "longstr":
        return reader.take(reader.unpack(NUMBERS["long"]))
    if kind == "table":
        table, reader.offset = read_table(reader.data, reader.offset, reader.end)
        return table
    return reader.unpack(NUMBERS[kind])


def read_short_string(reader: Reader) -> str:
    data = reader.take(reader.unpack(NUMBERS["octet"]))
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ProtocolViolation("a short string is not UTF-8") from None


def encode_arguments(method: Method) -> bytes:
    """Class id, method id, arguments: the payload of a method frame."""
    out = bytearray(IDS.pack(method.CLASS_ID, method.METHOD_ID))
    bits = octet = 0
    for name, kind in method.ARGUMENTS:
        value = getattr(method, name) if name != "reserved" else None
        if kind == "bit":
            if bits == 8:
                out.append(octet)
                bits = octet = 0
            octet |= (1 if value else 0) << bits
            bits += 1
            continue
        if bits:
            out.append(octet)
            bits = octet = 0
        _write(out, kind, value)
    if bits:
        out.append(octet)
    return bytes(out)


def _write(out: bytearray, kind: str, value: Any) -> None:
    if kind == "shortstr":
        out += short_string(value or "")
    elif kind == "longstr":
        data = value or b""
        out += NUMBERS["long"].pack(len(data))
        out += data
    elif kind == "table":
        out += write_table(value or {})
    else:
        out += NUMBERS[kind].pack(value or 0)


def short_string(text: str) -> bytes:
    """A length and at most 255 bytes; what is longer is cut between two characters."""
    data = text.encode()
    if len(data) > 255:
        data = data[:255].decode(errors="ignore").encode()
    return bytes([len(data)]) + data


def encode_method(channel: int, method: Method) -> bytes:
    """A whole method frame."""
    payload = encode_arguments(method)
    return HEAD.pack(FRAME_METHOD, channel, len(payload)) + payload + bytes([FRAME_END])
