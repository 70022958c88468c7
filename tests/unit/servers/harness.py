"""A broker with its storage on a temporary directory, and clients without sockets. Nothing happens by itself:
``settle`` runs what is due, ``sync`` ends a sync round, ``pass_time`` moves the clock."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from twinlog._kernel import build_batch, decode_records, scan_batches
from twinlog.base import HostFault
from twinlog.base.logs import Silence
from twinlog.cluster import Controller, Endpoint, MetadataLog, TopicWanted
from twinlog.host import FileSlice, Host
from twinlog.host.local.chance import LocalChance
from twinlog.host.local.disk import LocalDisk
from twinlog.host.network import QUEUE_HIGH_BYTES
from twinlog.kafka.broker import Broker
from twinlog.kafka.config_values import ConfigValues
from twinlog.kafka.quotas import Quotas
from twinlog.kafka.rules import KAFKA_RULES
from twinlog.kafka.settings import KafkaSettings
from twinlog.kafka.transactions import TransactionSettings
from twinlog.servers.admission import Admission
from twinlog.servers.kafka.server import KafkaServer
from twinlog.storage import LogStore, StorageSettings
from twinlog.wire.kafka.api import decode_response, encode_request
from twinlog.wire.kafka.messages.fetch import (
    FetchRequest,
    FetchRequestForgottenTopic,
    FetchRequestPartition,
    FetchRequestTopic,
)
from twinlog.wire.kafka.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

NODE_ID = 1
START_MS = 1_700_000_000_000


class ManualTasks:
    """Tasks and clock whose time stands still until it is moved."""

    def __init__(self) -> None:
        self.on_crash: Callable[[BaseException], None] = self._raise
        self.elapsed_ms = 0.0
        self._soon: deque[tuple[Callable[..., object], tuple[object, ...]]] = deque()
        self._timers: list[tuple[float, int, Callable[..., object], tuple[object, ...]]] = []
        self._number = count()
        self._cancelled: set[int] = set()

    @staticmethod
    def _raise(error: BaseException) -> None:
        raise error

    def now_ms(self) -> int:
        return START_MS + int(self.elapsed_ms)

    def monotonic_us(self) -> int:
        return int(self.elapsed_ms * 1000)

    def soon(self, callback: Callable[..., object], *args: object) -> None:
        self._soon.append((callback, args))

    def later(self, delay_ms: float, callback: Callable[..., object], *args: object) -> Cancel:
        number = next(self._number)
        heapq.heappush(self._timers, (self.elapsed_ms + delay_ms, number, callback, args))
        return Cancel(self._cancelled, number)

    def start(self, work: Any, name: str) -> Any:
        raise NotImplementedError

    def blocking(self, work: Callable[[], Any], done: Callable[[Any, Exception | None], None]) -> None:
        self.soon(done, work(), None)

    async def stop(self) -> None:
        return None

    def settle(self) -> None:
        while self._soon:
            callback, args = self._soon.popleft()
            callback(*args)

    def pass_time(self, ms: float) -> None:
        self.settle()
        end = self.elapsed_ms + ms
        while self._timers and self._timers[0][0] <= end:
            at, number, callback, args = heapq.heappop(self._timers)
            self.elapsed_ms = max(self.elapsed_ms, at)
            if number not in self._cancelled:
                callback(*args)
            self.settle()
        self.elapsed_ms = end

    @property
    def timer_count(self) -> int:
        return sum(1 for timer in self._timers if timer[1] not in self._cancelled)


class Cancel:
    def __init__(self, cancelled: set[int], number: int) -> None:
        self._cancelled = cancelled
        self._number = number

    def cancel(self) -> None:
        self._cancelled.add(self._number)


class HeldDisk(LocalDisk):
    """Real files whose sync rounds end when the test says so (at once, unless ``held``)."""

    def __init__(self, tasks: ManualTasks) -> None:
        super().__init__(None)  # type: ignore[arg-type]
        self._tasks = tasks
        self.held = False
        self.waiting: list[Callable[[Exception | None], None]] = []

    def start_sync(
        self, files: Any, directories: Any, done: Callable[[Exception | None], None], *, small: bool = False
    ) -> None:
        if self.held:
            self.waiting.append(done)
        else:
            self._tasks.soon(done, None)


class ListJournal:
    """A metadata journal that keeps its promises in memory."""

    def __init__(self, tasks: ManualTasks, payloads: list[bytes]) -> None:
        self._tasks = tasks
        self.payloads = payloads
        self.size_bytes = 0

    def open(self) -> tuple[bytes | None, list[bytes]]:
        return None, list(self.payloads)

    def append(self, payload: bytes, done: Callable[[Exception | None], None]) -> None:
        self.payloads.append(payload)
        self._tasks.soon(done, None)

    def snapshot(self, payload: bytes) -> None:
        raise NotImplementedError

    def close(self) -> None:
        return None


class Lines(Silence):
    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, object]]] = []

    def warning(self, event: str, /, **fields: object) -> None:
        self.lines.append((event, fields))

    error = warning


class Node:
    """Everything of a node that a Kafka request meets."""

    def __init__(
        self,
        path: str,
        settings: KafkaSettings | None = None,
        *,
        login_needed: bool = False,
        quotas: Quotas | None = None,
        transactions: TransactionSettings | None = None,
        journal: ListJournal | None = None,
    ) -> None:
        self.tasks = ManualTasks()
        self.disk = HeldDisk(self.tasks)
        self.log = Lines()
        host = Host(self.tasks, LocalChance(), self.disk, None, self.tasks)  # type: ignore[arg-type]
        self.store = LogStore(host, [path], StorageSettings(reserve_bytes=0), node_id=NODE_ID)
        self.store.open()
        self.journal = ListJournal(self.tasks, journal.payloads if journal else [])
        self.metadata = MetadataLog(self.journal, self.tasks)
        self.metadata.open()
        self.controller = Controller(self.metadata, host.chance, KAFKA_RULES)
        self.controller.form_cluster(self.tasks.now_ms(), lambda fault: None)
        endpoint = Endpoint("PLAINTEXT", "127.0.0.1", 9092, "PLAINTEXT")
        self.controller.register_broker(NODE_ID, bytes(16), [endpoint], lambda epoch: None, clean=True)
        self.settle()
        self.broker = Broker(
            node_id=NODE_ID,
            metadata=self.metadata,
            controller=self.controller,
            store=self.store,
            settings=settings or KafkaSettings(),
            configs=ConfigValues(NODE_ID),
            chance=host.chance,
            now_ms=self.tasks.now_ms,
            soon=self.tasks.soon,
            later=self.tasks.later,
            quotas=quotas,
            transactions=transactions,
        )
        self.broker.start()
        self.settle()
        self.admission = Admission()
        self.server = KafkaServer(
            broker=self.broker,
            clock=self.tasks,
            tasks=self.tasks,
            log=self.log,
            listener="PLAINTEXT",
            login_needed=login_needed,
            admission=self.admission,
        )

    def settle(self) -> None:
        self.tasks.settle()

    def pass_time(self, ms: float) -> None:
        self.tasks.pass_time(ms)

    def hold_syncs(self) -> None:
        self.disk.held = True

    def sync(self, fault: Exception | None = None) -> None:
        """Ends the sync round that waits."""
        done = self.disk.waiting.pop(0)
        done(fault)
        self.settle()

    def fail_syncs(self) -> None:
        self.sync(HostFault("disk", "broken"))

    def topic(self, name: str, partitions: int = 1, **configs: str) -> bytes:
        """Makes a topic; config names have _ for a dot. Returns its id."""
        held, self.disk.held = self.disk.held, False
        wanted = TopicWanted(name, partitions, 1, configs={k.replace("_", "."): v for k, v in configs.items()})
        outcomes: list[Any] = []
        self.controller.create_topics([wanted], outcomes.extend)
        self.settle()
        self.disk.held = held
        if isinstance(outcomes[0], Exception):
            raise outcomes[0]
        return outcomes[0].topic_id

    def delete_topic(self, topic_id: bytes) -> None:
        self.controller.delete_topics([topic_id], lambda outcomes: None)
        self.settle()

    def client(self) -> Client:
        return Client(self)


class Client:
    """Our end of one connection: sends bytes, keeps what comes back."""

    def __init__(self, node: Node, port: int = 50_000) -> None:
        self.peer = ("10.0.0.9", port)
        self.local = ("127.0.0.1", 9092)
        self.peer_certificate = None
        self.queued_bytes = 0
        self.queue_high_bytes = QUEUE_HIGH_BYTES
        self.received_bytes = 0
        self.kept_bytes = 0
        self.expected: list[int] = []
        self.stuck = False  # a peer that takes nothing: queued_bytes grows
        self.paused = False
        self.closed = False
        self.incoming = bytearray()
        self.received = bytearray()
        self._node = node
        self._asked: dict[int, tuple[int, int]] = {}
        self._number = count(1)
        self.connection = node.server.accept()
        self.connection.on_open(self)

    # What the connection sees.

    def send(self, parts: Sequence[Any]) -> None:
        for part in parts:
            data = part.file.read_at(part.position, part.size) if isinstance(part, FileSlice) else bytes(part)
            self.received += data
            if self.stuck:
                self.queued_bytes += len(data)

    @property
    def held_bytes(self) -> int:
        return len(self.incoming) + self.queued_bytes + self.kept_bytes

    def keep(self, by_bytes: int) -> None:
        self.kept_bytes += by_bytes

    def take_queued(self) -> None:
        self.queued_bytes = 0
        self.connection.on_writable()
        self._node.settle()

    def expect(self, size: int) -> None:
        self.expected.append(size)

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False
        self._node.tasks.soon(self._deliver)

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._node.tasks.soon(self.connection.on_closed, None)

    abort = close

    # What the test does.

    def feed(self, data: bytes) -> None:
        self.incoming += data
        self.received_bytes += len(data)
        self._deliver()
        self._node.settle()

    def _deliver(self) -> None:
        if self.incoming and not self.paused and not self.closed:
            end = len(self.incoming)
            start = self.connection.on_bytes(self.incoming, 0, end)
            assert 0 <= start <= end
            del self.incoming[:start]

    def send_request(self, message: Any, version: int, key: int | None = None) -> int:
        correlation_id = next(self._number)
        key = message.KEY if key is None else key
        self._asked[correlation_id] = (key, version)
        self.feed(encode_request(key, version, correlation_id, "test", message))
        return correlation_id

    def answers(self) -> list[tuple[int, Any]]:
        """(correlation id, response) of every whole answer so far, in order; they are taken out."""
        found = []
        while len(self.received) >= 4:
            size = int.from_bytes(self.received[:4], "big")
            if len(self.received) < 4 + size:
                break
            frame = bytes(self.received[4 : 4 + size])
            del self.received[: 4 + size]
            key, version = self._asked[int.from_bytes(frame[:4], "big")]
            correlation_id, response = decode_response(key, version, frame)
            found.append((correlation_id, _with_records(response, frame)))
        return found

    def ask(self, message: Any, version: int) -> Any:
        """The answer, which must come without anybody's help."""
        correlation_id = self.send_request(message, version)
        ((answered, response),) = self.answers()
        assert answered == correlation_id
        return response

    def gone(self) -> None:
        """The client closes."""
        self.close()
        self._node.settle()


def _with_records(response: Any, frame: bytes) -> Any:
    for topic in getattr(response, "responses", []):
        for partition in getattr(topic, "partitions", []):
            if isinstance(getattr(partition, "records", None), tuple):
                off, size = partition.records
                partition.records = frame[off : off + size]
    return response


def batch(*values: bytes, key: bytes | None = b"k", at_ms: int = START_MS, **fields: Any) -> bytes:
    """A record batch with one record a value."""
    return build_batch([(at_ms, key, value, []) for value in values], **fields)


def produce(
    topic: str | bytes, *batches: bytes | None, acks: int = -1, timeout_ms: int = 30_000, partition: int = 0
) -> ProduceRequest:
    """One batch a partition, from ``partition`` on."""
    data = [PartitionProduceData(index=partition + n, records=records) for n, records in enumerate(batches)]
    named = {"name": topic} if isinstance(topic, str) else {"topic_id": topic}
    topics = [TopicProduceData(partition_data=data, **named)]  # type: ignore[arg-type]
    return ProduceRequest(acks=acks, timeout_ms=timeout_ms, topic_data=topics)


def fetch(
    topic: str | bytes,
    *offsets: int,
    max_wait_ms: int = 0,
    min_bytes: int = 1,
    max_bytes: int = 50 << 20,
    partition_max_bytes: int = 1 << 20,
    isolation_level: int = 0,
    session: tuple[int, int] = (0, -1),
    forget: Sequence[int] = (),
    epoch: int = -1,
    last_fetched_epoch: int = -1,
    partitions: Sequence[int] | None = None,
) -> FetchRequest:
    """Fetches the first partitions of a topic, each from its offset."""
    asked = [
        FetchRequestPartition(
            partition=index,
            fetch_offset=offset,
            partition_max_bytes=partition_max_bytes,
            current_leader_epoch=epoch,
            last_fetched_epoch=last_fetched_epoch,
        )
        for index, offset in zip(partitions if partitions is not None else range(len(offsets)), offsets, strict=True)
    ]
    named = {"topic": topic} if isinstance(topic, str) else {"topic_id": topic}
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        isolation_level=isolation_level,
        session_id=session[0],
        session_epoch=session[1],
        topics=[FetchRequestTopic(partitions=asked, **named)] if asked else [],  # type: ignore[arg-type]
        forgotten_topics_data=[FetchRequestForgottenTopic(partitions=list(forget), **named)] if forget else [],  # type: ignore[arg-type]
    )


def values(records: bytes) -> list[bytes | None]:
    """The values of all whole batches."""
    return [record[3] for record in records_of(records)]


def records_of(records: bytes) -> list[Any]:
    batches, end, _ = scan_batches(records, 0, len(records))
    assert end == len(records), "a batch is not whole"
    return [record for each in batches for record in decode_records(records, each[0], each[0] + each[1], 1 << 30)]
