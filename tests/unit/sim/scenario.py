"""A small world in which everything happens: streams, files, syncs, threads, crashes, a partition."""

from __future__ import annotations

import asyncio

from twinlog.base.errors import HostFault
from twinlog.host import FileSlice, Host, Stream
from twinlog.sim import LinkProfile, World

PORT = 9
WORDS = [f"word {number}" for number in range(20)]


class Keeper:
    """Writes what comes, and answers with the file when it is synced."""

    def __init__(self, host: Host) -> None:
        self.host = host

    def on_open(self, stream: Stream) -> None:
        self.stream = stream
        self.file = self.host.disk.open("data/log", create=True)

    def on_bytes(self, buffer: bytearray, start: int, end: int) -> int:
        self.file.append([bytes(buffer[start:end])])
        self.host.disk.start_sync([self.file], ["data"], self.synced)
        return end

    def synced(self, fault: Exception | None) -> None:
        self.host.tasks.blocking(lambda: self.file.size, self.answer)

    def answer(self, size: int, fault: Exception | None) -> None:
        self.stream.send([b"have ", FileSlice(self.file, 0, min(size, 50))])

    def on_writable(self) -> None: ...

    def on_closed(self, reason: Exception | None) -> None:
        self.file.close()


class Asker:
    def on_open(self, stream: Stream) -> None: ...

    def on_bytes(self, buffer: bytearray, start: int, end: int) -> int:
        return end

    def on_writable(self) -> None: ...

    def on_closed(self, reason: Exception | None) -> None: ...


async def serve(host: Host) -> None:
    host.disk.make_directory("data")
    await host.network.listen("", PORT, lambda: Keeper(host))


async def ask(host: Host, words: list[str]) -> None:
    while True:
        try:
            stream = await host.network.connect("server", PORT, Asker())
            for word in words:
                stream.send([word.encode() * (1 + host.chance.below(30))])
                await asyncio.sleep(host.chance.below(20) / 1000)
            stream.close()
        except HostFault:
            await asyncio.sleep(0.1)


def digest_of_run(seed: int, *, careless: bool = False) -> str:
    words = list(set(WORDS)) if careless else WORDS
    with World(seed) as world:
        world.fabric.profile = LinkProfile(reset_one_in=100)
        server = world.host("server")
        server.boot(serve)
        for name in ("one", "two"):
            world.host(name).boot(lambda host: ask(host, words))
        for _ in range(5):
            world.run_for(300)
            world.fabric.partition(["one"], ["server"])
            world.run_for(300)
            world.fabric.heal()
            server.cut_power()
            world.run_for(200)
            server.restart()
            world.mark("restarted")
        return world.digest()
