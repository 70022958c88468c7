"""65 DescribeTransactions: the state of transactional ids, with the partitions that are part of what is open."""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.rights import Operation, Resource
from twinlog.kafka.transactions import Transaction, TransactionMachine
from twinlog.servers.kafka.context import RequestContext
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    DescribeTransactionsResponseTopicData,
    DescribeTransactionsResponseTransactionState,
)

KEY: Final = 65
VERSIONS: Final = (0, 0)
RIGHTS: Final = (("transactional_id", "describe"), ("topic", "describe"))


def handle(
    broker: Broker, request: DescribeTransactionsRequest, context: RequestContext
) -> DescribeTransactionsResponse:
    states = []
    for name in dict.fromkeys(request.transactional_ids):
        try:
            if not broker.rights.allows(context, Operation.DESCRIBE, Resource.TRANSACTIONAL_ID, name):
                raise Refused(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
            machine: TransactionMachine = broker.transactions.shard(name).machine
            transaction = machine.transactions.get(name)
            if transaction is None:
                raise Refused(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
            states.append(_state(broker, context, transaction))
        except Refused as refused:
            states.append(
                DescribeTransactionsResponseTransactionState(
                    error_code=refused.code, transactional_id=name, producer_id=-1, producer_epoch=-1
                )
            )
    return DescribeTransactionsResponse(transaction_states=states)


def _state(
    broker: Broker, context: RequestContext, transaction: Transaction
) -> DescribeTransactionsResponseTransactionState:
    topics: dict[str, list[int]] = {}
    for topic, index in transaction.partitions:
        if broker.rights.allows(context, Operation.DESCRIBE, Resource.TOPIC, topic):
            topics.setdefault(topic, []).append(index)
    return DescribeTransactionsResponseTransactionState(
        transactional_id=transaction.id,
        transaction_state=transaction.state.label,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_start_time_ms=transaction.started_ms,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.epoch,
        topics=[
            DescribeTransactionsResponseTopicData(topic=topic, partitions=sorted(indexes))
            for topic, indexes in topics.items()
        ],
    )
