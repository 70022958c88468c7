"""15 DescribeGroups: members and assignments of classic groups. v3 rights; v4 static names; v6 a missing group is an
error (before, it looked like a dead one)."""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.groups import GroupState
from twinlog.kafka.groups.classic import ClassicGroup
from twinlog.kafka.rights import Operation, Resource, allowed_operations
from twinlog.servers.kafka.context import RequestContext
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.describe_groups import (
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    DescribeGroupsResponseDescribedGroup,
)

KEY: Final = 15
VERSIONS: Final = (0, 6)
RIGHTS: Final = (("group", "describe"),)

MISSING_IS_ERROR_FROM: Final = 6


def handle(broker: Broker, request: DescribeGroupsRequest, context: RequestContext) -> DescribeGroupsResponse:
    return DescribeGroupsResponse(
        groups=[
            _describe(broker, group_id, request.include_authorized_operations, context)
            for group_id in dict.fromkeys(request.groups)
        ]
    )


def _describe(
    broker: Broker, group_id: str, with_operations: bool, context: RequestContext
) -> DescribeGroupsResponseDescribedGroup:
    answer = DescribeGroupsResponseDescribedGroup(group_id=group_id)
    if not broker.rights.allows(context, Operation.DESCRIBE, Resource.GROUP, group_id):
        answer.error_code = ErrorCode.GROUP_AUTHORIZATION_FAILED
        return answer
    try:
        machine = broker.groups.shard(group_id).machine
    except Refused as refused:
        answer.error_code = refused.code
        return answer
    if with_operations:
        answer.authorized_operations = allowed_operations(broker.rights, context, Resource.GROUP, group_id)
    group = machine.groups.get(group_id)
    if isinstance(group, ClassicGroup):
        _fill(answer, group)
    elif group is None and group_id in machine.offsets.by_group:
        answer.group_state = GroupState.EMPTY.value
    else:
        answer.group_state = GroupState.DEAD.value
        if context.version >= MISSING_IS_ERROR_FROM:
            answer.error_code = ErrorCode.GROUP_ID_NOT_FOUND
            answer.error_message = f"There is no classic group {group_id}."
    return answer


def _fill(answer: DescribeGroupsResponseDescribedGroup, group: ClassicGroup) -> None:
    answer.group_state = group.state.value
    answer.protocol_type = group.protocol_type or ""
    stable = group.state is GroupState.STABLE
    answer.protocol_data = (group.protocol or "") if stable else ""
    answer.members = [
        DescribedGroupMember(
            member_id=member.id,
            group_instance_id=member.instance_id,
            client_id=member.caller.client_id,
            client_host=member.caller.client_host,
            member_metadata=member.metadata(group.protocol) if stable else b"",
            member_assignment=member.assignment if stable else b"",
        )
        for member in group.members.values()
    ]
