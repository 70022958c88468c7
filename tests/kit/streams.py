"""What every stream promises (``twinlog.host.network``)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.kit.hosts import Check, Place
from twinlog.base.errors import HostFault
from twinlog.host import FileSlice, Listener, Stream
from twinlog.host.network import QUEUE_HIGH_BYTES, QUEUE_LOW_PART, HoldsTooMuch


class Recorder:
    """A handler that takes everything, unless told otherwise, and writes down what happens to it."""

    def __init__(self, on_bytes: Callable[[bytearray, int, int], int] | None = None) -> None:
        self.events: list[str] = []
        self.data = bytearray()
        self.reason: Exception | None = None
        self.stream: Stream
        self._take = on_bytes
        self._changed = asyncio.Event()

    def on_open(self, stream: Stream) -> None:
        self.stream = stream
        self._note("open")

    def on_bytes(self, buffer: bytearray, start: int, end: int) -> int:
        self._note("bytes")
        if self._take is not None:
            return self._take(buffer, start, end)
        self.data += memoryview(buffer)[start:end]
        return end

    def on_writable(self) -> None:
        self._note("writable")

    def on_closed(self, reason: Exception | None) -> None:
        self.reason = reason
        self._note("closed")

    def count(self, event: str) -> int:
        return self.events.count(event)

    async def until(self, fact: Callable[[Recorder], Any]) -> None:
        while not fact(self):
            self._changed.clear()
            await self._changed.wait()

    async def opened(self) -> None:
        await self.until(lambda own: "open" in own.events)

    async def closed(self) -> None:
        await self.until(lambda own: "closed" in own.events)

    async def received(self, size: int) -> bytes:
        await self.until(lambda own: len(own.data) >= size)
        return bytes(self.data)

    def _note(self, event: str) -> None:
        assert "closed" not in self.events, f"{event} after the end"
        assert self.events or event == "open", f"{event} before the beginning"
        self.events.append(event)
        self._changed.set()


async def pair(at: Place, server: Recorder, client: Recorder) -> Listener:
    """Connects the two."""
    listener = await at.host.network.listen("127.0.0.1", 0, lambda: server)
    stream = await at.host.network.connect("127.0.0.1", listener.address[1], client)
    await server.opened()
    assert stream is client.stream
    return listener


def pattern(size: int) -> bytes:
    """Bytes in which every piece tells its place."""
    return b"".join(number.to_bytes(4, "big") for number in range((size + 3) // 4))[:size]


async def bytes_arrive_whole_and_in_order(at: Place) -> None:
    server, client = Recorder(), Recorder()
    await pair(at, server, client)
    data = pattern(300_000)
    client.stream.send([data[:1], b"", bytearray(data[1:1000]), memoryview(data)[1000:200_000]])
    client.stream.send([])
    client.stream.send([data[200_000:]])
    server.stream.send([b"answer"])
    assert await server.received(len(data)) == data
    assert await client.received(6) == b"answer"
    assert client.stream.received_bytes == 6
    assert client.stream.queued_bytes == 0
    client.stream.close()


async def both_ends_know_where_they_are(at: Place) -> None:
    server, client = Recorder(), Recorder()
    listener = await pair(at, server, client)
    assert server.stream.local[1] == client.stream.peer[1] == listener.address[1]
    assert server.stream.peer == client.stream.local
    assert server.stream.peer_certificate is None
    client.stream.abort()


async def files_are_sent_between_bytes(at: Place) -> None:
    server, client = Recorder(), Recorder()
    await pair(at, server, client)
    data = pattern(9_000_000)
    file = at.host.disk.open(at.path("f"), create=True)
    file.append([data])
    server.stream.send(
        [b"head", FileSlice(file, 7, 5_000_000), FileSlice(file, 0, 0), b"-", FileSlice(file, 8_999_999, 1), b"tail"]
    )
    server.stream.send([FileSlice(file, 3, 10)])
    expected = b"head" + data[7:5_000_007] + b"-" + data[-1:] + b"tail" + data[3:13]
    assert server.stream.queued_bytes <= len(expected)
    assert await client.received(len(expected)) == expected
    client.stream.close()


async def many_parts_are_sent_in_order(at: Place) -> None:
    server, client = Recorder(), Recorder()
    await pair(at, server, client)
    parts = [number.to_bytes(3, "big") for number in range(3000)]
    server.stream.send(parts)
    assert await client.received(9000) == b"".join(parts)
    client.stream.close()


async def a_file_closed_after_the_send_is_sent_whole(at: Place) -> None:
    server, client = Recorder(), Recorder()
    await pair(at, server, client)
    data = pattern(6_000_000)
    file = at.host.disk.open(at.path("f"), create=True)
    file.append([data])
    server.stream.send([FileSlice(file, 0, len(data))])
    file.close()
    at.host.disk.delete(at.path("f"))
    others = [at.host.disk.open(at.path(f"other{number}"), create=True) for number in range(3)]
    for other in others:
        other.append([bytes(len(data))])
    assert await client.received(len(data)) == data
    client.stream.close()


async def a_file_cut_short_breaks_the_connection(at: Place) -> None:
    server, client = Recorder(), Recorder()
    await pair(at, server, client)
    file = at.host.disk.open(at.path("f"), create=True)
    file.append([pattern(100_000)])
    server.stream.send([FileSlice(file, 0, 100_000)])
    file.truncate(50_000)
    await server.closed()
    assert isinstance(server.reason, HostFault)
    await client.closed()


async def a_closed_file_breaks_the_connection(at: Place) -> None:
    server, client = Recorder(), Recorder()
    await pair(at, server, client)
    file = at.host.disk.open(at.path("f"), create=True)
    file.append([b"x"])
    file.close()
    server.stream.send([b"head", FileSlice(file, 0, 1)])
    assert "closed" not in server.events
    await server.closed()
    assert isinstance(server.reason, HostFault)
    await client.closed()


def frames(into: list[bytes], stream_of: Recorder, *, expect: bool) -> Callable[[bytearray, int, int], int]:
    """Takes frames of four bytes of size and as many of content."""

    def take(buffer: bytearray, start: int, end: int) -> int:
        while end - start >= 4:
            size = 4 + int.from_bytes(buffer[start : start + 4], "big")
            if end - start < size:
                if expect:
                    stream_of.stream.expect(size)
                break
            into.append(bytes(buffer[start + 4 : start + size]))
            start += size
        return start

    return take


async def an_unconsumed_rest_comes_again(at: Place) -> None:
    got: list[bytes] = []
    server, client = Recorder(), Recorder()
    server._take = frames(got, server, expect=False)
    await pair(at, server, client)
    sent = [pattern(size) for size in (0, 1, 3, 1000, 8188, 8189, 30_000, 5, 200_000, 0, 7)]
    wire = b"".join(len(each).to_bytes(4, "big") + each for each in sent)
    for place in range(0, len(wire), 7919):
        client.stream.send([wire[place : place + 7919]])
        await asyncio.sleep(0)
    await server.until(lambda own: len(got) == len(sent))
    assert got == sent
    client.stream.close()


async def an_expected_frame_comes_whole(at: Place) -> None:
    got: list[bytes] = []
    server, client = Recorder(), Recorder()
    server._take = frames(got, server, expect=True)
    await pair(at, server, client)
    sent = [pattern(3_000_000), b"small", pattern(1_500_000)]
    client.stream.send([part for each in sent for part in (len(each).to_bytes(4, "big"), each)])
    await server.until(lambda own: len(got) == 3)
    assert got == sent
    # One look may end inside each large frame and one inside each size; the pieces in between are not shown.
    assert server.count("bytes") <= 8
    client.stream.close()


async def a_pause_keeps_the_rest(at: Place) -> None:
    got = bytearray()
    server, client = Recorder(), Recorder()

    def take_one(buffer: bytearray, start: int, end: int) -> int:
        got.append(buffer[start])
        server.stream.pause_reading()
        return start + 1

    server._take = take_one
    await pair(at, server, client)
    client.stream.send([b"abc"])
    for count in (1, 2, 3):
        await server.until(lambda own, count=count: len(got) == count)
        await asyncio.sleep(0.02)
        assert got == b"abc"[:count]
        server.stream.resume_reading()
        assert len(got) == count
    client.stream.send([b"d"])
    await server.until(lambda own: len(got) == 4)
    client.stream.close()
    server.stream.resume_reading()
    await server.closed()


async def a_rest_is_shown_before_the_end(at: Place) -> None:
    got = bytearray()
    server, client = Recorder(), Recorder()

    def take_one_and_pause(buffer: bytearray, start: int, end: int) -> int:
        got.append(buffer[start])
        server.stream.pause_reading()
        at.host.tasks.later(2, server.stream.resume_reading)
        return start + 1

    server._take = take_one_and_pause
    await pair(at, server, client)
    client.stream.send([b"abcdef"])
    client.stream.close()
    await server.closed()
    assert got == b"abcdef"


async def a_slow_reader_fills_the_queue_and_stops_our_reading(at: Place) -> None:
    server, client = Recorder(), Recorder()
    await pair(at, server, client)
    client.stream.pause_reading()
    chunk = pattern(64 * 1024)
    while server.stream.queued_bytes <= QUEUE_HIGH_BYTES:
        server.stream.send([chunk] * 16)
        await asyncio.sleep(0.001)
    sent = server.stream.queued_bytes
    client.stream.send([b"request"])
    await asyncio.sleep(0.05)
    assert server.count("writable") == 0
    assert server.data == b""  # who does not take answers is not asked for more requests
    client.stream.resume_reading()
    await server.until(lambda own: "writable" in own.events)
    assert server.stream.queued_bytes < QUEUE_HIGH_BYTES // QUEUE_LOW_PART
    assert await server.received(7) == b"request"
    await client.until(lambda own: len(own.data) >= sent and not server.stream.queued_bytes)
    assert server.count("writable") == 1
    assert bytes(client.data[: len(chunk)]) == chunk
    client.stream.close()


async def what_a_stream_holds_is_counted_and_given_back(at: Place) -> None:
    server, client = Recorder(), Recorder()
    memory = at.host.network.memory
    await pair(at, server, client)
    idle = server.stream.held_bytes
    assert memory.held_bytes == idle + client.stream.held_bytes > 0

    def wait_for_more(buffer: bytearray, start: int, end: int) -> int:
        server.stream.expect(5_000_000)
        return start

    server._take = wait_for_more
    client.stream.send([pattern(3_000_000)])
    await server.until(lambda own: "bytes" in own.events)
    while server.stream.received_bytes < 3_000_000:  # noqa: ASYNC110 (nobody is told while a frame is expected)
        await asyncio.sleep(0.001)
    assert 3_000_000 <= server.stream.held_bytes <= 5_000_000, "as much as came, not as much as was expected"
    before = server.stream.held_bytes
    server.stream.keep(700)
    assert server.stream.held_bytes == before + 700
    client.stream.pause_reading()
    while server.stream.queued_bytes <= QUEUE_HIGH_BYTES:
        server.stream.send([pattern(64 * 1024)] * 16)
        await asyncio.sleep(0.001)
    assert server.stream.held_bytes >= before + 700 + QUEUE_HIGH_BYTES
    assert memory.held_bytes == server.stream.held_bytes + client.stream.held_bytes
    client.stream.abort()
    server.stream.abort()
    await server.closed()
    await client.closed()
    server.stream.keep(1)
    assert (memory.held_bytes, len(memory.accounts)) == (0, 0)


async def files_that_wait_to_be_sent_are_not_held_in_memory(at: Place) -> None:
    server, client = Recorder(), Recorder()
    await pair(at, server, client)
    file = at.host.disk.open(at.path("large"), create=True)
    file.append([bytes(1_000_000)])
    client.stream.pause_reading()
    before = server.stream.held_bytes
    while server.stream.queued_bytes <= QUEUE_HIGH_BYTES:
        server.stream.send([FileSlice(file, 0, 1_000_000)] * 8)
        await asyncio.sleep(0.001)
    assert server.stream.held_bytes == before
    client.stream.abort()
    server.stream.abort()
    await server.closed()


async def a_stream_that_holds_too_much_is_lost(at: Place) -> None:
    server, client = Recorder(), Recorder()
    memory = at.host.network.memory
    memory.limit((), 1_000_000)
    await pair(at, server, client)

    def wait_for_more(buffer: bytearray, start: int, end: int) -> int:
        server.stream.expect(50_000_000)
        return start

    server._take = wait_for_more
    while "closed" not in server.events:
        if client.stream.queued_bytes < 200_000:  # it has an account, too
            client.stream.send([pattern(100_000)])
        await asyncio.sleep(0.001)
    assert isinstance(server.reason, HoldsTooMuch)
    assert memory.closed_count == 1


async def two_full_queues_do_not_wait_for_each_other(at: Place) -> None:
    server, client = Recorder(), Recorder()
    server._take = lambda buffer, start, end: server.stream.send([bytes(buffer[start:end])]) or end
    await pair(at, server, client)
    data = pattern(12_000_000)
    client.stream.send([data])
    assert await client.received(len(data)) == data
    client.stream.close()


async def close_sends_what_is_queued(at: Place) -> None:
    server, client = Recorder(), Recorder()
    await pair(at, server, client)
    data = pattern(5_000_000)
    server.stream.send([data])
    server.stream.close()
    server.stream.close()
    server.stream.send([b"too late"])
    assert "closed" not in server.events
    await client.closed()
    await server.closed()
    assert client.data == data
    assert (server.reason, client.reason) == (None, None)
    for recorder in (server, client):
        recorder.stream.send([b"x"])
        recorder.stream.pause_reading()
        recorder.stream.resume_reading()
        recorder.stream.close()
        recorder.stream.abort()
    await asyncio.sleep(0.02)
    assert server.count("closed") == client.count("closed") == 1


async def nothing_is_read_after_close(at: Place) -> None:
    server, client = Recorder(), Recorder()

    def take_and_close(buffer: bytearray, start: int, end: int) -> int:
        server.stream.send([b"bye"])
        server.stream.close()
        return start + 1

    server._take = take_and_close
    await pair(at, server, client)
    client.stream.send([b"ab"])
    await server.closed()
    assert server.count("bytes") == 1
    await client.closed()


async def abort_ends_both_sides(at: Place) -> None:
    server, client = Recorder(), Recorder()
    await pair(at, server, client)
    server.stream.send([bytes(50_000_000)])
    server.stream.abort()
    server.stream.abort()
    assert "closed" not in server.events
    await server.closed()
    await client.closed()
    assert len(client.data) < 50_000_000


async def a_handler_that_raises_loses_its_connection(at: Place) -> None:
    told: list[BaseException] = []
    server, client = Recorder(), Recorder()

    def fail(buffer: bytearray, start: int, end: int) -> int:
        raise ValueError("a bug")

    server._take = fail
    await pair(at, server, client)
    before, at.host.tasks.on_crash = at.host.tasks.on_crash, told.append
    client.stream.send([b"x"])
    await server.closed()
    await client.closed()
    assert [str(error) for error in told] == ["a bug"]
    assert isinstance(server.reason, ValueError)
    at.host.tasks.on_crash = before


async def a_stream_may_speak_first_and_leave_at_once(at: Place) -> None:
    class Greeter(Recorder):
        def on_open(self, stream: Stream) -> None:
            super().on_open(stream)
            stream.send([b"go away"])
            stream.close()

    server, client = Greeter(), Recorder()
    await pair(at, server, client)
    await client.closed()
    assert client.data == b"go away"
    await server.closed()


async def connections_are_apart(at: Place) -> None:
    servers: list[Recorder] = []

    def accept() -> Recorder:
        recorder = Recorder()
        recorder._take = lambda buffer, start, end: recorder.stream.send([bytes(buffer[start:end])]) or end
        servers.append(recorder)
        return recorder

    listener = await at.host.network.listen("127.0.0.1", 0, accept)
    clients = [Recorder() for _ in range(20)]
    for client in clients:
        await at.host.network.connect("127.0.0.1", listener.address[1], client)
    for number, client in enumerate(clients):
        client.stream.send([f"client {number:02}".encode()])
    for number, client in enumerate(clients):
        assert await client.received(9) == f"client {number:02}".encode()
        client.stream.close()
    for server in servers:
        await server.closed()


async def nobody_there_is_a_fault(at: Place) -> None:
    listener = await at.host.network.listen("127.0.0.1", 0, Recorder)
    port = listener.address[1]
    with pytest.raises(HostFault):
        await at.host.network.listen("127.0.0.1", port, Recorder)
    listener.close()
    await asyncio.sleep(0.01)
    with pytest.raises(HostFault):
        await at.host.network.connect("127.0.0.1", port, Recorder())


async def a_closed_listener_keeps_its_streams(at: Place) -> None:
    server, client = Recorder(), Recorder()
    listener = await pair(at, server, client)
    listener.close()
    listener.close()
    client.stream.send([b"still here"])
    assert await server.received(10) == b"still here"
    client.stream.close()
    await server.closed()


def _names(checks: Sequence[Check]) -> list[str]:
    return [check.__name__ for check in checks]


STREAM_CHECKS: list[Check] = [
    bytes_arrive_whole_and_in_order,
    both_ends_know_where_they_are,
    files_are_sent_between_bytes,
    many_parts_are_sent_in_order,
    a_file_closed_after_the_send_is_sent_whole,
    a_file_cut_short_breaks_the_connection,
    a_closed_file_breaks_the_connection,
    an_unconsumed_rest_comes_again,
    an_expected_frame_comes_whole,
    a_pause_keeps_the_rest,
    a_rest_is_shown_before_the_end,
    a_slow_reader_fills_the_queue_and_stops_our_reading,
    what_a_stream_holds_is_counted_and_given_back,
    files_that_wait_to_be_sent_are_not_held_in_memory,
    a_stream_that_holds_too_much_is_lost,
    two_full_queues_do_not_wait_for_each_other,
    close_sends_what_is_queued,
    nothing_is_read_after_close,
    abort_ends_both_sides,
    a_handler_that_raises_loses_its_connection,
    a_stream_may_speak_first_and_leave_at_once,
    connections_are_apart,
    nobody_there_is_a_fault,
    a_closed_listener_keeps_its_streams,
]
