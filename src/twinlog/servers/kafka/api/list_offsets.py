"""ListOffsets: first, last, greatest time, or the first record at or after a time."""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.offsets import (
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    led_partition,
    offset_at,
)
from twinlog.servers.kafka.context import RequestContext
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

KEY: Final = ListOffsetsRequest.KEY
VERSIONS: Final = (1, 11)
RIGHTS: Final = (("topic", "describe"),)

READ_COMMITTED: Final = 1
EPOCHS_FROM: Final = 4
SPECIAL_FROM: Final = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING_UPLOAD: 11}


def handle(broker: Broker, request: ListOffsetsRequest, context: RequestContext) -> ListOffsetsResponse:
    committed = request.isolation_level == READ_COMMITTED
    seen: set[tuple[str, int]] = set()
    doubled = {
        place
        for topic in request.topics
        for each in topic.partitions
        if (place := (topic.name, each.partition_index)) in seen or seen.add(place)  # type: ignore[func-returns-value]
    }
    response = ListOffsetsResponse()
    for topic in request.topics:
        answers: list[ListOffsetsPartitionResponse] = []
        response.topics.append(ListOffsetsTopicResponse(name=topic.name, partitions=answers))
        for each in topic.partitions:
            try:
                if request.replica_id >= 0:
                    raise Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
                if (topic.name, each.partition_index) in doubled:
                    raise Refused(ErrorCode.INVALID_REQUEST)
                answers.append(_answer(broker, topic.name, each, context.version, committed))
            except Refused as refused:
                answers.append(
                    ListOffsetsPartitionResponse(partition_index=each.partition_index, error_code=refused.code)
                )
    return response


def _answer(
    broker: Broker, topic: str, asked: ListOffsetsPartition, version: int, committed: bool
) -> ListOffsetsPartitionResponse:
    if version < SPECIAL_FROM.get(asked.timestamp, 0):
        raise Refused(ErrorCode.UNSUPPORTED_VERSION)
    partition = led_partition(broker.partitions, topic, asked.partition_index, asked.current_leader_epoch)
    found = offset_at(partition, asked.timestamp, committed=committed)
    return ListOffsetsPartitionResponse(
        partition_index=asked.partition_index,
        timestamp=found.timestamp,
        offset=found.offset,
        leader_epoch=found.leader_epoch if version >= EPOCHS_FROM else -1,
    )
