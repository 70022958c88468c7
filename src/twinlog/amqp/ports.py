"""What the rooms of AMQP ask of one another, and of the floors below.

Everything is a plain ``def`` on the loop. What has to be durable answers through ``done``, which may be called before
the method returns. Names are ``str``, and every name lives in a ``vhost``. A refusal is ``Refused`` with the reply code
that the client will see (403, 404, 405, 406 close the channel; 5xx and 320 the connection).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar

from twinlog.amqp.counts import Traffic
from twinlog.base import HostFault, Refused
from twinlog.wire.amqp import Properties, Table

T = TypeVar("T")
Done: TypeAlias = Callable[[T | Refused | HostFault], None]

CLASSIC: Final = "classic"
QUORUM: Final = "quorum"
STREAM: Final = "stream"


# -- the store of messages ------------------------------------------------------------------------------------------


class StoredRun(NamedTuple):
    """``messages`` messages, numbered from ``number`` on: those in ``blob`` from byte ``position`` on."""

    number: int
    blob: bytes
    position: int
    messages: int
    arrived_ms: int


class RecoveredQueue(NamedTuple):
    """What a start found of a durable queue. ``ready`` are ranges (low, high), both ends in it, in order."""

    number_next: int
    ready: Sequence[tuple[int, int]]
    redelivered_below: int
    """Smaller numbers may have been delivered before the stop."""
    size_bytes: int = 0
    """About how much is stored."""


class Queues(Protocol):
    """The store of all queues of a node. A queue numbers its messages; ``number`` grows by one a message."""

    def create(self, queue_id: int, *, durable: bool) -> None:
        """Known from now on. Creating one that was recovered is fine. What a transient queue holds does not outlive
        the process, and its id may be given again after a restart."""

    def delete(self, queue_id: int) -> None: ...

    def append(self, blob: bytes, count: int, targets: Sequence[tuple[int, int]], *, durable: bool, now_ms: int) -> int:
        """Stores a run once, for all ``targets`` (queue id, number of its first message there); returns a mark for
        ``when_durable``. ``durable``: the run is persistent and at least one of the queues is. ``DiskFull``,
        ``HostFault``: nothing was stored."""

    def settle(self, queue_id: int, low: int, high: int) -> None:
        """Messages ``low`` to ``high`` are gone for good. Naming one that was never stored is fine."""

    def when_durable(self, mark: int, done: Callable[[HostFault | None], None]) -> None:
        """Calls ``done`` once everything appended and settled up to ``mark`` is on stable storage."""

    def read(self, queue_id: int, number: int, bytes_max: int) -> list[StoredRun]:
        """Unsettled messages at or after ``number``, in order, as pieces of runs; at least one if there is any."""

    def delivered_below(self, queue_id: int, number: int) -> None:
        """Before a clean stop: smaller numbers may have been delivered. Comes back in ``redelivered_below``; after an
        unclean stop that is ``number_next``."""

    def has_room(self, size: int) -> bool:
        """Whether bodies of that size may stay in memory: one budget for the whole node."""

    def hold(self, size: int) -> None: ...

    def drop(self, size: int) -> None: ...

    def recovered(self) -> Mapping[int, RecoveredQueue]: ...


# -- the logs of streams --------------------------------------------------------------------------------------------


class Appending(Protocol):
    """What was written to a stream and is not yet on stable storage."""

    def when_durable(self, done: Callable[[HostFault | None], None]) -> None:
        """Calls ``done`` once, when it is or never will be; at once if that is known."""


class Appended(NamedTuple):
    """The first ``accepted`` messages of a run are in the stream. ``why_not`` says what is with the others."""

    accepted: int
    appending: Appending | None
    why_not: str = ""


class StreamRead(NamedTuple):
    """Whole record batches. Records at or behind ``stop`` are not to be seen; of the transactions of ``aborted`` (first
    offset, producer id) nothing is."""

    data: bytes
    stop: int
    aborted: list[tuple[int, int]]


class StreamLog(Protocol):
    """A stream's log, as publishers and readers see it: one partition of a topic."""

    @property
    def start(self) -> int:
        """The first offset."""

    @property
    def end(self) -> int:
        """Behind the last record that counts. Readers go no further."""

    @property
    def size_bytes(self) -> int: ...

    def append(self, blob: bytes, count: int) -> Appended:
        """``DiskFull``, ``HostFault``: nothing was written, and it is not the message's fault."""

    def check_room(self) -> None:
        """``DiskFull``, ``HostFault`` if that is what an append would meet now."""

    def read(self, offset: int, bytes_max: int) -> StreamRead:
        """From the batch that holds ``offset``, which lies from ``start`` to below ``end``; at least one batch."""

    def batch_start(self, offset: int) -> int:
        """The first offset of the batch that holds ``offset``, which lies from ``start`` to below ``end``."""

    def offset_for_time(self, timestamp_ms: int) -> int | None:
        """Of the first record at or after it."""

    def watch(self, on_more: Callable[[], None]) -> Callable[[], None]:
        """``on_more`` is called whenever ``end`` moved; until what this returns is called."""


class Streams(Protocol):
    """The topics of the node."""

    def log(self, info: QueueInfo) -> StreamLog | None:
        """None while this node does not serve it."""

    def charge(self, user: str, size_bytes: int) -> int:
        """Somebody published so much to streams; for how many ms nothing more should be read from them."""


# -- names and rules ------------------------------------------------------------------------------------------------


class Twin(NamedTuple):
    """The partition that a stream queue is."""

    topic: str
    topic_id: bytes
    partition: int
    is_part: bool
    """The topic has other partitions: the queue is one of a super stream."""


@dataclass(slots=True, eq=False)
class QueueInfo:
    """A queue as it was declared. ``effective`` follows the policies; everything else stays as it is."""

    id: int
    vhost: str
    name: str
    durable: bool
    exclusive_owner: int | None
    """The connection that alone may use it."""
    auto_delete: bool
    arguments: Table = field(default_factory=dict)
    effective: Mapping[str, Any] = field(default_factory=dict)
    """Arguments and policies in one, by the names of arguments (``x-message-ttl``)."""
    type: str = CLASSIC
    traffic: Traffic = field(default_factory=Traffic)
    """Counted by channels, whatever keeps the messages."""
    twin: Twin | None = None
    """Of streams, and of nothing else."""


@dataclass(slots=True, eq=False)
class ExchangeInfo:
    vhost: str
    name: str
    kind: str
    durable: bool
    auto_delete: bool
    internal: bool
    arguments: Table = field(default_factory=dict)
    effective: Mapping[str, Any] = field(default_factory=dict)
    traffic: Traffic = field(default_factory=Traffic)
    twin: str | None = None
    """The topic whose partitions it leads to: it is a super stream."""


class Caller(NamedTuple):
    """On whose behalf something is asked: the rights are the user's, exclusive queues the connection's."""

    user: str
    vhost: str
    connection: int


class QueueCounts(NamedTuple):
    ready: int
    consumers: int


class QueueKeeper(Protocol):
    """Who keeps the messages of queues; told by the topology, before ``done`` of what caused it."""

    def on_queue_created(self, info: QueueInfo) -> None:
        """Also at start, for every queue of the metadata."""

    def on_queue_deleted(self, info: QueueInfo, reason: str) -> None: ...

    def on_queue_changed(self, info: QueueInfo) -> None:
        """``effective`` is another."""

    def on_queue_used(self, info: QueueInfo) -> None:
        """Declared again, or asked for: it does not expire yet."""

    def counts(self, info: QueueInfo) -> QueueCounts: ...


class Topology(Protocol):
    """Exchanges, queues and bindings of all vhosts: declared, found, deleted, under RabbitMQ's rules.

    It checks rights, exclusive owners, arguments and equivalence. Durable things are metadata, and ``done`` is called
    when they are durable there; others are the node's. What was answered is at once seen by ``find_*`` and ``Router``.
    """

    def has_vhost(self, vhost: str) -> bool: ...

    def find_queue(self, vhost: str, name: str) -> QueueInfo | None: ...

    def find_exchange(self, vhost: str, name: str) -> ExchangeInfo | None: ...

    def declare_queue(
        self,
        caller: Caller,
        name: str,
        *,
        passive: bool,
        durable: bool,
        exclusive: bool,
        auto_delete: bool,
        arguments: Table,
        server_named: bool,
        done: Done[QueueInfo],
    ) -> None:
        """``server_named``: the name was made up by the server, so it may be one of the reserved."""

    def delete_queue(self, caller: Caller, name: str, *, if_unused: bool, if_empty: bool, done: Done[int]) -> None:
        """``done`` gets the number of messages that were ready."""

    def remove_queue(self, info: QueueInfo, reason: str) -> None:
        """The node itself deletes a queue: its last consumer left, or it expired."""

    def release_owner(self, connection: int) -> None:
        """The connection ends: its exclusive queues are deleted before this returns."""

    def declare_exchange(
        self,
        caller: Caller,
        name: str,
        kind: str,
        *,
        passive: bool,
        durable: bool,
        auto_delete: bool,
        internal: bool,
        arguments: Table,
        done: Done[None],
    ) -> None: ...

    def delete_exchange(self, caller: Caller, name: str, *, if_unused: bool, done: Done[None]) -> None: ...

    def bind_queue(
        self, caller: Caller, queue: str, exchange: str, key: str, arguments: Table, done: Done[None]
    ) -> None: ...

    def unbind_queue(
        self, caller: Caller, queue: str, exchange: str, key: str, arguments: Table, done: Done[None]
    ) -> None: ...

    def bind_exchange(
        self, caller: Caller, destination: str, source: str, key: str, arguments: Table, done: Done[None]
    ) -> None: ...

    def unbind_exchange(
        self, caller: Caller, destination: str, source: str, key: str, arguments: Table, done: Done[None]
    ) -> None: ...


class Router(Protocol):
    """Where a message goes. Cached by (vhost, exchange, key) as long as no binding changes."""

    def reads_properties(self, vhost: str, exchange: str) -> bool:
        """Whether the way from this exchange can depend on more than the key (headers, a hash of a property). If not,
        a whole run is routed at once."""

    def route(
        self, vhost: str, exchange: str, key: str, properties: Properties | None = None, copies: Sequence[str] = ()
    ) -> tuple[QueueInfo, ...]:
        """Each queue once. ``copies``: further keys, from ``CC`` and ``BCC``. ``Refused`` 404 when there is no such
        exchange. Internal exchanges route: only publishing clients are kept out, by ``Topology.find_exchange``."""


# -- messages: what queues and channels do for one another -----------------------------------------------------------


class Published(NamedTuple):
    """What became of a run. The first ``accepted`` messages are in every queue they were routed to: confirm them when
    ``mark`` (0: at once) and all of ``appendings`` are durable. The rest was refused by at least one queue:
    ``basic.nack`` for those."""

    mark: int
    accepted: int
    appendings: tuple[Appending, ...] = ()


class Got(NamedTuple):
    """One message taken by ``basic.get``: the first at ``position`` of ``blob``."""

    number: int
    blob: bytes
    position: int
    redelivered: bool
    ready_after: int


class Consumer(Protocol):
    """A channel's consumer, as its queue sees it. Made by the channel."""

    tag: str
    no_ack: bool
    exclusive: bool
    priority: int
    prefetch: int
    """Its own limit; 0 is none."""
    arguments: Table
    owner: object
    """The channel: deliveries are shared out by consumer, but a channel that ends takes all of its own with it."""

    @property
    def shares_limit(self) -> bool:
        """There is a limit for all consumers of its channel together."""

    def credit(self) -> int:
        """How many messages it would take now: the prefetch limits allow it, and the socket can bear it."""

    def deliver(self, number: int, blob: bytes, position: int, count: int, redelivered: bool) -> tuple[int, int]:
        """Sends up to ``count`` messages of a run, the first of which has ``number`` in the queue: (taken, position
        behind them). Never called with more than ``credit`` says, nor before ``consume`` has returned. With ``no_ack``
        the queue settles what was taken by itself, else the channel answers for each number by ``settle``, ``requeue``
        or ``reject``, exactly once."""

    def cancelled(self) -> None:
        """The queue is gone: the consumer is no longer registered, what it holds is void."""


class Queue(Protocol):
    """The messages of one queue. Numbers are the queue's own; ranges have both ends in them."""

    info: QueueInfo

    def consume(self, consumer: Consumer) -> None:
        """Registers it; deliveries begin in a later turn. ``Refused`` 403 where exclusive use forbids it, 406 for
        arguments that this type of queue does not take, 540 for what the type cannot do."""

    def cancel(self, consumer: Consumer) -> None:
        """No delivery after this; what it holds stays its channel's. Unknown consumers are fine. The last one to go
        takes an auto-delete queue with it."""

    def resume(self, consumer: Consumer) -> None:
        """The consumer has credit again."""

    def catch_up(self) -> None:
        """Deliveries that a later turn would make are made now: who asks or leaves comes after those who wait."""

    def get(self, *, no_ack: bool) -> Got | None:
        """Takes the next message; without ``no_ack`` the channel answers for its number later."""

    def settle(self, low: int, high: int) -> None:
        """Acknowledged: gone for good."""

    def requeue(self, low: int, high: int) -> None:
        """Back to their places, marked as redelivered."""

    def reject(self, low: int, high: int) -> None:
        """Dead-lettered as ``rejected``, or dropped."""

    def purge(self) -> int:
        """Drops what is ready; how many that were."""


class QueueStatus(NamedTuple):
    ready: int
    unacked: int
    consumers: int
    ready_bytes: int
    memory_bytes: int
    persistent: int


class StreamFigures(NamedTuple):
    consumers: int
    refused: int
    """Messages that a stream did not take."""
    cache_bytes: int


class Messages(Protocol):
    """All queues of the node, and how messages get into them. Deliveries, dead letters and expiry happen in later turns
    of the loop, through the ``soon`` and ``later`` it was made with."""

    def queue(self, info: QueueInfo) -> Queue: ...

    def publish(self, blob: bytes, targets: Sequence[QueueInfo]) -> Published:
        """Puts a run (``_kernel.run_info`` tells what it is) into each of ``targets``, stored once. ``HostFault``,
        ``DiskFull``: it is in none of them."""

    def publish_later(self, vhost: str, blob: bytes, delay_ms: int) -> Published:
        """Routes a run of one message (``RUN_DELAY``) when the time is over, as its exchange is then."""

    def when_durable(self, mark: int, done: Callable[[HostFault | None], None]) -> None: ...

    def status(self, info: QueueInfo) -> QueueStatus: ...

    def stream_figures(self) -> StreamFigures: ...


# -- people ---------------------------------------------------------------------------------------------------------

CONFIGURE: Final = "configure"
WRITE: Final = "write"
READ: Final = "read"


class Rights(Protocol):
    """Users and what they may do."""

    def login(self, user: str, password: bytes, *, loopback: bool) -> bool:
        """Whether that is the user's password, and it may come from there (``guest`` only from this machine)."""

    def may_enter(self, user: str, vhost: str) -> bool: ...

    def has_tag(self, user: str, tag: str) -> bool: ...

    def check(self, user: str, vhost: str, right: str, name: str, *, kind: str = "queue") -> None:
        """``Refused`` 403 unless the user has ``right`` on the queue or exchange of that name."""

    def check_topic(self, user: str, vhost: str, right: str, exchange: str, key: str) -> None:
        """For topic exchanges: ``Refused`` 403 unless the user may publish (``WRITE``) or bind (``READ``) by it."""
