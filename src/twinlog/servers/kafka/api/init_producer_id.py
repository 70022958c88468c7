"""InitProducerId: a number that no other producer has, so that its retries are recognised.

Without a transactional id every request gets a new number, also one that names its old one: the epochs of such a
producer are its own business. Transactional producers are refused until transactions are served.
"""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.servers.kafka.context import RequestContext
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

KEY: Final = InitProducerIdRequest.KEY
VERSIONS: Final = (0, 5)
RIGHTS: Final = (("cluster", "idempotent_write"),)


def handle(broker: Broker, request: InitProducerIdRequest, context: RequestContext) -> InitProducerIdResponse | None:
    if request.transactional_id is not None:
        # Final for every client, so that none waits for a coordinator that does not exist.
        code = (
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED if request.transactional_id else ErrorCode.INVALID_REQUEST
        )
        return InitProducerIdResponse(error_code=code)
    if (request.producer_id == -1) != (request.producer_epoch == -1):
        return InitProducerIdResponse(error_code=ErrorCode.INVALID_REQUEST)

    def on_taken(taken: int | Refused) -> None:
        if isinstance(taken, Refused):
            context.reply(InitProducerIdResponse(error_code=taken.code))
        else:
            context.reply(InitProducerIdResponse(producer_id=taken, producer_epoch=0))

    broker.producer_ids.take(on_taken)
    return None
