"""Transactions on a simulated machine that dies between any two steps: each of them happened whole, or not at all.

A copier writes numbers to two partitions and commits how far it came, all in one transaction. After every death it
goes on from the committed offset, as a program that wants each number exactly once has to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest

from tests.unit.app.test_node import Machine, settings
from twinlog._kernel import build_batch
from twinlog.base import HostFault
from twinlog.client import Connection, Reader
from twinlog.host import Host, Stream
from twinlog.sim import World
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.message import Message
from twinlog.wire.kafka.messages import (
    AddOffsetsToTxnRequest,
    AddPartitionsToTxnRequest,
    CreateTopicsRequest,
    EndTxnRequest,
    FetchResponse,
    FindCoordinatorRequest,
    InitProducerIdRequest,
    ListOffsetsRequest,
    ListTransactionsRequest,
    OffsetFetchRequest,
    ProduceRequest,
    TxnOffsetCommitRequest,
)
from twinlog.wire.kafka.messages.add_partitions_to_txn import AddPartitionsToTxnTopic
from twinlog.wire.kafka.messages.create_topics import CreatableTopic
from twinlog.wire.kafka.messages.list_offsets import ListOffsetsPartition, ListOffsetsTopic
from twinlog.wire.kafka.messages.offset_fetch import OffsetFetchRequestTopic
from twinlog.wire.kafka.messages.produce import PartitionProduceData, TopicProduceData
from twinlog.wire.kafka.messages.txn_offset_commit import TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic

PORT: Final = 9092
OLD_VERSIONS: Final = {0: 11, 9: 7, 24: 3, 25: 3, 26: 2, 28: 3}
NEW_VERSIONS: Final = {9: 7, 24: 3}
TOPICS: Final = ("left", "right")
GROUP, NAME = "copiers", "copier"
TRANSACTIONAL: Final = 0x10
AGAIN: Final = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.UNSTABLE_OFFSET_COMMIT,
)


class Gone(Exception):
    """The connection broke, or took too long: nobody knows what became of the last request."""


class Link:
    """A connection to the node; a request that breaks it, breaks the attempt."""

    def __init__(self, host: Host, caps: dict[int, int]) -> None:
        self._host = host
        self._caps = caps
        self._core = Connection()
        self._stream: Stream | None = None
        self._waiting: asyncio.Future[Any] | None = None
        self._closed = False

    def on_open(self, stream: Stream) -> None:
        self._stream = stream

    def on_bytes(self, buffer: bytearray, start: int, end: int) -> int:
        for answer in self._core.receive(memoryview(buffer)[start:end]):
            if self._waiting is not None and not self._waiting.done():
                self._waiting.set_result(answer)
        return end

    def on_writable(self) -> None: ...

    def on_closed(self, reason: Exception | None) -> None:
        self._closed = True
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(Gone())

    async def open(self) -> None:
        try:
            await self._host.network.connect("broker", PORT, self)
        except HostFault:
            raise Gone from None
        await self._answer(self._core.hello())
        assert self._core.versions is not None
        for key, version in self._caps.items():
            self._core.versions[key] = (self._core.versions[key][0], version)

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()

    async def call(self, request: Message) -> Any:
        return (await self.answered(request)).message

    async def answered(self, request: Message) -> Any:
        return await self._answer(self._core.request(request)[1])

    async def _answer(self, data: bytes) -> Any:
        if self._closed or self._stream is None:
            raise Gone
        self._waiting = asyncio.get_running_loop().create_future()
        self._stream.send([data])
        try:
            return await asyncio.wait_for(self._waiting, 20)
        except TimeoutError:
            raise Gone from None


class Copier:
    """Writes 0, 1, 2, ... to both topics, a few numbers a transaction."""

    def __init__(self, world: World, *, implicit: bool, goal: int) -> None:
        self.world = world
        self.implicit = implicit
        self.goal = goal
        self.attempts = 0
        self.done = False
        self.chance = world.chance.fork("copier")
        self.clock = world.host("client").clock
        self.link: Link
        self.sequences: dict[str, int] = {}
        self.producer_id = self.epoch = -1

    async def run(self, host: Host) -> None:
        while not self.done:
            self.link = Link(host, NEW_VERSIONS if self.implicit else OLD_VERSIONS)
            try:
                await self.link.open()
                await self.copy()
            except Gone:
                await asyncio.sleep(0.05)
            finally:
                self.link.close()

    async def patiently(self, ask: Callable[[], Awaitable[tuple[int, Any]]]) -> Any:
        while True:
            code, found = await ask()
            if code == 0:
                return found
            if code not in AGAIN:
                raise Gone(ErrorCode(code))  # fenced or refused: begin anew
            await asyncio.sleep(0.01)

    async def copy(self) -> None:
        for topic in TOPICS:
            await self.link.call(
                CreateTopicsRequest(topics=[CreatableTopic(name=topic, num_partitions=1, replication_factor=-1)])
            )
        for kind, key in ((0, GROUP), (1, NAME)):
            await self.patiently(lambda kind=kind, key=key: self.find(kind, key))  # type: ignore[misc]
        await self.patiently(self.init)
        while True:
            number = max(0, await self.patiently(self.committed))
            if number >= self.goal:
                self.done = True
                return
            await self.transaction(number, 1 + self.chance.below(3))

    async def find(self, kind: int, key: str) -> tuple[int, Any]:
        answer = await self.link.call(FindCoordinatorRequest(key_type=kind, coordinator_keys=[key]))
        return answer.coordinators[0].error_code, None

    async def init(self) -> tuple[int, Any]:
        answer = await self.link.call(InitProducerIdRequest(transactional_id=NAME, transaction_timeout_ms=60_000))
        self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
        self.sequences.clear()
        return answer.error_code, None

    async def committed(self) -> tuple[int, Any]:
        topic = OffsetFetchRequestTopic(name="left", partition_indexes=[0])
        answer = await self.link.call(OffsetFetchRequest(group_id=GROUP, topics=[topic], require_stable=True))
        found = answer.topics[0].partitions[0]
        return answer.error_code or found.error_code, found.committed_offset

    async def transaction(self, number: int, count: int) -> None:
        self.attempts += 1
        values = [b"%d" % each for each in range(number, number + count)]
        for topic in TOPICS if self.chance.below(2) else TOPICS[::-1]:
            if not self.implicit:
                await self.patiently(lambda topic=topic: self.add(topic))  # type: ignore[misc]
            await self.patiently(lambda topic=topic: self.produce(topic, values))  # type: ignore[misc]
        await self.patiently(lambda: self.commit_offset(number + count))
        await self.patiently(lambda: self.end(commit=self.chance.below(4) > 0))

    async def add(self, topic: str) -> tuple[int, Any]:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=NAME,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=topic, partitions=[0])],
        )
        answer = await self.link.call(request)
        return answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code, None

    async def produce(self, topic: str, values: list[bytes]) -> tuple[int, Any]:
        sequence = self.sequences.get(topic, 0)
        data = build_batch(
            [(self.clock.now_ms(), None, value, []) for value in values],
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=sequence,
            attributes=TRANSACTIONAL,
        )
        request = ProduceRequest(
            transactional_id=NAME,
            acks=-1,
            timeout_ms=10_000,
            topic_data=[TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=data)])],
        )
        answer = await self.link.call(request)
        code = answer.responses[0].partition_responses[0].error_code
        if not code:
            self.sequences[topic] = sequence + len(values)
        return code, None

    async def commit_offset(self, offset: int) -> tuple[int, Any]:
        if not self.implicit:
            request = AddOffsetsToTxnRequest(
                transactional_id=NAME, producer_id=self.producer_id, producer_epoch=self.epoch, group_id=GROUP
            )
            answer = await self.link.call(request)
            if answer.error_code:
                return answer.error_code, None
        part = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        commit = TxnOffsetCommitRequest(
            transactional_id=NAME,
            group_id=GROUP,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            topics=[TxnOffsetCommitRequestTopic(name="left", partitions=[part])],
        )
        answer = await self.link.call(commit)
        return answer.topics[0].partitions[0].error_code, None

    async def end(self, *, commit: bool) -> tuple[int, Any]:
        answer = await self.link.call(
            EndTxnRequest(
                transactional_id=NAME, producer_id=self.producer_id, producer_epoch=self.epoch, committed=commit
            )
        )
        if not answer.error_code and self.implicit:
            self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
            self.sequences.clear()
        return answer.error_code, None


class Verdict:
    """What is there in the end, as readers of committed data see it."""

    def __init__(self) -> None:
        self.values: dict[str, list[bytes | None]] = {}
        self.states: set[str] = set()
        self.stable: dict[str, tuple[int, int]] = {}  # topic -> stable offset, end

    async def run(self, host: Host) -> None:
        link = Link(host, {})
        await link.open()
        await asyncio.sleep(1)  # the markers of the last end become durable
        for topic in TOPICS:
            reader = Reader(wait_ms=0, committed_only=True)
            reader.seek(topic, 0, 0)
            answer = await link.answered(reader.request([(topic, 0)]))
            assert isinstance(answer.message, FetchResponse)
            records, wrong = reader.answer(answer.message, answer.buffer)
            assert wrong == []
            self.values[topic] = [record.value for record in records]
            ends = []
            for isolation_level in (1, 0):
                part = ListOffsetsPartition(partition_index=0, timestamp=-1)
                request = ListOffsetsRequest(
                    replica_id=-1,
                    isolation_level=isolation_level,
                    topics=[ListOffsetsTopic(name=topic, partitions=[part])],
                )
                ends.append((await link.call(request)).topics[0].partitions[0].offset)
            self.stable[topic] = (ends[0], ends[1])
        listed = await link.call(ListTransactionsRequest())
        self.states = {each.transaction_state for each in listed.transaction_states}
        link.close()


@pytest.mark.parametrize("implicit", [True, False], ids=["version 2", "version 1"])
@pytest.mark.parametrize("seed", range(6))
def test_a_copy_is_exact_whenever_the_machine_dies(seed: int, implicit: bool) -> None:
    with World(seed) as world:
        machine = Machine(world, settings())
        copier = Copier(world, implicit=implicit, goal=30)
        program = world.host("client")
        program.boot(copier.run)
        chance = world.chance.fork("deaths")
        for _ in range(12):
            world.run_for(1 + chance.below(60))
            if chance.below(2):
                machine.sim.cut_power()
            else:
                machine.sim.kill()
            world.run_for(chance.below(20))
            machine.come_back()
        world.wait_for(lambda: copier.done, within_ms=600_000)
        verdict = Verdict()
        world.host("judge").run(verdict.run(world.host("judge").host))
        wanted = [b"%d" % number for number in range(len(verdict.values["left"]))]
        assert len(wanted) >= 30
        assert verdict.values == {"left": wanted, "right": wanted}
        assert all(stable == end for stable, end in verdict.stable.values()), "nothing hangs"
        assert verdict.states <= {"Empty", "CompleteCommit", "CompleteAbort"}
        assert copier.attempts >= 9
