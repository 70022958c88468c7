"""TCP (and TLS) of the real machine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from ssl import SSLContext
from typing import Final

from twinlog.base.errors import HostFault
from twinlog.host.local.stream import LocalStream
from twinlog.host.local.tasks import LocalTasks
from twinlog.host.memory import Memory
from twinlog.host.network import QUEUE_HIGH_BYTES, Stream, StreamHandler

BACKLOG: Final = 1024
IDLE_SWEEP_S: Final = 10.0
TLS_HANDSHAKE_TIMEOUT_S: Final = 10.0


class LocalListener:
    def __init__(self, server: asyncio.Server, listeners: dict[LocalListener, None]) -> None:
        self._server = server
        self._listeners = listeners
        self._listeners[self] = None
        self.address: tuple[str, int] = server.sockets[0].getsockname()[:2]

    def close(self) -> None:
        self._server.close()
        self._listeners.pop(self, None)


class LocalNetwork:
    """Every stream is known here while it lives, so that idle read buffers can be given back."""

    def __init__(self, loop: asyncio.AbstractEventLoop, tasks: LocalTasks) -> None:
        self._loop = loop
        self._tasks = tasks
        self._streams: dict[LocalStream, None] = {}
        self._listeners: dict[LocalListener, None] = {}
        self._sweep_timer: asyncio.TimerHandle | None = None
        self.memory = Memory()
        self.queue_high_bytes = QUEUE_HIGH_BYTES

    async def listen(
        self, host: str, port: int, accept: Callable[[], StreamHandler], *, ssl_context: SSLContext | None = None
    ) -> LocalListener:
        try:
            server = await self._loop.create_server(
                lambda: self._stream(accept(), accepted=True),
                host,
                port,
                backlog=BACKLOG,
                reuse_address=True,
                ssl=ssl_context,
                ssl_handshake_timeout=TLS_HANDSHAKE_TIMEOUT_S if ssl_context else None,
            )
        except OSError as error:
            raise _network_fault(host, port, error) from error
        return LocalListener(server, self._listeners)

    async def connect(
        self, host: str, port: int, handler: StreamHandler, *, ssl_context: SSLContext | None = None
    ) -> Stream:
        try:
            _, stream = await self._loop.create_connection(
                lambda: self._stream(handler, accepted=False),
                host,
                port,
                ssl=ssl_context,
                ssl_handshake_timeout=TLS_HANDSHAKE_TIMEOUT_S if ssl_context else None,
            )
        except OSError as error:
            raise _network_fault(host, port, error) from error
        return stream

    def close(self) -> None:
        """Stops listening, and aborts what is still open."""
        for listener in list(self._listeners):
            listener.close()
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
            self._sweep_timer = None
        for stream in list(self._streams):
            stream.abort()

    def _stream(self, handler: StreamHandler, *, accepted: bool) -> LocalStream:
        return LocalStream(
            self._loop, self._tasks, handler, self._streams_changed, accepted, self.memory, self.queue_high_bytes
        )

    def _streams_changed(self, stream: LocalStream, opened: bool) -> None:
        if not opened:
            self._streams.pop(stream, None)
            return
        self._streams[stream] = None
        if self._sweep_timer is None:
            self._sweep_timer = self._loop.call_later(IDLE_SWEEP_S, self._sweep)

    def _sweep(self) -> None:
        for stream in self._streams:
            stream.give_back_if_idle()
        self._sweep_timer = self._loop.call_later(IDLE_SWEEP_S, self._sweep) if self._streams else None


def _network_fault(host: str, port: int, error: OSError) -> HostFault:
    return HostFault(f"{host}:{port}", error.strerror or str(error))
