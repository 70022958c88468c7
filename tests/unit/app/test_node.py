"""A whole node in a simulated world: what it confirmed survives, whatever happens to the machine."""

from __future__ import annotations

import asyncio
import base64

import pytest

from twinlog.app.node import Node
from twinlog.app.settings import IdentitySettings, KafkaListenSettings, NodeSettings
from twinlog.base import HostFault
from twinlog.base.logs import Silence
from twinlog.client import Connection, Reader, Record
from twinlog.client.admin import create_topic
from twinlog.client.connection import Answer
from twinlog.client.outbox import Outbox
from twinlog.host import Host, Stream
from twinlog.sim import World
from twinlog.wire.kafka.message import Message
from twinlog.wire.kafka.messages import (
    DescribeClusterRequest,
    FetchResponse,
    MetadataRequest,
    MetadataRequestTopic,
    ProduceResponse,
)

PORT = 9092


def settings(*, listen: str = "broker:9092", more: tuple[str, ...] = ()) -> NodeSettings:
    return NodeSettings(
        identity=IdentitySettings(data_dir="/data", more_data_dirs=more),
        kafka_listen=KafkaListenSettings(listen=listen),
    )


class Machine:
    """A simulated host that runs a node."""

    def __init__(self, world: World, chosen: NodeSettings | None = None) -> None:
        self.world = world
        self.sim = world.host("broker")
        self.settings = chosen or settings()
        self.node: Node | None = None
        self.ready = False
        self.sim.boot(self._program)
        world.wait_for(lambda: self.ready, within_ms=60_000)

    async def _program(self, host: Host) -> None:
        self.node = Node(host, self.settings, Silence())
        await self.node.start()
        self.ready = True

    def stop(self) -> None:
        assert self.node is not None
        self.sim.run(self.node.stop())
        self.sim.kill()
        self.ready = False

    def come_back(self) -> None:
        self.ready = False
        self.sim.restart()
        self.world.wait_for(lambda: self.ready, within_ms=60_000)


class Caller:
    """A client on another simulated host, over the same connection core as the command line's."""

    def __init__(self, world: World) -> None:
        self.host = world.host("caller")
        self.core = Connection()
        self.stream: Stream | None = None
        self.waiting: asyncio.Future[Answer] | None = None

    def on_open(self, stream: Stream) -> None:
        self.stream = stream

    def on_bytes(self, buffer: bytearray, start: int, end: int) -> int:
        for answer in self.core.receive(memoryview(buffer)[start:end]):
            if self.waiting is not None:
                self.waiting.set_result(answer)
        return end

    def on_writable(self) -> None: ...

    def on_closed(self, reason: Exception | None) -> None:
        if self.waiting is not None and not self.waiting.done():
            self.waiting.set_exception(ConnectionError("closed"))

    async def call(self, request: Message) -> Answer:
        if self.stream is None:
            await self.host.host.network.connect("broker", PORT, self)
            await self._answer(self.core.hello())
        return await self._answer(self.core.request(request)[1])

    async def _answer(self, data: bytes) -> Answer:
        assert self.stream is not None
        self.waiting = asyncio.get_running_loop().create_future()
        self.stream.send([data])
        return await self.waiting


def ask(world: World, *requests: Message) -> list[Answer]:
    """Requests one after the other over a connection of their own."""
    caller = Caller(world)

    async def all_of_them() -> list[Answer]:
        answers = [await caller.call(request) for request in requests]
        assert caller.stream is not None
        caller.stream.close()
        return answers

    answers: list[Answer] = caller.host.run(all_of_them())
    return answers


def produce(world: World, *values: bytes, acks: int = -1, into: str = "t") -> ProduceResponse:
    outbox = Outbox(acks=acks)
    for value in values:
        outbox.add(into, 0, None, value, [], 1_700_000_000_000)
    (batches,) = outbox.take(lambda topic, partition: 1, everything=True).values()
    topic = MetadataRequest(topics=[MetadataRequestTopic(name=into)], allow_auto_topic_creation=True)
    _, produced = ask(world, topic, outbox.request(batches))
    assert isinstance(produced.message, ProduceResponse)
    return produced.message


def read(world: World) -> list[Record]:
    reader = Reader(wait_ms=0)
    reader.seek("t", 0, 0)
    (fetched,) = ask(world, reader.request([("t", 0)]))
    assert isinstance(fetched.message, FetchResponse)
    records, wrong = reader.answer(fetched.message, fetched.buffer)
    assert wrong == []
    return records


@pytest.mark.parametrize("seed", range(5))
def test_what_was_confirmed_survives_a_power_cut(seed: int) -> None:
    with World(seed) as world:
        machine = Machine(world)
        for number in range(5):
            answer = produce(world, b"%d" % number)
            assert answer.responses[0].partition_responses[0].error_code == 0
        machine.sim.cut_power()
        machine.come_back()
        assert [record.value for record in read(world)] == [b"0", b"1", b"2", b"3", b"4"]


def test_a_clean_stop_keeps_even_what_nobody_waited_for() -> None:
    with World(1) as world:
        machine = Machine(world)
        produce(world, b"relaxed", acks=1)
        machine.stop()
        machine.sim.cut_power()
        machine.come_back()
        assert [record.value for record in read(world)] == [b"relaxed"]
        assert machine.node is not None
        (topic,) = machine.node.metadata.image.topics_by_name.values()
        assert topic.partitions[0].leader_epoch == 0  # nothing was in doubt, so nobody had to hear of a new epoch


def test_a_node_keeps_its_cluster_and_its_id_over_restarts() -> None:
    with World(2) as world:
        machine = Machine(world)
        (before,) = ask(world, DescribeClusterRequest())
        machine.sim.kill()
        machine.come_back()
        (after,) = ask(world, DescribeClusterRequest())
        assert after.message == before.message


def test_the_disks_and_the_metadata_name_the_same_cluster() -> None:
    with World(3) as world:
        machine = Machine(world)
        assert machine.node is not None

        named = base64.urlsafe_b64decode(machine.node.metadata.image.cluster_id + "==")
        assert machine.node.store.cluster_id == named


def test_a_lost_metadata_log_is_refused_not_made_anew() -> None:
    with World(4) as world:
        machine = Machine(world)
        produce(world, b"precious")
        machine.stop()
        disk = machine.sim.host.disk
        for name in disk.list("/data"):
            if name.startswith("metadata") and name.endswith(".frames"):
                disk.delete(f"/data/{name}")
        machine.sim.kill()

        async def start(host: Host) -> None:
            await Node(host, settings(), Silence()).start()

        with pytest.raises(HostFault, match="metadata"):
            machine.sim.run(start(machine.sim.host))


def test_the_same_seed_gives_the_same_run() -> None:
    def digest(seed: int) -> str:
        with World(seed) as world:
            machine = Machine(world)
            produce(world, b"a", b"b")
            machine.stop()
            return world.digest()

    assert digest(7) == digest(7)
    assert digest(7) != digest(8)


def test_a_directory_of_metadata_that_cannot_be_read_ends_the_start() -> None:
    with World(6) as world:
        chosen = settings(more=("/more",))
        machine = Machine(world, chosen)
        produce(world, b"value")
        machine.stop()
        machine.sim.platter.faults.fail("list", path_part="/data/logs", times=3)

        async def start(host: Host) -> None:
            await Node(host, chosen, Silence()).start()

        with pytest.raises(HostFault, match="/data"):
            machine.sim.run(start(machine.sim.host))


@pytest.mark.parametrize("seed", range(8))
def test_what_was_confirmed_counts_from_the_first_moment_after_a_crash(seed: int) -> None:
    with World(seed) as world:
        machine = Machine(world, settings(more=("/more",)))
        for topic in ("one", "two"):  # one directory each
            produce(world, b"value", into=topic)
        machine.sim.kill()
        machine.come_back()
        assert machine.node is not None
        ends = [
            partition.high_watermark
            for partition in machine.node.broker.partitions
            if partition.topic in ("one", "two")
        ]
        assert ends == [1, 1]


def test_an_append_that_takes_the_log_offline_confirms_nothing_of_its_request() -> None:
    with World(7) as world:
        machine = Machine(world)
        ask(world, create_topic("t", 2, 1, {"segment.ms": "5"}))
        outbox = Outbox()
        for partition in (0, 1):
            outbox.add("t", partition, None, b"value", [], 1_700_000_000_000)
        (batches,) = outbox.take(lambda topic, partition: 1, everything=True).values()
        ask(world, outbox.request(batches))
        world.run_for(100)
        # Both logs begin a new segment. The first one's batch waits for the disk when the second one's index fails.
        machine.sim.platter.faults.fail("truncate", nth=2, path_part=".index")
        (answer,) = ask(world, outbox.request(batches))
        assert isinstance(answer.message, ProduceResponse)
        results = answer.message.responses[0].partition_responses
        assert [result.error_code for result in results] == [56, 56]


def test_two_nodes_of_different_clusters_do_not_share_a_disk() -> None:
    with World(5) as world:
        machine = Machine(world)
        machine.stop()

        async def as_another(host: Host) -> None:
            chosen = NodeSettings(
                identity=IdentitySettings(data_dir="/data", id=9), kafka_listen=settings().kafka_listen
            )
            await Node(host, chosen, Silence()).start()

        with pytest.raises(HostFault, match="belongs to node 1"):
            machine.sim.run(as_another(machine.sim.host))
