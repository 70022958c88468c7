"""The wires of the simulated world: late, narrow, cut."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.kit.streams import Recorder, pattern
from twinlog.base.errors import HostFault
from twinlog.base.units import KIB
from twinlog.host import Host
from twinlog.sim import LinkProfile, World


class Town:
    """A world with a server that keeps what it gets, and a client connected to it."""

    def __init__(self, seed: int = 1) -> None:
        self.world = World(seed)
        self.servers: list[Recorder] = []
        self.client = Recorder()

        async def serve(host: Host) -> None:
            await host.network.listen("0.0.0.0", 9, self._accept)

        self.world.host("server").boot(serve)
        self.connect(self.client)

    def __enter__(self) -> Town:
        return self

    def __exit__(self, *error: object) -> None:
        self.world.close()

    @property
    def server(self) -> Recorder:
        return self.servers[-1]

    def connect(self, client: Recorder) -> Any:
        machine = self.world.host("client")
        machine.run(machine.host.network.connect("server", 9, client))
        self.world.run_for(100)

    def _accept(self) -> Recorder:
        self.servers.append(Recorder())
        return self.servers[-1]


def test_reads_come_in_odd_sizes_and_lose_nothing() -> None:
    sizes: list[int] = []
    for seed in range(5):
        with Town(seed) as town:
            town.server._take = lambda buffer, start, end: sizes.append(end - start) or end
            for _ in range(50):
                town.client.stream.send([pattern(300)])
                town.world.run_for(50)
            assert town.server.stream.received_bytes == 15_000
    assert sum(sizes) == 75_000
    assert {1, 300} < set(sizes)


def test_a_partition_keeps_back_and_a_heal_delivers() -> None:
    with Town() as town:
        town.world.fabric.partition(["client"], ["server"])
        town.client.stream.send([b"late"])
        town.world.run_for(60_000)
        assert town.server.data == b""
        town.world.fabric.heal()
        town.world.run_for(100)
        assert town.server.data == b"late"


def test_a_one_way_cut_blocks_one_way() -> None:
    with Town() as town:
        town.world.fabric.block(["client"], ["server"])
        town.client.stream.send([b"up"])
        town.server.stream.send([b"down"])
        town.world.run_for(1_000)
        assert (town.server.data, town.client.data) == (b"", b"down")


def test_nobody_connects_through_a_partition() -> None:
    with Town() as town:
        town.world.fabric.partition(["client"], ["server"])
        begun_us = town.world.loop.now_us
        with pytest.raises(HostFault, match="timed out"):
            town.connect(Recorder())
        assert town.world.loop.now_us - begun_us >= 30_000_000


def test_a_heal_in_time_lets_a_connection_through() -> None:
    with Town() as town:
        town.world.fabric.partition(["client"], ["server"])
        town.world.loop.call_later(10, town.world.fabric.heal)
        town.connect(Recorder())
        assert len(town.servers) == 2


def test_a_reset_reaches_both_ends() -> None:
    with Town() as town:
        assert town.world.fabric.reset_between("client", "server") == 1
        town.world.run_for(1)
        assert isinstance(town.client.reason, ConnectionResetError)
        assert isinstance(town.server.reason, ConnectionResetError)


def test_resets_by_chance_deliver_a_prefix() -> None:
    broken = 0
    for seed in range(20):
        with Town(seed) as town:
            town.world.fabric.profile.reset_one_in = 20
            for place in range(0, 3000, 100):
                town.client.stream.send([pattern(3000)[place : place + 100]])
                town.world.run_for(5)
            town.world.run_for(1_000)
            assert pattern(3000).startswith(bytes(town.server.data))
            broken += town.server.count("closed")
            assert town.server.count("closed") == town.client.count("closed")
    assert 10 < broken <= 20


def test_a_slow_reader_holds_at_most_a_window() -> None:
    with Town() as town:
        town.server.stream.pause_reading()
        town.client.stream.send([bytes(200 * KIB)])
        town.world.run_for(10_000)
        assert town.client.stream.queued_bytes == 200 * KIB - LinkProfile().window_bytes
        town.server.stream.resume_reading()
        town.world.run_for(10_000)
        assert town.client.stream.queued_bytes == 0
        assert len(town.server.data) == 200 * KIB


def test_a_killed_process_is_missed_at_once() -> None:
    with Town() as town:
        town.world.host("server").kill()
        town.world.run_for(100)
        assert town.client.count("closed") == 1
        assert town.server.count("closed") == 0  # nobody is left who could be told
        with pytest.raises(HostFault, match="refused"):
            town.connect(Recorder())


def test_a_machine_without_power_is_not_missed_until_it_is_back() -> None:
    with Town() as town:
        town.world.host("server").cut_power()
        town.client.stream.send([b"anybody there?"])
        town.world.run_for(60_000)
        assert town.client.count("closed") == 0
        town.world.host("server").restart()
        town.world.run_for(100)
        assert isinstance(town.client.reason, ConnectionResetError)
        town.connect(Recorder())
        assert len(town.servers) == 2


def test_an_idle_peer_of_a_lost_machine_learns_it_when_it_speaks() -> None:
    with Town() as town:
        town.world.host("server").cut_power()
        town.world.host("server").restart()
        town.world.run_for(60_000)
        assert town.client.count("closed") == 0
        town.client.stream.send([b"hello again"])
        town.world.run_for(100)
        assert town.client.count("closed") == 1


def test_a_paused_machine_answers_when_it_goes_on() -> None:
    with Town() as town:
        server = town.world.host("server")
        server.pause()
        town.client.stream.send([b"hello"])
        town.world.run_for(60_000)
        assert town.server.data == b""
        server.go_on()
        town.world.run_for(10)
        assert town.server.data == b"hello"


def test_ports_belong_to_their_host() -> None:
    async def listen_twice(host: Host) -> None:
        await host.network.listen("localhost", 9, Recorder)
        with pytest.raises(HostFault):
            await host.network.listen("", 9, Recorder)
        with pytest.raises(HostFault):
            await host.network.listen("server", 10, Recorder)

    with Town() as town:
        town.world.host("other").boot(listen_twice)
        town.world.run_for(10)


def test_connections_of_a_host_to_itself_pass_any_partition() -> None:
    with Town() as town:
        town.world.fabric.partition(["server"], ["client"])
        machine, own = town.world.host("server"), Recorder()
        machine.run(machine.host.network.connect("localhost", 9, own))
        own.stream.send([b"me"])
        town.world.run_for(100)
        assert town.server.data == b"me"


def test_a_connection_not_waited_for_any_more_is_closed_on_the_other_side() -> None:
    async def give_up(host: Host) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.0001):
                await host.network.connect("server", 9, late)

    for seed in range(20):
        with Town(seed) as town:
            late = Recorder()
            machine = town.world.host("client")
            machine.run(give_up(machine.host))
            town.world.run_for(1_000)
            assert late.events == []
            assert all(server.count("closed") == 1 for server in town.servers[1:])
