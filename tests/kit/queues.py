"""Queues on a simulated machine: the store with its disk, and consumers that do what a test says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from tests.kit.storage import QUICK, Machine
from tests.kit.stream_log import MemoryStream, MemoryStreams
from twinlog._kernel import RUN_HEADERS, RUN_PERSISTENT, build_run, run_info, split_run
from twinlog.amqp.ports import STREAM, ExchangeInfo, Published, QueueInfo, Router, Topology, Twin
from twinlog.amqp.queues import ClassicQueue, LiveMessages
from twinlog.amqp.queues.stream import StreamQueue, StreamSettings
from twinlog.amqp.routing import Graph, RouteFinder
from twinlog.amqp.routing.graph import VhostGraph
from twinlog.amqp.store import QueueStore, QueueStoreSettings
from twinlog.base import HostFault
from twinlog.cluster.kinds.bindings import Binding
from twinlog.storage import Flusher
from twinlog.wire.amqp import Properties, decode_properties, encode_properties

DIRECTORY = "data/queues"
TINY = QueueStoreSettings(
    memory_bytes=1 << 20, journal_file_bytes=4096, journal_files_max=2, segment_bytes=4096, damage="refuse"
)
VHOST = "/"


def run_of(
    bodies: Sequence[bytes], key: str = "q", *, exchange: str = "", persistent: bool = True, **properties: Any
) -> bytes:
    """A run of messages with equal properties."""
    headers = properties.get("headers")
    flags = (RUN_PERSISTENT if persistent else 0) | (RUN_HEADERS if headers else 0)
    encoded = encode_properties(Properties(delivery_mode=2 if persistent else 1, **properties))
    return build_run(exchange, key, flags, [(encoded, body) for body in bodies])


def bodies_of(blob: bytes, position: int, count: int) -> list[bytes]:
    return [body for _, _, body in split_run(blob, position, count)]


class StoreHome:
    """A store that can be stopped, killed and started again."""

    def __init__(self, settings: QueueStoreSettings = TINY, machine: Machine | None = None) -> None:
        self.settings = settings
        self.machine = machine or Machine()
        self.store = self.open()

    def open(self) -> QueueStore:
        disk, tasks = self.machine.disk, self.machine.tasks
        self.flusher = Flusher(disk, tasks, QUICK)
        self.store = QueueStore(disk, tasks, self.flusher, DIRECTORY, self.settings)
        disk.make_directory(DIRECTORY)
        disk.sync_directory_now("")
        disk.sync_directory_now("data")
        self.store.open()
        return self.store

    def settle(self, span_ms: int = 20) -> None:
        self.machine.settle(span_ms)

    def stop(self) -> QueueStore:
        self.machine.settle(2000)
        self.store.close()
        self.machine.kill()
        return self.open()

    def kill(self) -> QueueStore:
        self.machine.kill()
        return self.open()

    def cut_power(self) -> QueueStore:
        self.machine.cut_power()
        return self.open()

    def put(self, queue_id: int, number: int, bodies: Sequence[bytes], *, durable: bool = True, now_ms: int = 5) -> int:
        return self.store.append(run_of(bodies), len(bodies), [(queue_id, number)], durable=durable, now_ms=now_ms)

    def durable(self, mark: int) -> None:
        """Waits until it is."""
        heard: list[HostFault | None] = []
        self.store.when_durable(mark, heard.append)
        self.settle(50)
        assert heard == [None], heard

    def read_all(self, queue_id: int, bytes_max: int = 700) -> list[tuple[int, bytes]]:
        """(number, body) of everything that is unsettled, read in steps."""
        found: list[tuple[int, bytes]] = []
        number = 0
        while runs := self.store.read(queue_id, number, bytes_max):
            for run in runs:
                assert run.number >= number, (run.number, number)
                bodies = bodies_of(run.blob, run.position, run.messages)
                found += [(run.number + at, body) for at, body in enumerate(bodies)]
                number = run.number + run.messages
        return found

    def files(self) -> list[str]:
        return self.machine.disk.list(DIRECTORY)


class Taker:
    """A consumer. ``room`` is what it would take now; None is no limit."""

    def __init__(
        self,
        tag: str = "c",
        *,
        room: int | None = None,
        no_ack: bool = False,
        exclusive: bool = False,
        priority: int = 0,
        arguments: dict[str, Any] | None = None,
        prefetch: int = 0,
        shares_limit: bool = False,
    ) -> None:
        self.tag = tag
        self.no_ack = no_ack
        self.exclusive = exclusive
        self.priority = priority
        self.prefetch = prefetch
        self.shares_limit = shares_limit
        self.arguments = arguments or {}
        self.owner: object = self
        self.room = room
        self.got: list[tuple[int, bytes, bool]] = []
        self.properties: list[Properties] = []
        self.unacked: list[int] = []
        self.was_cancelled = False

    def credit(self) -> int:
        return (1 << 31) if self.room is None else max(0, self.room)

    def deliver(self, number: int, blob: bytes, position: int, count: int, redelivered: bool) -> tuple[int, int]:
        assert count <= self.credit()
        behind = len(blob)
        messages = split_run(blob, position, count + 1)
        if len(messages) > count:
            behind = messages[count][0]
        assert len(messages) >= count
        for at, (_, encoded, body) in enumerate(messages[:count]):
            self.got.append((number + at, body, redelivered))
            self.properties.append(decode_properties(encoded))
            if not self.no_ack:
                self.unacked.append(number + at)
        if self.room is not None and not self.no_ack:
            self.room -= count
        return count, behind

    def cancelled(self) -> None:
        self.was_cancelled = True

    @property
    def bodies(self) -> list[bytes]:
        return [body for _, body, _ in self.got]


class World:
    """Queues, exchanges and bindings without clients."""

    def __init__(
        self,
        settings: QueueStoreSettings = TINY,
        machine: Machine | None = None,
        stream_settings: StreamSettings | None = None,
    ) -> None:
        self.stream_settings = stream_settings
        self.streams = MemoryStreams()
        self.home = StoreHome(settings, machine)
        self.graph = Graph()
        self.part = self.graph.vhosts[VHOST] = VhostGraph(VHOST)
        self.part.add_exchange(ExchangeInfo(VHOST, "", "direct", True, False, False))
        self._ids = 0
        self.infos: dict[str, QueueInfo] = {}
        self._start()

    def _start(self) -> None:
        tasks = self.home.machine.tasks
        self.messages = LiveMessages(
            self.home.store,
            cast(Topology, self),
            cast(Router, RouteFinder(self.graph)),
            now_ms=self.home.machine.clock.now_ms,
            soon=tasks.soon,
            later=tasks.later,
            memory_bytes=self.home.settings.memory_bytes,
            streams=self.streams,
            stream_settings=self.stream_settings,
        )
        for info in self.infos.values():
            if info.durable:
                self.messages.on_queue_created(info)
        self.messages.started()

    # What the messages need of the topology.

    def find_exchange(self, vhost: str, name: str) -> ExchangeInfo | None:
        return self.graph.exchange(vhost, name)

    def find_queue(self, vhost: str, name: str) -> QueueInfo | None:
        return self.graph.queue(vhost, name)

    def remove_queue(self, info: QueueInfo, reason: str) -> None:
        self.delete(info.name, reason)

    # For tests.

    def queue(
        self, name: str = "q", *, durable: bool = True, auto_delete: bool = False, **arguments: Any
    ) -> ClassicQueue:
        """Argument names with ``_`` for ``-``, without ``x-``."""
        given = {f"x-{argument.replace('_', '-')}": value for argument, value in arguments.items()}
        self._ids += 1
        info = QueueInfo(self._ids, VHOST, name, durable, None, auto_delete, given, dict(given))
        self.infos[name] = info
        self.part.add_queue(info)
        self.messages.on_queue_created(info)
        return self.messages.queues[info.id]

    def stream(self, name: str = "s") -> StreamQueue:
        self._ids += 1
        twin = Twin(name, name.encode(), 0, False)
        info = QueueInfo(self._ids, VHOST, name, True, None, False, {}, {}, STREAM, twin=twin)
        self.infos[name] = info
        self.part.add_queue(info)
        self.messages.on_queue_created(info)
        self.streams.logs.setdefault(name, MemoryStream(name))
        return self.messages.stream(info)

    def policy(self, name: str, **arguments: Any) -> None:
        info = self.infos[name]
        given = {f"x-{argument.replace('_', '-')}": value for argument, value in arguments.items()}
        info.effective = {**info.arguments, **given}
        self.messages.on_queue_changed(info)

    def exchange(self, name: str, kind: str = "fanout") -> None:
        self.part.add_exchange(ExchangeInfo(VHOST, name, kind, True, False, False))

    def bind(self, queue: str, exchange: str, key: str = "") -> None:
        self.part.add_edge(Binding(VHOST, exchange, True, queue, key, b""), {})

    def delete(self, name: str, reason: str = "deleted") -> None:
        info = self.infos.pop(name)
        self.part.remove_queue(name)
        self.messages.on_queue_deleted(info, reason)

    def of(self, name: str) -> ClassicQueue:
        return self.messages.queues[self.infos[name].id]

    def publish(
        self, bodies: Sequence[bytes | str], *names: str, run: bytes | None = None, **options: Any
    ) -> Published:
        encoded = [body.encode() if isinstance(body, str) else body for body in bodies]
        names = names or ("q",)
        blob = run if run is not None else run_of(encoded, names[0], **options)
        assert run_info(blob)[3] == len(bodies)
        return self.messages.publish(blob, [self.infos[name] for name in names])

    def settle(self, span_ms: int = 5) -> None:
        self.home.settle(span_ms)

    def pull(self, name: str = "q", *, no_ack: bool = True) -> list[bytes]:
        """Everything by ``get``."""
        found = []
        while (got := self.of(name).get(no_ack=no_ack)) is not None:
            found += bodies_of(got.blob, got.position, 1)
        return found

    def restart(self, how: str = "stop") -> None:
        """``stop``, ``kill`` or ``cut_power``. Queues that are not durable are gone."""
        if how == "stop":
            self.messages.close()
        getattr(self.home, how)()
        for name, info in list(self.infos.items()):
            if not info.durable:
                del self.infos[name]
                self.part.remove_queue(name)
        self._start()
