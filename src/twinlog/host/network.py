"""Byte streams as callbacks: the same connection code runs on uvloop, asyncio and the simulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from twinlog.host.disk import FileSlice


class Stream(Protocol):
    """Our end of one connection. All calls are plain and return at once."""

    peer: tuple[str, int]
    local: tuple[str, int]
    queued_bytes: int  # handed to send() and not yet taken by the kernel

    def send(self, parts: Sequence[bytes | bytearray | memoryview | FileSlice]) -> None:
        """Queues the parts in order. Buffers must not change afterwards; files are sent by the kernel."""

    def expect(self, size: int) -> None:
        """The unconsumed bytes will be a frame of ``size`` bytes: make the read buffer that large."""

    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...

    def close(self) -> None:
        """Sends what is queued, then closes. ``on_closed`` follows."""

    def abort(self) -> None:
        """Closes now and drops what is queued. ``on_closed`` follows."""


class StreamHandler(Protocol):
    """What a server or client does with a connection."""

    def on_open(self, stream: Stream) -> None: ...

    def on_bytes(self, buffer: bytearray, start: int, end: int) -> int:
        """Reads ``buffer[start:end]``; returns where the unconsumed rest begins.

        The buffer is reused after the return: copy what must live on. It may be changed in place.
        """

    def on_writable(self) -> None:
        """``queued_bytes`` fell below the low mark after having been above the high one."""

    def on_closed(self, reason: Exception | None) -> None:
        """Called exactly once, last."""


class Listener(Protocol):
    address: tuple[str, int]  # with the port that was really taken

    def close(self) -> None:
        """Stops accepting; open streams go on."""


class Network(Protocol):
    async def listen(self, host: str, port: int, accept: Callable[[], StreamHandler]) -> Listener: ...
    async def connect(self, host: str, port: int, handler: StreamHandler) -> Stream: ...
