"""Byte streams as callbacks: the same connection code runs on uvloop, asyncio and the simulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from twinlog.base import HostFault
from twinlog.base.units import MIB
from twinlog.host.disk import FileSlice
from twinlog.host.memory import Memory

if TYPE_CHECKING:
    from ssl import SSLContext

# A peer that does not take what we send must not make us take more from it.
QUEUE_HIGH_BYTES: Final = 1 * MIB  # unless the network is told otherwise
QUEUE_LOW_PART: Final = 4  # below this part of it the peer counts as one that takes again


class HoldsTooMuch(HostFault):
    """A connection ended because of the memory that it held: more than one may, or most when there was too little."""

    def __init__(self, peer: str, held_bytes: int) -> None:
        super().__init__(peer, f"held {held_bytes} bytes of memory")


class Stream(Protocol):
    """Our end of one connection. All calls are plain and return at once; after the end they do nothing."""

    peer: tuple[str, int]
    local: tuple[str, int]
    peer_certificate: bytes | None  # DER, when the peer showed one that was verified
    received_bytes: int  # in all; grows even while on_bytes waits for an expected frame
    queue_high_bytes: int  # with more than this waiting a peer counts as one that does not take what we send

    @property
    def queued_bytes(self) -> int:
        """Handed to ``send`` and not yet taken by the kernel."""

    @property
    def held_bytes(self) -> int:
        """In memory, for this connection: its read buffer, what is queued and no file, and what was said to be kept."""

    def keep(self, by_bytes: int) -> None:
        """The handler keeps so much more for this connection; less, if it is below 0. Forgotten at the end. A stream
        that holds more than a connection may is aborted."""

    def send(self, parts: Sequence[bytes | bytearray | memoryview | FileSlice]) -> None:
        """Queues the parts in order. Buffers must not change afterwards; files are sent by the kernel.

        What is sent within one turn of the loop leaves together. Above ``queue_high_bytes`` an accepted
        stream itself stops reading, until the queue has fallen below a quarter of it; a connecting one
        does not, or two of us could wait for each other for ever. A file that was cut short or closed
        meanwhile aborts the connection.
        """

    def expect(self, size: int) -> None:
        """Said inside ``on_bytes``: the unconsumed bytes begin a frame of ``size`` bytes.

        The read buffer grows towards that size as the bytes really come, and ``on_bytes`` is not called
        again before they are all there. Forgotten after the next ``on_bytes``. Without it an unconsumed
        rest may not exceed ``ReadBuffer.size_max``.
        """

    def pause_reading(self) -> None:
        """No ``on_bytes`` from now on; the rest that ``on_bytes`` left unconsumed is kept."""

    def resume_reading(self) -> None:
        """Ends the pause. ``on_bytes`` soon comes again for the kept rest, even if nothing new arrived."""

    def close(self) -> None:
        """Sends what is queued, then closes; a peer that does not take it within ten seconds is cut off.
        No more ``on_bytes``; ``on_closed`` follows."""

    def abort(self) -> None:
        """Closes now and drops what is queued. ``on_closed`` follows, never inside this call."""


class StreamHandler(Protocol):
    """What a server or client does with a connection. An exception that escapes from here is a bug:
    the connection is aborted and ``Tasks.on_crash`` told."""

    def on_open(self, stream: Stream) -> None: ...

    def on_bytes(self, buffer: bytearray, start: int, end: int) -> int:
        """Reads ``buffer[start:end]``; returns where the unconsumed rest begins.

        The buffer is reused after the return: copy what must live on. It may be changed in place.
        """

    def on_writable(self) -> None:
        """``queued_bytes`` fell below the low mark after having been above the high one."""

    def on_closed(self, reason: Exception | None) -> None:
        """Called exactly once, last. ``reason`` is None when either side closed in order."""


class Listener(Protocol):
    address: tuple[str, int]  # with the port that was really taken

    def close(self) -> None:
        """Stops accepting; open streams go on."""


class Network(Protocol):
    """Connections in and out. What cannot be bound or reached is a ``HostFault``."""

    memory: Memory
    """What all streams hold. Its owner sets the limits."""
    queue_high_bytes: int
    """Of streams from now on."""

    async def listen(
        self, host: str, port: int, accept: Callable[[], StreamHandler], *, ssl_context: SSLContext | None = None
    ) -> Listener: ...

    async def connect(
        self, host: str, port: int, handler: StreamHandler, *, ssl_context: SSLContext | None = None
    ) -> Stream: ...
