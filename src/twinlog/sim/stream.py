"""One end of a simulated connection. It keeps the same promises as the real one, and only those."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextvars import Context
from typing import TYPE_CHECKING, Final, cast

from twinlog.base.errors import HostFault
from twinlog.host.disk import Buffer, FileSlice
from twinlog.host.memory import MemoryAccount
from twinlog.host.network import QUEUE_LOW_PART, HoldsTooMuch, StreamHandler
from twinlog.host.read_buffer import ReadBuffer
from twinlog.sim.disk import SimFile
from twinlog.sim.fabric import End, Fabric, Pipe
from twinlog.sim.loop import Owner

if TYPE_CHECKING:
    from twinlog.sim.network import SimNetwork

CLOSE_TIMEOUT_US: Final = 10_000_000
ODD_READ_BYTES_MAX: Final = 8 * 1024  # larger pieces are read whole, or a run would be all reads


class SimStream:
    """Its kernel's half (``unread``, the pipes) may outlive its program's half, as in life."""

    outgoing: Pipe
    incoming: Pipe

    def __init__(
        self,
        fabric: Fabric,
        owner: Owner,
        context: Context,
        handler: StreamHandler,
        local: tuple[str, int],
        peer: tuple[str, int],
        hosts: tuple[str, str],
        label: str,
        accepted: bool,
        network: SimNetwork,
    ) -> None:
        self.owner = owner
        self.context = context
        self.label = label
        self.local = local
        self.peer = peer
        self.host_name, self.peer_host_name = hosts
        self.peer_certificate: bytes | None = None
        self.received_bytes = 0
        self.queued_bytes = 0
        self.unread = bytearray()
        self._fabric = fabric
        self._handler = handler
        self._accepted = accepted
        self._account = MemoryAccount(network.memory, self._give_up)
        self._buffer = ReadBuffer(size_min=512, account=self._account)
        self._in_memory_bytes = 0
        self._charged_bytes = 0
        self.queue_high_bytes = network.queue_high_bytes
        self._queue: deque[Buffer | FileSlice] = deque()
        self._open = False  # the handler has been told of us, and not yet of our end
        self._gone = False  # this end answers with a reset, or not at all
        self._paused = False
        self._crowded = False
        self._closing = False
        self._flush_planned = False
        self._read_planned = False
        self._rest_waits = False
        self._end: End | None = None  # what comes after the unread bytes

    # The port.

    @property
    def held_bytes(self) -> int:
        return self._account.held_bytes

    def keep(self, by_bytes: int) -> None:
        if self._open:
            self._account.change(by_bytes)

    def send(self, parts: Sequence[Buffer | FileSlice]) -> None:
        if self._closing:
            return
        for part in parts:
            if isinstance(part, FileSlice):
                if not cast(SimFile, part.file).is_open:
                    self._lose(HostFault(part.file.path, "closed"))
                    return
                size = part.size
            else:
                size = len(part)
                self._in_memory_bytes += size
            if size:
                self._queue.append(part)
                self.queued_bytes += size
        self._charge()
        if self.queued_bytes > self.queue_high_bytes:
            self._crowded = True
        if self._queue and not self._flush_planned:
            self._flush_planned = True
            self._soon(self._flush)

    def expect(self, size: int) -> None:
        self._buffer.expected = size

    def pause_reading(self) -> None:
        self._paused = True

    def resume_reading(self) -> None:
        self._paused = False
        self._look_again()

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            if self._queue:
                self._fabric.later(CLOSE_TIMEOUT_US, self, self.abort)
            else:
                self._end_in_order()

    def abort(self) -> None:
        if self._open and not self._gone:
            self._drop_queue()
            self._closing = self._gone = True
            self.outgoing.push("reset")
            self._soon(self._tell_closed, None)

    # What the fabric says.

    def opened(self) -> None:
        """In our context: the handler meets us."""
        self._open = True
        self._fabric.add(self)
        self._guard(self._handler.on_open, self)
        self._plan_read()

    def arrived(self, piece: bytes) -> None:
        if self._gone or not self.owner.alive:
            self._refuse()
            return
        self.unread += piece
        self._plan_read()

    def ended_by_peer(self, end: End) -> None:
        if self._gone or not self.owner.alive or self._end is not None:
            return
        self._end = end
        if end == "reset":
            self._drop_queue()
            if self.incoming.chance.one_in(2):
                self.unread.clear()  # a reset may overtake what was read by nobody yet
        self._plan_read()

    def window_opened(self) -> None:
        if self._queue and not self._gone:
            self._flush()

    def vanish(self, *, tell_peer: bool) -> None:
        """Our program is gone, and cannot be told of anything any more."""
        self._fabric.remove(self)
        if not self._gone:
            self._gone = True
            if tell_peer:
                in_order = not self.unread and not self._queue and self.incoming.chance.one_in(2)
                self.outgoing.push("fin" if in_order else "reset")
            else:  # what we had handed to our kernel went down with it
                self.outgoing.in_flight.clear()
                self.outgoing.in_flight_bytes = 0

    def break_down(self, reason: Exception) -> None:
        """The connection is torn on both sides of us."""
        if self._open and not self._gone:
            self._gone = self._closing = True
            self.outgoing.in_flight.clear()
            self.outgoing.in_flight_bytes = 0
            self._drop_queue()
            self._soon(self._tell_closed, reason)

    # Reading.

    def _look_again(self) -> None:
        """The handler may want to see once more what it left unconsumed."""
        self._rest_waits = self._buffer.end > self._buffer.start
        self._plan_read()

    def _plan_read(self) -> None:
        if (self.unread or self._rest_waits or self._end) and self._open and not self._read_planned:
            self._read_planned = True
            self._soon(self._read)

    def _read(self) -> None:
        self._read_planned = False
        if not self._open or self._gone:
            return
        if self._paused or (self._crowded and self._accepted) or (self._closing and not self._end):
            return
        buffer = self._buffer
        if self.unread and not self._closing:
            room = buffer.room()
            size = self._read_size(min(len(room), len(self.unread)))
            room[:size] = self.unread[:size]
            del self.unread[:size]
            self._rest_waits = False
            self.received_bytes += size
            if buffer.took(size):
                self._guard(buffer.deliver, self._handler.on_bytes)
            if self._fabric.reaches(self.host_name, self.peer_host_name):  # else a heal will tell
                sender = self.incoming.source
                self._fabric.later(self.outgoing.delay_us(), sender, sender.window_opened)
        elif self._rest_waits and not self._closing:
            self._rest_waits = False
            self._guard(buffer.deliver, self._handler.on_bytes)
        elif self._end is not None:
            self._meet_end(self._end)
            return
        self._plan_read()

    def _read_size(self, size: int) -> int:
        chance = self.incoming.chance
        if size > ODD_READ_BYTES_MAX or not chance.one_in(self.incoming.profile.odd_reads_one_in):
            return size
        return 1 if chance.one_in(4) else chance.between(1, size)

    def _meet_end(self, end: End) -> None:
        if end == "reset":
            self._gone = self._closing = True
            self._tell_closed(ConnectionResetError("connection reset by peer"))
        elif not self._closing:
            self.close()  # a peer that only ended its own half may still want its answers

    # Writing.

    def _flush(self) -> None:
        self._flush_planned = False
        if self._gone or not self._open:
            return
        room = self.outgoing.room()
        while self._queue and room > 0:
            part = self._queue[0]
            if isinstance(part, FileSlice):
                size = min(part.size, room)
                piece = cast(SimFile, part.file).read_held(part.position, size)
                if len(piece) < size:
                    self._lose(HostFault(part.file.path, "shorter than what was to be sent"))
                    return
                rest: Buffer | FileSlice = FileSlice(part.file, part.position + size, part.size - size)
                left = part.size - size
            else:
                piece = bytes(part[:room])
                self._in_memory_bytes -= len(piece)
                rest = memoryview(part)[len(piece) :]
                left = len(rest)
            if left:
                self._queue[0] = rest
            else:
                self._queue.popleft()
            room -= len(piece)
            self.queued_bytes -= len(piece)
            if self.outgoing.chance.one_in(self.outgoing.profile.reset_one_in):
                self._break_inside(piece)
                return
            self.outgoing.push(piece)
        self._charge()
        if self._crowded and self.queued_bytes < self.queue_high_bytes // QUEUE_LOW_PART:
            self._crowded = False
            self._look_again()
            if not self._closing:
                self._guard(self._handler.on_writable)
        if self._closing and not self._queue:
            self._end_in_order()

    def _charge(self) -> None:
        if self._in_memory_bytes != self._charged_bytes:
            self._account.change(self._in_memory_bytes - self._charged_bytes)
            self._charged_bytes = self._in_memory_bytes

    def _break_inside(self, piece: bytes) -> None:
        arrives = piece[: self.outgoing.chance.below(len(piece) + 1)]
        if arrives:
            self.outgoing.push(arrives)
        self.outgoing.push("reset")
        self._lose(ConnectionResetError("connection reset"), told_peer=True)

    # Endings.

    def _end_in_order(self) -> None:
        if self._open and not self._gone:
            self._gone = True
            # Closing with unread bytes makes a kernel answer with a reset, which may cost the peer our last words.
            self.outgoing.push("reset" if self.unread else "fin")
            self._soon(self._tell_closed, None)

    def _refuse(self) -> None:
        """Bytes came for a program that no longer listens."""
        if self._fabric.up.get(self.host_name, False):
            self.unread.clear()
            self.outgoing.push("reset")

    def _give_up(self) -> None:
        self._soon(self._lose, HoldsTooMuch(f"{self.peer[0]}:{self.peer[1]}", self._account.held_bytes))

    def _lose(self, reason: Exception, *, told_peer: bool = False) -> None:
        if self._open and not self._gone:
            self._gone = self._closing = True
            self._drop_queue()
            if not told_peer:
                self.outgoing.push("reset")
            self._soon(self._tell_closed, reason)

    def _tell_closed(self, reason: Exception | None) -> None:
        if self._open:
            self._open = False
            self._fabric.remove(self)
            self._account.close()
            self._handler.on_closed(reason)

    def _drop_queue(self) -> None:
        self._queue.clear()
        self.queued_bytes = self._in_memory_bytes = 0

    def _guard(self, call: object, *args: object) -> None:
        try:
            call(*args)  # type: ignore[operator]
        except Exception as error:
            self._lose(error)
            self.owner.on_error(error)

    def _soon(self, callback: object, *args: object) -> None:
        self._fabric.loop.call_soon(callback, *args, context=self.context)  # type: ignore[arg-type]
