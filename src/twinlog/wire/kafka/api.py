"""Requests and responses as frames: which APIs there are, and bytes to messages and back.

What comes in is a stranger's: whatever is wrong with it is a ``ProtocolViolation``. What goes out is ours: a message
that its version cannot carry is a ValueError or TypeError, which is a bug. Everything about versions ends here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final

from twinlog._kernel import Malformed, Schema
from twinlog.base import ProtocolViolation
from twinlog.wire.kafka import messages
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.message import Message

METADATA: Final = 3
API_VERSIONS: Final = 18
# Array elements and tagged fields of one request. What fits in a few hundred kilobytes must not hold the loop for long.
REQUEST_ELEMENTS_MAX: Final = 100_000

# librdkafka (issue 5049, open) asks for all topics in flexible versions with a null array of four bytes, not of one.
# Read as it stands, that is a null array, a false for each flag, and three bytes too many, which Kafka ignores.
METADATA_REST_BYTES: Final = 3

_CORRELATION = struct.Struct(">i")
_CORRELATION_TAGGED = struct.Struct(">ix")  # an empty tag section behind it
_REQUEST_HEAD = struct.Struct(">hhih")


class Api:
    """One API key. The message classes are imported when they are first asked for."""

    __slots__ = ("_module", "flexible_from", "key", "name", "version_max", "version_min")

    def __init__(
        self, key: int, name: str, module: str, version_min: int, version_max: int, flexible_from: int
    ) -> None:
        self.key = key
        self.name = name
        self.version_min = version_min
        self.version_max = version_max
        self.flexible_from = flexible_from  # 255: never
        self._module = module

    @property
    def request(self) -> type[Message]:
        return self._message_class("Request")

    @property
    def response(self) -> type[Message]:
        return self._message_class("Response")

    def speaks(self, version: int) -> bool:
        """Whether the codec knows the version; what a server offers may be less."""
        return self.version_min <= version <= self.version_max

    def _message_class(self, kind: str) -> type[Message]:
        module = import_module(f"{messages.__name__}.{self._module}")
        found: type[Message] = getattr(module, self.name + kind)
        return found

    def __repr__(self) -> str:
        return f"<Api {self.key} {self.name} v{self.version_min}-{self.version_max}>"


APIS: Final[dict[int, Api]] = {key: Api(key, *row) for key, row in messages.APIS.items()}
# What the kernel needs to find the end of a request's header: the first flexible version by key.
FLEXIBLE_FROM: Final = bytes(APIS[key].flexible_from if key in APIS else 255 for key in range(max(APIS) + 1))

_requests: dict[tuple[int, int], Schema] = {}
# With each, how to write the header of that response.
_responses: dict[tuple[int, int], tuple[Schema, Callable[[int], bytes]]] = {}


def decode_request(
    key: int, version: int, buf: Any, off: int = 0, end: int | None = None, *, elements_max: int = REQUEST_ELEMENTS_MAX
) -> Any:
    """The request's body in ``buf[off:end]``, which lies behind the header that ``kafka_split`` read.

    Records stay where they are: such a field holds (offset, size) within ``buf``.
    """
    schema = _requests.get((key, version))
    if schema is None:
        _check_spoken(key, version)
        schema = _request_schema(key, version)
    try:
        return schema.decode(buf, off, end, elements_max)
    except Malformed as fault:
        if key == METADATA:
            message = _metadata_of_librdkafka(schema, buf, off, len(buf) if end is None else end)
            if message is not None:
                return message
        raise ProtocolViolation(str(fault)) from None


def _metadata_of_librdkafka(schema: Schema, buf: Any, off: int, end: int) -> Any:
    if bytes(buf[off : off + 4]) != bytes(4):
        return None
    try:
        message, position = schema.decode_from(buf, off, end)
    except Malformed:
        return None
    return message if message.topics is None and position == end - METADATA_REST_BYTES else None


def encode_response(key: int, version: int, correlation_id: int, message: Message) -> bytes:
    """The whole frame: size, header, body."""
    schema, head = _responses.get((key, version)) or _response_schema(key, version)
    return schema.encode(message, head(correlation_id))


def encode_response_parts(key: int, version: int, correlation_id: int, message: Message) -> Sequence[Any]:
    """The whole frame as a list for the socket's writer: bytes, and between them the records that were given.

    Records may be bytes, or anything with a ``size`` in bytes, such as what a log read; from 4 KiB on, or when they are
    not bytes, the object itself stands in the list.
    """
    schema, head = _responses.get((key, version)) or _response_schema(key, version)
    return schema.encode_parts(message, head(correlation_id))


def encode_request(key: int, version: int, correlation_id: int, client_id: str | None, message: Message) -> bytes:
    """The whole frame: size, header, body."""
    schema = _requests.get((key, version)) or _request_schema(key, version)
    name = b"" if client_id is None else client_id.encode()
    # The client's name is never written in the compact form, so that any broker can read it.
    head = _REQUEST_HEAD.pack(key, version, correlation_id, -1 if client_id is None else len(name)) + name
    if version >= APIS[key].flexible_from:
        head += b"\0"
    return schema.encode(message, head)


def decode_response(key: int, version: int, buf: Any, off: int = 0, end: int | None = None) -> tuple[int, Any]:
    """(correlation id, response) of a frame behind its size, for a request of ``version``."""
    end = len(buf) if end is None else end
    if end - off < 4:
        raise ProtocolViolation("a response without a correlation id")
    _check_spoken(key, version)
    (correlation_id,) = _CORRELATION.unpack_from(buf, off)
    off += 4
    if _response_is_tagged(key, version):
        off = _skip_tags(buf, off, end)
    try:
        schema, _ = _responses.get((key, version)) or _response_schema(key, version)
        return correlation_id, schema.decode(buf, off, end)
    except Malformed as fault:
        if key == API_VERSIONS and version > 0 and buf[off : off + 2] == _UNSUPPORTED:
            # The broker does not know our version: it answers in the one form that every client reads.
            return decode_response(key, 0, buf, off - 4, end)
        raise ProtocolViolation(str(fault)) from None


_UNSUPPORTED = ErrorCode.UNSUPPORTED_VERSION.to_bytes(2, "big")


def _response_is_tagged(key: int, version: int) -> bool:
    # ApiVersions is how a client learns what the broker speaks, so its response has the oldest header in every version.
    return key != API_VERSIONS and version >= APIS[key].flexible_from


def _request_schema(key: int, version: int) -> Schema:
    api = _known(key, version)
    schema = _requests[key, version] = Schema(api.request, version, version >= api.flexible_from)
    return schema


def _response_schema(key: int, version: int) -> tuple[Schema, Callable[[int], bytes]]:
    api = _known(key, version)
    head = _CORRELATION_TAGGED.pack if _response_is_tagged(key, version) else _CORRELATION.pack
    schema = Schema(api.response, version, version >= api.flexible_from)
    found = _responses[key, version] = schema, head
    return found


def _known(key: int, version: int) -> Api:
    api = APIS.get(key)
    if api is None or not api.speaks(version):
        raise ValueError(f"no API has key {key} and version {version}")
    return api


def _check_spoken(key: int, version: int) -> None:
    api = APIS.get(key)
    if api is None or not api.speaks(version):
        raise ProtocolViolation(f"version {version} of API {key} is not known here")


def _skip_tags(buf: Any, off: int, end: int) -> int:
    count, off = _uvarint(buf, off, end)
    for _ in range(count):
        _, off = _uvarint(buf, off, end)
        size, off = _uvarint(buf, off, end)
        off += size
    if off > end:
        raise ProtocolViolation("the tags of a response header reach beyond its end")
    return off


def _uvarint(buf: Any, off: int, end: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 35, 7):
        if off >= end:
            raise ProtocolViolation("a response header ends inside a number")
        byte = buf[off]
        off += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, off
    raise ProtocolViolation("a number in a response header is too long")
