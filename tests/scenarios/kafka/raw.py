"""One TCP connection to a Kafka port: whole requests, parts of them, or anything else."""

from __future__ import annotations

import socket
import struct
from typing import Any

from tests.scenarios.kafka.batches import Batch, read_batches
from twinlog.wire.kafka import APIS, Message, decode_response, encode_request
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import create_topics, fetch, list_offsets, metadata, produce

TIMEOUT_S = 20.0
PRODUCE, FETCH, LIST_OFFSETS, METADATA, API_VERSIONS = 0, 1, 2, 3, 18
EARLIEST, LATEST, MAX_TIMESTAMP = -2, -1, -3


class Closed(Exception):
    """The broker closed the connection."""


class Connection:
    """Requests go out as given; answers are taken in order."""

    def __init__(self, bootstrap: str, timeout_s: float = TIMEOUT_S, source: str = "127.0.0.1") -> None:
        host, _, port = bootstrap.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout_s, (source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.correlation_id = 0

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    # ---- bytes ----

    def send_bytes(self, data: bytes) -> None:
        self.socket.sendall(data)

    def receive_bytes(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            try:
                part = self.socket.recv(size - len(parts))
            except ConnectionResetError:
                part = b""
            if not part:
                raise Closed(f"closed after {len(parts)} of {size} bytes")
            parts += part
        return bytes(parts)

    def receive_frame(self) -> bytes:
        (size,) = struct.unpack(">i", self.receive_bytes(4))
        return self.receive_bytes(size)

    def is_closed_within(self, seconds: float) -> bool:
        """Whether the broker closes; bytes that still come are thrown away."""
        self.socket.settimeout(seconds)
        try:
            while self.socket.recv(65536):
                pass
        except ConnectionError:
            return True
        except TimeoutError:
            return False
        finally:
            self.socket.settimeout(TIMEOUT_S)
        return True

    # ---- messages ----

    def send(self, message: Message, version: int, client_id: str | None = "scenario") -> int:
        self.correlation_id += 1
        self.send_bytes(encode_request(message.KEY, version, self.correlation_id, client_id, message))
        return self.correlation_id

    def receive(self, key: int, version: int) -> Any:
        """The next answer. Records in it are bytes."""
        frame = self.receive_frame()
        correlation_id, message = decode_response(key, version, frame)
        self.answered_id = correlation_id
        if key == FETCH:
            for topic in message.responses:
                for partition in topic.partitions:
                    if isinstance(partition.records, tuple):
                        offset, size = partition.records
                        partition.records = frame[offset : offset + size]
        return message

    def call(self, message: Message, version: int | None = None) -> Any:
        version = APIS[message.KEY].version_max if version is None else version
        correlation_id = self.send(message, version)
        answer = self.receive(message.KEY, version)
        assert self.answered_id == correlation_id
        return answer

    # ---- the usual calls, shortened to one topic and one partition ----

    def create_topic(self, name: str, partitions: int = 1, configs: dict[str, str] | None = None) -> bytes:
        """Makes it, waits until it can be used; its id."""
        wanted = create_topics.CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=-1,
            configs=[create_topics.CreatableTopicConfig(name=k, value=v) for k, v in (configs or {}).items()],
        )
        (made,) = self.call(create_topics.CreateTopicsRequest(topics=[wanted], timeout_ms=10000), 7).topics
        assert made.error_code == 0, (ErrorCode(made.error_code), made.error_message)
        while any(self.offset(name, LATEST, p).error_code for p in range(partitions)):
            pass  # Apache Kafka answers before its partitions are ready
        return bytes(made.topic_id)

    def topic(self, name: str, version: int = 12, create: bool = False) -> Any:
        wanted = metadata.MetadataRequest(
            topics=[metadata.MetadataRequestTopic(name=name)], allow_auto_topic_creation=create
        )
        (found,) = self.call(wanted, version).topics
        return found

    def produce(
        self,
        topic: str | bytes,
        records: bytes | None,
        *,
        partition: int = 0,
        version: int | None = None,
        acks: int = -1,
        timeout_ms: int = 10000,
    ) -> Any:
        """The answer's part for the partition. A topic id asks by version 13."""
        request, version = produce_request(topic, records, partition, version, acks, timeout_ms)
        answer = self.call(request, version)
        return answer.responses[0].partition_responses[0]

    def fetch(self, topic: str | bytes, offset: int, *, version: int | None = None, **more: Any) -> Any:
        """The answer's part for the partition."""
        request, version = fetch_request(topic, offset, version=version, **more)
        answer = self.call(request, version)
        assert answer.error_code == 0, ErrorCode(answer.error_code)
        return answer.responses[0].partitions[0]

    def read(self, topic: str | bytes, offset: int = 0, **more: Any) -> list[Batch]:
        found = self.fetch(topic, offset, **more)
        assert found.error_code == 0, ErrorCode(found.error_code)
        return read_batches(found.records)

    def offset(self, topic: str, timestamp: int, partition: int = 0, version: int = 8, **more: Any) -> Any:
        wanted = list_offsets.ListOffsetsPartition(
            partition_index=partition, timestamp=timestamp, current_leader_epoch=more.pop("current_leader_epoch", -1)
        )
        request = list_offsets.ListOffsetsRequest(
            replica_id=-1, topics=[list_offsets.ListOffsetsTopic(name=topic, partitions=[wanted])], **more
        )
        return self.call(request, version).topics[0].partitions[0]

    def end(self, topic: str, partition: int = 0) -> int:
        return int(self.offset(topic, LATEST, partition).offset)


def produce_request(
    topic: str | bytes,
    records: bytes | None,
    partition: int = 0,
    version: int | None = None,
    acks: int = -1,
    timeout_ms: int = 10000,
) -> tuple[Message, int]:
    named = {"name": topic} if isinstance(topic, str) else {"topic_id": topic}
    data = produce.TopicProduceData(
        **named, partition_data=[produce.PartitionProduceData(index=partition, records=records)]
    )
    if version is None:
        version = 9 if isinstance(topic, str) else 13
    return produce.ProduceRequest(acks=acks, timeout_ms=timeout_ms, topic_data=[data]), version


def fetch_request(
    topic: str | bytes,
    offset: int,
    *,
    partition: int = 0,
    version: int | None = None,
    max_wait_ms: int = 0,
    min_bytes: int = 0,
    max_bytes: int = 1 << 26,
    partition_max_bytes: int = 1 << 26,
    current_leader_epoch: int = -1,
    last_fetched_epoch: int = -1,
    **more: Any,
) -> tuple[Message, int]:
    named = {"topic": topic} if isinstance(topic, str) else {"topic_id": topic}
    wanted = fetch.FetchRequestPartition(
        partition=partition,
        fetch_offset=offset,
        partition_max_bytes=partition_max_bytes,
        current_leader_epoch=current_leader_epoch,
        last_fetched_epoch=last_fetched_epoch,
    )
    request = fetch.FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        topics=[fetch.FetchRequestTopic(**named, partitions=[wanted])],
        **more,
    )
    if version is None:
        version = 12 if isinstance(topic, str) else 17
    return request, version
