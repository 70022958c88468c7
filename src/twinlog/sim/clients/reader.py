"""A consumer that is told its partitions: long polls, goes back now and then, and expects to see each offset once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from twinlog.base import HostFault
from twinlog.client.errors import BrokerError
from twinlog.client.reader import Reader
from twinlog.host import Host
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.link import Link, LinkLost
from twinlog.sim.stage.history import Broken, Place
from twinlog.sim.stage.stage import Stage
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    FetchResponse,
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

EARLIEST = -2
LATEST = -1
RETRIABLE = frozenset((ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.KAFKA_STORAGE_ERROR))


class SimReader:
    """Writes down what it reads. With ``once`` it reads everything from the start, and ends."""

    def __init__(
        self, stage: Stage, host: Host, chance: SimChance, name: str, places: Sequence[Place], *, once: bool = False
    ) -> None:
        self.stage = stage
        self.host = host
        self.chance = chance
        self.name = name
        self.once = once
        self.held: dict[Place, dict[int, bytes]] = {place: {} for place in places}
        self.unreadable: dict[Place, None] = {}
        self.timeout_ms = 30_000 if once else chance.pick([2_000, 5_000, 10_000])  # large answers take their time
        self._ends: dict[Place, int] = {}
        self._done: dict[Place, None] = {}
        self._reader = Reader(
            wait_ms=0 if once else chance.pick([0, 50, 500]),
            bytes_max=chance.pick([1, 2000, 1 << 20]),
            partition_bytes_max=chance.pick([200, 1000, 1 << 20]),
        )

    @property
    def positions(self) -> dict[Place, int]:
        return self._reader.positions

    async def run(self) -> None:
        while not self.is_done:
            link = Link(
                self.host, self.name, self.chance.fork(f"link {self.host.clock.monotonic_us()}"), self.timeout_ms
            )
            try:
                await link.open()
                await self._serve(link)
            except (HostFault, LinkLost):
                await asyncio.sleep(self.chance.between(5, 100) / 1000)
            link.abort()

    @property
    def is_done(self) -> bool:
        return self.once and all(place in self._done for place in self.held)

    async def _serve(self, link: Link) -> None:
        while link.is_open and not self.is_done:
            await self._find_starts(link)
            history = self.stage.history
            places = [place for place in self._reader.positions if place not in self._done]
            if not self.once:
                places = [place for place in places if place not in history.damaged]
            if not places:
                await asyncio.sleep(0.05)
                continue
            self.chance.shuffle(places)
            if self.once and history.damaged:
                places = places[:1]  # what is damaged shall not spoil the reading of the rest
            asked = {place: history.confirmed_end.get(place, 0) for place in places}
            answer = await link.call(self._reader.request(places))
            assert isinstance(answer.message, FetchResponse)
            await self._take(link, answer.message, answer.buffer, asked)
            if self.stage.is_unsafe and self.chance.one_in(30):
                await self._wander(link, self.chance.pick(places))

    async def _find_starts(self, link: Link) -> None:
        for place in self.held:
            if place in self._reader.positions or place in self._done:
                continue
            if not self.once and place in self.stage.history.damaged:
                continue
            start = await self._list(link, place, EARLIEST)
            if start is not None:
                self._reader.seek(*place, start)

    async def _take(
        self, link: Link, response: FetchResponse, buffer: bytes | bytearray, asked: dict[Place, int]
    ) -> None:
        if response.error_code:
            raise Broken("wrong refusal", f"{self.name}: a fetch was answered with {response.error_code}")
        history = self.stage.history
        for topic in response.responses:
            for data in topic.partitions:
                place = (topic.topic, data.partition_index)
                if data.error_code:
                    await self._meet(link, place, data.error_code)
                    continue
                history.check_end(self.name, place, data.high_watermark, asked[place])
                if data.high_watermark < self._ends.get(place, 0) and history.is_strict(place):
                    raise Broken(
                        "high watermark back", f"{self.name}: {place} {self._ends[place]} -> {data.high_watermark}"
                    )
                self._ends[place] = data.high_watermark
        expected = dict(self._reader.positions)
        try:
            records, _ = self._reader.answer(response, buffer)
        except BrokerError as error:
            if any(place in history.damaged for place in asked):
                self._give_up_damaged(asked)
                return
            raise Broken("garbage", f"{self.name}: {error}") from error
        if not records:
            await asyncio.sleep(self.chance.between(2, 40) / 1000)  # an empty answer may come at once
        for record in records:
            place = (record.topic, record.partition)
            has_gaps = history.is_table(place)
            if record.offset < expected[place] or (record.offset > expected[place] and not has_gaps):
                kind = "skipped poll" if record.offset > expected[place] else "nonmonotonic poll"
                raise Broken(kind, f"{self.name}: {place} {record.offset} where {expected[place]} was next")
            if record.offset > expected[place]:
                self.stage.mark("read across a gap")
            expected[place] = record.offset + 1
            if record.offset >= self._ends[place] and history.is_strict(place):
                raise Broken("unstable read", f"{self.name}: {place} {record.offset} is beyond {self._ends[place]}")
            assert record.value is not None
            history.note_read(self.name, place, record.offset, record.value)
            self.held[place][record.offset] = record.value
        for place in asked:
            if self._reader.positions.get(place, 0) >= self._ends.get(place, 1 << 62):
                self._done[place] = None
        if not self.once:
            self._done.clear()

    def _give_up_damaged(self, asked: dict[Place, int]) -> None:
        for place in asked:
            if place in self.stage.history.damaged:
                self._give_up(place)

    def _give_up(self, place: Place) -> None:
        self.unreadable[place] = None
        self._done[place] = None
        self._reader.forget(*place)

    async def _meet(self, link: Link, place: Place, code: int) -> None:
        history = self.stage.history
        if place in history.damaged and code == ErrorCode.KAFKA_STORAGE_ERROR:
            if self.once:
                self._give_up(place)
            return
        if code == ErrorCode.OFFSET_OUT_OF_RANGE:
            position = self._reader.positions[place]
            fair = position < history.trim_asked.get(place, 0) or not history.is_strict(place)
            if not fair:
                raise Broken("wrong refusal", f"{self.name}: {place} {position} is said to be out of range")
            self.stage.mark("out of range")
            start = await self._list(link, place, EARLIEST)
            if start is not None:
                self._reader.seek(*place, start)
                self._ends.pop(place, None)
            return
        if code not in RETRIABLE:
            raise Broken("wrong refusal", f"{self.name}: reading {place} was answered with {code}")
        await asyncio.sleep(0.03)

    async def _wander(self, link: Link, place: Place) -> None:
        """Looks at the ends, and goes back to an offset it read before."""
        history = self.stage.history
        before = history.confirmed_end.get(place, 0)
        end = await self._list(link, place, LATEST)
        if end is not None:
            history.check_end(self.name, place, end, before)
        start = await self._list(link, place, EARLIEST)
        if start is not None:
            self._reader.seek(*place, self.chance.between(start, max(start, self._reader.positions[place])))

    async def _list(self, link: Link, place: Place, timestamp: int) -> int | None:
        history = self.stage.history
        trimmed = history.trim_done.get(place, 0)
        asked = ListOffsetsPartition(partition_index=place[1], timestamp=timestamp)
        request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=place[0], partitions=[asked])])
        answer = await link.call(request)
        assert isinstance(answer.message, ListOffsetsResponse)
        (told,) = answer.message.topics[0].partitions
        if told.error_code:
            if place in history.damaged:
                if self.once:
                    self._give_up(place)
            elif told.error_code not in RETRIABLE:
                raise Broken("wrong refusal", f"{self.name}: offsets of {place} were answered with {told.error_code}")
            return None
        if timestamp == EARLIEST:
            if told.offset < trimmed:
                raise Broken("undeleted", f"{self.name}: {place} begins at {told.offset}, deleted below {trimmed}")
            if told.offset > history.trim_asked.get(place, 0):
                raise Broken("lost write", f"{self.name}: {place} begins at {told.offset}, and nobody deleted that")
        return told.offset
