"""The wires between simulated hosts: who reaches whom, how late, and what breaks.

A connection is two pipes. A pipe carries bytes in order, each piece with a delay of its own, and holds at
most a window of them, so that a slow reader shows at the sender. Between connections there is no order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from contextvars import Context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias
from zlib import crc32

from twinlog.base.units import KIB
from twinlog.sim.chance import SimChance
from twinlog.sim.loop import Owner, SimLoop
from twinlog.sim.trace import Trace

if TYPE_CHECKING:
    from twinlog.host.network import StreamHandler
    from twinlog.sim.network import SimNetwork
    from twinlog.sim.stream import SimStream

End: TypeAlias = Literal["fin", "reset"]


@dataclass
class LinkProfile:
    """How the way from one host to another behaves."""

    delay_us: tuple[int, int] = (50, 500)
    spike_one_in: int = 50  # now and then a piece is late ...
    spike_us: tuple[int, int] = (1_000, 20_000)  # ... by this
    window_bytes: int = 64 * KIB  # sent and not yet read by the other side
    odd_reads_one_in: int = 3  # reads that return less than is there
    reset_one_in: int = 0  # of the pieces sent; the connection breaks somewhere in the piece


@dataclass
class SimListener:
    """Also a ``host.Listener``."""

    address: tuple[str, int]
    owner: Owner
    context: Context
    accept: Callable[[], StreamHandler]
    on_close: Callable[[SimListener], None]
    network: SimNetwork

    def close(self) -> None:
        self.on_close(self)


@dataclass
class Pipe:
    """One direction of a connection."""

    fabric: Fabric
    source: SimStream
    target: SimStream
    profile: LinkProfile
    chance: SimChance
    in_flight: deque[tuple[int, bytes | End]] = field(default_factory=deque)
    in_flight_bytes: int = 0
    arrives_us: int = 0  # of the piece sent last; none overtakes another

    def room(self) -> int:
        return self.profile.window_bytes - self.in_flight_bytes - len(self.target.unread)

    def push(self, piece: bytes | End) -> None:
        self.arrives_us = max(self.arrives_us, self.fabric.loop.now_us + self.delay_us())
        self.in_flight.append((self.arrives_us, piece))
        if isinstance(piece, bytes):
            self.in_flight_bytes += len(piece)
        self._arrive_at(self.arrives_us)

    def delay_us(self) -> int:
        delay_us = self.chance.between(*self.profile.delay_us)
        if self.chance.one_in(self.profile.spike_one_in):
            delay_us += self.chance.between(*self.profile.spike_us)
        return delay_us

    def healed(self) -> None:
        if self.in_flight:
            self._arrive_at(self.fabric.loop.now_us + self.delay_us())
        self.fabric.later(self.delay_us(), self.source, self.source.window_opened)

    def _arrive_at(self, at_us: int) -> None:
        # Not in the target's context: the wire goes on when a host is gone.
        self.fabric.loop.call_at_us(at_us, self._arrive, context=self.fabric.context)

    def _arrive(self) -> None:
        now_us = self.fabric.loop.now_us
        while self.in_flight and self.in_flight[0][0] <= now_us:
            if not self.fabric.reaches(self.source.host_name, self.target.host_name):
                return  # kept until the partition is healed
            _, piece = self.in_flight.popleft()
            self.fabric.trace.note("arrives", self.source.label, piece if isinstance(piece, str) else crc32(piece))
            if isinstance(piece, bytes):
                self.in_flight_bytes -= len(piece)
                self.target.arrived(piece)
            else:
                self.target.ended_by_peer(piece)


class Fabric:
    """The world's network, and the knobs to break it."""

    def __init__(self, loop: SimLoop, chance: SimChance, trace: Trace) -> None:
        self.loop = loop
        self.trace = trace
        self.profile = LinkProfile()
        self.context = Context()
        self.listeners: dict[tuple[str, int], SimListener] = {}
        self.up: dict[str, bool] = {}  # hosts that have power
        self._chance = chance
        self._profiles: dict[tuple[str, str], LinkProfile] = {}
        self._blocked: dict[tuple[str, str], None] = {}
        self._streams: dict[SimStream, None] = {}
        self._connections = 0

    # Knobs.

    def set_profile(self, source: str, target: str, profile: LinkProfile) -> None:
        """For connections made from now on."""
        self._profiles[source, target] = profile

    def block(self, sources: Iterable[str], targets: Iterable[str]) -> None:
        """Nothing passes in this direction; what was sent waits."""
        for source in sources:
            for target in targets:
                if source != target:
                    self._blocked[source, target] = None
                    self.trace.note("block", source, target)

    def partition(self, *sides: Iterable[str]) -> None:
        """Nothing passes between different sides."""
        groups = [list(side) for side in sides]
        for here in groups:
            for there in groups:
                if here is not there:
                    self.block(here, there)

    def heal(self) -> None:
        """Everything passes again, also what waited."""
        self.trace.note("heal")
        self._blocked.clear()
        for stream in self._streams:
            stream.outgoing.healed()

    def reset_between(self, one: str, other: str) -> int:
        """Breaks the connections between two hosts; returns how many."""
        streams = [s for s in self._streams if {s.host_name, s.peer_host_name} == {one, other}]
        for stream in streams:
            stream.break_down(ConnectionResetError("connection reset"))
        return len(streams) // 2

    # For streams and networks.

    def reaches(self, source: str, target: str) -> bool:
        return (source, target) not in self._blocked and self.up.get(target, False)

    def profile_of(self, source: str, target: str) -> LinkProfile:
        return self._profiles.get((source, target), self.profile)

    def next_connection(self) -> int:
        self._connections += 1
        return self._connections

    def chance_of(self, label: str) -> SimChance:
        return self._chance.fork(label)

    def add(self, stream: SimStream) -> None:
        self._streams[stream] = None

    def remove(self, stream: SimStream) -> None:
        self._streams.pop(stream, None)

    def later(self, delay_us: int, stream: SimStream, callback: Callable[[], object]) -> None:
        self.loop.call_at_us(self.loop.now_us + delay_us, callback, context=stream.context)

    # A host's life.

    def process_died(self, owner: Owner) -> None:
        """Its kernel goes on, and ends what the process left open."""
        self._drop_listeners(owner)
        for stream in self._of(owner):
            stream.vanish(tell_peer=True)

    def power_lost(self, name: str, owner: Owner) -> None:
        """Nobody is left to tell the peers; they learn it when they send to the next life."""
        self.up[name] = False
        self._drop_listeners(owner)
        for stream in self._of(owner):
            stream.vanish(tell_peer=False)

    def power_returned(self, name: str) -> None:
        self.up[name] = True
        for stream in self._streams:
            if stream.peer_host_name == name:
                stream.outgoing.healed()

    def _drop_listeners(self, owner: Owner) -> None:
        self.listeners = {at: listener for at, listener in self.listeners.items() if listener.owner is not owner}

    def _of(self, owner: Owner) -> list[SimStream]:
        return [stream for stream in self._streams if stream.owner is owner]
