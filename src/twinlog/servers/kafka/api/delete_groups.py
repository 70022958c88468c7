"""42 DeleteGroups: groups without members, and their offsets, are forgotten."""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.rights import Operation, Resource
from twinlog.servers.kafka.context import RequestContext
from twinlog.servers.kafka.waiting import Waiting
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse

KEY: Final = 42
VERSIONS: Final = (0, 2)
RIGHTS: Final = (("group", "delete"),)


def handle(broker: Broker, request: DeleteGroupsRequest, context: RequestContext) -> DeleteGroupsResponse | None:
    names = list(dict.fromkeys(request.groups_names))
    results = {name: DeletableGroupResult(group_id=name, error_code=ErrorCode.REQUEST_TIMED_OUT) for name in names}
    left = set(names)

    def response() -> DeleteGroupsResponse:
        return DeleteGroupsResponse(results=list(results.values()))

    waiting: Waiting[DeleteGroupsResponse] = Waiting(context, response)

    def settle(name: str, code: int) -> None:
        results[name].error_code = code
        left.discard(name)
        if not left:
            waiting.answer(response())

    def delete(name: str) -> None:
        if not broker.rights.allows(context, Operation.DELETE, Resource.GROUP, name):
            settle(name, ErrorCode.GROUP_AUTHORIZATION_FAILED)
            return
        try:
            shard = broker.groups.shard(name)
        except Refused as refused:
            settle(name, refused.code)
            return
        shard.write(
            lambda machine, now_ms: machine.delete_group(name),
            lambda reply, fault: settle(name, fault.code if isinstance(fault, Refused) else ErrorCode.NONE),
        )

    if not names:
        return response()
    for name in names:
        delete(name)
    return waiting.park()
