"""Columns as records of one topic, on their way to its partitions, within a transaction or without one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from twinlog import _kernel
from twinlog.base.units import KIB, MIB
from twinlog.client import transaction
from twinlog.client.blocking import Client
from twinlog.client.delivery import Delivery
from twinlog.client.errors import check
from twinlog.client.lookup import persistently
from twinlog.client.outbox import CODECS, Batch, produce_request
from twinlog.wire.kafka.messages import InitProducerIdRequest, InitProducerIdResponse, ProduceRequest

BATCH_BYTES: Final = 900 * KIB  # a broker's default bound is a megabyte
BUFFERED_BYTES_MAX: Final = 64 * MIB


class Staging:
    """Takes columns of several topics. With an ``identity`` they belong to its transaction, and stay invisible until it
    is committed; without one they are written once each, by an idempotent producer of our own."""

    def __init__(
        self,
        client: Client,
        identity: transaction.Identity | None = None,
        *,
        codec: str = "none",
        batch_bytes: int = BATCH_BYTES,
        sticky: int = 0,
    ) -> None:
        self.records = 0
        self._client = client
        self._identity = identity
        self._codec = CODECS[codec]
        self._batch_bytes = batch_bytes
        self._sticky = sticky
        self._writers: dict[str, _kernel.BatchWriter] = {}
        self._sequences: dict[str, list[int]] = {}
        self._added: set[tuple[str, int]] = set()
        self._producer = (identity.producer_id, identity.epoch) if identity else self._own_producer()
        self._delivery = Delivery(
            client,
            self._request,
            self._writers,
            version_max=identity.produce_version_max if identity else None,
        )

    def add(
        self,
        topic: str,
        count: int,
        *,
        keys: _kernel.BinaryBuffers | None = None,
        values: _kernel.BinaryBuffers | None = None,
        partitions: _kernel.NumberBuffers | None = None,
        timestamps_us: _kernel.NumberBuffers | None = None,
        headers: _kernel.HeaderBuffers | None = None,
    ) -> None:
        writer = self._writers.get(topic) or self._writer(topic)
        writer.add(
            count,
            self._client.door.now_ms(),
            keys=keys,
            values=values,
            partitions=partitions,
            timestamps_us=timestamps_us,
            headers=headers,
        )
        self.records += count
        crowded = sum(each.buffered_bytes for each in self._writers.values()) > BUFFERED_BYTES_MAX
        for name in list(self._writers) if crowded else [topic]:
            self._send(name, everything=crowded)

    def flush(self) -> None:
        """Returns when every record is on its brokers."""
        for topic in self._writers:
            self._send(topic, everything=True)
        self._delivery.settle()

    def _send(self, topic: str, *, everything: bool) -> None:
        batches, self._sequences[topic] = self._writers[topic].take(
            everything,
            self._sequences[topic],
            codec=self._codec,
            producer_id=self._producer[0],
            producer_epoch=self._producer[1],
            transactional=self._identity is not None,
        )
        if self._identity and self._identity.version < 2:
            fresh = {(topic, partition) for partition, *_ in batches} - self._added
            if fresh:
                transaction.add_partitions(self._client, self._identity, sorted(fresh))
                self._added |= fresh
        # One request a broker and round, at most one batch a partition in each.
        waiting: dict[tuple[int, int], list[Batch]] = {}
        rounds: dict[int, int] = {}
        for partition, count, sequence, block in batches:
            leader = self._client.view.leader(topic, partition)
            number = rounds[partition] = rounds.get(partition, -1) + 1
            encoded = memoryview(block)
            batch = Batch(topic, partition, size=len(encoded), sequence=sequence, encoded=encoded, count=count)
            waiting.setdefault((number, leader), []).append(batch)
        for (_, leader), together in sorted(waiting.items(), key=lambda item: item[0]):
            self._delivery.send(leader, together)

    def _writer(self, topic: str) -> _kernel.BatchWriter:
        known = persistently(self._client, lambda: self._client.topic(topic, create=True))
        self._client.refresh({*self._client.view.topics, *self._writers, topic})
        partitions = len(known.partitions)
        self._writers[topic] = _kernel.BatchWriter(partitions, batch_bytes=self._batch_bytes, sticky=self._sticky)
        self._sequences[topic] = [0] * partitions
        return self._writers[topic]

    def _request(self, batches: Iterable[Batch]) -> ProduceRequest:
        return produce_request(
            batches,
            acks=-1,
            timeout_ms=self._client.timeout_ms,
            transactional_id=self._identity.transactional_id if self._identity else None,
        )

    def _own_producer(self) -> tuple[int, int]:
        def attempt() -> tuple[int, int]:
            request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=self._client.timeout_ms)
            answer = self._client.call(request, InitProducerIdResponse)
            check(answer.error_code, "asking for a producer id")
            return answer.producer_id, answer.producer_epoch

        return persistently(self._client, attempt)
