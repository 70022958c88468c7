"""The sending half of a connection: a queue of bytes and file slices, and two ways to empty it."""

from __future__ import annotations

import os
import socket
from asyncio import AbstractEventLoop, Transport
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias, cast

from twinlog.base.errors import HostFault
from twinlog.base.units import KIB, MIB
from twinlog.host.disk import Buffer, FileSlice
from twinlog.host.local.file import LocalFile
from twinlog.host.local.tasks import LocalTasks
from twinlog.host.memory import MemoryAccount

BUFFERS_PER_CALL_MAX: Final = 256
TURN_BYTES_MAX: Final = 4 * MIB  # then other connections have their turn
FILE_STEP_BYTES: Final = 1 * MIB  # of what may be cold: asked about, warmed and sent at a time
TLS_STEP_BYTES: Final = 128 * KIB
# Up to here reading costs less than a sendfile and the two sends around it: docs/adr/0003-host.md
READ_UP_TO_BYTES: Final = 32 * KIB

SHORTER: Final = "shorter than what was to be sent"

_Part: TypeAlias = Buffer | FileSlice


class Writer:
    """Holds every file in the queue open. ``flush`` sends what can be sent now, and raises ``OSError`` or
    ``HostFault`` when the connection is lost; ``flushed`` is called when a wait for the peer or the disk
    has ended and ``flush`` has something to do again."""

    __slots__ = (
        "_account",
        "_charged_bytes",
        "_flush_again",
        "_in_memory_bytes",
        "_queue",
        "_tasks",
        "blocked",
        "queued_bytes",
    )

    def __init__(self, tasks: LocalTasks, account: MemoryAccount, flush_again: Callable[[], None]) -> None:
        self._tasks = tasks
        self._account = account
        self._flush_again = flush_again
        self._queue: deque[_Part] = deque()
        self.queued_bytes = 0
        self._in_memory_bytes = 0  # of these, those that are no slices of files
        self._charged_bytes = 0  # of these, those that the account knows of
        self.blocked = False  # waiting for the peer or the disk; a flush would be in vain

    def add(self, parts: Sequence[_Part]) -> None:
        for part in parts:
            if type(part) is FileSlice:
                size = part.size
                file = cast(LocalFile, part.file)
                if size <= READ_UP_TO_BYTES and file.is_hot(part.position):
                    part = file.read_at(part.position, size)
                    if len(part) != size:
                        raise HostFault(file.path, SHORTER)
                    self._in_memory_bytes += size
                elif size:
                    file.hold()
            else:
                size = len(part)
                self._in_memory_bytes += size
            if size:
                self._queue.append(part)
                self.queued_bytes += size
        if self.blocked:
            self._charge()

    def flush(self) -> None:
        raise NotImplementedError

    def _charge(self) -> None:
        """Counts what waits. What leaves at once, as nearly all does, is gone before it is counted."""
        if self._in_memory_bytes != self._charged_bytes:
            self._account.change(self._in_memory_bytes - self._charged_bytes)
            self._charged_bytes = self._in_memory_bytes

    def close(self) -> None:
        """Drops what is queued."""
        for part in self._queue:
            if type(part) is FileSlice:
                cast(LocalFile, part.file).release()
        self._queue.clear()
        self.queued_bytes = self._in_memory_bytes = 0

    def _buffers_first(self) -> tuple[list[Buffer], int, bool]:
        """The buffers in front, their size, and whether more parts follow."""
        buffers: list[Buffer] = []
        size = 0
        for part in self._queue:
            if type(part) is FileSlice or len(buffers) == BUFFERS_PER_CALL_MAX:
                return buffers, size, True
            part = cast(Buffer, part)
            buffers.append(part)
            size += len(part)
        return buffers, size, False

    def _file_step(self, part: FileSlice) -> int:
        """How much of the slice in front may be sent now without waiting for the device; 0 is not yet."""
        file = cast(LocalFile, part.file)
        if file.is_hot(part.position):
            return part.size
        size = min(part.size, FILE_STEP_BYTES)
        if file.is_warm(part.position, size):
            return size
        self.blocked = True
        file.hold()

        def warmed(_: object, fault: Exception | None) -> None:
            # An error is not told here: the send that follows meets it again.
            file.release()
            self.blocked = False
            self._flush_again()

        self._tasks.blocking(file.warming(part.position, size), warmed)
        return 0

    def _sent_buffers(self, count: int) -> None:
        self.queued_bytes -= count
        self._in_memory_bytes -= count
        queue = self._queue
        while count:
            part = cast(Buffer, queue[0])
            size = len(part)
            if size > count:
                queue[0] = memoryview(part)[count:]
                return
            queue.popleft()
            count -= size

    def _sent_file(self, part: FileSlice, count: int) -> None:
        if count == 0:
            raise HostFault(part.file.path, SHORTER)
        self.queued_bytes -= count
        if count == part.size:
            self._queue.popleft()
            cast(LocalFile, part.file).release()
        else:
            self._queue[0] = FileSlice(part.file, part.position + count, part.size - count)


class PlainWriter(Writer):
    """On a duplicate of the transport's socket, since loops refuse to watch a transport's own."""

    __slots__ = ("_loop", "_socket", "_watching")

    def __init__(
        self,
        loop: AbstractEventLoop,
        tasks: LocalTasks,
        account: MemoryAccount,
        fd: int,
        flush_again: Callable[[], None],
    ) -> None:
        super().__init__(tasks, account, flush_again)
        self._loop = loop
        self._watching = False
        self._socket = socket.socket(fileno=os.dup(fd))
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def flush(self) -> None:
        queue = self._queue
        left = TURN_BYTES_MAX
        try:
            while queue and not self.blocked:
                part = queue[0]
                if type(part) is FileSlice:
                    left -= self._send_file(part)
                else:
                    left -= self._send_buffers()
                if left <= 0 and queue:
                    self._watch()
        except (BlockingIOError, InterruptedError):
            self._watch()
        self._charge()

    def close(self) -> None:
        super().close()
        self._unwatch()  # before the close, else the poller keeps the connection alive
        self._socket.close()

    def _send_buffers(self) -> int:
        buffers, size, more = self._buffers_first()
        flags = socket.MSG_MORE if more else 0
        if len(buffers) == 1:
            count = self._socket.send(buffers[0], flags)
        else:
            count = self._socket.sendmsg(buffers, (), flags)
        self._sent_buffers(count)
        if count < size:
            self._watch()
        return count

    def _send_file(self, part: FileSlice) -> int:
        size = self._file_step(part)
        if size == 0:
            return 0
        count = os.sendfile(self._socket.fileno(), cast(LocalFile, part.file).fd, part.position, size)
        self._sent_file(part, count)
        if count < size:
            self._watch()
        return count

    def _watch(self) -> None:
        self.blocked = True
        if not self._watching:
            self._watching = True
            self._loop.add_writer(self._socket.fileno(), self._writable)

    def _unwatch(self) -> None:
        if self._watching:
            self._watching = False
            self._loop.remove_writer(self._socket.fileno())

    def _writable(self) -> None:
        self._unwatch()
        self.blocked = False
        self._flush_again()


class TlsWriter(Writer):
    """Through the transport, a step at a time; the transport says when it has had enough."""

    __slots__ = ("_transport",)

    def __init__(
        self, tasks: LocalTasks, account: MemoryAccount, transport: Transport, flush_again: Callable[[], None]
    ) -> None:
        super().__init__(tasks, account, flush_again)
        self._transport = transport
        transport.set_write_buffer_limits(high=2 * TLS_STEP_BYTES, low=TLS_STEP_BYTES)

    def flush(self) -> None:
        queue = self._queue
        while queue and not self.blocked:
            part = queue[0]
            if type(part) is FileSlice:
                size = min(self._file_step(part), TLS_STEP_BYTES)
                if size:
                    data = part.file.read_at(part.position, size)
                    self._sent_file(part, len(data))
                    self._transport.write(data)
            else:
                buffers, _, _ = self._buffers_first()
                data = b"".join(buffers) if len(buffers) > 1 else bytes(buffers[0])
                self._sent_buffers(len(data))
                self._transport.write(data)
        self._charge()

    def transport_full(self) -> None:
        self.blocked = True

    def transport_ready(self) -> None:
        self.blocked = False
        self._flush_again()
