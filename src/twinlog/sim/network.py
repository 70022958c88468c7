"""The ``Network`` of one life of a simulated host."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from ssl import SSLContext
from typing import Final

from twinlog.base.errors import HostFault
from twinlog.host.memory import Memory
from twinlog.host.network import QUEUE_HIGH_BYTES, StreamHandler
from twinlog.sim.fabric import Fabric, Pipe, SimListener
from twinlog.sim.loop import Owner
from twinlog.sim.stream import SimStream

CONNECT_TIMEOUT_US: Final = 30_000_000
EPHEMERAL_PORT_FIRST: Final = 32_768
OURSELVES: Final = frozenset(("", "localhost", "127.0.0.1", "0.0.0.0", "::", "::1"))


class SimNetwork:
    """Hosts are addressed by their names. There is no TLS on this wire."""

    def __init__(self, fabric: Fabric, name: str, owner: Owner) -> None:
        self._fabric = fabric
        self._name = name
        self._owner = owner
        self._context = owner.context()
        self._port_next = EPHEMERAL_PORT_FIRST
        self.memory = Memory()
        self.queue_high_bytes = QUEUE_HIGH_BYTES

    async def listen(
        self, host: str, port: int, accept: Callable[[], StreamHandler], *, ssl_context: SSLContext | None = None
    ) -> SimListener:
        assert ssl_context is None, "no TLS in the simulator"
        where = f"{host}:{port}"
        if host not in OURSELVES and host != self._name:
            raise HostFault(where, "not an address of this host")
        at = (self._name, port or self._port())
        if at in self._fabric.listeners:
            raise HostFault(where, "address already in use")
        listener = SimListener(at, self._owner, self._context, accept, self._unlisten, self)
        self._fabric.listeners[at] = listener
        return listener

    async def connect(
        self, host: str, port: int, handler: StreamHandler, *, ssl_context: SSLContext | None = None
    ) -> SimStream:
        assert ssl_context is None, "no TLS in the simulator"
        here = (self._name, self._port())
        attempt = _Attempt(self, self._fabric, self._owner, handler, here, self._there(host, port))
        return await attempt.outcome()

    def _there(self, host: str, port: int) -> tuple[str, int]:
        return (self._name if host in OURSELVES else host, port)

    def _port(self) -> int:
        self._port_next += 1
        return self._port_next - 1

    def _unlisten(self, listener: SimListener) -> None:
        if self._fabric.listeners.get(listener.address) is listener:
            del self._fabric.listeners[listener.address]


class _Attempt:
    """A connection being made: one way there, one way back, either of which may be cut meanwhile."""

    def __init__(
        self,
        network: SimNetwork,
        fabric: Fabric,
        owner: Owner,
        handler: StreamHandler,
        here: tuple[str, int],
        there: tuple[str, int],
    ) -> None:
        self._network = network
        self._fabric = fabric
        self._owner = owner
        self._context = owner.context()
        self._handler = handler
        self._here = here
        self._there = there
        self._label = f"{here[0]}->{there[0]}:{there[1]} #{fabric.next_connection()}"
        self._chance = fabric.chance_of(self._label)
        self._answer: asyncio.Future[SimStream] = fabric.loop.create_future()

    async def outcome(self) -> SimStream:
        fabric = self._fabric
        timer = fabric.loop.call_at_us(fabric.loop.now_us + CONNECT_TIMEOUT_US, self._fail, "timed out")
        try:
            self._later(self._arrive)
            return await self._answer
        finally:
            timer.cancel()

    def _arrive(self) -> None:
        if self._answer.done():
            return
        if not self._passes(self._here[0], self._there[0], self._arrive):
            return
        listener = self._fabric.listeners.get(self._there)
        if listener is None:
            self._later(self._fail, "connection refused")
            return
        ours = self._end(self._network, self._owner, self._handler, accepted=False)
        theirs = self._end(listener.network, listener.owner, listener.accept(), accepted=True)
        ours.outgoing = theirs.incoming = self._pipe(ours, theirs)
        theirs.outgoing = ours.incoming = self._pipe(theirs, ours)
        self._fabric.trace.note("connects", self._label)
        self._fabric.loop.call_soon(theirs.opened, context=listener.context)
        self._later(self._accepted, ours)

    def _accepted(self, ours: SimStream) -> None:
        if not self._owner.alive or self._answer.done():
            ours.vanish(tell_peer=True)
        elif self._passes(self._there[0], self._here[0], lambda: self._accepted(ours)):
            self._fabric.loop.call_soon(self._open, ours, context=self._context)

    def _open(self, ours: SimStream) -> None:
        if self._answer.done():
            ours.vanish(tell_peer=True)
        else:
            ours.opened()
            self._answer.set_result(ours)

    def _fail(self, reason: str) -> None:
        if not self._answer.done():
            self._answer.set_exception(HostFault(f"{self._there[0]}:{self._there[1]}", reason))

    def _passes(self, source: str, target: str, retry: Callable[[], None]) -> bool:
        if self._fabric.reaches(source, target):
            return True
        # As TCP does, try again until somebody gives up.
        self._later(retry, delay_us=self._chance.between(200_000, 1_000_000))
        return False

    def _end(self, network: SimNetwork, owner: Owner, handler: StreamHandler, *, accepted: bool) -> SimStream:
        local, peer = (self._there, self._here) if accepted else (self._here, self._there)
        label = f"{self._label} {'in' if accepted else 'out'}"
        hosts = (local[0], peer[0])
        return SimStream(
            self._fabric,
            owner,
            owner.context(),
            handler,
            local=local,
            peer=peer,
            hosts=hosts,
            label=label,
            accepted=accepted,
            network=network,
        )

    def _pipe(self, source: SimStream, target: SimStream) -> Pipe:
        profile = self._fabric.profile_of(source.host_name, target.host_name)
        return Pipe(self._fabric, source, target, profile, self._chance.fork(source.label))

    def _later(self, callback: Callable[..., object], *args: object, delay_us: int | None = None) -> None:
        if delay_us is None:
            delay_us = self._chance.between(*self._fabric.profile_of(self._here[0], self._there[0]).delay_us)
        self._fabric.loop.call_at_us(self._fabric.loop.now_us + delay_us, callback, *args, context=self._fabric.context)
