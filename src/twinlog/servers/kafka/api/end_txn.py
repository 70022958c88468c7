"""26 EndTxn: commits or aborts. Answered when the decision is durable; nothing can undo it then.

v2 clients know PRODUCER_FENCED; v5 gives the epoch to go on with, one higher than before, so that nothing late of
this transaction is taken for a part of the next. A retry of v5 comes with the old epoch, and gets the same answer.
"""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.rights import Operation, Resource
from twinlog.kafka.transactions import EndReply, ProducerKey
from twinlog.kafka.transactions.types import EPOCH_AT_EVERY_END
from twinlog.servers.kafka.context import RequestContext
from twinlog.servers.kafka.transaction_codes import fenced
from twinlog.servers.kafka.waiting import Waiting
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.end_txn import EndTxnRequest, EndTxnResponse

KEY: Final = 26
VERSIONS: Final = (0, 5)
RIGHTS: Final = (("transactional_id", "write"),)

KNOWS_FENCED_FROM: Final = 2
RAISES_EPOCH_FROM: Final = 5


def handle(broker: Broker, request: EndTxnRequest, context: RequestContext) -> EndTxnResponse | None:
    name, version = request.transactional_id, context.version
    if not broker.rights.allows(context, Operation.WRITE, Resource.TRANSACTIONAL_ID, name):
        return EndTxnResponse(error_code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    waiting: Waiting[EndTxnResponse] = Waiting(
        context, lambda: EndTxnResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
    )

    def done(reply: EndReply | None, fault: Exception | None) -> None:
        if isinstance(fault, Refused):
            waiting.answer(EndTxnResponse(error_code=fenced(fault.code, version >= KNOWS_FENCED_FROM)))
            return
        assert reply is not None
        response = EndTxnResponse()
        if version >= RAISES_EPOCH_FROM:
            response.producer_id, response.producer_epoch = reply.producer_id, reply.epoch
        waiting.answer(response)

    broker.transactions.end(
        name,
        ProducerKey(request.producer_id, request.producer_epoch),
        done,
        commit=request.committed,
        version=EPOCH_AT_EVERY_END if version >= RAISES_EPOCH_FROM else 1,
    )
    return waiting.park()
