"""AMQP's clients of streams: one that publishes under confirm, one that reads on from where it was."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from twinlog.base import HostFault
from twinlog.client.amqp_core import AmqpCore, Content
from twinlog.host import Host, Stream
from twinlog.sim.chance import SimChance
from twinlog.sim.clients.link import BROKER, LinkLost
from twinlog.sim.stage.history import Broken, Place, Sent
from twinlog.sim.stage.stage import Stage
from twinlog.wire.amqp import Method, Properties, encode_method
from twinlog.wire.amqp import methods as wire

AMQP_PORT: Final = 5672
USER: Final = "somebody"
PASSWORD: Final = "secret"
TIMEOUT_MS: Final = 10_000  # for an answer
CHANNEL: Final = 1


class AmqpLink:
    """One connection with one channel; also the stream's handler. ``LinkLost`` when it is gone, or says nothing."""

    def __init__(self, host: Host) -> None:
        self.is_open = False
        self._host = host
        self._core = AmqpCore()
        self._stream: Stream | None = None
        self._came: deque[Method | Content] = deque()
        self._waiting: asyncio.Future[None] | None = None

    async def open(self) -> AmqpLink:
        self._stream = await self._host.network.connect(BROKER, AMQP_PORT, self)
        self.send_bytes(self._core.hello())
        await self.expect(wire.ConnectionStart)
        self.send_bytes(self._core.start_ok(USER, PASSWORD))
        tune = await self.expect(wire.ConnectionTune)
        self.send_bytes(self._core.tune_ok(tune, "/"))
        await self.expect(wire.ConnectionOpenOk)
        await self.call(wire.ChannelOpen(), wire.ChannelOpenOk)
        return self

    async def call(self, method: Method, answer: type[Any]) -> Any:
        self.send(method)
        return await self.expect(answer)

    async def expect(self, kind: type[Any]) -> Any:
        """The next thing, which has to be this; a close is the end of the link."""
        thing = await self.next(TIMEOUT_MS)
        if thing is None or isinstance(thing, wire.ConnectionClose | wire.ChannelClose):
            raise LinkLost
        if not isinstance(thing, kind):
            raise Broken("wrong answer", f"{thing} instead of {kind.__name__}")
        return thing

    async def next(self, within_ms: int) -> Method | Content | None:
        """None: nothing came in time."""
        if not self._came:
            if not self.is_open:
                raise LinkLost
            self._waiting = asyncio.get_running_loop().create_future()
            timer = self._host.tasks.later(within_ms, self._wake)
            await self._waiting
            timer.cancel()
        return self._came.popleft() if self._came else None

    def send(self, method: Method) -> None:
        self.send_bytes(encode_method(CHANNEL, method))

    def publish(self, exchange: str, key: str, body: bytes, properties: Properties) -> None:
        method = wire.BasicPublish(exchange=exchange, routing_key=key)
        self.send_bytes(self._core.publish(CHANNEL, method, properties, body))

    def send_bytes(self, data: bytes) -> None:
        if not self.is_open or self._stream is None:
            raise LinkLost
        self._stream.send([data])

    def abort(self) -> None:
        if self._stream is not None:
            self._stream.abort()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    # The stream's side.

    def on_open(self, stream: Stream) -> None:
        self._stream = stream
        self.is_open = True

    def on_bytes(self, buffer: bytearray, start: int, end: int) -> int:
        self._came += [thing for _, thing in self._core.receive(bytes(buffer[start:end]))]
        if self._came:
            self._wake()
        return end

    def on_writable(self) -> None: ...

    def on_closed(self, reason: Exception | None) -> None:
        self.is_open = False
        self._wake()


class StreamClient:
    """Comes back as long as it has something to do."""

    def __init__(self, stage: Stage, host: Host, chance: SimChance, name: str) -> None:
        self.stage = stage
        self.host = host
        self.chance = chance
        self.name = name

    @property
    def is_done(self) -> bool:
        raise NotImplementedError

    async def run(self) -> None:
        while not self.is_done:
            link = AmqpLink(self.host)
            try:
                await self.serve(await link.open())
            except (HostFault, LinkLost):
                await asyncio.sleep(self.chance.between(5, 100) / 1000)
            link.abort()

    async def serve(self, link: AmqpLink) -> None:
        raise NotImplementedError


class StreamPublisher(StreamClient):
    """Publishes values of its own, sends none of them twice, and notes which were confirmed."""

    def __init__(self, stage: Stage, host: Host, chance: SimChance, name: str, places: Sequence[Place]) -> None:
        super().__init__(stage, host, chance, name)
        self._places = places
        self._orders = dict.fromkeys(places, 0)
        self._window = chance.pick([1, 5, 40])
        self._burst = chance.pick([1, 3, 20])
        self._bytes_max = chance.pick([1, 60, 700])
        self._pause_ms_max = chance.pick([2, 20, 60])
        self._left = chance.pick([30, 120, 400])
        self._in_flight: deque[Sent] = deque()
        self._farewells = deque(places)  # each hears from us once more when everything is mended

    @property
    def is_done(self) -> bool:
        return not (self._in_flight or self._farewells)

    async def serve(self, link: AmqpLink) -> None:
        self._in_flight.clear()  # of those nobody will ever say what became of them
        await link.call(wire.ConfirmSelect(), wire.ConfirmSelectOk)
        answered = 0
        heard_us = self.host.clock.monotonic_us()
        while not self.is_done:
            for _ in range(self.chance.between(1, self._burst)):
                if len(self._in_flight) < self._window and self._left > 0 and self.stage.is_unsafe:
                    self._publish(link, self.chance.pick(self._places))
            if not self.stage.is_unsafe and self._farewells and not self._in_flight:
                await asyncio.sleep(0.5)  # readers are at the end of what there was
                self._publish(link, self._farewells[0])
                self._farewells.popleft()
            if not self._in_flight:
                await asyncio.sleep(0.02)
                heard_us = self.host.clock.monotonic_us()
                continue
            thing = await link.next(self.chance.between(0, self._pause_ms_max) if self._window > 1 else TIMEOUT_MS)
            now_us = self.host.clock.monotonic_us()
            if thing is None and now_us - heard_us < TIMEOUT_MS * 1000:
                continue
            heard_us = now_us
            if not isinstance(thing, wire.BasicAck | wire.BasicNack):
                raise LinkLost
            for _ in range(thing.delivery_tag - answered):
                sent = self._in_flight.popleft()
                if isinstance(thing, wire.BasicAck):
                    self.stage.history.note_kept(sent)
            if not thing.multiple and thing.delivery_tag != answered + 1:
                raise Broken("wrong answer", f"{self.name}: {thing} after {answered}")
            answered = thing.delivery_tag

    def _publish(self, link: AmqpLink, place: Place) -> None:
        topic, partition = place
        order = self._orders[place]
        self._orders[place] += 1
        self._left -= 1
        value = f"{self.name} {topic}-{partition} {order} ".encode() + b"." * self.chance.below(self._bytes_max)
        sent = Sent(value, place, self.name, order, -1)
        self.stage.history.note_sent(sent)
        self._in_flight.append(sent)
        properties = Properties(headers={"n": order}) if self.chance.one_in(3) else Properties()
        if self.stage.history.partitions[topic] == 1:
            link.publish("", topic, value, properties)
        else:
            link.publish(topic, str(partition), value, properties)


class StreamReader(StreamClient):
    """Reads every stream from its beginning, each offset once, also over connections that break."""

    is_done = False  # it reads on for ever

    def __init__(self, stage: Stage, host: Host, chance: SimChance, name: str, places: Sequence[Place]) -> None:
        super().__init__(stage, host, chance, name)
        self.positions = dict.fromkeys(places, 0)
        self._prefetch = chance.pick([1, 4, 100])

    async def serve(self, link: AmqpLink) -> None:
        await link.call(wire.BasicQos(prefetch_count=self._prefetch), wire.BasicQosOk)
        places: dict[str, Place] = {}
        for place in self.positions:
            topic, partition = place
            queue = topic if self.stage.history.partitions[topic] == 1 else f"{topic}-{partition}"
            places[queue] = place
            arguments = {"x-stream-offset": self.positions[place]}
            link.send(wire.BasicConsume(queue=queue, consumer_tag=queue, arguments=arguments))
        unacked = 0
        is_mended = not self.stage.is_unsafe
        while True:
            thing = await link.next(TIMEOUT_MS)
            if thing is None and is_mended and (behind := self.behind()):
                raise Broken("not woken", f"{self.name} waits at {behind}, and is sent nothing")
            if not isinstance(thing, Content):
                if isinstance(thing, wire.BasicConsumeOk | wire.BasicQosOk):
                    continue
                raise LinkLost  # also after a silence: the other end may be gone without a word
            place = places[thing.method.consumer_tag]
            self._take(place, thing)
            unacked += 1
            if unacked >= self._prefetch or self.chance.one_in(3):
                link.send(wire.BasicAck(delivery_tag=thing.method.delivery_tag, multiple=True))
                unacked = 0

    def behind(self) -> dict[Place, int]:
        """Where there is more that was promised, and how far it has come."""
        history = self.stage.history
        ends = {place: max(history.confirmed_end.get(place, 0), history.kept_end(place)) for place in self.positions}
        return {place: position for place, position in self.positions.items() if position < ends[place]}

    def _take(self, place: Place, message: Content) -> None:
        headers = message.properties.headers or {}
        offset = headers["x-stream-offset"]
        expected = self.positions[place]
        if offset != expected:
            raise Broken("hole" if offset > expected else "duplicate", f"{self.name}: {place} {expected}, got {offset}")
        self.positions[place] = offset + 1
        self.stage.history.note_read(self.name, place, offset, message.body)
