"""Producers: the idempotent one with five batches in flight, and the one that does not look back."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Final

from twinlog import _kernel
from twinlog.base import HostFault
from twinlog.client.connection import Answer
from twinlog.host import Host
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.link import Link, LinkLost
from twinlog.sim.stage.history import Broken, Place, Sent
from twinlog.sim.stage.plan import CODECS
from twinlog.sim.stage.stage import Stage
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    InitProducerIdRequest,
    InitProducerIdResponse,
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from twinlog.wire.kafka.messages.produce import PartitionProduceResponse

IN_FLIGHT_MAX: Final = 5
KEYS: Final = 8  # of a compacted topic
# What a client of ours may meet while it does everything right, and is to try again.
RETRIABLE: Final = frozenset(
    (
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.KAFKA_STORAGE_ERROR,
    )
)
# What it may only meet for a batch that stands behind one not confirmed yet.
BEHIND_A_GAP: Final = frozenset((ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID))


class Attempt:
    """A batch until it is confirmed."""

    __slots__ = ("data", "in_flight", "sends", "sequence", "values")

    def __init__(self, sequence: int, values: list[Sent], data: bytes) -> None:
        self.sequence = sequence
        self.values = values
        self.data = data
        self.in_flight = False
        self.sends = 0


class Lane:
    """The batches of one partition, in order."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.sequence = 0
        self.order = 0
        self.unconfirmed: deque[Attempt] = deque()
        self.rests_until_us = 0


class Writer:
    """What both producers share: values that nobody else writes, in batches of many shapes."""

    def __init__(self, stage: Stage, host: Host, chance: SimChance, name: str, places: Sequence[Place]) -> None:
        self.stage = stage
        self.host = host
        self.chance = chance
        self.name = name
        self.lanes = [Lane(place) for place in places]
        self.codec = chance.pick(CODECS)
        self.records_max = chance.pick([1, 3, 10])
        self.bytes_max = chance.pick([1, 60, 700])
        self.pause_ms_max = chance.pick([5, 30, 100])
        self.timeout_ms = chance.pick([200, 1000, 4000])
        self.batches_left = chance.pick([10, 40, 120])
        self.producer = (-1, -1)

    async def connected(self) -> Link:
        while True:
            link = Link(
                self.host, self.name, self.chance.fork(f"link {self.host.clock.monotonic_us()}"), self.timeout_ms
            )
            try:
                return await link.open()
            except (HostFault, LinkLost):
                link.abort()
                await asyncio.sleep(self.chance.between(5, 100) / 1000)

    def attempt(self, lane: Lane, acks: int) -> Attempt:
        values = []
        self.batches_left -= 1
        for _ in range(self.chance.between(1, self.records_max)):
            text = f"{self.name} {lane.place[0]}-{lane.place[1]} {lane.order} ".encode()
            value = text + b"." * self.chance.below(self.bytes_max)
            key = b"key %d" % self.chance.below(KEYS) if self.stage.history.is_table(lane.place) else None
            sent = Sent(value, lane.place, self.name, lane.order, acks, key)
            self.stage.history.note_sent(sent)
            values.append(sent)
            lane.order += 1
        now_ms = self.host.clock.now_ms()
        data = _kernel.build_batch(
            [(now_ms, sent.key, sent.value, None) for sent in values],
            codec=self.codec,
            producer_id=self.producer[0],
            producer_epoch=self.producer[1],
            base_sequence=lane.sequence if self.producer[0] >= 0 else -1,
        )
        attempt = Attempt(lane.sequence, values, data)
        lane.sequence += len(values)
        return attempt

    def request(self, batches: Sequence[tuple[Lane, Attempt]], acks: int) -> ProduceRequest:
        topics: dict[str, TopicProduceData] = {}
        for lane, attempt in batches:
            topic = topics.setdefault(lane.place[0], TopicProduceData(name=lane.place[0]))
            topic.partition_data.append(PartitionProduceData(index=lane.place[1], records=attempt.data))
        return ProduceRequest(acks=acks, timeout_ms=30_000, topic_data=list(topics.values()))

    def confirmed(self, attempt: Attempt, base_offset: int) -> None:
        for number, sent in enumerate(attempt.values):
            self.stage.history.note_confirmed(sent, base_offset + number if base_offset >= 0 else -1)

    def is_damaged(self, lane: Lane) -> bool:
        return lane.place in self.stage.history.damaged


def partitions_of(message: ProduceResponse) -> dict[Place, PartitionProduceResponse]:
    return {
        (topic.name, partition.index): partition
        for topic in message.responses
        for partition in topic.partition_responses
    }


class IdempotentProducer(Writer):
    """Keeps Kafka's rules: at most five batches of a partition in flight, in order, each sent until it is confirmed.

    A refusal for its place in the order is fair only behind a batch that is not confirmed.
    """

    async def run(self) -> None:
        self._wake = asyncio.Event()
        while True:
            link = await self.connected()
            for lane in self.lanes:
                for attempt in lane.unconfirmed:
                    attempt.in_flight = False
            try:
                await self._serve(link)
            except LinkLost:
                continue

    @property
    def is_done(self) -> bool:
        return not self.stage.is_unsafe and not any(
            lane.unconfirmed for lane in self.lanes if not self.is_damaged(lane)
        )

    async def _serve(self, link: Link) -> None:
        if self.producer[0] < 0:
            await self._take_id(link)
        while link.is_open:
            self._pump(link)
            self._wake.clear()
            timer = self.host.tasks.later(1 + self.chance.below(self.pause_ms_max), self._wake.set)
            await self._wake.wait()
            timer.cancel()
            if not self.stage.is_unsafe and self.is_done:
                await asyncio.sleep(0.2)
            elif self.chance.one_in(400) and not any(lane.unconfirmed for lane in self.lanes):
                await self._begin_anew(link)

    async def _take_id(self, link: Link) -> None:
        while True:
            answer = await link.call(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000))
            assert isinstance(answer.message, InitProducerIdResponse)
            code = answer.message.error_code
            if code == 0:
                self.producer = (answer.message.producer_id, answer.message.producer_epoch)
                self._note_id()
                return
            if code not in RETRIABLE and code != ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                raise Broken("wrong refusal", f"{self.name}: a producer id was refused with {code}")
            await asyncio.sleep(0.05)

    def _note_id(self) -> None:
        owners = self.stage.producer_ids
        if self.producer in owners:
            raise Broken("shared producer id", f"{self.producer} of {self.name} is also {owners[self.producer]}'s")
        owners[self.producer] = self.name

    async def _begin_anew(self, link: Link) -> None:
        self.producer = (-1, -1)
        await self._take_id(link)
        for lane in self.lanes:
            lane.sequence = 0

    def _pump(self, link: Link) -> None:
        now_us = self.host.clock.monotonic_us()
        ready: list[list[tuple[Lane, Attempt]]] = []
        for lane in self.lanes:
            if now_us < lane.rests_until_us or self.is_damaged(lane):
                continue
            if self.stage.is_unsafe and len(lane.unconfirmed) < IN_FLIGHT_MAX:
                count = self.chance.between(0, IN_FLIGHT_MAX - len(lane.unconfirmed))
                for _ in range(min(count, self.batches_left)):
                    lane.unconfirmed.append(self.attempt(lane, acks=-1))
            waiting = [attempt for attempt in lane.unconfirmed if not attempt.in_flight]
            if len(waiting) == IN_FLIGHT_MAX and waiting[-1].sends:
                self.stage.mark("five in flight sent again")
            ready.append([(lane, attempt) for attempt in waiting])
        together = self.chance.one_in(2)
        while any(ready):
            # One batch a partition and request, as clients do.
            heads = [waiting.pop(0) for waiting in ready if waiting]
            for batches in [heads] if together else [[head] for head in heads]:
                for _, attempt in batches:
                    attempt.in_flight = True
                    attempt.sends += 1
                link.ask(self.request(batches, acks=-1), lambda answer, batches=batches: self._heard(batches, answer))  # type: ignore[misc]

    def _heard(self, batches: list[tuple[Lane, Attempt]], answer: Answer | None) -> None:
        self._wake.set()
        if answer is None:
            return  # the next connection sends them again
        assert isinstance(answer.message, ProduceResponse)
        said = partitions_of(answer.message)
        for lane, attempt in batches:
            attempt.in_flight = False
            result = said.get(lane.place)
            if result is None:
                raise Broken("wrong refusal", f"{self.name}: the answer leaves {lane.place} out")
            if result.error_code == 0:
                if attempt.sends > 1:
                    self.stage.mark("confirmed after a repetition")
                self.confirmed(attempt, result.base_offset)
                lane.unconfirmed.remove(attempt)
            else:
                self._refused(lane, attempt, result.error_code)

    def _refused(self, lane: Lane, attempt: Attempt, code: int) -> None:
        first = lane.unconfirmed[0] is attempt
        if code in RETRIABLE or (code in BEHIND_A_GAP and not first):
            if code in BEHIND_A_GAP:
                self.stage.mark("refused behind a gap")
            lane.rests_until_us = self.host.clock.monotonic_us() + self.chance.between(1, 50) * 1000
            return
        if self.is_damaged(lane):
            return
        raise Broken(
            "wrong refusal",
            f"{self.name} in {lane.place}: sequence {attempt.sequence} ({'first' if first else 'not first'} of "
            f"{len(lane.unconfirmed)} unconfirmed, sent {attempt.sends} times) was answered with {code}",
        )


class PlainProducer(Writer):
    """Without numbers and without patience: what gets no answer is forgotten. acks 0, 1 or all."""

    async def run(self) -> None:
        acks = self.chance.pick([0, 1, 1, -1])
        while True:
            link = await self.connected()
            try:
                await self._serve(link, acks)
            except LinkLost:
                continue

    @property
    def is_done(self) -> bool:
        return not self.stage.is_unsafe

    async def _serve(self, link: Link, acks: int) -> None:
        while link.is_open:
            await asyncio.sleep(self.chance.between(1, self.pause_ms_max) / 1000)
            if not self.stage.is_unsafe or not self.batches_left:
                continue
            lane = self.chance.pick(self.lanes)
            if self.is_damaged(lane):
                continue
            attempt = self.attempt(lane, acks)
            request = self.request([(lane, attempt)], acks)
            if acks == 0:
                link.tell(request)
                continue
            answer = await link.call(request)
            assert isinstance(answer.message, ProduceResponse)
            result = partitions_of(answer.message)[lane.place]
            if result.error_code == 0:
                self.confirmed(attempt, result.base_offset)
            elif result.error_code not in RETRIABLE:
                raise Broken("wrong refusal", f"{self.name} in {lane.place}: answered with {result.error_code}")
