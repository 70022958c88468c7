"""An AMQP client that says exactly what a test wants it to say, and shows exactly what comes back."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from twinlog.wire.amqp import (
    HEARTBEAT,
    Method,
    Properties,
    decode_method,
    decode_properties,
    encode_method,
    encode_properties,
)
from twinlog.wire.amqp import methods as wire

PROTOCOL_HEADER = b"AMQP\0\0\x09\x01"
METHOD, HEADER, BODY, BEAT = 1, 2, 3, 8
WITH_CONTENT = (wire.BasicDeliver, wire.BasicReturn, wire.BasicGetOk)
CAPABILITIES = ("publisher_confirms", "consumer_cancel_notify", "basic.nack", "connection.blocked")
PERSISTENT = Properties(delivery_mode=2)


def frame(kind: int, channel: int, payload: bytes, end: int = 0xCE) -> bytes:
    return struct.pack(">BHI", kind, channel, len(payload)) + payload + bytes([end])


def content_header(body_size: int, properties: Properties | None = None, class_id: int = 60, weight: int = 0) -> bytes:
    return struct.pack(">HHQ", class_id, weight, body_size) + encode_properties(properties or Properties())


def publish_frames(
    channel: int, exchange: str, key: str, body: bytes, properties: Properties | None = None, frame_max: int = 131_072,
    **bits: bool,
) -> bytes:  # fmt: skip
    """A whole publish as a client sends it."""
    size = frame_max - 8
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(
        [
            encode_method(channel, wire.BasicPublish(exchange=exchange, routing_key=key, **bits)),
            frame(HEADER, channel, content_header(len(body), properties)),
            *(frame(BODY, channel, part) for part in parts),
        ]
    )


@dataclass
class Message:
    """A delivery, a return, or what basic.get got."""

    method: Any
    properties: Properties
    body: bytes
    body_frames: list[int]
    raw_properties: bytes

    @property
    def tag(self) -> int:
        return int(self.method.delivery_tag)


class Closed(Exception):
    """The peer closed the connection without a word."""


class Refusal(Exception):
    """The broker closed the channel or the connection."""

    def __init__(self, close: wire.ChannelClose | wire.ConnectionClose) -> None:
        super().__init__(f"{close.reply_code} {close.reply_text}")
        self.close = close
        self.code = close.reply_code
        self.of_connection = isinstance(close, wire.ConnectionClose)


class Client:
    """One connection. ``opened`` does the usual handshake."""

    def __init__(self, address: str, timeout_s: float = 20.0) -> None:
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.timeout_s = timeout_s
        self.frame_max = 131_072
        self.server: Any = {}
        self.tune: wire.ConnectionTune = wire.ConnectionTune()
        self.received = bytearray()
        self.inbox: dict[int, deque[Any]] = {}

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.drop()

    def drop(self) -> None:
        self.socket.close()

    # ---- bytes and frames -------------------------------------------------------------------------------------

    def send_bytes(self, data: bytes) -> None:
        self.socket.sendall(data)

    def send(self, channel: int, *methods: Method) -> None:
        self.send_bytes(b"".join(encode_method(channel, method) for method in methods))

    def next_frame(self) -> tuple[int, int, bytes]:
        """Kind, channel, payload."""
        while True:
            if len(self.received) >= 7:
                kind, channel, size = struct.unpack_from(">BHI", self.received)
                if len(self.received) >= size + 8:
                    assert self.received[7 + size] == 0xCE, "a frame without its end"
                    assert size + 8 <= self.frame_max, f"a frame of {size + 8} bytes, agreed were {self.frame_max}"
                    payload = bytes(self.received[7 : 7 + size])
                    del self.received[: size + 8]
                    return kind, channel, payload
            try:
                data = self.socket.recv(1 << 20)
            except ConnectionError:
                data = b""
            if not data:
                raise Closed
            self.received += data

    def next_thing(self, channel: int) -> Any:
        """The next method, message or heartbeat (as the word) on a channel; others are kept for later."""
        kept = self.inbox.get(channel)
        if kept:
            return kept.popleft()
        while True:
            found, thing = self._read_thing()
            if found == channel:
                return thing
            if found == 0 and isinstance(thing, wire.ConnectionClose):
                raise Refusal(thing)
            self.inbox.setdefault(found, deque()).append(thing)

    def _read_thing(self) -> tuple[int, Any]:
        kind, channel, payload = self.next_frame()
        if kind == BEAT:
            return 0, "heartbeat"
        assert kind == METHOD, f"a frame of type {kind} where a method was due"
        class_id, method_id = struct.unpack_from(">HH", payload)
        method = decode_method(class_id, method_id, payload[4:])
        assert method is not None
        if not isinstance(method, WITH_CONTENT):
            return channel, method
        kind, same, header = self.next_frame()
        assert (kind, same) == (HEADER, channel)
        of_class, weight, size = struct.unpack_from(">HHQ", header)
        assert (of_class, weight) == (60, 0)
        body, sizes = b"", []
        while len(body) < size:
            kind, same, part = self.next_frame()
            assert (kind, same) == (BODY, channel)
            body += part
            sizes.append(len(part))
        return channel, Message(method, decode_properties(header[12:]), body, sizes, header[12:])

    # ---- the connection ---------------------------------------------------------------------------------------

    def start(self) -> wire.ConnectionStart:
        self.send_bytes(PROTOCOL_HEADER)
        start = self.next_thing(0)
        assert isinstance(start, wire.ConnectionStart)
        self.server = start.server_properties
        return start

    def log_in(
        self, user: str = "guest", password: str = "guest", *, capabilities: tuple[str, ...] = CAPABILITIES
    ) -> None:
        properties = {"capabilities": dict.fromkeys(capabilities, True), "product": "a test"}
        response = f"\0{user}\0{password}".encode()
        self.send(
            0,
            wire.ConnectionStartOk(client_properties=properties, mechanism="PLAIN", response=response, locale="en_US"),
        )

    def agree(self, *, frame_max: int = 131_072, channel_max: int = 2047, heartbeat: int = 0) -> None:
        tune = self.next_thing(0)
        assert isinstance(tune, wire.ConnectionTune), tune
        self.tune = tune
        self.frame_max = frame_max
        self.send(0, wire.ConnectionTuneOk(channel_max=channel_max, frame_max=frame_max, heartbeat=heartbeat))

    def enter(self, vhost: str = "/") -> None:
        self.send(0, wire.ConnectionOpen(virtual_host=vhost))
        answer = self.next_thing(0)
        if isinstance(answer, wire.ConnectionClose):
            raise Refusal(answer)
        assert isinstance(answer, wire.ConnectionOpenOk)

    def opened(
        self,
        *,
        user: str = "guest",
        password: str = "guest",
        vhost: str = "/",
        capabilities: tuple[str, ...] = CAPABILITIES,
        **agreed: int,
    ) -> Client:
        self.start()
        self.log_in(user, password, capabilities=capabilities)
        self.agree(**agreed)
        self.enter(vhost)
        return self

    def channel(self, number: int = 1) -> Channel:
        self.send(number, wire.ChannelOpen())
        channel = Channel(self, number)
        channel.expect(wire.ChannelOpenOk)
        return channel

    def close(self) -> None:
        self.send(0, wire.ConnectionClose(reply_code=200, reply_text="bye"))
        while not isinstance(self.next_thing(0), wire.ConnectionCloseOk):
            pass
        self.drop()

    def expect_close(self, code: int) -> wire.ConnectionClose:
        """The broker closes the connection with that code; we agree, and it is gone."""
        while True:
            try:
                thing = self.next_thing(0)
            except Refusal as refusal:
                thing = refusal.close
            if isinstance(thing, wire.ConnectionClose):
                break
        assert thing.reply_code == code, thing
        self.send(0, wire.ConnectionCloseOk())
        self.expect_gone()
        return thing

    def expect_gone(self, within_s: float = 20.0) -> bytes:
        """The broker closes the socket; what it said before."""
        self.socket.settimeout(within_s)
        said = bytes(self.received)
        with contextlib.suppress(ConnectionError):
            while data := self.socket.recv(65536):
                said += data
        return said

    def heartbeat(self) -> None:
        self.send_bytes(HEARTBEAT)


class Channel:
    """One channel of a client. Calls wait for their answers; a refusal is raised."""

    def __init__(self, client: Client, number: int) -> None:
        self.client = client
        self.number = number
        self.parked: deque[Any] = deque()  # what came while an answer was waited for

    def send(self, *methods: Method) -> None:
        self.client.send(self.number, *methods)

    def next_thing(self) -> Any:
        return self.parked.popleft() if self.parked else self._read()

    def _read(self) -> Any:
        thing = self.client.next_thing(self.number)
        if isinstance(thing, wire.ChannelClose):
            self.send(wire.ChannelCloseOk())
            raise Refusal(thing)
        return thing

    def expect(self, kind: type[Any]) -> Any:
        thing = self.next_thing()
        assert isinstance(thing, kind), f"{thing} instead of {kind.__name__}"
        return thing

    def call(self, method: Method, answer: type[Any]) -> Any:
        """The answer. What the broker says meanwhile on its own is kept for ``next_thing``."""
        self.send(method)
        while not isinstance(thing := self._read(), answer):
            assert isinstance(thing, Message | wire.BasicCancel | wire.BasicAck), (
                f"{thing} instead of {answer.__name__}"
            )
            self.parked.append(thing)
        return thing

    def quiet(self) -> None:
        """Nothing has come in that was not asked for."""
        self.call(wire.BasicQos(prefetch_count=0, is_global=False), wire.BasicQosOk)
        assert not self.parked, self.parked

    def close(self) -> None:
        self.send(wire.ChannelClose(reply_code=200))
        while not isinstance(self.next_thing(), wire.ChannelCloseOk):
            pass

    # ---- names ------------------------------------------------------------------------------------------------

    def queue(self, name: str = "", **flags: Any) -> wire.QueueDeclareOk:
        answer = self.call(wire.QueueDeclare(queue=name, **flags), wire.QueueDeclareOk)
        assert isinstance(answer, wire.QueueDeclareOk)
        return answer

    def count(self, name: str) -> int:
        return self.queue(name, passive=True).message_count

    def delete_queue(self, name: str, **flags: bool) -> int:
        return int(self.call(wire.QueueDelete(queue=name, **flags), wire.QueueDeleteOk).message_count)

    def exchange(self, name: str, kind: str = "direct", **flags: Any) -> None:
        self.call(wire.ExchangeDeclare(exchange=name, type=kind, **flags), wire.ExchangeDeclareOk)

    def delete_exchange(self, name: str, **flags: bool) -> None:
        self.call(wire.ExchangeDelete(exchange=name, **flags), wire.ExchangeDeleteOk)

    def bind(self, queue: str, exchange: str, key: str = "", arguments: Any = None) -> None:
        method = wire.QueueBind(queue=queue, exchange=exchange, routing_key=key, arguments=arguments or {})
        self.call(method, wire.QueueBindOk)

    def unbind(self, queue: str, exchange: str, key: str = "", arguments: Any = None) -> None:
        method = wire.QueueUnbind(queue=queue, exchange=exchange, routing_key=key, arguments=arguments or {})
        self.call(method, wire.QueueUnbindOk)

    def bind_exchange(self, destination: str, source: str, key: str = "") -> None:
        method = wire.ExchangeBind(destination=destination, source=source, routing_key=key)
        self.call(method, wire.ExchangeBindOk)

    # ---- messages ---------------------------------------------------------------------------------------------

    def publish(
        self, exchange: str, key: str, body: bytes = b"", properties: Properties | None = None, **bits: bool
    ) -> None:
        frame_max = self.client.frame_max
        self.client.send_bytes(publish_frames(self.number, exchange, key, body, properties, frame_max, **bits))

    def confirm_select(self) -> None:
        self.call(wire.ConfirmSelect(), wire.ConfirmSelectOk)

    def confirmed(self, up_to: int) -> None:
        """Acks come until all up to that number are confirmed; a nack is none."""
        while True:
            ack = self.expect(wire.BasicAck)
            assert ack.delivery_tag <= up_to
            if ack.delivery_tag == up_to:
                return

    def published(self, exchange: str, key: str, *bodies: bytes, properties: Properties | None = None) -> None:
        """Publishes and waits until the broker has worked it off, on a channel of its own."""
        with self.beside() as other:
            other.confirm_select()
            for body in bodies:
                other.publish(exchange, key, body, properties)
            if bodies:
                other.confirmed(len(bodies))

    @contextlib.contextmanager
    def beside(self) -> Iterator[Channel]:
        other = self.client.channel(self.number + 1000)
        yield other
        other.close()

    def get(self, queue: str, *, no_ack: bool = False) -> Message | None:
        self.send(wire.BasicGet(queue=queue, no_ack=no_ack))
        while not isinstance(thing := self._read(), wire.BasicGetEmpty):
            if isinstance(thing.method, wire.BasicGetOk):
                assert isinstance(thing, Message)
                return thing
            self.parked.append(thing)
        return None

    def got(self, queue: str, *, no_ack: bool = True) -> Message:
        message = self.get(queue, no_ack=no_ack)
        assert message is not None, f"{queue} is empty"
        return message

    def bodies(self, queue: str) -> list[bytes]:
        """All there is, taken."""
        found = []
        while (message := self.get(queue, no_ack=True)) is not None:
            found.append(message.body)
        return found

    def consume(self, queue: str, tag: str = "", **flags: Any) -> str:
        method = wire.BasicConsume(queue=queue, consumer_tag=tag, **flags)
        return str(self.call(method, wire.BasicConsumeOk).consumer_tag)

    def cancel(self, tag: str) -> list[Message]:
        """What was delivered before the cancel came through."""
        self.send(wire.BasicCancel(consumer_tag=tag))
        before = []
        while isinstance(thing := self.next_thing(), Message):
            before.append(thing)
        assert isinstance(thing, wire.BasicCancelOk), thing
        return before

    def deliveries(self, count: int) -> list[Message]:
        return [self.expect(Message) for _ in range(count)]

    def delivered(self) -> Message:
        (message,) = self.deliveries(1)
        return message

    def ack(self, tag: int, *, multiple: bool = False) -> None:
        self.send(wire.BasicAck(delivery_tag=tag, multiple=multiple))

    def nack(self, tag: int, *, multiple: bool = False, requeue: bool = True) -> None:
        self.send(wire.BasicNack(delivery_tag=tag, multiple=multiple, requeue=requeue))

    def qos(self, count: int, *, is_global: bool = False) -> None:
        self.call(wire.BasicQos(prefetch_count=count, is_global=is_global), wire.BasicQosOk)


@contextlib.contextmanager
def refused(code: int, *words: str) -> Iterator[None]:
    """The block meets a close with that code, of the channel for 4xx and of the connection for the rest."""
    try:
        yield
    except Refusal as refusal:
        assert refusal.code == code, refusal
        assert refusal.of_connection == (code not in (403, 404, 405, 406)), refusal
        for word in words:
            assert word in refusal.close.reply_text, refusal
        return
    raise AssertionError(f"not refused, where {code} was due")


def eventually(holds: Any, within_s: float = 15.0) -> None:
    """For what the broker does on its own, in its own time."""
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "still not so"
        time.sleep(0.02)
