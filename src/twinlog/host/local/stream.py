"""One connection of the real machine.

Reading is the loop's transport filling our ``ReadBuffer`` in place. Writing on plain TCP goes past the
transport, on a duplicate of its descriptor, for two reasons: ``sendfile`` works under every loop, and the
queue is ours, so that everything sent in one turn of the loop leaves in one call. Over TLS the same queue
goes through the transport.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, BaseTransport, BufferedProtocol, TimerHandle, Transport
from collections.abc import Callable, Sequence
from typing import Final, cast

from twinlog.base.errors import HostFault
from twinlog.host.disk import Buffer, FileSlice
from twinlog.host.local.tasks import LocalTasks
from twinlog.host.local.writers import PlainWriter, TlsWriter, Writer
from twinlog.host.memory import Memory, MemoryAccount
from twinlog.host.network import QUEUE_LOW_PART, HoldsTooMuch, StreamHandler
from twinlog.host.read_buffer import ReadBuffer

CLOSE_TIMEOUT_S: Final = 10.0


class LocalStream(BufferedProtocol):
    """A transport's protocol on one side, a ``Stream`` on the other."""

    __slots__ = (
        "_accepted",
        "_account",
        "_close_timer",
        "_closing",
        "_crowded",
        "_flush_planned",
        "_handler",
        "_incoming",
        "_loop",
        "_lost_by",
        "_memory",
        "_on_change",
        "_open",
        "_paused",
        "_reading",
        "_received_at_sweep",
        "_tasks",
        "_transport",
        "_writer",
        "local",
        "peer",
        "peer_certificate",
        "queue_high_bytes",
        "received_bytes",
    )

    _transport: Transport
    _writer: Writer
    _account: MemoryAccount
    _incoming: ReadBuffer

    def __init__(
        self,
        loop: AbstractEventLoop,
        tasks: LocalTasks,
        handler: StreamHandler,
        on_change: Callable[[LocalStream, bool], None],
        accepted: bool,
        memory: Memory,
        queue_high_bytes: int,
    ) -> None:
        self._loop = loop
        self._tasks = tasks
        self._handler = handler
        self._on_change = on_change
        self._accepted = accepted
        self._memory = memory
        self.queue_high_bytes = queue_high_bytes
        self._open = False
        self._paused = False  # by the handler
        self._crowded = False  # by our own queue
        self._reading = True  # what the transport was told last
        self._closing = False
        self._close_timer: TimerHandle | None = None
        self._flush_planned = False
        self._lost_by: Exception | None = None
        self._received_at_sweep = 0
        self.received_bytes = 0
        self.peer: tuple[str, int] = ("", 0)
        self.local: tuple[str, int] = ("", 0)
        self.peer_certificate: bytes | None = None

    # The port.

    @property
    def queued_bytes(self) -> int:
        return self._writer.queued_bytes

    @property
    def held_bytes(self) -> int:
        return self._account.held_bytes

    def keep(self, by_bytes: int) -> None:
        if self._open:
            self._account.change(by_bytes)

    def send(self, parts: Sequence[Buffer | FileSlice]) -> None:
        if self._closing:
            return
        writer = self._writer
        try:
            writer.add(parts)
        except HostFault as fault:
            self._lose(fault)
            return
        if writer.queued_bytes > self.queue_high_bytes and not self._crowded:
            self._crowded = True
            self._update_reading()
        if not (self._flush_planned or writer.blocked):
            self._flush_planned = True
            self._loop.call_soon(self._flush)

    def expect(self, size: int) -> None:
        self._incoming.expected = size

    def pause_reading(self) -> None:
        self._paused = True
        self._update_reading()

    def resume_reading(self) -> None:
        self._paused = False
        self._update_reading()

    def close(self) -> None:
        if self._closing:
            return
        self._closing = True
        self._update_reading()
        if self._writer.queued_bytes == 0:
            self._transport.close()
        else:
            self._close_timer = self._loop.call_later(CLOSE_TIMEOUT_S, self.abort)

    def abort(self) -> None:
        self._closing = True
        self._transport.abort()

    # What the network does with its streams.

    def give_back_if_idle(self) -> None:
        if self.received_bytes == self._received_at_sweep:
            self._incoming.shrink()
        self._received_at_sweep = self.received_bytes

    # What the transport says.

    def connection_made(self, transport: BaseTransport) -> None:
        self._transport = cast(Transport, transport)
        self._account = MemoryAccount(self._memory, self._give_up)
        self._incoming = ReadBuffer(account=self._account)
        ssl_object = transport.get_extra_info("ssl_object")
        if ssl_object is None:
            fd = transport.get_extra_info("socket").fileno()
            try:
                self._writer = PlainWriter(self._loop, self._tasks, self._account, fd, self._flush)
            except OSError:  # out of descriptors, or gone before we looked; nobody has seen it yet
                self._account.close()
                self._transport.abort()
                return
        else:
            self._writer = TlsWriter(self._tasks, self._account, self._transport, self._flush)
            self.peer_certificate = ssl_object.getpeercert(binary_form=True)
        self.peer = (transport.get_extra_info("peername") or self.peer)[:2]
        self.local = (transport.get_extra_info("sockname") or self.local)[:2]
        self._open = True
        self._on_change(self, True)
        try:
            self._handler.on_open(self)
        except Exception as error:
            self._blame_handler(error)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._incoming.room()

    def buffer_updated(self, nbytes: int) -> None:
        self.received_bytes += nbytes
        if self._flush_planned and not self._writer.blocked:
            self._flush()  # what is ready does not wait until more is understood
        if self._incoming.took(nbytes) and not self._closing:
            self._deliver()

    def eof_received(self) -> bool:
        if self._open and self._writer.queued_bytes and isinstance(self._writer, PlainWriter):
            self.close()  # a peer that only ended its own half may still want its answers
            return True
        return False

    def pause_writing(self) -> None:
        if isinstance(self._writer, TlsWriter):
            self._writer.transport_full()

    def resume_writing(self) -> None:
        if isinstance(self._writer, TlsWriter):
            self._writer.transport_ready()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._open:
            return
        self._open = False
        self._closing = True
        if self._close_timer is not None:
            self._close_timer.cancel()
        self._writer.close()
        self._account.close()
        self._on_change(self, False)
        try:
            self._handler.on_closed(self._lost_by or exc)
        except Exception as error:
            self._tasks.on_crash(error)

    # Inside.

    def _deliver(self) -> None:
        self._flush_planned = True  # what is sent meanwhile leaves below, at once
        try:
            self._incoming.deliver(self._handler.on_bytes)
        except Exception as error:
            self._blame_handler(error)
        self._flush_planned = False
        if self._writer.queued_bytes and not self._writer.blocked:
            self._flush()

    def _deliver_rest(self) -> None:
        if self._reading and self._incoming.end > self._incoming.start:
            self._deliver()

    def _flush(self) -> None:
        self._flush_planned = False
        if not self._open:
            return
        writer = self._writer
        try:
            writer.flush()
        except (OSError, HostFault) as error:
            self._lose(error)
            return
        if self._crowded and writer.queued_bytes < self.queue_high_bytes // QUEUE_LOW_PART:
            self._crowded = False
            self._update_reading()
            if not self._closing:
                try:
                    self._handler.on_writable()
                except Exception as error:
                    self._blame_handler(error)
        if self._closing and writer.queued_bytes == 0:
            self._transport.close()

    def _update_reading(self) -> None:
        wanted = not (self._paused or (self._crowded and self._accepted) or self._closing)
        if wanted == self._reading or self._transport.is_closing():
            return
        self._reading = wanted
        if not wanted:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()
            if self._incoming.end > self._incoming.start:
                self._loop.call_soon(self._deliver_rest)

    def _give_up(self) -> None:
        # In a turn of its own: we may be in the middle of reading or sending.
        self._loop.call_soon(self._lose, HoldsTooMuch(f"{self.peer[0]}:{self.peer[1]}", self._account.held_bytes))

    def _lose(self, error: Exception) -> None:
        self._lost_by = self._lost_by or error
        self.abort()

    def _blame_handler(self, error: Exception) -> None:
        self._lose(error)
        self._tasks.on_crash(error)
