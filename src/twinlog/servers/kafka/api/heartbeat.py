"""12 Heartbeat: a member is alive, and learns whether it has to join again. v3 static members."""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.rights import Operation, Resource
from twinlog.servers.kafka.context import RequestContext
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

KEY: Final = 12
VERSIONS: Final = (0, 4)
RIGHTS: Final = (("group", "read"),)


def handle(broker: Broker, request: HeartbeatRequest, context: RequestContext) -> HeartbeatResponse:
    if not broker.rights.allows(context, Operation.READ, Resource.GROUP, request.group_id):
        return HeartbeatResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    try:
        machine = broker.groups.shard(request.group_id).machine
        code = machine.heartbeat(
            request.group_id, request.member_id, request.group_instance_id, request.generation_id, context.now_ms
        )
    except Refused as refused:
        code = refused.code
    return HeartbeatResponse(error_code=code)
