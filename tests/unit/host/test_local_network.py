"""What only real sockets can show: other people's clients, TLS, cold files, memory given back."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import struct
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
import trustme

from tests.kit.streams import Recorder, pattern
from twinlog.base import HostFault
from twinlog.host import FileSlice, Host, Listener
from twinlog.host.local import LoopChoice, new_loop, run
from twinlog.host.local.stream import LocalStream

LOOPS: list[LoopChoice] = ["uvloop", "asyncio"]
T = TypeVar("T")

pytestmark = pytest.mark.parametrize("loop", LOOPS)


def on_network(loop: LoopChoice, work: Callable[[Host], Coroutine[Any, Any, None]]) -> None:
    async def main(host: Host) -> None:
        crashes: list[BaseException] = []
        host.tasks.on_crash = crashes.append
        async with asyncio.timeout(60):
            await work(host)
        assert not crashes

    run(main, loop=loop)


async def away(call: Callable[..., T], *arguments: Any) -> T:
    """Plain blocking sockets, in a thread."""
    return await asyncio.to_thread(call, *arguments)


async def raw_client(host: Host, server: Recorder, receive_bytes: int = 0) -> tuple[socket.socket, Listener]:
    listener = await host.network.listen("127.0.0.1", 0, lambda: server)
    client = socket.socket()
    if receive_bytes:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    client.settimeout(30)
    await away(client.connect, listener.address)
    await server.opened()
    return client, listener


def receive_all(client: socket.socket) -> bytes:
    pieces = []
    while piece := client.recv(1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def test_a_client_that_ended_its_half_gets_what_was_queued(loop: LoopChoice) -> None:
    data = pattern(8_000_000)

    async def work(host: Host) -> None:
        server = Recorder()
        client, _ = await raw_client(host, server)
        with client:
            server.stream.send([data])
            client.shutdown(socket.SHUT_WR)
            assert await away(receive_all, client) == data
        await server.closed()
        assert server.reason is None

    on_network(loop, work)


def test_a_reset_is_told(loop: LoopChoice) -> None:
    async def work(host: Host) -> None:
        server = Recorder()
        client, _ = await raw_client(host, server)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        await server.closed()
        assert isinstance(server.reason, ConnectionResetError)

    on_network(loop, work)


def test_a_reset_while_sending_is_told(loop: LoopChoice) -> None:
    async def work(host: Host) -> None:
        server = Recorder()
        client, _ = await raw_client(host, server, receive_bytes=4096)
        server.stream.send([bytes(20_000_000)])
        await asyncio.sleep(0.01)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        await server.closed()
        assert isinstance(server.reason, OSError)

    on_network(loop, work)


def test_a_client_that_never_reads_is_cut_off_by_close(loop: LoopChoice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("twinlog.host.local.stream.CLOSE_TIMEOUT_S", 0.05)

    async def work(host: Host) -> None:
        server = Recorder()
        client, _ = await raw_client(host, server, receive_bytes=4096)
        with client:
            server.stream.send([bytes(20_000_000)])
            server.stream.close()
            await server.closed()

    on_network(loop, work)


def test_what_is_sent_in_one_turn_leaves_together(loop: LoopChoice) -> None:
    async def work(host: Host) -> None:
        calls: list[int] = []
        server = Recorder()

        def answer_each(buffer: bytearray, start: int, end: int) -> int:
            for place in range(start, end):
                server.stream.send([bytes(buffer[place : place + 1])])
            return end

        server._take = answer_each
        client, _ = await raw_client(host, server)
        assert isinstance(server.stream, LocalStream)
        writer = server.stream._writer
        server.stream._writer = CountingWriter(writer, calls)  # type: ignore[assignment]
        with client:
            client.send(b"x" * 100)
            assert len(await away(client.recv, 1000)) == 100
            for _ in range(50):
                server.stream.send([b"y"])
            assert calls == [1]
            assert len(await away(client.recv, 1000)) == 50
            assert calls == [1, 1]

    on_network(loop, work)


def test_what_is_ready_leaves_before_more_is_understood(loop: LoopChoice) -> None:
    async def work(host: Host) -> None:
        server = Recorder()
        queued: list[int] = []

        def look(buffer: bytearray, start: int, end: int) -> int:
            queued.append(server.stream.queued_bytes)
            return end

        server._take = look
        client, _ = await raw_client(host, server)
        stream = server.stream
        assert isinstance(stream, LocalStream)
        with client:
            stream.send([b"an answer"])
            stream.get_buffer(-1)[:1] = b"?"
            stream.buffer_updated(1)
            assert queued == [0]
            assert await away(client.recv, 100) == b"an answer"

    on_network(loop, work)


def test_a_short_slice_is_read_at_once(loop: LoopChoice, tmp_path: Path) -> None:
    async def work(host: Host) -> None:
        server = Recorder()
        client, _ = await raw_client(host, server)
        file = host.disk.open(f"{tmp_path}/f", create=True)
        file.append([pattern(1000)])
        with client:
            held_before = server.stream.held_bytes
            server.stream.send([b"<", FileSlice(file, 10, 500), b">"])
            file.truncate(0)
            file.close()
            expected = b"<" + pattern(1000)[10:510] + b">"
            received = b""
            while len(received) < len(expected):
                received += await away(client.recv, 1000)
            assert received == expected
            assert server.stream.held_bytes == held_before

    on_network(loop, work)


def test_a_short_slice_of_a_shorter_file_breaks_the_connection(loop: LoopChoice, tmp_path: Path) -> None:
    async def work(host: Host) -> None:
        server = Recorder()
        client, _ = await raw_client(host, server)
        file = host.disk.open(f"{tmp_path}/f", create=True)
        file.append([b"short"])
        with client:
            server.stream.send([FileSlice(file, 0, 6)])
            await server.closed()
            assert isinstance(server.reason, HostFault)

    on_network(loop, work)


class CountingWriter:
    """A writer whose flushes are counted."""

    def __init__(self, writer: Any, calls: list[int]) -> None:
        self._writer, self._calls = writer, calls

    def flush(self) -> None:
        self._calls.append(1)
        self._writer.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)


def test_cold_files_are_sent_without_stopping_the_loop(loop: LoopChoice, tmp_path: Path) -> None:
    data = pattern(16 << 20)

    async def work(host: Host) -> None:
        file = host.disk.open(f"{tmp_path}/f", create=True)
        file.append([data])
        host.disk.sync_now(file)
        os.posix_fadvise(file.fd, 0, 0, os.POSIX_FADV_DONTNEED)  # type: ignore[attr-defined]
        server = Recorder()
        client, _ = await raw_client(host, server)
        with client:
            server.stream.send([b"head", FileSlice(file, 0, len(data)), b"tail"])
            server.stream.close()
            assert await away(receive_all, client) == b"head" + data + b"tail"

    on_network(loop, work)


def test_a_connection_lost_while_a_file_is_warmed_lets_go_of_it(loop: LoopChoice, tmp_path: Path) -> None:
    async def work(host: Host) -> None:
        file = host.disk.open(f"{tmp_path}/f", create=True)
        file.append([bytes(16 << 20)])
        host.disk.sync_now(file)
        os.posix_fadvise(file.fd, 0, 0, os.POSIX_FADV_DONTNEED)  # type: ignore[attr-defined]
        server = Recorder()
        client, _ = await raw_client(host, server)
        with client:
            server.stream.send([FileSlice(file, 0, file.size)])
            file.close()
            await asyncio.sleep(0)
            server.stream.abort()
            await server.closed()
            while file.fd >= 0:  # type: ignore[attr-defined]  # noqa: ASYNC110
                await asyncio.sleep(0.001)

    on_network(loop, work)


def test_idle_streams_give_their_memory_back(loop: LoopChoice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("twinlog.host.local.network.IDLE_SWEEP_S", 0.02)

    async def work(host: Host) -> None:
        server = Recorder()
        client, _ = await raw_client(host, server)
        assert isinstance(server.stream, LocalStream)
        buffer = server.stream._incoming
        sizes: list[int] = []
        server._take = lambda data, start, end: sizes.append(len(data)) or end
        with client:
            await away(client.sendall, bytes(20_000_000))
            await server.until(lambda own: own.stream.received_bytes == 20_000_000)
            assert max(sizes) > buffer.size_min
            while len(buffer.data) > buffer.size_min:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            await away(client.sendall, b"again")
            await server.until(lambda own: own.stream.received_bytes == 20_000_005)

    on_network(loop, work)


def test_descriptors_of_ended_connections_are_given_back(loop: LoopChoice) -> None:
    async def work(host: Host) -> None:
        before = 0
        for number in range(20):
            server = Recorder()
            client, listener = await raw_client(host, server)
            server.stream.send([bytes(3_000_000)])
            client.close()
            await server.closed()
            listener.close()
            await asyncio.sleep(0.01)
            if number == 5:
                before = len(os.listdir("/proc/self/fd"))
        assert len(os.listdir("/proc/self/fd")) <= before

    on_network(loop, work)


# TLS


def contexts() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    authority = trustme.CA()
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.issue_cert("127.0.0.1").configure_cert(server)
    authority.issue_cert("client@example.org").configure_cert(client)
    authority.configure_trust(client)
    authority.configure_trust(server)
    server.verify_mode = ssl.CERT_REQUIRED
    return server, client


async def tls_pair(host: Host, server: Recorder, client: Recorder) -> None:
    server_context, client_context = contexts()
    listener = await host.network.listen("127.0.0.1", 0, lambda: server, ssl_context=server_context)
    await host.network.connect(*listener.address, client, ssl_context=client_context)
    await server.opened()


def test_tls_carries_bytes_and_files_both_ways(loop: LoopChoice, tmp_path: Path) -> None:
    data = pattern(7_000_000)

    async def work(host: Host) -> None:
        server, client = Recorder(), Recorder()
        await tls_pair(host, server, client)
        assert server.stream.peer_certificate
        file = host.disk.open(f"{tmp_path}/f", create=True)
        file.append([data])
        server.stream.send([b"head", FileSlice(file, 1, 6_000_000), bytearray(b"mid"), FileSlice(file, 0, 10), b"tail"])
        file.close()
        client.stream.send([data[:3_000_000]])
        expected = b"head" + data[1:6_000_001] + b"mid" + data[:10] + b"tail"
        assert await client.received(len(expected)) == expected
        assert await server.received(3_000_000) == data[:3_000_000]
        server.stream.send([data])
        server.stream.close()
        await client.closed()
        await server.closed()
        assert client.data == expected + data

    on_network(loop, work)


def test_a_slow_reader_is_seen_through_tls(loop: LoopChoice) -> None:
    async def work(host: Host) -> None:
        server, client = Recorder(), Recorder()
        await tls_pair(host, server, client)
        client.stream.pause_reading()
        server.stream.send([bytes(1000)] * 20_000)
        await asyncio.sleep(0.05)
        assert server.stream.queued_bytes > 1 << 20
        assert server.count("writable") == 0
        client.stream.resume_reading()
        await client.received(20_000_000)
        await server.until(lambda own: own.count("writable") == 1)
        client.stream.close()

    on_network(loop, work)


def test_who_speaks_no_tls_never_reaches_the_handler(loop: LoopChoice) -> None:
    async def work(host: Host) -> None:
        server = Recorder()
        server_context, _ = contexts()
        listener = await host.network.listen("127.0.0.1", 0, lambda: server, ssl_context=server_context)
        with socket.create_connection(listener.address) as client:
            client.settimeout(30)
            client.sendall(b"GET / HTTP/1.1\r\n\r\n" * 10)
            try:
                while await away(client.recv, 1000):
                    pass
            except ConnectionResetError:
                pass
        assert server.events == []

    on_network(loop, work)


def test_the_loop_asked_for_is_the_loop_got(loop: LoopChoice, monkeypatch: pytest.MonkeyPatch) -> None:
    def made(choice: LoopChoice) -> str:
        made = new_loop(choice)
        made.close()
        return type(made).__module__

    assert made(loop).startswith(loop)
    assert made("auto").startswith("uvloop")
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert made("auto").startswith("asyncio")
    with pytest.raises(ImportError):
        made("uvloop")
