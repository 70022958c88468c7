"""14 SyncGroup: the leader hands in the assignment, everybody gets a share of it.

v3 static members; v5 checks of the protocol.
"""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.groups import SyncAnswer
from twinlog.kafka.groups.classic_types import SyncRequest
from twinlog.kafka.rights import Operation, Resource
from twinlog.servers.kafka.context import RequestContext
from twinlog.servers.kafka.waiting import Waiting
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.sync_group import SyncGroupRequest, SyncGroupResponse

KEY: Final = 14
VERSIONS: Final = (0, 5)
RIGHTS: Final = (("group", "read"),)

WAIT_MS: Final = 3_600_000  # the group's own sync timeout comes first


def handle(broker: Broker, request: SyncGroupRequest, context: RequestContext) -> SyncGroupResponse | None:
    if not broker.rights.allows(context, Operation.READ, Resource.GROUP, request.group_id):
        return SyncGroupResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    wish = SyncRequest(
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        generation=request.generation_id,
        protocol_type=request.protocol_type,
        protocol=request.protocol_name,
        assignments={each.member_id: bytes(each.assignment) for each in request.assignments},
    )
    waiting: Waiting[SyncGroupResponse] = Waiting(
        context, lambda: SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS)
    )

    def on_synced(answer: SyncAnswer) -> None:
        waiting.answer(
            SyncGroupResponse(
                error_code=answer.error,
                protocol_type=answer.protocol_type,
                protocol_name=answer.protocol,
                assignment=answer.assignment,
            )
        )

    def on_decided(held: object, fault: Exception | None) -> None:
        if isinstance(fault, Refused):
            waiting.answer(SyncGroupResponse(error_code=fault.code))
        elif isinstance(held, list):
            for reply in held:
                reply()

    try:
        shard = broker.groups.shard(request.group_id)
    except Refused as refused:
        return SyncGroupResponse(error_code=refused.code)
    shard.write(lambda machine, now_ms: machine.sync(request.group_id, wish, on_synced, now_ms), on_decided)
    shard.rearm()
    return waiting.park(WAIT_MS)
