"""22 InitProducerId: who a producer is, so that its retries are recognised and its predecessors are turned away.

Without a transactional id every request gets a new number, also one that names its old one: the epochs of such a
producer are its own business. With one, the number stays and the epoch rises: what an earlier instance left open is
aborted first, and it writes nothing any more. v3 a producer that goes on after an error names itself; v4 its clients
know PRODUCER_FENCED.
"""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.rights import Operation, Resource
from twinlog.kafka.transactions import InitReply, ProducerKey
from twinlog.servers.kafka.context import RequestContext
from twinlog.servers.kafka.transaction_codes import fenced
from twinlog.servers.kafka.waiting import Waiting
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

KEY: Final = InitProducerIdRequest.KEY
VERSIONS: Final = (0, 5)
RIGHTS: Final = (("cluster", "idempotent_write"), ("transactional_id", "write"))

KNOWS_FENCED_FROM: Final = 4


def handle(broker: Broker, request: InitProducerIdRequest, context: RequestContext) -> InitProducerIdResponse | None:
    if (request.producer_id == -1) != (request.producer_epoch == -1) or request.transactional_id == "":
        return InitProducerIdResponse(error_code=ErrorCode.INVALID_REQUEST)
    if request.transactional_id is not None:
        return _transactional(broker, request, request.transactional_id, context)

    def on_taken(taken: int | Refused) -> None:
        if isinstance(taken, Refused):
            context.reply(InitProducerIdResponse(error_code=taken.code))
        else:
            context.reply(InitProducerIdResponse(producer_id=taken, producer_epoch=0))

    broker.producer_ids.take(on_taken)
    return None


def _transactional(
    broker: Broker, request: InitProducerIdRequest, transactional_id: str, context: RequestContext
) -> InitProducerIdResponse | None:
    if not broker.rights.allows(context, Operation.WRITE, Resource.TRANSACTIONAL_ID, transactional_id):
        return InitProducerIdResponse(error_code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    waiting: Waiting[InitProducerIdResponse] = Waiting(
        context, lambda: InitProducerIdResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
    )

    def done(reply: InitReply | None, fault: Exception | None) -> None:
        if isinstance(fault, Refused):
            code = fenced(fault.code, context.version >= KNOWS_FENCED_FROM)
            waiting.answer(InitProducerIdResponse(error_code=code))
        else:
            assert reply is not None
            waiting.answer(InitProducerIdResponse(producer_id=reply.producer_id, producer_epoch=reply.epoch))

    expected = ProducerKey(request.producer_id, request.producer_epoch) if request.producer_id != -1 else None
    broker.transactions.init(transactional_id, request.transaction_timeout_ms, expected, done)
    return waiting.park()
