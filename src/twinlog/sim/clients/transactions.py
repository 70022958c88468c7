"""A writer of transactions, each of which counts as a whole or not at all, and a reader of what is committed.

Two writers may have the same transactional id: the newer one fences the other, which does not know that it is dead
and goes on. Requests may also be late: they arrive over a connection of their own when their sender gave up long ago.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final, NoReturn

from twinlog import _kernel
from twinlog.base import HostFault
from twinlog.client.reader import Reader
from twinlog.host import Host
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.link import Link, LinkLost
from twinlog.sim.stage.history import Broken, Place
from twinlog.sim.stage.stage import Stage
from twinlog.sim.stage.transaction_history import Fate, Transaction
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.message import Message
from twinlog.wire.kafka.messages import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
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
from twinlog.wire.kafka.messages.add_partitions_to_txn import AddPartitionsToTxnTopic

TRANSACTIONAL: Final = 0x10
TIMEOUT_MS: Final = 3_000
LATE_MS: Final = (50, 400, 2_000, TIMEOUT_MS + 1_000)  # the last: when the transaction ran out of time
# The newest versions of Produce, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn, TxnOffsetCommit that know nothing of an
# epoch for each transaction: partitions have to be announced.
FIRST_VERSION: Final = {0: 11, 24: 3, 25: 3, 26: 4, 28: 4}
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
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
    )
)
REPLACED: Final = frozenset((ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED))
# The transaction is over: somebody else has the id, or time ran out.
ENDED: Final = REPLACED | {
    ErrorCode.INVALID_TXN_STATE,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    ErrorCode.TRANSACTION_ABORTABLE,
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    ErrorCode.UNKNOWN_PRODUCER_ID,
}


class Over(Exception):
    """This transaction cannot go on. ``replaced``: nor can its producer."""

    def __init__(self, *, replaced: bool) -> None:
        super().__init__(replaced)
        self.replaced = replaced


class TransactionalProducer:
    """The requests of a transactional producer. All lives and rivals share ``transactional_id``; the last may write."""

    def __init__(self, stage: Stage, host: Host, chance: SimChance, name: str, transactional_id: str) -> None:
        self.stage = stage
        self.host = host
        self.chance = chance
        self.name = name
        self.id = transactional_id
        self.announces = chance.one_in(3)  # as clients of the first version of the protocol have to
        self._producer = (-1, -1)
        self._sequences: dict[Place, int] = {}
        self._announced: dict[Place, None] = {}

    @property
    def key(self) -> tuple[int, int]:
        """Producer id and epoch."""
        return self._producer

    @property
    def version_caps(self) -> dict[int, int]:
        return FIRST_VERSION if self.announces else {}

    async def rest(self) -> None:
        await asyncio.sleep(self.chance.between(5, 60) / 1000)

    async def init(self, link: Link) -> None:
        """Whatever was open is aborted by this."""
        while True:
            request = InitProducerIdRequest(transactional_id=self.id, transaction_timeout_ms=TIMEOUT_MS)
            answer = (await link.call(request)).message
            assert isinstance(answer, InitProducerIdResponse)
            if answer.error_code == 0:
                self._go_on_as(answer.producer_id, answer.producer_epoch)
                return
            self.check(answer.error_code, "its begin")
            await self.rest()

    def _go_on_as(self, producer_id: int, epoch: int) -> None:
        self._announced.clear()
        if self._producer != (producer_id, epoch):
            self._sequences.clear()
        self._producer = (producer_id, epoch)

    def check(self, code: int, what: str) -> None:
        if code in ENDED:
            raise Over(replaced=code in REPLACED)
        if code not in RETRIABLE:
            raise Broken("wrong refusal", f"{self.name}: {what} was answered with {code}")

    async def write(self, link: Link, transaction: Transaction, place: Place, value: bytes) -> None:
        self.stage.transactions.note_written(transaction, value)
        if self.announces and place not in self._announced:
            await self._announce(link, place)
        request = self._produce(place, value)
        self._sequences[place] = self._sequences.get(place, 0) + 1
        await self._perhaps_late(request, one_in=40)
        while True:
            answer = (await link.call(request)).message
            code = _written(answer)
            if code == 0:
                return
            self.check(code, f"a write to {place}")
            await self.rest()

    def _produce(self, place: Place, value: bytes) -> ProduceRequest:
        records = _kernel.build_batch(
            [(self.host.clock.now_ms(), None, value, None)],
            producer_id=self._producer[0],
            producer_epoch=self._producer[1],
            base_sequence=self._sequences.get(place, 0),
            attributes=TRANSACTIONAL,
        )
        data = [PartitionProduceData(index=place[1], records=records)]
        return ProduceRequest(
            transactional_id=self.id,
            acks=-1,
            timeout_ms=10_000,
            topic_data=[TopicProduceData(name=place[0], partition_data=data)],
        )

    async def _announce(self, link: Link, place: Place) -> None:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.id,
            v3_and_below_producer_id=self._producer[0],
            v3_and_below_producer_epoch=self._producer[1],
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=place[0], partitions=[place[1]])],
        )
        while True:
            answer = (await link.call(request)).message
            assert isinstance(answer, AddPartitionsToTxnResponse)
            code = answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
            if code == 0:
                self._announced[place] = None
                return
            self.check(code, f"announcing {place}")
            await self.rest()

    async def end(self, link: Link, transaction: Transaction, *, commits: bool) -> None:
        transaction.fate = Fate.UNKNOWN if commits else Fate.ABORTED
        request = EndTxnRequest(
            transactional_id=self.id,
            producer_id=self._producer[0],
            producer_epoch=self._producer[1],
            committed=commits,
        )
        await self._perhaps_late(request, one_in=12)
        await self._end(link, transaction, request)

    async def _end(self, link: Link, transaction: Transaction, request: EndTxnRequest) -> None:
        while True:
            answer = (await link.call(request)).message
            assert isinstance(answer, EndTxnResponse)
            if answer.error_code == 0:
                if self.announces:
                    self._announced.clear()
                else:
                    self._go_on_as(answer.producer_id, answer.producer_epoch)
                if request.committed:
                    self.stage.transactions.note_committed(transaction)
                return
            self.check(answer.error_code, "its end")
            await self.rest()

    async def recover(self, link: Link, transaction: Transaction) -> None:
        """The connection was lost within the transaction. The end is asked for again, or asked for at last: an abort
        where nobody can have asked for a commit. Only who has an epoch for each transaction may do that."""
        request = EndTxnRequest(
            transactional_id=self.id,
            producer_id=self._producer[0],
            producer_epoch=self._producer[1],
            committed=transaction.fate is Fate.UNKNOWN,
        )
        self.stage.mark("end asked for again")
        await self._end(link, transaction, request)

    async def _perhaps_late(self, request: Message, one_in: int) -> None:
        """Now and then the request gets stuck on its way: its sender gives up, and it arrives much later."""
        if not self.stage.is_unsafe or not self.chance.one_in(one_in):
            return
        delay_ms = self.chance.pick(LATE_MS)
        chance = self.chance.fork(f"late {self.host.clock.monotonic_us()}")

        async def arrive() -> None:
            await asyncio.sleep(delay_ms / 1000)
            link = Link(self.host, f"{self.name} late", chance, 10_000, caps=self.version_caps, varied=False)
            try:
                await link.open()
                await link.call(request)
                self.stage.mark(f"late {type(request).__name__}")
            except (HostFault, LinkLost):
                pass
            link.abort()

        self.host.tasks.start(arrive(), f"{self.name} late")
        await self.rest()
        raise LinkLost

    async def haunt(self, link: Link, place: Place) -> None:
        """Somebody else took over: what this one still tries must not be taken."""
        self._sequences.setdefault(place, 0)
        ghost = self.stage.transactions.begin(self.name)
        ghost.fate = Fate.ABORTED
        value = f"{self.name} haunts {self.host.clock.monotonic_us()}".encode()
        self.stage.transactions.note_written(ghost, value)
        answer = (await link.call(self._produce(place, value))).message
        code = _written(answer)
        if code == 0:
            raise Broken("zombie write", f"{self.name}: was fenced, and its next write was taken")
        if code in ENDED:
            self.stage.mark("zombie refused")


def _written(answer: Message) -> int:
    assert isinstance(answer, ProduceResponse)
    return answer.responses[0].partition_responses[0].error_code


class TransactionalWriter(TransactionalProducer):
    """One transaction after the other."""

    def __init__(
        self, stage: Stage, host: Host, chance: SimChance, name: str, transactional_id: str, places: list[Place]
    ) -> None:
        super().__init__(stage, host, chance, name, transactional_id)
        self.timeout_ms = chance.pick([300, 1_000, 4_000])
        self.is_done = False
        self._places = places
        self._count = 0
        self._lost: Transaction | None = None  # within which the connection was lost
        stage.transactions.abandon(name.rpartition(".")[0])

    async def run(self) -> None:
        while not self.is_done:
            chance = self.chance.fork(f"link {self.host.clock.monotonic_us()}")
            link = Link(self.host, self.name, chance, self.timeout_ms, caps=self.version_caps, varied=False)
            try:
                await link.open()
                await self._begin(link)
                while self.stage.is_unsafe:
                    await self._transact(link)
                await self.init(link)
                self.is_done = True
            except Over as over:
                self.stage.mark("transaction ended by somebody else")
                await self._ended(link, over)
            except (HostFault, LinkLost):
                await asyncio.sleep(self.chance.between(5, 100) / 1000)
            link.abort()

    async def _begin(self, link: Link) -> None:
        lost, self._lost = self._lost, None
        if lost is not None and not self.announces and self.chance.one_in(2):
            await self.recover(link, lost)
        else:
            await self.init(link)

    async def _ended(self, link: Link, over: Over) -> None:
        if not over.replaced:
            return
        try:
            while self.stage.is_unsafe and self.chance.one_in(2):
                await self.haunt(link, self.chance.pick(self._places))
                await self.rest()
        except (HostFault, LinkLost):
            pass
        # Two instances that take the id from each other at once would both get nothing done.
        await asyncio.sleep(self.chance.between(10, 600) / 1000)

    async def _transact(self, link: Link) -> None:
        self._count += 1
        transaction = self.stage.transactions.begin(self.name)
        places = [place for place in self._places if self.chance.one_in(2)] or self._places[:1]
        try:
            for number in range(self.chance.between(1, 3)):
                for place in places:
                    value = f"{self.name} {self._count} {place[0]}-{place[1]} {number}".encode()
                    await self.write(link, transaction, place, value)
                await asyncio.sleep(self.chance.below(30) / 1000)
            await self.end(link, transaction, commits=not self.chance.one_in(4))
        except Over:
            give_up(transaction)
            raise
        except (HostFault, LinkLost):
            give_up(transaction)
            self._lost = transaction
            raise
        await self.rest()


def give_up(transaction: Transaction) -> None:
    if transaction.fate is Fate.OPEN:
        transaction.fate = Fate.ABORTED


class CommittedReader:
    """Reads every partition from its start to its end, again and again; with ``once`` until all is decided."""

    def __init__(
        self, stage: Stage, host: Host, chance: SimChance, name: str, places: Iterable[Place], *, once: bool = False
    ) -> None:
        self.stage = stage
        self.host = host
        self.chance = chance
        self.name = name
        self.once = once
        self.values: dict[bytes, int] = {}
        self._done: dict[Place, None] = {}
        self._reader = Reader(wait_ms=0 if once else chance.pick([0, 100, 400]), committed_only=True)
        for place in places:
            self._reader.seek(*place, 0)

    @property
    def positions(self) -> dict[Place, int]:
        return self._reader.positions

    @property
    def is_done(self) -> bool:
        return not self.once or len(self._done) == len(self._reader.positions)

    async def run(self) -> None:
        while not (self.once and self.is_done):
            link = Link(self.host, self.name, self.chance.fork(f"link {self.host.clock.monotonic_us()}"), 4_000)
            try:
                await link.open()
                while link.is_open and not (self.once and self.is_done):
                    await self._look(link)
            except (HostFault, LinkLost):
                await asyncio.sleep(self.chance.between(5, 100) / 1000)
            link.abort()

    async def _look(self, link: Link) -> None:
        records, answer = await read_some(link, self._reader, self.name)
        for value in records:
            self.stage.transactions.note_read(self.name, value)
            self.values[value] = self.values.get(value, 0) + 1
        for topic in answer.responses:
            for data in topic.partitions:
                place = (topic.topic, data.partition_index)
                if not data.error_code and self._reader.positions[place] >= data.high_watermark:
                    self._done[place] = None
        if not records:
            await asyncio.sleep(self.chance.between(5, 50) / 1000)


async def read_some(link: Link, reader: Reader, name: str) -> tuple[list[bytes], FetchResponse]:
    """The values that one fetch brings. What may be tried again is; another refusal is wrong."""
    answer = await link.call(reader.request(list(reader.positions)))
    assert isinstance(answer.message, FetchResponse)
    records, wrong = reader.answer(answer.message, answer.buffer)
    for error in wrong:
        if error.code not in RETRIABLE:
            _complain(name, error)
    return [record.value for record in records if record.value is not None], answer.message


def _complain(name: str, error: Exception) -> NoReturn:
    raise Broken("wrong refusal", f"{name}: {error}")
