"""A writer of transactions, each of which counts as a whole or not at all, and a reader of what is committed."""

from __future__ import annotations

import asyncio
from typing import Final

from twinlog import _kernel
from twinlog.base import HostFault
from twinlog.client.reader import Reader
from twinlog.host import Host
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.link import Link, LinkLost
from twinlog.sim.stage.history import Broken, Place
from twinlog.sim.stage.stage import Stage
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    EndTxnRequest,
    EndTxnResponse,
    FetchResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)

TRANSACTIONAL: Final = 0x10
TIMEOUT_MS: Final = 3_000
RETRIABLE: Final = frozenset(
    (
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.NOT_ENOUGH_REPLICAS,  # how a producer is told that the coordinator cannot be asked
        ErrorCode.REQUEST_TIMED_OUT,
    )
)
# The transaction is over: somebody else has the id, or time ran out.
ENDED: Final = frozenset(
    (
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_TXN_STATE,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.TRANSACTION_ABORTABLE,
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.UNKNOWN_PRODUCER_ID,
    )
)
OPEN, COMMITTED, ABORTED, UNKNOWN = "open", "committed", "aborted", "unknown"


class Transaction:
    """Its fate is ``aborted`` as soon as nobody can have asked for its commit."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: list[bytes] = []
        self.fate = OPEN

    def __str__(self) -> str:
        return f"{self.name} ({self.fate}, {len(self.values)} values)"


class Over(Exception):
    """This transaction cannot go on."""


class TransactionalWriter:
    """One transaction after the other. All lives share ``transactional_id``; only the last may write."""

    def __init__(self, stage: Stage, host: Host, chance: SimChance, name: str, transactional_id: str) -> None:
        self.stage = stage
        self.host = host
        self.chance = chance
        self.name = name
        self.id = transactional_id
        self.timeout_ms = chance.pick([300, 1_000, 4_000])
        self.is_done = False
        self._producer = (-1, -1)
        self._sequences: dict[Place, int] = {}
        self._count = 0
        for transaction in stage.transactions:  # of the life before
            if transaction.name.rpartition(".")[0] == transactional_id and transaction.fate == OPEN:
                transaction.fate = ABORTED

    async def run(self) -> None:
        while not self.is_done:
            link = Link(self.host, self.name, self.chance.fork(f"link {self._now()}"), self.timeout_ms, varied=False)
            try:
                await link.open()
                while not self.is_done:
                    await self._init(link)
                    while self.stage.is_unsafe:
                        await self._transact(link)
                    self.is_done = True
            except Over:
                self.stage.mark("transaction ended by somebody else")
            except (HostFault, LinkLost):
                await asyncio.sleep(self.chance.between(5, 100) / 1000)
            link.abort()

    def _now(self) -> int:
        return self.host.clock.monotonic_us()

    async def _rest(self) -> None:
        await asyncio.sleep(self.chance.between(5, 60) / 1000)

    async def _init(self, link: Link) -> None:
        """Whatever was open is aborted by this."""
        while True:
            request = InitProducerIdRequest(transactional_id=self.id, transaction_timeout_ms=TIMEOUT_MS)
            answer = (await link.call(request)).message
            assert isinstance(answer, InitProducerIdResponse)
            if answer.error_code == 0:
                self._producer = (answer.producer_id, answer.producer_epoch)
                self._sequences.clear()
                return
            self._check(answer.error_code, "its begin")
            await self._rest()

    def _check(self, code: int, what: str) -> None:
        if code in ENDED:
            raise Over
        if code not in RETRIABLE:
            raise Broken("wrong refusal", f"{self.name}: {what} was answered with {code}")

    async def _transact(self, link: Link) -> None:
        self._count += 1
        transaction = Transaction(f"{self.name}")
        self.stage.transactions.append(transaction)
        places = [place for place in self.stage.history.places() if self.chance.one_in(2)]
        places = places or self.stage.history.places()[:1]
        try:
            for number in range(self.chance.between(1, 3)):
                for place in places:
                    await self._write(link, transaction, place, number)
                await asyncio.sleep(self.chance.below(30) / 1000)
            commits = not self.chance.one_in(4)
            transaction.fate = UNKNOWN if commits else ABORTED
            await self._end(link, commits)
            if commits:
                transaction.fate = COMMITTED
        except (Over, LinkLost):
            if transaction.fate == OPEN:
                transaction.fate = ABORTED
            raise
        await self._rest()

    async def _write(self, link: Link, transaction: Transaction, place: Place, number: int) -> None:
        value = f"{self.name} {self._count} {place[0]}-{place[1]} {number}".encode()
        transaction.values.append(value)
        sequence = self._sequences.get(place, 0)
        self._sequences[place] = sequence + 1
        records = _kernel.build_batch(
            [(self.host.clock.now_ms(), None, value, None)],
            producer_id=self._producer[0],
            producer_epoch=self._producer[1],
            base_sequence=sequence,
            attributes=TRANSACTIONAL,
        )
        data = [PartitionProduceData(index=place[1], records=records)]
        request = ProduceRequest(
            transactional_id=self.id,
            acks=-1,
            timeout_ms=10_000,
            topic_data=[TopicProduceData(name=place[0], partition_data=data)],
        )
        while True:
            answer = (await link.call(request)).message
            assert isinstance(answer, ProduceResponse)
            code = answer.responses[0].partition_responses[0].error_code
            if code == 0:
                return
            self._check(code, f"a write to {place}")
            await self._rest()

    async def _end(self, link: Link, commits: bool) -> None:
        while True:
            request = EndTxnRequest(
                transactional_id=self.id,
                producer_id=self._producer[0],
                producer_epoch=self._producer[1],
                committed=commits,
            )
            answer = (await link.call(request)).message
            assert isinstance(answer, EndTxnResponse)
            if answer.error_code == 0:
                # Each transaction has an epoch of its own.
                self._producer = (answer.producer_id, answer.producer_epoch)
                self._sequences.clear()
                return
            self._check(answer.error_code, "its end")
            await self._rest()


class CommittedReader:
    """Reads every partition from its start to its end, again and again; with ``once`` until all is decided."""

    def __init__(self, stage: Stage, host: Host, chance: SimChance, name: str, *, once: bool = False) -> None:
        self.stage = stage
        self.host = host
        self.chance = chance
        self.name = name
        self.once = once
        self.values: dict[bytes, int] = {}
        self._done: dict[Place, None] = {}
        self._reader = Reader(wait_ms=0 if once else chance.pick([0, 100, 400]), committed_only=True)
        for place in stage.history.places():
            self._reader.seek(*place, 0)

    @property
    def positions(self) -> dict[Place, int]:
        return self._reader.positions

    @property
    def is_done(self) -> bool:
        return self.once and len(self._done) == len(self._reader.positions)

    async def run(self) -> None:
        while not self.is_done:
            link = Link(self.host, self.name, self.chance.fork(f"link {self.host.clock.monotonic_us()}"), 4_000)
            try:
                await link.open()
                while link.is_open and not self.is_done:
                    await self._look(link)
            except (HostFault, LinkLost):
                await asyncio.sleep(self.chance.between(5, 100) / 1000)
            link.abort()

    async def _look(self, link: Link) -> None:
        answer = await link.call(self._reader.request(list(self._reader.positions)))
        assert isinstance(answer.message, FetchResponse)
        records, wrong = self._reader.answer(answer.message, answer.buffer)
        for error in wrong:
            if error.code not in RETRIABLE:
                raise Broken("wrong refusal", f"{self.name}: {error}")
        fates = {value: each for each in self.stage.transactions for value in each.values} if records else {}
        for record in records:
            assert record.value is not None
            transaction = fates.get(record.value)
            if transaction is None:
                raise Broken("garbage", f"{self.name}: {record.value!r} was written by nobody")
            if transaction.fate in (OPEN, ABORTED):
                raise Broken("aborted read", f"{self.name}: {record.value!r} of {transaction}")
            self.values[record.value] = self.values.get(record.value, 0) + 1
            self.stage.read_committed[record.value] = None
        for topic in answer.message.responses:
            for data in topic.partitions:
                place = (topic.topic, data.partition_index)
                if not data.error_code and self._reader.positions[place] >= data.high_watermark:
                    self._done[place] = None
        if not records:
            await asyncio.sleep(self.chance.between(5, 50) / 1000)
