"""68 ConsumerGroupHeartbeat: a member of the consumer protocol joins, reports, learns of its share, leaves.

v1 the client makes its own member id, and may subscribe by a regular expression.
"""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.groups import Caller
from twinlog.kafka.groups.consumer_heartbeat import HeartbeatAnswer, HeartbeatRequest
from twinlog.kafka.groups.consumer_moves import JOIN_EPOCH
from twinlog.kafka.rights import Operation, Resource
from twinlog.servers.kafka.context import RequestContext
from twinlog.servers.kafka.waiting import Waiting
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupHeartbeatResponseAssignment,
    ConsumerGroupHeartbeatResponseTopicPartitions,
)

KEY: Final = 68
VERSIONS: Final = (0, 1)
RIGHTS: Final = (("group", "read"), ("topic", "describe"))

OWN_ID_FROM: Final = 1


def handle(
    broker: Broker, request: ConsumerGroupHeartbeatRequest, context: RequestContext
) -> ConsumerGroupHeartbeatResponse | None:
    if not broker.rights.allows(context, Operation.READ, Resource.GROUP, request.group_id):
        return _refusal(ErrorCode.GROUP_AUTHORIZATION_FAILED, None)
    for name in request.subscribed_topic_names or ():
        if not broker.rights.allows(context, Operation.DESCRIBE, Resource.TOPIC, name):
            return _refusal(ErrorCode.TOPIC_AUTHORIZATION_FAILED, None)
    wish = _wish(broker, request, context)
    waiting: Waiting[ConsumerGroupHeartbeatResponse] = Waiting(
        context, lambda: _refusal(ErrorCode.COORDINATOR_NOT_AVAILABLE, None)
    )

    def on_decided(answer: HeartbeatAnswer | None, fault: Exception | None) -> None:
        if isinstance(fault, Refused):
            waiting.answer(_refusal(fault.code, str(fault)))
        else:
            assert answer is not None
            waiting.answer(_response(answer))

    try:
        shard = broker.groups.shard(request.group_id)
    except Refused as refused:
        return _refusal(refused.code, str(refused))
    shard.write(lambda machine, now_ms: machine.consumer_heartbeat(request.group_id, wish, now_ms), on_decided)
    return waiting.park()


def _wish(broker: Broker, request: ConsumerGroupHeartbeatRequest, context: RequestContext) -> HeartbeatRequest:
    client_id = context.client_id or ""
    member_id = request.member_id
    if member_id == "" and context.version < OWN_ID_FROM and request.member_epoch == JOIN_EPOCH:
        member_id = broker.groups.new_member_id(client_id)()
    names, owned = request.subscribed_topic_names, request.topic_partitions
    return HeartbeatRequest(
        member_id=member_id,
        member_epoch=request.member_epoch,
        caller=Caller(client_id, f"/{context.peer[0]}"),
        instance_id=request.instance_id,
        rack_id=request.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        topic_names=None if names is None else tuple(names),
        topic_regex=request.subscribed_topic_regex,
        server_assignor=request.server_assignor,
        owned=None if owned is None else {each.topic_id: frozenset(each.partitions) for each in owned},
    )


def _response(answer: HeartbeatAnswer) -> ConsumerGroupHeartbeatResponse:
    assignment = None
    if answer.assignment is not None:
        assignment = ConsumerGroupHeartbeatResponseAssignment(
            topic_partitions=[
                ConsumerGroupHeartbeatResponseTopicPartitions(topic_id=topic_id, partitions=sorted(partitions))
                for topic_id, partitions in answer.assignment.items()
            ]
        )
    return ConsumerGroupHeartbeatResponse(
        member_id=answer.member_id,
        member_epoch=answer.member_epoch,
        heartbeat_interval_ms=answer.heartbeat_interval_ms,
        assignment=assignment,
    )


def _refusal(code: int, message: str | None) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(error_code=code, error_message=message, assignment=None)
