"""One client's connection to the broker: requests out, answers back in order, or nothing any more."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from twinlog.client.connection import Answer, Connection
from twinlog.client.errors import ClientError
from twinlog.host import Host, Stream, Timer
from twinlog.sim.chance import SimChance
from twinlog.wire.kafka.message import Message

BROKER: Final = "broker"
PORT: Final = 9092
# Keys whose older versions are tried as well, with the oldest one that says all we ask for.
VERSIONS_VARIED: Final = {0: 3, 1: 4, 2: 4, 9: 8, 11: 5, 12: 3, 13: 3, 14: 3}
# From these on topics are known by id alone.
VERSION_CAPS: Final = {8: 9, 9: 9}
NO_CAPS: Final[Mapping[int, int]] = {}

OnAnswer: TypeAlias = Callable[[Answer | None], None]


class LinkLost(Exception):
    """The connection is gone, or an answer took too long; whether the request was served is not known."""


class VariedConnection(Connection):
    """Speaks an older version of some requests than it could."""

    def __init__(self, client_id: str, chance: SimChance, varied: bool, caps: Mapping[int, int]) -> None:
        super().__init__(client_id)
        self._varied = varied
        self._caps = {**VERSION_CAPS, **caps}
        self._chance = chance
        self._chosen: dict[int, int] = {}

    def version_for(self, key: int, version_max: int | None = None) -> int:
        chosen = self._chosen.get(key)
        if chosen is None:
            chosen = min(super().version_for(key, version_max), self._caps.get(key, 1000))
            if self._varied and key in VERSIONS_VARIED and self._chance.one_in(3):
                chosen = self._chance.between(min(VERSIONS_VARIED[key], chosen), chosen)
            self._chosen[key] = chosen
        return chosen if version_max is None else min(chosen, version_max)


class Link:
    """Also the stream's handler. ``ask`` calls back with the answer, or with None when the connection is gone."""

    def __init__(
        self,
        host: Host,
        client_id: str,
        chance: SimChance,
        timeout_ms: int,
        *,
        varied: bool = True,
        caps: Mapping[int, int] = NO_CAPS,
    ) -> None:
        self.is_open = False
        self._host = host
        self._core = VariedConnection(client_id, chance, varied, caps)
        self._stream: Stream | None = None
        self._timeout_ms = timeout_ms
        self._waiting: deque[tuple[OnAnswer, Timer]] = deque()

    async def open(self) -> Link:
        """Connects and asks for versions. ``HostFault`` or ``LinkLost`` when that fails."""
        self._stream = await self._host.network.connect(BROKER, PORT, self)
        if not self.is_open:
            raise LinkLost
        await self._answer_to(lambda heard: self._send(self._core.hello(), heard))
        return self

    def ask(self, message: Message, heard: OnAnswer) -> None:
        if self.is_open:
            self._send(self._core.request(message)[1], heard)
        else:
            heard(None)

    def tell(self, message: Message) -> None:
        """A request that is not answered."""
        if self.is_open and self._stream is not None:
            self._stream.send([self._core.request(message, answered=False)[1]])

    async def call(self, message: Message) -> Answer:
        return await self._answer_to(lambda heard: self.ask(message, heard))

    def serves(self, key: int) -> bool:
        try:
            self._core.version_for(key)
        except ClientError:
            return False
        return True

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()

    def abort(self) -> None:
        if self._stream is not None:
            self._stream.abort()

    async def _answer_to(self, begin: Callable[[OnAnswer], None]) -> Answer:
        future: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
        begin(lambda answer: None if future.done() else future.set_result(answer))
        answer = await future
        if answer is None:
            raise LinkLost
        return answer

    def _send(self, data: bytes, heard: OnAnswer) -> None:
        assert self._stream is not None
        # As the Java client does: an answer that is late costs the connection.
        self._waiting.append((heard, self._host.tasks.later(self._timeout_ms, self.abort)))
        self._stream.send([data])

    # The stream's side.

    def on_open(self, stream: Stream) -> None:
        self._stream = stream
        self.is_open = True

    def on_bytes(self, buffer: bytearray, start: int, end: int) -> int:
        with memoryview(buffer) as view, view[start:end] as part:
            answers = self._core.receive(part)
        for answer in answers:
            heard, timer = self._waiting.popleft()
            timer.cancel()
            heard(answer)
        return end

    def on_writable(self) -> None: ...

    def on_closed(self, reason: Exception | None) -> None:
        self.is_open = False
        waiting, self._waiting = self._waiting, deque()
        for heard, timer in waiting:
            timer.cancel()
            heard(None)
