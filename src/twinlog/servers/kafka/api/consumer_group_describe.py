"""69 ConsumerGroupDescribe: members, epochs and assignments of consumer-protocol groups. v1 tells classic members."""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.groups.consumer import ConsumerGroup, ConsumerMember
from twinlog.kafka.groups.reconcile import Owned
from twinlog.kafka.rights import Operation, Resource, allowed_operations
from twinlog.servers.kafka.context import RequestContext
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupDescribeResponseAssignment,
    ConsumerGroupDescribeResponseDescribedGroup,
    ConsumerGroupDescribeResponseMember,
    ConsumerGroupDescribeResponseTopicPartitions,
)

KEY: Final = 69
VERSIONS: Final = (0, 1)
RIGHTS: Final = (("group", "describe"), ("topic", "describe"))

CLASSIC_MEMBER: Final = 0
CONSUMER_MEMBER: Final = 1


def handle(
    broker: Broker, request: ConsumerGroupDescribeRequest, context: RequestContext
) -> ConsumerGroupDescribeResponse:
    return ConsumerGroupDescribeResponse(
        groups=[
            _describe(broker, group_id, request.include_authorized_operations, context)
            for group_id in dict.fromkeys(request.group_ids)
        ]
    )


def _describe(
    broker: Broker, group_id: str, with_operations: bool, context: RequestContext
) -> ConsumerGroupDescribeResponseDescribedGroup:
    answer = ConsumerGroupDescribeResponseDescribedGroup(group_id=group_id)
    if not broker.rights.allows(context, Operation.DESCRIBE, Resource.GROUP, group_id):
        answer.error_code = ErrorCode.GROUP_AUTHORIZATION_FAILED
        return answer
    try:
        group = broker.groups.shard(group_id).machine.groups.get(group_id)
    except Refused as refused:
        answer.error_code = refused.code
        answer.error_message = str(refused)
        return answer
    if not isinstance(group, ConsumerGroup):
        answer.error_code = ErrorCode.GROUP_ID_NOT_FOUND
        answer.error_message = f"There is no consumer group {group_id}."
        return answer
    if with_operations:
        answer.authorized_operations = allowed_operations(broker.rights, context, Resource.GROUP, group_id)
    answer.group_state = group.state.value
    answer.group_epoch = group.epoch
    answer.assignment_epoch = group.target_epoch
    answer.assignor_name = group.assignor_name()
    answer.members = [_member(broker, group, member) for member in group.members.values()]
    topics = {each.topic_name for m in answer.members for each in m.assignment.topic_partitions}
    if not all(broker.rights.allows(context, Operation.DESCRIBE, Resource.TOPIC, name) for name in topics):
        answer.error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        answer.members = []
    return answer


def _member(broker: Broker, group: ConsumerGroup, member: ConsumerMember) -> ConsumerGroupDescribeResponseMember:
    about = member.subscription
    return ConsumerGroupDescribeResponseMember(
        member_id=member.id,
        instance_id=about.instance_id,
        rack_id=about.rack_id,
        member_epoch=member.current.epoch,
        client_id=about.caller.client_id,
        client_host=about.caller.client_host,
        subscribed_topic_names=list(about.topic_names),
        subscribed_topic_regex=about.topic_regex,
        assignment=_assignment(broker, member.current.assigned),
        target_assignment=_assignment(broker, group.targets.get(member.id, {})),
        member_type=CLASSIC_MEMBER if member.is_classic else CONSUMER_MEMBER,
    )


def _assignment(broker: Broker, owned: Owned) -> ConsumerGroupDescribeResponseAssignment:
    named = [(broker.groups.topics.name_of(topic_id), topic_id, partitions) for topic_id, partitions in owned.items()]
    return ConsumerGroupDescribeResponseAssignment(
        topic_partitions=[
            ConsumerGroupDescribeResponseTopicPartitions(
                topic_id=topic_id, topic_name=name, partitions=sorted(partitions)
            )
            for name, topic_id, partitions in named
            if name is not None  # a topic that was deleted just now
        ]
    )
