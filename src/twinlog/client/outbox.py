"""Records on their way out: gathered into batches, numbered, and kept until a broker took them.

A batch keeps its sequence number through every retry, so that a broker can tell a repetition from new records. While
one batch of a partition has to be sent again, nothing behind it may overtake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from twinlog import _kernel
from twinlog.wire.kafka.messages import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)

RECORD_OVERHEAD_BYTES: Final = 20
CODECS: Final = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}

Headers: TypeAlias = "list[tuple[str, bytes | None]]"
Place: TypeAlias = tuple[str, int]


@dataclass(slots=True)
class Batch:
    """Records of one partition; ``sequence`` is -1 without idempotence."""

    topic: str
    partition: int
    records: list[tuple[int, bytes | None, bytes | None, Headers]] = field(default_factory=list)
    size: int = 0
    sequence: int = -1
    encoded: bytes | memoryview = b""
    count: int = 0


@dataclass(slots=True)
class Outcome:
    """What a broker said about one batch; ``error`` 0 is success."""

    batch: Batch
    error: int
    base_offset: int
    message: str | None


def produce_request(
    batches: Iterable[Batch], *, acks: int, timeout_ms: int, transactional_id: str | None = None
) -> ProduceRequest:
    """Asks one broker to take these encoded batches, at most one a partition."""
    topics: dict[str, TopicProduceData] = {}
    for batch in batches:
        topic = topics.get(batch.topic)
        if topic is None:
            topic = topics[batch.topic] = TopicProduceData(name=batch.topic)
        topic.partition_data.append(PartitionProduceData(index=batch.partition, records=batch.encoded))
    return ProduceRequest(
        transactional_id=transactional_id, acks=acks, timeout_ms=timeout_ms, topic_data=list(topics.values())
    )


def outcomes(batches: Iterable[Batch], response: ProduceResponse) -> list[Outcome]:
    """What became of each batch of a request."""
    said = {
        (topic.name, partition.index): partition
        for topic in response.responses
        for partition in topic.partition_responses
    }
    found = []
    for batch in batches:
        partition = said.get((batch.topic, batch.partition))
        if partition is None:
            found.append(Outcome(batch, -1, -1, "the broker's answer leaves this partition out"))
        else:
            found.append(Outcome(batch, partition.error_code, partition.base_offset, partition.error_message))
    return found


class Outbox:
    """The core of a producer."""

    def __init__(
        self,
        *,
        batch_bytes: int = 64 * 1024,
        codec: str = "none",
        acks: int = -1,
        timeout_ms: int = 30_000,
        producer_id: int = -1,
        producer_epoch: int = -1,
    ) -> None:
        assert producer_id < 0 or acks == -1, "an idempotent producer waits for all replicas"
        self.waiting_bytes = 0
        self.full = False  # some batch is ready to go
        self._batch_bytes = batch_bytes
        self._codec = CODECS[codec]
        self._acks = acks
        self._timeout_ms = timeout_ms
        self._producer = (producer_id, producer_epoch)
        self._open: dict[Place, Batch] = {}
        self._closed: list[Batch] = []
        self._sequences: dict[Place, int] = {}

    def add(
        self, topic: str, partition: int, key: bytes | None, value: bytes | None, headers: Headers, timestamp_ms: int
    ) -> None:
        place = (topic, partition)
        batch = self._open.get(place)
        if batch is None:
            batch = self._open[place] = Batch(topic, partition)
        size = len(key or b"") + len(value or b"") + RECORD_OVERHEAD_BYTES
        for name, header_value in headers:
            size += len(name) + len(header_value or b"") + 4
        batch.records.append((timestamp_ms, key, value, headers))
        batch.count += 1
        batch.size += size
        self.waiting_bytes += size
        if batch.size >= self._batch_bytes:
            self._close(place)
            self.full = True

    def take(self, leader_of: Callable[[str, int], int], *, everything: bool) -> dict[int, list[Batch]]:
        """Batches to send now, by leader: the full ones or all; at most one a partition, in order."""
        if everything:
            for place in list(self._open):
                self._close(place)
        taken: dict[int, list[Batch]] = {}
        places: set[Place] = set()
        left: list[Batch] = []
        for batch in self._closed:
            place = (batch.topic, batch.partition)
            leader = leader_of(*place)
            if place in places or leader < 0:
                places.add(place)
                left.append(batch)
                continue
            places.add(place)
            self.waiting_bytes -= batch.size
            taken.setdefault(leader, []).append(batch)
        self._closed = left
        self.full = bool(left)
        return taken

    def put_back(self, batches: Iterable[Batch]) -> None:
        """Batches that did not get through, in their old order; they go out before everything else."""
        again = list(batches)
        self.waiting_bytes += sum(batch.size for batch in again)
        self._closed[:0] = again
        self.full = self.full or bool(again)

    def request(self, batches: Iterable[Batch]) -> ProduceRequest:
        encoded = [(batch, self._encoded(batch)) for batch in batches]
        return produce_request([batch for batch, _ in encoded], acks=self._acks, timeout_ms=self._timeout_ms)

    def _close(self, place: Place) -> None:
        batch = self._open.pop(place)
        if self._producer[0] >= 0:
            # Numbers are given when a batch is closed: from then on its place in the order is fixed.
            batch.sequence = self._sequences.get(place, 0)
            self._sequences[place] = (batch.sequence + batch.count) & 0x7FFFFFFF
        self._closed.append(batch)

    def _encoded(self, batch: Batch) -> bytes | memoryview:
        if not batch.encoded:
            producer_id, producer_epoch = self._producer
            batch.encoded = _kernel.build_batch(
                batch.records,
                codec=self._codec,
                producer_id=producer_id,
                producer_epoch=producer_epoch,
                base_sequence=batch.sequence,
            )
        return batch.encoded
