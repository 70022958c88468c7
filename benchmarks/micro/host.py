"""What the machine's door costs: wake-ups, sendfile, sync rounds, thread round trips.

    python benchmarks/micro/host.py [--quick] [--loop uvloop|asyncio] [--directory DIR]

One JSON line a result. CPU figures are the server process's own; the client is another process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

from twinlog.host import FileSlice, Host, Stream
from twinlog.host.local import new_loop, run

MIB = 1 << 20


class Handler:
    """Echoes, at once or a turn later, or answers with a slice of a file; measures from open to close."""

    def __init__(self, host: Host, mode: str, file_slice: FileSlice | None = None) -> None:
        self.host, self.mode, self.file_slice = host, mode, file_slice
        self.ended = asyncio.Event()

    def on_open(self, stream: Stream) -> None:
        self.stream = stream
        self.cpu, self.wall = time.process_time(), time.perf_counter()

    def on_bytes(self, buffer: bytearray, start: int, end: int) -> int:
        if self.mode == "at once":
            self.stream.send([bytes(memoryview(buffer)[start:end])])
        elif self.mode == "a turn later":
            self.host.tasks.soon(self.stream.send, [bytes(memoryview(buffer)[start:end])])
        else:
            assert self.file_slice is not None
            self.stream.send([b"head" * 8, self.file_slice])
        return end

    def on_writable(self) -> None: ...

    def on_closed(self, reason: Exception | None) -> None:
        self.cpu, self.wall = time.process_time() - self.cpu, time.perf_counter() - self.wall
        self.ended.set()


def client(port: int, count: int, request_size: int, reply_size: int) -> None:
    request, buffer = b"x" * request_size, bytearray(4 * MIB)
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(count):
            connection.sendall(request)
            left = reply_size
            while left:
                left -= connection.recv_into(buffer, min(left, len(buffer)))


async def serve(
    host: Host, mode: str, count: int, sizes: tuple[int, int], part: FileSlice | None = None
) -> tuple[float, float]:
    """CPU and wall seconds of ``count`` round trips with a client of its own process."""
    handler = Handler(host, mode, part)
    listener = await host.network.listen("127.0.0.1", 0, lambda: handler)
    arguments = ["--client", str(listener.address[1]), str(count), str(sizes[0]), str(sizes[1])]
    process = await asyncio.create_subprocess_exec(sys.executable, __file__, *arguments)
    await handler.ended.wait()
    assert await process.wait() == 0
    listener.close()
    return handler.cpu, handler.wall


async def echo(host: Host, report: Callable[..., None], count: int) -> None:
    for mode in ("at once", "a turn later"):
        for size in (64, 65536):
            cpu, wall = await serve(host, mode, count, (size, size))
            report(f"echo {size} B, answered {mode}", cpu_us=cpu / count * 1e6, round_trip_us=wall / count * 1e6)


async def send_files(host: Host, report: Callable[..., None], count: int, directory: str) -> None:
    file = host.disk.open(f"{directory}/send", create=True)
    for _ in range(16):
        file.append([os.urandom(MIB)])
    for size in (16384, MIB):
        cpu, wall = await serve(host, "file", count, (32, size + 32), FileSlice(file, 0, size))
        gigabytes = count * size / 1e9
        report(f"sendfile {size} B", cpu_s_per_gb=cpu / gigabytes, gb_per_s=gigabytes / wall)


async def sync(host: Host, report: Callable[..., None], rounds: int, directory: str) -> None:
    loop = asyncio.get_running_loop()
    files = [host.disk.open(f"{directory}/sync{number}", create=True) for number in range(64)]
    for file in files:
        file.reserve(16 * MIB)
    host.disk.sync_directory_now(directory)
    data = os.urandom(4096)
    for count in (1, 2, 4, 5, 8, 64):
        times, cpu = [], time.process_time()
        for _ in range(rounds):
            for file in files[:count]:
                file.append([data])
            begun = time.perf_counter()
            done = loop.create_future()
            host.disk.start_sync(files[:count], [], done.set_result)
            assert await done is None
            times.append(time.perf_counter() - begun)
        times.sort()
        report(
            f"sync {count} files of 4 KB",
            p50_us=times[rounds // 2] * 1e6,
            p99_us=times[rounds * 99 // 100] * 1e6,
            cpu_us=(time.process_time() - cpu) / rounds * 1e6,
        )


async def thread(host: Host, report: Callable[..., None], count: int) -> None:
    loop = asyncio.get_running_loop()
    begun = time.perf_counter()
    for _ in range(count):
        done = loop.create_future()
        host.tasks.blocking(int, lambda value, fault, done=done: done.set_result(value))
        await done
    report("thread round trip", us=(time.perf_counter() - begun) / count * 1e6)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--client", nargs=4, type=int, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="enough to see that it runs; the figures mean nothing")
    parser.add_argument("--loop", choices=("uvloop", "asyncio"))
    parser.add_argument("--directory", help="where the files go; its device decides the sync figures")
    options = parser.parse_args()
    if options.client:
        client(*options.client)
        return
    many, few = (200, 20) if options.quick else (20_000, 2_000)

    for loop in [options.loop] if options.loop else ["uvloop", "asyncio"]:
        settings = {"loop": type(new_loop(loop)).__module__, "python": platform.python_version()}
        settings |= {"uvloop": metadata.version("uvloop"), "kernel": platform.release(), "cores": os.cpu_count()}

        def report(what: str, settings: dict[str, Any] = settings, **figures: float) -> None:
            print(json.dumps({"what": what, **{k: round(v, 2) for k, v in figures.items()}, **settings}), flush=True)

        async def all_of_them(host: Host, report: Callable[..., None] = report) -> None:
            with tempfile.TemporaryDirectory(dir=options.directory) as directory:
                await echo(host, report, many)
                await send_files(host, report, few, directory)
                await sync(host, report, few // 4, directory)
                await thread(host, report, many)

        run(all_of_them, loop=loop)


if __name__ == "__main__":
    main()
