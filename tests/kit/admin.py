"""The handlers of metadata over a real controller in memory. Every request and answer passes through its bytes."""

from __future__ import annotations

from typing import Any

from tests.kit.cluster import NODE_ID, Metadata
from twinlog.base import HostFault
from twinlog.cluster import Controller, Delta, Image
from twinlog.kafka.config_values import ConfigValues
from twinlog.kafka.metrics import KafkaMetrics
from twinlog.kafka.quotas import QuotaBook
from twinlog.kafka.rights import AllRights, Operation, Resource, Rights
from twinlog.servers.kafka.admin_ports import Parked
from twinlog.servers.kafka.api import HANDLERS
from twinlog.storage.types import DirectoryFacts
from twinlog.wire.kafka.api import decode_request, decode_response, encode_request, encode_response
from twinlog.wire.kafka.message import Message


class FakeLog:
    def __init__(self) -> None:
        self.offline: HostFault | None = None


class FakePartition:
    def __init__(self) -> None:
        self.log = FakeLog()


class FakePartitions:
    """Follows the image as the real table does."""

    def __init__(self) -> None:
        self._topics: dict[str | bytes, list[FakePartition]] = {}

    def of_topic(self, name: str | bytes) -> list[FakePartition] | None:
        return self._topics.get(name)

    def follow(self, image: Image, delta: Delta) -> None:
        for topic in delta.topics.deleted:
            del self._topics[topic.name], self._topics[topic.topic_id]
        for topic in [*delta.topics.created, *(after for _, after in delta.topics.changed)]:
            partitions = self._topics.setdefault(topic.topic_id, [])
            partitions += [FakePartition() for _ in range(len(topic.partitions) - len(partitions))]
            self._topics[topic.name] = partitions


class FakeStore:
    def __init__(self) -> None:
        self.directories: list[DirectoryFacts] = []

    def describe(self) -> list[DirectoryFacts]:
        return self.directories


class NoRightTo:
    """Forbids some operations; on everything, or on things of some names."""

    def __init__(self, *operations: Operation, names: tuple[str, ...] = ()) -> None:
        self.operations = operations
        self.names = names

    def allows(self, asker: object, operation: Operation, resource: Resource, name: str) -> bool:
        return operation not in self.operations or bool(self.names and name not in self.names)


class FakeContext:
    principal = "User:somebody"
    peer = ("127.0.0.1", 50_000)
    listener = "PLAINTEXT"
    came_to = "10.0.0.1"
    client_id = "client"
    now_ms = 0

    def __init__(self, api_key: int, version: int) -> None:
        self.api_key = api_key
        self.version = version
        self.parked: Parked | None = None
        self.timeout_ms: int | None = None
        self.answer: Any = None
        self.throttled_ms: list[int] = []

    def throttle(self, wait_ms: int) -> None:
        self.throttled_ms.append(wait_ms)

    def park(self, parked: Parked, timeout_ms: int) -> None:
        assert self.answer is None, "answered before it was parked"
        self.parked = parked
        self.timeout_ms = timeout_ms

    def reply(self, response: Message) -> None:
        assert self.answer is None, "a request is answered once"
        self.parked = None
        self.answer = self._over_the_wire(response)

    def returned(self, response: Message | None) -> None:
        if response is not None:
            assert self.parked is None, "parked and answered"
            self.reply(response)

    def _over_the_wire(self, response: Message) -> Any:
        frame = encode_response(self.api_key, self.version, 7, response)
        correlation_id, decoded = decode_response(self.api_key, self.version, frame, 4, len(frame))
        assert correlation_id == 7
        return decoded


class AdminNode:
    """An ``AdminBroker``: the node as these handlers see it."""

    def __init__(self, *, static: dict[str, str] | None = None, partitions_follow: bool = True) -> None:
        self.metadata = Metadata()
        self.node_id = NODE_ID
        self.configs = ConfigValues(NODE_ID, static or {})
        self.rights: Rights = AllRights()
        self.partitions = FakePartitions()
        self.store = FakeStore()
        self.quotas = QuotaBook(KafkaMetrics())
        self.metadata.log.subscribe(self.quotas.follow)
        if partitions_follow:
            self.metadata.log.subscribe(self.partitions.follow)

    @property
    def image(self) -> Image:
        return self.metadata.image

    @property
    def controller(self) -> Controller:
        return self.metadata.controller

    def start(self, request: Message, version: int) -> FakeContext:
        """Hands the request over as bytes; the context shows what became of it."""
        key = type(request).KEY
        module = HANDLERS[key]
        first, last = module.VERSIONS
        assert first <= version <= last, f"version {version} is not served"
        frame = encode_request(key, version, 7, "client", request)
        # Size, key, version, correlation id, client id; in a flexible version an empty tag section, too.
        flexible = version >= type(request).FLEXIBLE_FROM
        body = 4 + 2 + 2 + 4 + 2 + len("client") + (1 if flexible else 0)
        context = FakeContext(key, version)
        context.returned(module.handle(self, decode_request(key, version, frame, body, len(frame)), context))
        return context

    def ask(self, request: Message, version: int | None = None) -> Any:
        """The answer, after the disk did its work."""
        context = self.start(request, HANDLERS[type(request).KEY].VERSIONS[1] if version is None else version)
        if context.answer is None:
            self.metadata.journal.sync()
        assert context.answer is not None, "no answer"
        return context.answer
