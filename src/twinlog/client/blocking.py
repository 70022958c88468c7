"""The client for callers that may wait: the command line, tests, and batch readers.

One connection a broker, made when first needed. A lost connection is made again; a request that only reads, or that
a broker can tell from its repetition, is sent again until ``timeout_ms`` is over.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from twinlog.base.address import Address
from twinlog.client import admin, quota_requests
from twinlog.client.connection import Answer, Connection
from twinlog.client.delivery import Delivery
from twinlog.client.errors import BrokerError, ClientError, ConnectionLost, check, is_retriable
from twinlog.client.outbox import Headers, Outbox
from twinlog.client.partitioner import partition_for_key
from twinlog.client.ports import Door, Transport
from twinlog.client.reader import Reader, Record
from twinlog.client.view import ClusterView, TopicView, view_of
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.message import Message
from twinlog.wire.kafka.messages import (
    AlterClientQuotasResponse,
    CreatePartitionsResponse,
    CreateTopicsResponse,
    DeleteTopicsResponse,
    DescribeClientQuotasResponse,
    DescribeConfigsResponse,
    FetchResponse,
    IncrementalAlterConfigsResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)

EARLIEST: Final = -2
LATEST: Final = -1
ANY: Final = -1
PAUSE_MS: Final = 50

M = TypeVar("M", bound=Message)


class Link:
    """One broker's connection, made and shaken hands over."""

    def __init__(self, door: Door, address: Address, client_id: str, timeout_ms: int) -> None:
        self._timeout_ms = timeout_ms
        self._core = Connection(client_id)
        self._transport: Transport = door.connect(address, timeout_ms)
        self._answers: deque[Answer] = deque()
        self._transport.send(self._core.hello())
        self.take()

    @property
    def features(self) -> dict[str, int]:
        """What the cluster has agreed on, with its level."""
        return self._core.features

    def send(self, message: Message, *, answered: bool = True, version_max: int | None = None) -> None:
        self._transport.send(self._core.request(message, answered=answered, version_max=version_max)[1])

    def take(self, wait_ms: int = 0) -> Answer:
        """The next answer in order; ``wait_ms`` is what the broker was allowed to take for it."""
        while not self._answers:
            size = self._transport.receive_into(self._core.room(), self._timeout_ms + wait_ms)
            self._answers.extend(self._core.filled(size))
        return self._answers.popleft()

    def close(self) -> None:
        self._transport.close()


class Client:
    """Connections to a cluster, and what is known of it."""

    def __init__(
        self, bootstrap: Sequence[Address], door: Door, *, client_id: str = "twinlog", timeout_ms: int = 30_000
    ) -> None:
        self.view = ClusterView()
        self.door = door
        self.timeout_ms = timeout_ms
        self._bootstrap = list(bootstrap)
        self._client_id = client_id
        self._links: dict[int, Link] = {}

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for link in self._links.values():
            link.close()
        self._links.clear()

    # ---- one request ------------------------------------------------------------------------------------------

    def link(self, node: int = ANY) -> Link:
        """A connection to this broker, or to any."""
        if node == ANY and self._links:
            return next(iter(self._links.values()))
        found = self._links.get(node)
        if found is None:
            found = self._links[node] = self._connect(node)
        return found

    def drop(self, node: int) -> None:
        """Forgets a connection that cannot be used any more."""
        broken = self._links.pop(node, None)
        if broken:
            broken.close()

    def call(self, message: Message, answer_type: type[M], node: int = ANY, *, version_max: int | None = None) -> M:
        """Sends one request and waits for its answer, once."""
        link = self.link(node)
        try:
            link.send(message, version_max=version_max)
            answer = link.take().message
        except ClientError:
            for known, each in list(self._links.items()):
                if each is link:
                    self.drop(known)
            raise
        assert isinstance(answer, answer_type)
        return answer

    def _connect(self, node: int) -> Link:
        if node in self.view.brokers:
            return Link(self.door, self.view.brokers[node], self._client_id, self.timeout_ms)
        unreachable: ConnectionLost | None = None
        for address in self._bootstrap:
            try:
                return Link(self.door, address, self._client_id, self.timeout_ms)
            except ConnectionLost as lost:
                unreachable = lost
        raise unreachable or ConnectionLost("no broker's address is known")

    # ---- the cluster ------------------------------------------------------------------------------------------

    def refresh(self, topics: Iterable[str] | None, *, create: bool = False) -> ClusterView:
        """Asks for these topics, or for all (None)."""
        asked = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        response = self.call(MetadataRequest(topics=asked, allow_auto_topic_creation=create), MetadataResponse)
        self.view = view_of(response)
        return self.view

    def topic(self, name: str, *, create: bool = False) -> TopicView:
        """A topic whose partitions all have a leader; waits for that when the topic was just made."""
        deadline_ms = self.door.monotonic_ms() + self.timeout_ms
        while True:
            topic = self.refresh([name], create=create).topics.get(name)
            error = topic.error if topic else int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            ready = topic is not None and topic.partitions and all(each.leader >= 0 for each in topic.partitions)
            if topic and not error and ready:
                return topic
            wait_for_it = not error or error == ErrorCode.LEADER_NOT_AVAILABLE or (create and is_retriable(error))
            if not wait_for_it or self.door.monotonic_ms() > deadline_ms:
                raise BrokerError(error or ErrorCode.LEADER_NOT_AVAILABLE, f"looking up topic {name}")
            self.door.pause(PAUSE_MS)

    def offsets(self, topic: str, partitions: Iterable[int], timestamp: int) -> dict[int, int]:
        """The first offset at or after a time (or EARLIEST, LATEST); the end where no record is that young."""
        found: dict[int, int] = {}
        by_leader: dict[int, list[int]] = {}
        for partition in partitions:
            by_leader.setdefault(self.view.leader(topic, partition), []).append(partition)
        for leader, led in by_leader.items():
            asked = [ListOffsetsPartition(partition_index=partition, timestamp=timestamp) for partition in led]
            request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=asked)])
            for answer in self.call(request, ListOffsetsResponse, leader).topics:
                for each in answer.partitions:
                    check(each.error_code, f"looking up offsets of {topic}-{each.partition_index}")
                    found[each.partition_index] = each.offset
        younger = [partition for partition, offset in found.items() if offset < 0]
        if younger and timestamp != LATEST:
            found |= self.offsets(topic, younger, LATEST)
        return found

    # ---- topics -----------------------------------------------------------------------------------------------

    def create_topic(
        self, name: str, partitions: int = -1, replication_factor: int = -1, configs: dict[str, str] | None = None
    ) -> None:
        request = admin.create_topic(name, partitions, replication_factor, configs or {})
        admin.created(self.call(request, CreateTopicsResponse, self._controller()))

    def delete_topics(self, names: Iterable[str]) -> None:
        admin.deleted(self.call(admin.delete_topics(names), DeleteTopicsResponse, self._controller()))

    def grow_topic(self, name: str, partitions: int) -> None:
        admin.grown(self.call(admin.grow_topic(name, partitions), CreatePartitionsResponse, self._controller()))

    def alter_topic_configs(self, name: str, put: dict[str, str], remove: Iterable[str] = ()) -> None:
        request = admin.alter_topic_configs(name, put, remove)
        admin.altered(self.call(request, IncrementalAlterConfigsResponse, self._controller()))

    def topic_configs(self, name: str, *, documentation: bool = False) -> list[admin.Config]:
        request = admin.describe_topic_configs(name, documentation=documentation)
        return admin.described_configs(self.call(request, DescribeConfigsResponse))

    # ---- quotas -----------------------------------------------------------------------------------------------

    def quotas(self, entity: quota_requests.Entity = ()) -> list[quota_requests.Quota]:
        """All that were set, or those of exactly this entity."""
        return quota_requests.described(self.call(quota_requests.describe(entity), DescribeClientQuotasResponse))

    def alter_quota(self, entity: quota_requests.Entity, put: dict[str, float], remove: Iterable[str] = ()) -> None:
        request = quota_requests.alter(entity, put, remove)
        quota_requests.altered(self.call(request, AlterClientQuotasResponse, self._controller()))

    def _controller(self) -> int:
        if self.view.controller not in self.view.brokers:
            self.refresh([])
        return self.view.controller if self.view.controller in self.view.brokers else ANY


class Producer:
    """Writes records; every record is either confirmed by ``flush`` or its failure raised, none is written twice.

    With ``acks`` other than -1 a lost connection may lose or repeat records, as those modes promise no more.
    """

    def __init__(self, client: Client, *, acks: int = -1, codec: str = "none", batch_bytes: int = 256 * 1024) -> None:
        self._client = client
        self._acks = acks
        identity = self._identity() if acks == -1 else (-1, -1)
        self._outbox = Outbox(
            batch_bytes=batch_bytes,
            codec=codec,
            acks=acks,
            timeout_ms=client.timeout_ms,
            producer_id=identity[0],
            producer_epoch=identity[1],
        )
        self._topics: dict[str, TopicView] = {}
        self._delivery = Delivery(client, self._outbox.request, self._topics, acks=acks)
        self._keyless = 0

    @property
    def confirmed_records(self) -> int:
        return self._delivery.confirmed_records

    @property
    def confirmed_bytes(self) -> int:
        return self._delivery.confirmed_bytes

    def add(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None = None,
        *,
        headers: Headers | None = None,
        partition: int = -1,
        timestamp_ms: int = -1,
    ) -> None:
        """Takes a record, and sends when a batch is full."""
        count = len(self._topic(topic).partitions)
        if partition < 0:
            partition = partition_for_key(key, count) if key is not None else self._keyless % count
        elif partition >= count:
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{topic} has {count} partitions, not {partition}")
        stamp = self._client.door.now_ms() if timestamp_ms < 0 else timestamp_ms
        self._outbox.add(topic, partition, key, value, headers or [], stamp)
        if self._outbox.full:
            self._keyless += 1  # records without a key stay together until a batch is full
            self._send(everything=False)

    def flush(self) -> None:
        """Returns when every record is confirmed."""
        while self._outbox.waiting_bytes or self._delivery.under_way:
            self._send(everything=True)
            self._delivery.settle()

    def _send(self, *, everything: bool) -> None:
        for node, batches in self._outbox.take(self._client.view.leader, everything=everything).items():
            self._delivery.send(node, batches)

    def _topic(self, name: str) -> TopicView:
        known = self._topics.get(name)
        if known is None:
            known = self._topics[name] = self._client.topic(name, create=True)
            self._client.refresh(self._topics)  # the view covers every topic that we write to
        return known

    def _identity(self) -> tuple[int, int]:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=self._client.timeout_ms)
        answer = self._client.call(request, InitProducerIdResponse)
        check(answer.error_code, "asking for a producer id")
        return answer.producer_id, answer.producer_epoch


class Consumer:
    """Reads the partitions it is told, each from the place it is told."""

    def __init__(self, client: Client, *, wait_ms: int = 500, committed_only: bool = False) -> None:
        self._client = client
        self._wait_ms = wait_ms
        self._reader = Reader(wait_ms=wait_ms, committed_only=committed_only)
        self._places: deque[tuple[str, int]] = deque()
        self._lost_at_ms: int | None = None  # since when a broker is away, or a partition without leader

    def assign(self, topic: str, offsets: dict[int, int]) -> None:
        """Reads these partitions from these offsets on; the client's view must know the topic."""
        for partition, offset in offsets.items():
            self._reader.seek(topic, partition, offset)
            self._places.append((topic, partition))

    @property
    def positions(self) -> dict[tuple[str, int], int]:
        """The offset each partition is read from next."""
        return self._reader.positions

    def stop(self, topic: str, partition: int) -> None:
        """Reads this partition no more."""
        self._reader.forget(topic, partition)
        self._places.remove((topic, partition))

    def poll(self) -> list[Record]:
        """The next records, or none when nothing came within the waiting time.

        A broker that is away is waited for, up to the client's timeout; then ``ConnectionLost`` is raised.
        """
        try:
            if self._lost_at_ms is not None:
                self._client.refresh({topic for topic, _ in self._places})
            records = self._poll()
            self._lost_at_ms = None
            return records
        except (ConnectionLost, BrokerError) as lost:
            if isinstance(lost, ConnectionLost):
                self._client.close()
            elif not lost.retriable:
                raise
            now_ms = self._client.door.monotonic_ms()
            if self._lost_at_ms is None:
                self._lost_at_ms = now_ms
            elif now_ms - self._lost_at_ms > self._client.timeout_ms:
                raise
            self._client.door.pause(PAUSE_MS)
            return []

    def _poll(self) -> list[Record]:
        by_leader: dict[int, list[tuple[str, int]]] = {}
        for place in self._places:
            by_leader.setdefault(self._client.view.leader(*place), []).append(place)
        self._places.rotate(-1)  # who was last comes to be first, so that a size limit starves nobody
        records: list[Record] = []
        for node, places in by_leader.items():
            records += self._fetch(node, places)
        return records

    def _fetch(self, node: int, places: list[tuple[str, int]]) -> list[Record]:
        if node < 0:
            raise BrokerError(ErrorCode.LEADER_NOT_AVAILABLE, f"fetching {places[0][0]}")
        link = self._client.link(node)
        try:
            link.send(self._reader.request(places))
            answer = link.take(self._wait_ms)
        except ClientError:
            self._client.drop(node)
            raise
        assert isinstance(answer.message, FetchResponse)
        records, wrong = self._reader.answer(answer.message, answer.buffer)
        if wrong and not records:
            raise wrong[0]
        return records
