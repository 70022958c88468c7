"""66 ListTransactions: every transactional id that this node coordinates.

Filters: by state and producer id; v1 running for at least so long; v2 ids that match an expression (RE2).
"""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.groups.topics import compile_expression
from twinlog.kafka.rights import Operation, Resource
from twinlog.kafka.transactions import TransactionState
from twinlog.servers.kafka.context import RequestContext
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    ListTransactionsResponseTransactionState,
)

KEY: Final = 66
VERSIONS: Final = (0, 2)
RIGHTS: Final = (("transactional_id", "describe"),)

STATES: Final = {state.label: state for state in TransactionState}


def handle(broker: Broker, request: ListTransactionsRequest, context: RequestContext) -> ListTransactionsResponse:
    runtime = broker.transactions.topic.runtime
    if runtime.is_loading():
        return ListTransactionsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    wanted = {STATES[name] for name in request.state_filters if name in STATES}
    response = ListTransactionsResponse(
        unknown_state_filters=[name for name in request.state_filters if name not in STATES]
    )
    pattern = None
    if request.transactional_id_pattern:
        try:
            pattern = compile_expression(request.transactional_id_pattern)
        except Refused as refused:
            return ListTransactionsResponse(error_code=refused.code)
    now_ms = broker.now_ms()
    for shard in runtime.active_shards():
        for transaction in shard.machine.transactions.values():
            if request.state_filters and transaction.state not in wanted:
                continue
            if request.producer_id_filters and transaction.producer_id not in request.producer_id_filters:
                continue
            started_ms = transaction.started_ms
            if request.duration_filter >= 0 and (started_ms < 0 or now_ms - started_ms <= request.duration_filter):
                continue
            if pattern is not None and not pattern.fullmatch(transaction.id):
                continue
            if broker.rights.allows(context, Operation.DESCRIBE, Resource.TRANSACTIONAL_ID, transaction.id):
                response.transaction_states.append(
                    ListTransactionsResponseTransactionState(
                        transactional_id=transaction.id,
                        producer_id=transaction.producer_id,
                        transaction_state=transaction.state.label,
                    )
                )
    return response
