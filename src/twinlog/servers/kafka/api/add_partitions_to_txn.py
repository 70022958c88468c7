"""24 AddPartitionsToTxn: partitions join a transaction before anything is written to them.

v0-v3 one producer's, sent by older clients; v4 those of many at once, or only the question whether they are in it,
between brokers; v5 says TRANSACTION_ABORTABLE where they are not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.rights import CLUSTER_NAME, Operation, Resource
from twinlog.kafka.transactions import Place, ProducerKey
from twinlog.servers.kafka.context import RequestContext
from twinlog.servers.kafka.transaction_codes import abortable, fenced
from twinlog.servers.kafka.waiting import Waiting
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)

KEY: Final = 24
VERSIONS: Final = (0, 5)
RIGHTS: Final = (("transactional_id", "write"), ("topic", "write"), ("cluster", "cluster_action"))

KNOWS_FENCED_FROM: Final = 2
BATCHED_FROM: Final = 4
ABORTABLE_FROM: Final = 5


def handle(
    broker: Broker, request: AddPartitionsToTxnRequest, context: RequestContext
) -> AddPartitionsToTxnResponse | None:
    if context.version < BATCHED_FROM:
        return _one(broker, request, context)
    if not broker.rights.allows(context, Operation.CLUSTER_ACTION, Resource.CLUSTER, CLUSTER_NAME):
        return AddPartitionsToTxnResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    return _many(broker, request, context)


def _one(
    broker: Broker, request: AddPartitionsToTxnRequest, context: RequestContext
) -> AddPartitionsToTxnResponse | None:
    asked = AddPartitionsToTxnTransaction(
        transactional_id=request.v3_and_below_transactional_id,
        producer_id=request.v3_and_below_producer_id,
        producer_epoch=request.v3_and_below_producer_epoch,
        topics=request.v3_and_below_topics,
    )

    def response(results: list[AddPartitionsToTxnTopicResult]) -> AddPartitionsToTxnResponse:
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results)

    waiting: Waiting[AddPartitionsToTxnResponse] = Waiting(
        context, lambda: response(_all(asked.topics, ErrorCode.COORDINATOR_NOT_AVAILABLE))
    )
    _add(broker, asked, context, lambda results: waiting.answer(response(results)))
    return waiting.park()


def _many(
    broker: Broker, request: AddPartitionsToTxnRequest, context: RequestContext
) -> AddPartitionsToTxnResponse | None:
    by_id = {asked.transactional_id: asked for asked in request.transactions}
    results = {
        name: AddPartitionsToTxnResult(
            transactional_id=name, topic_results=_all(asked.topics, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        )
        for name, asked in by_id.items()
    }
    left = set(by_id)

    def response() -> AddPartitionsToTxnResponse:
        return AddPartitionsToTxnResponse(results_by_transaction=list(results.values()))

    waiting: Waiting[AddPartitionsToTxnResponse] = Waiting(context, response)

    def settle(name: str, topic_results: list[AddPartitionsToTxnTopicResult]) -> None:
        results[name].topic_results = topic_results
        left.discard(name)
        if not left:
            waiting.answer(response())

    if not by_id:
        return response()
    for name, asked in by_id.items():
        if asked.verify_only:
            settle(name, _verified(broker, asked, context.version))
        else:
            _add(broker, asked, context, lambda results, name=name: settle(name, results))  # type: ignore[misc]
    return waiting.park()


def _verified(
    broker: Broker, asked: AddPartitionsToTxnTransaction, version: int
) -> list[AddPartitionsToTxnTopicResult]:
    producer = ProducerKey(asked.producer_id, asked.producer_epoch)

    def code_of(place: Place) -> int:
        code = broker.transactions.verify(asked.transactional_id, producer, place)
        return abortable(code, version >= ABORTABLE_FROM)

    return _each(asked.topics, code_of)


def _add(
    broker: Broker,
    asked: AddPartitionsToTxnTransaction,
    context: RequestContext,
    done: Callable[[list[AddPartitionsToTxnTopicResult]], None],
) -> None:
    """All of them join, or none."""
    rights, name = broker.rights, asked.transactional_id
    if not rights.allows(context, Operation.WRITE, Resource.TRANSACTIONAL_ID, name):
        done(_all(asked.topics, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED))
        return
    refused: dict[Place, int] = {}
    places: list[Place] = []
    for topic in asked.topics:
        known = broker.image.topics_by_name.get(topic.name)
        may = rights.allows(context, Operation.WRITE, Resource.TOPIC, topic.name)
        for index in topic.partitions:
            if not may:
                refused[topic.name, index] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            elif known is None or not 0 <= index < len(known.partitions):
                refused[topic.name, index] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            else:
                places.append((topic.name, index))
    if refused:
        done(_each(asked.topics, lambda place: refused.get(place, ErrorCode.OPERATION_NOT_ATTEMPTED)))
        return

    def added(_: list[Place] | None, fault: Exception | None) -> None:
        code: int = fault.code if isinstance(fault, Refused) else ErrorCode.NONE
        done(_all(asked.topics, fenced(code, context.version >= KNOWS_FENCED_FROM)))

    broker.transactions.add(name, ProducerKey(asked.producer_id, asked.producer_epoch), places, added)


def _each(
    topics: list[AddPartitionsToTxnTopic], code_of: Callable[[Place], int]
) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(
                    partition_index=index, partition_error_code=code_of((topic.name, index))
                )
                for index in topic.partitions
            ],
        )
        for topic in topics
    ]


def _all(topics: list[AddPartitionsToTxnTopic], code: int) -> list[AddPartitionsToTxnTopicResult]:
    return _each(topics, lambda place: code)
