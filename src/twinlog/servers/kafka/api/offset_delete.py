"""47 OffsetDelete: a group forgets how far it came, where no member reads any more."""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.rights import Operation, Resource
from twinlog.servers.kafka.context import RequestContext
from twinlog.servers.kafka.waiting import Waiting
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

KEY: Final = 47
VERSIONS: Final = (0, 0)
RIGHTS: Final = (("group", "delete"), ("topic", "read"))


def handle(broker: Broker, request: OffsetDeleteRequest, context: RequestContext) -> OffsetDeleteResponse | None:
    if not broker.rights.allows(context, Operation.DELETE, Resource.GROUP, request.group_id):
        return OffsetDeleteResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    places = []
    answers = []
    response = OffsetDeleteResponse()
    for topic in request.topics:
        allowed = broker.rights.allows(context, Operation.READ, Resource.TOPIC, topic.name)
        answer = OffsetDeleteResponseTopic(name=topic.name)
        response.topics.append(answer)
        for each in topic.partitions:
            one = OffsetDeleteResponsePartition(partition_index=each.partition_index)
            answer.partitions.append(one)
            if allowed:
                places.append((topic.name, each.partition_index))
                answers.append(one)
            else:
                one.error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    waiting: Waiting[OffsetDeleteResponse] = Waiting(
        context, lambda: OffsetDeleteResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
    )

    def on_deleted(errors: list[int] | None, fault: Exception | None) -> None:
        if isinstance(fault, Refused):
            waiting.answer(OffsetDeleteResponse(error_code=fault.code))
            return
        for one, error in zip(answers, errors or [], strict=True):
            one.error_code = error
        waiting.answer(response)

    try:
        shard = broker.groups.shard(request.group_id)
    except Refused as refused:
        return OffsetDeleteResponse(error_code=refused.code)
    shard.write(lambda machine, now_ms: machine.delete_offsets(request.group_id, places), on_deleted)
    return waiting.park()
