"""What the HTTP side needs from the node, in its own words; ``app`` plugs it in.

``Managed`` is what every handler gets. Parts that a node may be without (its AMQP listener is off) are None, and what
is about them is answered as empty, or refused with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from twinlog.amqp.administration import Administration
from twinlog.amqp.counts import Counts, Traffic
from twinlog.amqp.policies import policy_of as policy_of
from twinlog.amqp.ports import Messages, QueueInfo, Router
from twinlog.amqp.topology import LiveTopology
from twinlog.amqp.users import MetadataRights
from twinlog.base.logs import Log
from twinlog.cluster import Image
from twinlog.host import Chance, Tasks
from twinlog.host.memory import Memory
from twinlog.kafka.broker import Broker
from twinlog.servers.admission import Admission
from twinlog.servers.http.settings import HttpSettings

if TYPE_CHECKING:
    from twinlog.servers.http.figures import Figures
    from twinlog.servers.http.guard import Guard
    from twinlog.servers.http.pipelines import Pipelines
    from twinlog.servers.http.router import Route


@dataclass(slots=True)
class ConnectionFacts:
    """A client's connection, of either protocol."""

    name: str
    protocol: str
    user: str
    vhost: str
    peer: tuple[str, int]
    local: tuple[str, int]
    state: str
    connected_ms: int
    received_bytes: int = 0
    sent_bytes: int = 0
    channels: int = 0
    channel_max: int = 0
    frame_max: int = 0
    heartbeat_s: int = 0
    client: Mapping[str, Any] = field(default_factory=dict)
    requests: int = 0
    held_bytes: int = 0
    """Of the node's memory."""
    traffic: Callable[[], Traffic] = Traffic
    """Of its channels, with those that are closed."""
    close: Callable[[str], None] = lambda reason: None


@dataclass(slots=True)
class ChannelFacts:
    connection: ConnectionFacts
    number: int
    state: str = "running"
    consumers: int = 0
    traffic: Traffic = field(default_factory=Traffic)
    unacked: int = 0
    unconfirmed: int = 0
    prefetch: int = 0
    global_prefetch: int = 0
    confirms: bool = False
    transactional: bool = False


@dataclass(slots=True)
class ConsumerFacts:
    channel: ChannelFacts
    tag: str
    queue: QueueInfo
    no_ack: bool
    exclusive: bool
    prefetch: int
    active: bool
    priority: int
    arguments: Mapping[str, Any] = field(default_factory=dict)


class Clients(Protocol):
    """Who is connected by AMQP."""

    def connections(self) -> Iterable[ConnectionFacts]: ...

    def channels(self) -> Iterable[ChannelFacts]: ...

    def consumers(self) -> Iterable[ConsumerFacts]: ...

    def totals(self) -> Mapping[str, int]:
        """What was counted since the start: ``publish``, ``confirm``, ``deliver``, ``deliver_no_ack``, ``get``,
        ``get_no_ack``, ``ack``, ``redeliver``, ``return_unroutable``, ``drop_unroutable``, ``connection_created``,
        ``connection_closed``, ``channel_created``, ``channel_closed``."""

    def alarms(self) -> Sequence[str]:
        """Resources that are low now: ``memory``, ``disk``."""


class Machine(Protocol):
    """The process and what it stands on."""

    @property
    def name(self) -> str: ...

    @property
    def process_id(self) -> int: ...

    def resident_bytes(self) -> int: ...

    def memory_bytes(self) -> int:
        """Of the machine, or of the container."""

    def cpu_seconds(self) -> float: ...

    def descriptors(self) -> tuple[int, int]:
        """Open, and how many may be."""

    def python(self) -> str: ...


class StaticFiles(Protocol):
    """The console's built files."""

    def read(self, name: str) -> tuple[bytes, str] | None:
        """Content and a tag that changes with it; None for every name that was not built."""


@dataclass(slots=True, eq=False, kw_only=True)
class Managed:
    """The node, as its management sees it."""

    version: str
    node_id: int
    settings: HttpSettings
    broker: Broker
    topology: LiveTopology
    rights: MetadataRights
    administration: Administration
    router: Router
    machine: Machine
    static: StaticFiles
    tasks: Tasks
    chance: Chance
    log: Log
    now_ms: Callable[[], int]
    monotonic_us: Callable[[], int]
    addresses: Callable[[], Mapping[str, tuple[str, int] | None]]
    kafka_connections: Callable[[], Iterable[ConnectionFacts]]
    kafka_requests: Callable[[], Mapping[int, Any]]
    kafka_broken_off: Callable[[], int]
    memory: Memory
    admission: Admission
    counts: Counts
    """Of the AMQP side; what is published and taken over HTTP counts, too."""
    messages: Messages | None = None
    clients: Clients | None = None
    started_ms: int = 0
    connections_memory_max_bytes: int = 0
    """What connections may hold; 0: nobody knows how much there is."""
    connections_max: int = 0
    """Of AMQP clients."""
    memory_alarm_bytes: int = 0
    """0: a share of what the machine has."""
    disk_free_min_bytes: int = 0
    figures: Figures = field(init=False)
    guard: Guard = field(init=False)
    pipelines: Pipelines = field(init=False)
    routes: Sequence[Route] = ()
    event_streams: int = 0
    http_requests: dict[tuple[str, int], int] = field(default_factory=dict)

    @property
    def image(self) -> Image:
        return self.broker.image

    @property
    def node_name(self) -> str:
        return f"twinlog@{self.machine.name}"

    def monotonic_ms(self) -> int:
        return self.monotonic_us() // 1000
