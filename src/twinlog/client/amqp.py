"""An AMQP client for callers that may wait: one connection, one channel, each call answered before it returns."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, Final, TypeVar

from twinlog.base.address import Address
from twinlog.client.amqp_core import AmqpCore, Content
from twinlog.client.errors import ClientError, ConnectionLost, NoAnswer
from twinlog.client.ports import Door, Transport
from twinlog.wire.amqp import Method, Properties, encode_method
from twinlog.wire.amqp import methods as wire

CHANNEL: Final = 1
READ_BYTES: Final = 256 * 1024
M = TypeVar("M", bound=Method)


class AmqpRefused(ClientError):
    """The broker closed the channel or the connection; ``code`` is AMQP's."""

    def __init__(self, close: wire.ChannelClose | wire.ConnectionClose) -> None:
        super().__init__(close.reply_text)
        self.code = close.reply_code


class Unroutable(ClientError):
    """No queue wanted a message that had to go somewhere."""


class NotTaken(ClientError):
    """A queue refused the message: it is full, or the disk failed."""


class AmqpClient:
    """Made connected; a refusal is raised and ends it."""

    def __init__(
        self,
        address: Address,
        door: Door,
        *,
        user: str = "guest",
        password: str = "guest",
        vhost: str = "/",
        timeout_ms: int = 30_000,
    ) -> None:
        self._timeout_ms = timeout_ms
        self._core = AmqpCore()
        self._room = bytearray(READ_BYTES)
        self._transport: Transport = door.connect(address, timeout_ms)
        self._came: deque[Method | Content] = deque()
        self._confirms = False
        self._published = 0
        try:
            self._shake_hands(user, password, vhost)
        except BaseException:
            self._transport.close()
            raise

    def _shake_hands(self, user: str, password: str, vhost: str) -> None:
        self._transport.send(self._core.hello())
        self._expect(wire.ConnectionStart)
        self._transport.send(self._core.start_ok(user, password))
        self._transport.send(self._core.tune_ok(self._expect(wire.ConnectionTune), vhost))
        self._expect(wire.ConnectionOpenOk)
        self.call(wire.ChannelOpen(), wire.ChannelOpenOk)

    def __enter__(self) -> AmqpClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Says goodbye, and waits for the answer: what was sent before is worked off then."""
        try:
            self._transport.send(encode_method(0, wire.ConnectionClose(reply_code=200, reply_text="bye")))
            while not isinstance(self._next(), wire.ConnectionCloseOk):
                pass
        except ClientError:
            pass  # it is gone already
        self._transport.close()

    def call(self, method: Method, answer: type[M]) -> M:
        self._transport.send(encode_method(CHANNEL, method))
        return self._expect(answer)

    def tell(self, method: Method) -> None:
        """For what has no answer."""
        self._transport.send(encode_method(CHANNEL, method))

    def publish(self, exchange: str, key: str, body: bytes, properties: Properties | None = None) -> None:
        """Returns when the broker has it on stable storage. ``Unroutable``, ``NotTaken``: it has not."""
        if not self._confirms:
            self.call(wire.ConfirmSelect(), wire.ConfirmSelectOk)
            self._confirms = True
        method = wire.BasicPublish(exchange=exchange, routing_key=key, mandatory=True)
        self._transport.send(self._core.publish(CHANNEL, method, properties or Properties(), body))
        self._published += 1
        returned: Content | None = None
        while True:
            thing = self._next()
            if isinstance(thing, Content) and isinstance(thing.method, wire.BasicReturn):
                returned = thing
            elif isinstance(thing, wire.BasicNack):
                raise NotTaken("the broker did not take the message: a queue is full, or its disk failed")
            elif isinstance(thing, wire.BasicAck) and thing.delivery_tag >= self._published:
                break
        if returned is not None:
            where = f"exchange '{exchange}'" if exchange else "the default exchange"
            raise Unroutable(f"no queue gets messages with key '{key}' from {where}")

    def get(self, queue: str, *, no_ack: bool = False) -> Content | None:
        self.tell(wire.BasicGet(queue=queue, no_ack=no_ack))
        while True:
            thing = self._next()
            if isinstance(thing, wire.BasicGetEmpty):
                return None
            if isinstance(thing, Content):
                return thing

    def consume(self, queue: str, *, prefetch: int = 100) -> Iterator[Content]:
        """Deliveries, each to be acknowledged by ``ack``; ends when nothing came for ``timeout_ms``."""
        self.call(wire.BasicQos(prefetch_count=prefetch), wire.BasicQosOk)
        self.call(wire.BasicConsume(queue=queue), wire.BasicConsumeOk)
        while True:
            try:
                thing = self._next()
            except NoAnswer:
                return
            if isinstance(thing, wire.BasicCancel):
                raise ClientError(f"queue '{queue}' was deleted")
            if isinstance(thing, Content):
                yield thing

    def ack(self, tag: int, *, multiple: bool = False) -> None:
        self.tell(wire.BasicAck(delivery_tag=tag, multiple=multiple))

    def requeue(self, tag: int) -> None:
        self.tell(wire.BasicReject(delivery_tag=tag, requeue=True))

    # ---- inside -----------------------------------------------------------------------------------------------

    def _expect(self, answer: type[M]) -> M:
        kept: list[Method | Content] = []
        while True:
            thing = self._next()
            if isinstance(thing, answer):
                self._came.extendleft(reversed(kept))
                return thing
            kept.append(thing)

    def _next(self) -> Any:
        while not self._came:
            try:
                size = self._transport.receive_into(memoryview(self._room), self._timeout_ms)
            except ConnectionLost as lost:
                if self._published == 0 and self._core.frame_max == 4096:
                    raise ConnectionLost(f"{lost}; is the password right?") from None
                raise
            self._came.extend(thing for _, thing in self._core.receive(bytes(self._room[:size])))
        thing = self._came.popleft()
        if isinstance(thing, wire.ChannelClose | wire.ConnectionClose):
            raise AmqpRefused(thing)
        return thing
