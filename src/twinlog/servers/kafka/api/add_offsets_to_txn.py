"""25 AddOffsetsToTxn: a group's offsets join a transaction, as the partition in which they are kept.

v2 clients know PRODUCER_FENCED; newer clients leave it to TxnOffsetCommit.
"""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.rights import Operation, Resource
from twinlog.kafka.transactions import Place, ProducerKey
from twinlog.servers.kafka.context import RequestContext
from twinlog.servers.kafka.transaction_codes import fenced
from twinlog.servers.kafka.waiting import Waiting
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse

KEY: Final = 25
VERSIONS: Final = (0, 4)
RIGHTS: Final = (("transactional_id", "write"), ("group", "read"))

KNOWS_FENCED_FROM: Final = 2


def handle(broker: Broker, request: AddOffsetsToTxnRequest, context: RequestContext) -> AddOffsetsToTxnResponse | None:
    rights, name = broker.rights, request.transactional_id
    if not rights.allows(context, Operation.WRITE, Resource.TRANSACTIONAL_ID, name):
        return AddOffsetsToTxnResponse(error_code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    if not rights.allows(context, Operation.READ, Resource.GROUP, request.group_id):
        return AddOffsetsToTxnResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    try:
        place = broker.groups.offsets_place(request.group_id)
    except Refused as refused:
        return AddOffsetsToTxnResponse(error_code=refused.code)
    waiting: Waiting[AddOffsetsToTxnResponse] = Waiting(
        context, lambda: AddOffsetsToTxnResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
    )

    def added(_: list[Place] | None, fault: Exception | None) -> None:
        code: int = fault.code if isinstance(fault, Refused) else ErrorCode.NONE
        waiting.answer(AddOffsetsToTxnResponse(error_code=fenced(code, context.version >= KNOWS_FENCED_FROM)))

    broker.transactions.add(name, ProducerKey(request.producer_id, request.producer_epoch), [place], added)
    return waiting.park()
