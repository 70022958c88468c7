"""75 DescribeTopicPartitions: topics page by page, in the order of their names.

No topics means all. A page ends after ``response_partition_limit`` partitions (never more than 2,000) and names the
partition at which the next one begins. Creates nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twinlog.cluster import Topic
from twinlog.kafka import names
from twinlog.kafka.rights import Operation, Resource, allowed_operations
from twinlog.servers.kafka.admin_ports import AdminBroker, Context
from twinlog.servers.kafka.partition_states import partition_states
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseCursor,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

KEY: Final = 75
VERSIONS: Final = (0, 0)
RIGHTS: Final = (("topic", "describe"),)


def handle(
    broker: AdminBroker, request: DescribeTopicPartitionsRequest, context: Context
) -> DescribeTopicPartitionsResponse:
    wanted = dict.fromkeys(each.name for each in request.topics)
    cursor = request.cursor
    if cursor is not None and (cursor.partition_index < 0 or (wanted and cursor.topic_name not in wanted)):
        return DescribeTopicPartitionsResponse(
            topics=[
                DescribeTopicPartitionsResponseTopic(error_code=ErrorCode.INVALID_REQUEST, name=name) for name in wanted
            ]
        )
    limit = broker.configs.broker(broker.image, "max.request.partition.size.limit")
    assert isinstance(limit, int)
    room = max(1, min(request.response_partition_limit, limit))
    response = DescribeTopicPartitionsResponse()
    for name in sorted(wanted or broker.image.topics_by_name):
        start = 0
        if cursor is not None:
            if name < cursor.topic_name:
                continue
            start = cursor.partition_index if name == cursor.topic_name else 0
        topic = _find(broker, context, name, bool(wanted))
        if topic is None:
            continue
        if isinstance(topic, DescribeTopicPartitionsResponseTopic):
            response.topics.append(topic)
            continue
        if room == 0:
            response.next_cursor = DescribeTopicPartitionsResponseCursor(topic_name=name, partition_index=0)
            break
        end = min(start + room, len(topic.partitions))
        response.topics.append(_page(broker, context, topic, start, end))
        room -= max(0, end - start)
        if end < len(topic.partitions):
            response.next_cursor = DescribeTopicPartitionsResponseCursor(topic_name=name, partition_index=end)
            break
    return response


def _find(
    broker: AdminBroker, context: Context, name: str, named: bool
) -> Topic | DescribeTopicPartitionsResponseTopic | None:
    """The topic; or what to say of a name that was asked for; or nothing, of one that was not."""
    if not broker.rights.allows(context, Operation.DESCRIBE, Resource.TOPIC, name):
        code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    else:
        topic = broker.image.topics_by_name.get(name)
        if topic is not None:
            return topic
        legal = names.topic_name_fault(name) is None
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if legal else ErrorCode.INVALID_TOPIC_EXCEPTION
    if not named:
        return None
    return DescribeTopicPartitionsResponseTopic(error_code=code, name=name, is_internal=names.is_internal(name))


def _page(
    broker: AdminBroker, context: Context, topic: Topic, start: int, end: int
) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=names.is_internal(topic.name),
        topic_authorized_operations=allowed_operations(broker.rights, context, Resource.TOPIC, topic.name),
        partitions=list(_partitions(broker, topic, start, end)),
    )


def _partitions(
    broker: AdminBroker, topic: Topic, start: int, end: int
) -> Iterator[DescribeTopicPartitionsResponsePartition]:
    for state in partition_states(broker, topic, start, end):
        yield DescribeTopicPartitionsResponsePartition(
            error_code=state.error,
            partition_index=state.partition,
            leader_id=state.leader,
            leader_epoch=state.leader_epoch,
            replica_nodes=state.replicas,
            isr_nodes=state.isr,
            eligible_leader_replicas=[],
            last_known_elr=[],
            offline_replicas=state.offline,
        )
