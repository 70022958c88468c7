"""Field tables, with the types kept: what was read as a 16-bit number is written as one.

Plain Python values stand for the usual types (``int`` for a 64-bit number that fits in 32 bits as one of 32, ``str``
and ``bytes`` for a long string, ``bool``, ``float`` as a double, ``None``, ``list``, ``dict``); the rest have small
classes that are those values and remember their type. Bytes of strangers are a table or a ``ProtocolViolation``;
nesting is bounded, and nothing is allocated from a declared length.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from twinlog.base import ProtocolViolation

DEPTH_MAX: Final = 32
ENTRIES_MAX: Final = 100_000  # of a whole table, nested ones included

U8, I8 = struct.Struct(">B"), struct.Struct(">b")
U16, I16 = struct.Struct(">H"), struct.Struct(">h")
U32, I32 = struct.Struct(">I"), struct.Struct(">i")
U64, I64 = struct.Struct(">Q"), struct.Struct(">q")
F32, F64 = struct.Struct(">f"), struct.Struct(">d")


class Int8(int):
    """A signed number of 8 bits (b)."""


class UInt8(int):
    """An unsigned number of 8 bits (B)."""


class Int16(int):
    """A signed number of 16 bits (s)."""


class UInt16(int):
    """An unsigned number of 16 bits (u)."""


class Int32(int):
    """A signed number of 32 bits (I)."""


class UInt32(int):
    """An unsigned number of 32 bits (i)."""


class Int64(int):
    """A signed number of 64 bits (l)."""


class UInt64(int):
    """An unsigned number of 64 bits (L, which most peers mean as signed; kept apart to write what was read)."""


class Float(float):
    """A number of 32 bits with a fraction (f)."""


class Timestamp(int):
    """Seconds since 1970 (T)."""


class ByteArray(bytes):
    """Bytes that are no text (x)."""


def _number(kind: type, form: struct.Struct) -> Callable[[Reader], Any]:
    def read(reader: Reader) -> Any:
        return kind(reader.unpack(form))

    return read


class Reader:
    """Walks over one table's bytes."""

    __slots__ = ("data", "end", "entries", "offset")

    def __init__(self, data: bytes | memoryview, offset: int, end: int) -> None:
        self.data = data
        self.offset = offset
        self.end = end
        self.entries = 0

    def unpack(self, form: struct.Struct) -> Any:
        self.need(form.size)
        value = form.unpack_from(self.data, self.offset)[0]
        self.offset += form.size
        return value

    def need(self, size: int) -> None:
        if size > self.end - self.offset:
            raise ProtocolViolation("a field table ends inside a value")

    def take(self, size: int) -> bytes:
        self.need(size)
        value = bytes(self.data[self.offset : self.offset + size])
        self.offset += size
        return value

    def count(self) -> None:
        self.entries += 1
        if self.entries > ENTRIES_MAX:
            raise ProtocolViolation(f"a field table has more than {ENTRIES_MAX} entries")

    def table(self, depth: int) -> dict[str, Any]:
        end = self._inner_end(depth)
        result: dict[str, Any] = {}
        while self.offset < end:
            name = self.take(self.unpack(U8))
            try:
                key = name.decode()
            except UnicodeDecodeError:
                raise ProtocolViolation("a field's name is not UTF-8") from None
            result[key] = self.value(depth)
        self._close(end)
        return result

    def array(self, depth: int) -> list[Any]:
        end = self._inner_end(depth)
        result = []
        while self.offset < end:
            result.append(self.value(depth))
        self._close(end)
        return result

    def _inner_end(self, depth: int) -> int:
        if depth > DEPTH_MAX:
            raise ProtocolViolation(f"field tables are nested more than {DEPTH_MAX} deep")
        size = self.unpack(U32)
        self.need(size)
        return int(self.offset + size)

    def _close(self, end: int) -> None:
        if self.offset != end:
            raise ProtocolViolation("a value runs over the end of its field table")

    def value(self, depth: int) -> Any:
        self.count()
        kind = self.take(1)
        if kind == b"S":
            return text_or_bytes(self.take(self.unpack(U32)))
        if kind == b"F":
            return self.table(depth + 1)
        if kind == b"A":
            return self.array(depth + 1)
        read = READERS.get(kind)
        if read is None:
            raise ProtocolViolation(f"a field has the unknown type {kind!r}")
        return read(self)


def text_or_bytes(data: bytes) -> str | bytes:
    """Long strings may hold anything; most hold text."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _read_decimal(reader: Reader) -> Decimal:
    scale = reader.unpack(U8)
    return Decimal(reader.unpack(I32)).scaleb(-scale)


def _read_byte_array(reader: Reader) -> ByteArray:
    return ByteArray(reader.take(reader.unpack(U32)))


def _read_bool(reader: Reader) -> bool:
    return bool(reader.unpack(U8))


def _read_float64(reader: Reader) -> float:
    value: float = reader.unpack(F64)
    return value


READERS: Final[Mapping[bytes, Callable[[Reader], Any]]] = {
    b"t": _read_bool,
    b"b": _number(Int8, I8),
    b"B": _number(UInt8, U8),
    b"s": _number(Int16, I16),
    b"u": _number(UInt16, U16),
    b"I": _number(Int32, I32),
    b"i": _number(UInt32, U32),
    b"l": _number(Int64, I64),
    b"L": _number(UInt64, I64),  # signed on the wire, whatever the old text says
    b"f": _number(Float, F32),
    b"d": _read_float64,
    b"D": _read_decimal,
    b"T": _number(Timestamp, U64),
    b"x": _read_byte_array,
    b"V": lambda reader: None,
}


def read_table(data: bytes | memoryview, offset: int, end: int) -> tuple[dict[str, Any], int]:
    """The table at ``offset`` and the offset behind it."""
    reader = Reader(data, offset, end)
    return reader.table(0), reader.offset


def write_table(table: Mapping[str, Any]) -> bytes:
    body = bytearray()
    for name, value in table.items():
        encoded = name.encode()
        if len(encoded) > 255:
            raise ValueError(f"a field's name is longer than 255 bytes: {name[:40]}...")
        body.append(len(encoded))
        body += encoded
        _write_value(body, value)
    return U32.pack(len(body)) + bytes(body)


def _write_value(out: bytearray, value: Any) -> None:
    writer = WRITERS.get(type(value))
    if writer is None:
        raise TypeError(f"a field table cannot hold a {type(value).__name__}")
    writer(out, value)


def _tagged(tag: bytes, form: struct.Struct) -> Callable[[bytearray, Any], None]:
    def write(out: bytearray, value: Any) -> None:
        out += tag
        out += form.pack(value)

    return write


def _write_int(out: bytearray, value: int) -> None:
    fits = -(1 << 31) <= value < 1 << 31
    out += b"I" if fits else b"l"
    out += (I32 if fits else I64).pack(value)


def _write_text(out: bytearray, value: str) -> None:
    _write_bytes(out, value.encode())


def _write_bytes(out: bytearray, value: bytes) -> None:
    out += b"S"
    out += U32.pack(len(value))
    out += value


def _write_byte_array(out: bytearray, value: bytes) -> None:
    out += b"x"
    out += U32.pack(len(value))
    out += value


def _write_decimal(out: bytearray, value: Decimal) -> None:
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise ValueError("a field table cannot hold a decimal that is no number")
    number = int("".join(map(str, digits)) or "0") * (10**exponent if exponent > 0 else 1)
    out += b"D"
    out += U8.pack(max(0, -exponent))
    out += I32.pack(-number if sign else number)


def _write_bool(out: bytearray, value: bool) -> None:
    out += b"t\x01" if value else b"t\x00"


def _write_nothing(out: bytearray, value: None) -> None:
    out += b"V"


def _write_inner_table(out: bytearray, value: Mapping[str, Any]) -> None:
    out += b"F"
    out += write_table(value)


def _write_array(out: bytearray, value: list[Any]) -> None:
    body = bytearray()
    for each in value:
        _write_value(body, each)
    out += b"A"
    out += U32.pack(len(body))
    out += body


WRITERS: Final[Mapping[type, Callable[[bytearray, Any], None]]] = {
    bool: _write_bool,
    int: _write_int,
    str: _write_text,
    bytes: _write_bytes,
    bytearray: _write_bytes,
    float: _tagged(b"d", F64),
    type(None): _write_nothing,
    dict: _write_inner_table,
    list: _write_array,
    Decimal: _write_decimal,
    Int8: _tagged(b"b", I8),
    UInt8: _tagged(b"B", U8),
    Int16: _tagged(b"s", I16),
    UInt16: _tagged(b"u", U16),
    Int32: _tagged(b"I", I32),
    UInt32: _tagged(b"i", U32),
    Int64: _tagged(b"l", I64),
    UInt64: _tagged(b"L", I64),
    Float: _tagged(b"f", F32),
    Timestamp: _tagged(b"T", U64),
    ByteArray: _write_byte_array,
}
