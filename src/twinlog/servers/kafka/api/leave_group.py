"""13 LeaveGroup: members go, and the rest shares their partitions. v3 several at once, static ones by name."""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.rights import Operation, Resource
from twinlog.servers.kafka.context import RequestContext
from twinlog.servers.kafka.waiting import Waiting
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberResponse

KEY: Final = 13
VERSIONS: Final = (0, 5)
RIGHTS: Final = (("group", "read"),)

SEVERAL_FROM: Final = 3


def handle(broker: Broker, request: LeaveGroupRequest, context: RequestContext) -> LeaveGroupResponse | None:
    if not broker.rights.allows(context, Operation.READ, Resource.GROUP, request.group_id):
        return LeaveGroupResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    several = context.version >= SEVERAL_FROM
    leavers: list[tuple[str, str | None]] = (
        [(each.member_id, each.group_instance_id) for each in request.members]
        if several
        else [(request.member_id, None)]
    )
    waiting: Waiting[LeaveGroupResponse] = Waiting(
        context, lambda: LeaveGroupResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
    )

    def on_decided(decided: object, fault: Exception | None) -> None:
        if isinstance(fault, Refused):
            waiting.answer(_refusal(fault.code, leavers, several))
            return
        assert isinstance(decided, tuple)
        held, errors = decided
        for reply in held:
            reply()
        if not several:
            waiting.answer(LeaveGroupResponse(error_code=errors[0]))
            return
        waiting.answer(
            LeaveGroupResponse(
                members=[
                    MemberResponse(member_id=member_id, group_instance_id=instance_id, error_code=error)
                    for (member_id, instance_id), error in zip(leavers, errors, strict=True)
                ]
            )
        )

    try:
        shard = broker.groups.shard(request.group_id)
    except Refused as refused:
        return LeaveGroupResponse(error_code=refused.code)
    shard.write(lambda machine, now_ms: machine.leave(request.group_id, leavers, now_ms), on_decided)
    shard.rearm()
    return waiting.park()


def _refusal(code: int, leavers: list[tuple[str, str | None]], several: bool) -> LeaveGroupResponse:
    if several and code == ErrorCode.UNKNOWN_MEMBER_ID:  # an unknown group: each of its members is unknown
        return LeaveGroupResponse(
            members=[
                MemberResponse(member_id=member_id, group_instance_id=instance_id, error_code=code)
                for member_id, instance_id in leavers
            ]
        )
    return LeaveGroupResponse(error_code=code)
