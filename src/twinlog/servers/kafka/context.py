"""One request, as its handler sees it, and its place in the order of answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from twinlog.host import FileSlice
from twinlog.wire.kafka.api import encode_response
from twinlog.wire.kafka.message import Message

if TYPE_CHECKING:
    from twinlog.servers.kafka.connection import KafkaConnection

Parts: TypeAlias = "Sequence[bytes | bytearray | memoryview | FileSlice]"


class Parked(Protocol):
    """What a request waits for. One of the two may be called, once; then it answers no more by itself."""

    def expire(self) -> None:
        """The deadline passed: answer now, with what there is."""

    def abandon(self) -> None:
        """The connection is gone."""


class RequestContext:
    """Made for each request. A handler returns its response, or parks it here and calls ``reply`` later."""

    __slots__ = (
        "api_key",
        "began_us",
        "client_id",
        "connection",
        "correlation_id",
        "deadline_ms",
        "parked",
        "parts",
        "started_us",
        "throttle_ms",
        "version",
    )

    def __init__(
        self, connection: KafkaConnection, api_key: int, version: int, correlation_id: int, client_id: str | None
    ) -> None:
        self.connection = connection
        self.api_key = api_key
        self.version = version
        self.correlation_id = correlation_id
        self.client_id = client_id
        self.parts: Parts | None = None
        self.parked: Parked | None = None
        self.deadline_ms: int | None = None  # by the monotonic clock
        self.began_us = connection.now_us
        self.started_us = 0  # only while somebody's share of time is limited, and not yet charged
        self.throttle_ms = 0

    @property
    def peer(self) -> tuple[str, int]:
        return self.connection.peer

    @property
    def principal(self) -> str:
        return self.connection.principal

    @property
    def listener(self) -> str:
        """The name of the listener it came through: clients are sent to endpoints of the same one."""
        return self.connection.listener

    @property
    def came_to(self) -> str:
        """The address of ours that the client reached."""
        return self.connection.local[0]

    @property
    def now_ms(self) -> int:
        """The wall clock when the bytes came."""
        return self.connection.now_ms

    def park(self, parked: Parked, timeout_ms: int) -> None:
        """The answer comes later; ``parked`` hears of the deadline, and of a connection that closed before it."""
        self.parked = parked
        self.connection.set_deadline(self, timeout_ms)

    def throttle(self, wait_ms: int) -> None:
        """The connection is not read for so long, and the answer says so."""
        self.throttle_ms = max(self.throttle_ms, wait_ms)
        self.connection.mute(wait_ms)

    def charge_time(self) -> int:
        """Charges the time that the request took so far, once; returns for how long its client has to be quiet."""
        if self.started_us:
            self.throttle_ms = max(self.throttle_ms, self.connection.charge_time(self))
            self.started_us = 0
        return self.throttle_ms

    def tell_throttle(self, response: Message) -> None:
        """Lets the answer say how long its client has to be quiet."""
        throttle_ms = self.charge_time()
        if throttle_ms and hasattr(response, "throttle_time_ms"):
            response.throttle_time_ms = throttle_ms

    def reply(self, response: Message) -> None:
        """Answers a request whose handler returned None."""
        if self.throttle_ms:
            self.tell_throttle(response)
        self.reply_parts([encode_response(self.api_key, self.version, self.correlation_id, response)])

    def reply_parts(self, parts: Parts) -> None:
        assert self.parts is None, "a request is answered once"
        self.parts = parts
        self.parked = None
        self.connection.count_answer(self)
        self.connection.on_answered()
