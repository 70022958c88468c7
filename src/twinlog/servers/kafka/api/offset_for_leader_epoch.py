"""OffsetForLeaderEpoch: where a leader epoch ended, so that a reader finds out whether its history is ours."""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.offsets import led_partition
from twinlog.servers.kafka.context import RequestContext
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderEpochResponseEndOffset,
    OffsetForLeaderTopicResult,
)

KEY: Final = OffsetForLeaderEpochRequest.KEY
VERSIONS: Final = (2, 4)
RIGHTS: Final = (("topic", "describe"),)


def handle(
    broker: Broker, request: OffsetForLeaderEpochRequest, context: RequestContext
) -> OffsetForLeaderEpochResponse:
    response = OffsetForLeaderEpochResponse()
    for topic in request.topics:
        answers: list[OffsetForLeaderEpochResponseEndOffset] = []
        response.topics.append(OffsetForLeaderTopicResult(topic=topic.topic, partitions=answers))
        for each in topic.partitions:
            answer = OffsetForLeaderEpochResponseEndOffset(partition=each.partition)
            answers.append(answer)
            try:
                if request.replica_id >= 0:
                    raise Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
                partition = led_partition(broker.partitions, topic.topic, each.partition, each.current_leader_epoch)
                answer.leader_epoch, answer.end_offset = partition.epoch_end(each.leader_epoch)
            except Refused as refused:
                answer.error_code = refused.code
    return response
