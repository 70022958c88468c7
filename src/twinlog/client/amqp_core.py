"""AMQP 0-9-1 from the client's side, without input or output: bytes in, methods and messages out.

For the command line and for programs that bring their own sockets. One channel is enough for both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from twinlog.base import ProtocolViolation
from twinlog.wire.amqp import Method, Properties, decode_method, decode_properties, encode_method, encode_properties
from twinlog.wire.amqp import methods as wire
from twinlog.wire.amqp.codec import FRAME_BODY, FRAME_END, FRAME_HEADER, FRAME_HEARTBEAT, FRAME_METHOD, HEAD, IDS
from twinlog.wire.amqp.properties import U64

PROTOCOL_HEADER: Final = b"AMQP\0\0\x09\x01"
CLASS_BASIC: Final = 60
FRAME_OVERHEAD: Final = 8
CONTENT_HEAD_SIZE: Final = 12
CAPABILITIES: Final = ("publisher_confirms", "consumer_cancel_notify", "basic.nack", "authentication_failure_close")
WITH_CONTENT: Final = (wire.BasicDeliver, wire.BasicGetOk, wire.BasicReturn)


@dataclass(slots=True)
class Content:
    """A message with the method that brought it."""

    method: Any
    properties: Properties
    body: bytes


class AmqpCore:
    """One connection. ``receive`` gives what came, in order: (channel, method or ``Content``)."""

    def __init__(self, *, product: str = "twinlog") -> None:
        self.frame_max = 4096
        self._product = product
        self._data = bytearray()
        self._partial: dict[int, tuple[Any, Properties | None, int, bytearray]] = {}

    # ---- what to send -----------------------------------------------------------------------------------------

    def hello(self) -> bytes:
        return PROTOCOL_HEADER

    def start_ok(self, user: str, password: str) -> bytes:
        properties = {"product": self._product, "capabilities": dict.fromkeys(CAPABILITIES, True)}
        response = b"\0" + user.encode() + b"\0" + password.encode()
        return encode_method(
            0,
            wire.ConnectionStartOk(client_properties=properties, mechanism="PLAIN", response=response, locale="en_US"),
        )

    def tune_ok(self, offered: wire.ConnectionTune, vhost: str) -> bytes:
        """Agrees to all but heartbeats, and asks for the vhost."""
        self.frame_max = offered.frame_max or self.frame_max
        agreed = wire.ConnectionTuneOk(channel_max=offered.channel_max, frame_max=offered.frame_max, heartbeat=0)
        return encode_method(0, agreed) + encode_method(0, wire.ConnectionOpen(virtual_host=vhost))

    def publish(self, channel: int, method: wire.BasicPublish, properties: Properties, body: bytes) -> bytes:
        size = self.frame_max - FRAME_OVERHEAD
        head = IDS.pack(CLASS_BASIC, 0) + U64.pack(len(body)) + encode_properties(properties)
        parts = [encode_method(channel, method), _frame(FRAME_HEADER, channel, head)]
        parts += [_frame(FRAME_BODY, channel, body[at : at + size]) for at in range(0, len(body), size)]
        return b"".join(parts)

    # ---- what came --------------------------------------------------------------------------------------------

    def receive(self, data: bytes) -> list[tuple[int, Method | Content]]:
        self._data += data
        found: list[tuple[int, Method | Content]] = []
        position = 0
        while len(self._data) - position >= HEAD.size:
            kind, channel, size = HEAD.unpack_from(self._data, position)
            end = position + HEAD.size + size
            if len(self._data) <= end:
                break
            if self._data[end] != FRAME_END:
                raise ProtocolViolation("a frame does not end where it should")
            self._take(kind, channel, bytes(self._data[position + HEAD.size : end]), found.append)
            position = end + 1
        del self._data[:position]
        return found

    def _take(
        self, kind: int, channel: int, payload: bytes, found: Callable[[tuple[int, Method | Content]], None]
    ) -> None:
        if kind == FRAME_HEARTBEAT:
            return
        if kind == FRAME_METHOD:
            class_id, method_id = IDS.unpack_from(payload)
            method = decode_method(class_id, method_id, payload, IDS.size)
            if method is None:
                raise ProtocolViolation(f"unknown method {class_id}.{method_id}")
            if isinstance(method, WITH_CONTENT):
                self._partial[channel] = (method, None, 0, bytearray())
            else:
                found((channel, method))
            return
        partial = self._partial.pop(channel, None)
        if partial is None:
            raise ProtocolViolation("a content where none was due")
        method, properties, size, body = partial
        if kind == FRAME_HEADER:
            (size,) = U64.unpack_from(payload, IDS.size)
            properties = decode_properties(payload, CONTENT_HEAD_SIZE)
        elif properties is None:
            raise ProtocolViolation("a body before its header")
        else:
            body += payload
        if len(body) < size:
            self._partial[channel] = (method, properties, size, body)
        else:
            assert properties is not None
            found((channel, Content(method, properties, bytes(body))))


def _frame(kind: int, channel: int, payload: bytes) -> bytes:
    return HEAD.pack(kind, channel, len(payload)) + payload + bytes([FRAME_END])
