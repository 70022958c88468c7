"""11 JoinGroup: a member enters the group's next generation, and waits until it is complete.

v1 rebalance timeout of its own; v4 a newcomer gets its id first; v5 static members; v9 a returning static leader is
told to keep the assignment. v0-v1 stay because clients take their presence as a sign of other features.
"""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.groups import Caller, JoinAnswer
from twinlog.kafka.groups.classic_types import JoinRequest
from twinlog.kafka.rights import Operation, Resource
from twinlog.servers.kafka.context import RequestContext
from twinlog.servers.kafka.waiting import Waiting
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember

KEY: Final = 11
VERSIONS: Final = (0, 9)
RIGHTS: Final = (("group", "read"),)

KNOWN_ID_FROM: Final = 4
SKIP_ASSIGNMENT_FROM: Final = 9
SLACK_MS: Final = 5_000  # the group's own deadlines come first


def handle(broker: Broker, request: JoinGroupRequest, context: RequestContext) -> JoinGroupResponse | None:
    if not broker.rights.allows(context, Operation.READ, Resource.GROUP, request.group_id):
        return _refusal(request, ErrorCode.GROUP_AUTHORIZATION_FAILED)
    client_id = context.client_id or ""
    rebalance_timeout_ms = request.rebalance_timeout_ms if context.version >= 1 else request.session_timeout_ms
    wish = JoinRequest(
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        caller=Caller(client_id, f"/{context.peer[0]}"),
        rebalance_timeout_ms=rebalance_timeout_ms,
        session_timeout_ms=request.session_timeout_ms,
        protocol_type=request.protocol_type,
        protocols=[(each.name, bytes(each.metadata)) for each in request.protocols],
        needs_known_id=context.version >= KNOWN_ID_FROM,
        may_skip_assignment=context.version >= SKIP_ASSIGNMENT_FROM,
    )
    waiting: Waiting[JoinGroupResponse] = Waiting(context, lambda: _refusal(request, ErrorCode.REBALANCE_IN_PROGRESS))
    new_id = broker.groups.new_member_id(client_id)

    def on_joined(answer: JoinAnswer) -> None:
        waiting.answer(_response(answer))

    def on_decided(held: object, fault: Exception | None) -> None:
        if isinstance(fault, Refused):
            waiting.answer(_refusal(request, fault.code))
        elif isinstance(held, list):
            for reply in held:
                reply()

    try:
        shard = broker.groups.shard(request.group_id)
    except Refused as refused:
        return _refusal(request, refused.code)
    shard.write(lambda machine, now_ms: machine.join(request.group_id, wish, new_id, on_joined, now_ms), on_decided)
    shard.rearm()
    return waiting.park(max(rebalance_timeout_ms, request.session_timeout_ms) * 2 + SLACK_MS)


def _refusal(request: JoinGroupRequest, code: int) -> JoinGroupResponse:
    return JoinGroupResponse(error_code=code, member_id=request.member_id, protocol_name="")


def _response(answer: JoinAnswer) -> JoinGroupResponse:
    return JoinGroupResponse(
        error_code=answer.error,
        generation_id=answer.generation,
        protocol_type=answer.protocol_type,
        protocol_name=answer.protocol if answer.protocol is not None else "",
        leader=answer.leader_id,
        skip_assignment=answer.skip_assignment,
        member_id=answer.member_id,
        members=[
            JoinGroupResponseMember(member_id=member_id, group_instance_id=instance_id, metadata=metadata)
            for member_id, instance_id, metadata in answer.members
        ],
    )
