"""Transactions by the standard protocol, whose parts may be done by different processes.

Whoever calls ``begin`` gets an ``Identity``; all earlier holders of its transactional id are fenced, and what they left
open is rolled back. The identity is plain data: records may be written under it in one process (``Staging``) and the
transaction ended in another (``end``). Ending twice in the same way does nothing the second time.

Brokers that have agreed on ``transaction.version`` 2 add partitions as records arrive, and give a transaction a new
epoch when it ends; others want to be told of every partition first. Both are spoken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from twinlog.client.blocking import Client
from twinlog.client.errors import BrokerError, check
from twinlog.client.lookup import TRANSACTION, Place, coordinator, persistently
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

TIMEOUT_MS_LONGEST: Final = 2_147_483_647
TIMEOUT_MS_ORDINARY: Final = 900_000  # what a broker allows unless it is told otherwise

# The newest versions in which partitions are added one request ahead.
PRODUCE_BEFORE_2: Final = 11
END_BEFORE_2: Final = 4
OFFSETS_BEFORE_2: Final = 4

# How a coordinator says that a transaction is no longer ours, or no longer open.
GONE: Final = frozenset(
    {
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_TXN_STATE,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.TRANSACTIONAL_ID_NOT_FOUND,
        ErrorCode.UNKNOWN_PRODUCER_ID,
        ErrorCode.TRANSACTION_ABORTABLE,
    }
)


@dataclass(frozen=True, slots=True)
class Identity:
    """Under what a transaction writes; ``version`` is the cluster's transaction version."""

    transactional_id: str
    producer_id: int
    epoch: int
    version: int

    @property
    def produce_version_max(self) -> int | None:
        return None if self.version >= 2 else PRODUCE_BEFORE_2


def begin(client: Client, transactional_id: str, timeout_ms: int) -> Identity:
    """Takes the transactional id over. Waits until what an earlier holder left is rolled back."""

    def attempt() -> Identity:
        node = coordinator(client, TRANSACTION, transactional_id)
        request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=timeout_ms)
        answer = client.call(request, InitProducerIdResponse, node, version_max=5)
        check(answer.error_code, f"beginning a transaction as {transactional_id}")
        version = client.link(node).features.get("transaction.version", 0)
        return Identity(transactional_id, answer.producer_id, answer.producer_epoch, version)

    return persistently(client, attempt)


def add_partitions(client: Client, identity: Identity, places: Iterable[Place]) -> None:
    """Tells the coordinator what will be written to; not needed from transaction version 2 on."""
    topics: dict[str, AddPartitionsToTxnTopic] = {}
    for topic, partition in places:
        topics.setdefault(topic, AddPartitionsToTxnTopic(name=topic)).partitions.append(partition)
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=identity.transactional_id,
        v3_and_below_producer_id=identity.producer_id,
        v3_and_below_producer_epoch=identity.epoch,
        v3_and_below_topics=list(topics.values()),
    )

    def attempt() -> None:
        node = coordinator(client, TRANSACTION, identity.transactional_id)
        answer = client.call(request, AddPartitionsToTxnResponse, node, version_max=3)
        for topic in answer.results_by_topic_v3_and_below:
            for each in topic.results_by_partition:
                check(each.partition_error_code, f"adding {topic.name}-{each.partition_index} to a transaction")

    persistently(client, attempt)


def add_group_offsets(client: Client, identity: Identity, group: str, offsets: Mapping[Place, int]) -> None:
    """Offsets of a group that are stored if, and only if, the transaction is committed."""
    topics: dict[str, TxnOffsetCommitRequestTopic] = {}
    for (topic, partition), offset in offsets.items():
        mine = TxnOffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
        topics.setdefault(topic, TxnOffsetCommitRequestTopic(name=topic)).partitions.append(mine)
    before_2 = identity.version < 2

    def announce() -> None:
        node = coordinator(client, TRANSACTION, identity.transactional_id)
        request = AddOffsetsToTxnRequest(
            transactional_id=identity.transactional_id,
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
            group_id=group,
        )
        check(client.call(request, AddOffsetsToTxnResponse, node).error_code, f"adding group {group} to a transaction")

    def store() -> None:
        node = coordinator(client, 0, group)
        request = TxnOffsetCommitRequest(
            transactional_id=identity.transactional_id,
            group_id=group,
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
            topics=list(topics.values()),
        )
        answer = client.call(request, TxnOffsetCommitResponse, node, version_max=OFFSETS_BEFORE_2 if before_2 else None)
        for topic in answer.topics:
            for each in topic.partitions:
                check(each.error_code, f"storing offsets of group {group} in a transaction")

    if before_2:
        persistently(client, announce)
    persistently(client, store)


def end(client: Client, identity: Identity, *, committed: bool) -> None:
    """Commits or rolls back. ``BrokerError`` with a code of ``GONE``: it was already ended in the other way, by its
    timeout or by a newer holder of its id."""

    def attempt() -> None:
        node = coordinator(client, TRANSACTION, identity.transactional_id)
        request = EndTxnRequest(
            transactional_id=identity.transactional_id,
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
            committed=committed,
        )
        answer = client.call(request, EndTxnResponse, node, version_max=None if identity.version >= 2 else END_BEFORE_2)
        check(answer.error_code, f"ending transaction {identity.transactional_id}")

    persistently(client, attempt)


def begin_longest(client: Client, transactional_id: str, timeouts_ms: Iterable[int]) -> tuple[Identity, int]:
    """Begins with the first of these timeouts that the broker allows; (identity, timeout)."""
    refused: BrokerError | None = None
    for timeout_ms in timeouts_ms:
        try:
            return begin(client, transactional_id, timeout_ms), timeout_ms
        except BrokerError as error:
            if error.code != ErrorCode.INVALID_TRANSACTION_TIMEOUT:
                raise
            refused = error
    assert refused is not None, "no timeout to try"
    raise refused
