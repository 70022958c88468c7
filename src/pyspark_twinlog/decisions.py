"""Which micro-batches have been decided: a compacted topic in the cluster that is written to.

A sink writes each batch in one transaction a task, and Spark's driver ends them. To end several as if they were one, it
first writes down that it will: the decision names the query, the batch and every transaction. What is decided is
finished by whoever runs the query next; what is not is rolled back. docs/formats/spark-decisions.md tells every field.

The decision is itself written in a transaction, whose id belongs to the sink. Beginning it fences every older driver
of the sink, and returns only when what that driver had under way is settled: who has begun and then reads knows all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pyspark_twinlog.errors import TwinlogSparkError
from twinlog.client import BrokerError, Client, Consumer
from twinlog.client.blocking import EARLIEST, LATEST
from twinlog.client.lookup import offsets_of, persistently
from twinlog.client.staging import Staging
from twinlog.client.transaction import TIMEOUT_MS_ORDINARY, Identity, begin, begin_longest, end
from twinlog.wire.kafka.errors import ErrorCode

VERSION: Final = 1


@dataclass(frozen=True)
class Part:
    """One task's transaction, and how many records it holds."""

    identity: Identity
    records: int


@dataclass(frozen=True)
class Decision:
    """That a batch is committed. ``slots`` is how many task slots the sink has used at most."""

    sink: str
    query: str
    batch: int
    parts: tuple[Part, ...]
    slots: int

    def to_bytes(self) -> bytes:
        parts = [
            [part.identity.transactional_id, part.identity.producer_id, part.identity.epoch, part.identity.version,
             part.records]
            for part in self.parts
        ]  # fmt: skip
        document = {
            "version": VERSION,
            "sink": self.sink,
            "query": self.query,
            "batch": self.batch,
            "slots": self.slots,
            "parts": parts,
        }
        return json.dumps(document, separators=(",", ":")).encode()


def read_decision(value: bytes) -> Decision:
    try:
        document: dict[str, Any] = json.loads(value)
        if document["version"] != VERSION:
            raise TwinlogSparkError(
                f"the sink's decisions have version {document['version']}, and this release reads {VERSION}: "
                "use the newer release"
            )
        parts = tuple(
            Part(Identity(str(name), int(producer), int(epoch), int(version)), int(records))
            for name, producer, epoch, version, records in document["parts"]
        )
        return Decision(document["sink"], document["query"], int(document["batch"]), parts, int(document["slots"]))
    except (ValueError, KeyError, TypeError) as wrong:
        raise TwinlogSparkError(f"the decision topic holds something else than decisions: {value[:200]!r}") from wrong


class Decisions:
    """The decision topic, read on from where it was read before."""

    def __init__(self, client: Client, topic: str) -> None:
        self.client = client
        self.topic = topic
        self._latest: dict[str, Decision] = {}
        self._position: int | None = None
        self._made_sure = False

    def make_sure(self) -> None:
        """Makes the topic if need be: one partition, the last decision of each sink is kept."""
        if self._made_sure:
            return

        def attempt() -> None:
            try:
                self.client.create_topic(self.topic, 1, configs={"cleanup.policy": "compact"})
            except BrokerError as error:
                if error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
                    raise
            self.client.topic(self.topic)

        persistently(self.client, attempt)
        self._made_sure = True

    def latest(self, sink: str) -> Decision | None:
        """The last decision of a sink. Call after ``take_over``, so that none is under way."""
        for decision in persistently(self.client, lambda: list(self._news())):
            self._latest[decision.sink] = decision
        return self._latest.get(sink)

    def _news(self) -> Iterator[Decision]:
        place = (self.topic, 0)
        self.client.refresh({self.topic})
        if self._position is None:
            self._position = offsets_of(self.client, {place: EARLIEST})[place]
        stop = offsets_of(self.client, {place: LATEST}, committed=True)[place]
        consumer = Consumer(self.client, wait_ms=100, committed_only=True)
        consumer.assign(self.topic, {0: self._position})
        found = []
        while consumer.positions[place] < stop:
            found += [read_decision(record.value) for record in consumer.poll() if record.value is not None]
        self._position = consumer.positions[place]
        yield from found

    def take_over(self, sink: str, timeout_ms: int | None) -> tuple[Identity, int]:
        """Fences older drivers of this sink; (under what to decide, the longest timeout that the broker allows)."""
        name = f"{sink}-decision"
        if timeout_ms is not None:
            return begin(self.client, name, timeout_ms), timeout_ms
        known = _longest.get((self.topic, sink))
        longest = [known] if known else [_allowed_ms(self.client) or TIMEOUT_MS_ORDINARY, TIMEOUT_MS_ORDINARY, 60_000]
        identity, allowed = begin_longest(self.client, name, longest)
        _longest[self.topic, sink] = allowed
        return identity, allowed

    def decide(self, decision: Decision, identity: Identity) -> None:
        """Durable when this returns. ``BrokerError`` with a code of ``GONE``: a newer driver has taken over."""
        staging = Staging(self.client, identity)
        staging.add(self.topic, 1, keys=_one(decision.sink.encode()), values=_one(decision.to_bytes()))
        staging.flush()
        end(self.client, identity, committed=True)


_longest: dict[tuple[str, str], int] = {}


def _one(value: bytes) -> tuple[None, bytes, bytes, int]:
    """A column of one row."""
    return None, b"\0\0\0\0" + len(value).to_bytes(4, "little"), value, 0


def _allowed_ms(client: Client) -> int | None:
    """The broker's transaction.max.timeout.ms, where it tells us."""
    from twinlog.wire.kafka.messages import (
        DescribeConfigsRequest,
        DescribeConfigsResource,
        DescribeConfigsResponse,
    )

    client.refresh(client.view.topics)
    node = next(iter(client.view.brokers), -1)
    resource = DescribeConfigsResource(
        resource_type=4, resource_name=str(node), configuration_keys=["transaction.max.timeout.ms"]
    )
    answer = client.call(DescribeConfigsRequest(resources=[resource]), DescribeConfigsResponse, node)
    for result in answer.results:
        for config in result.configs:
            if config.value and config.value.isdecimal():
                return int(config.value)
    return None
