"""8 OffsetCommit: how far a group has come, durable before it is confirmed.

v2-v4 a retention of its own; v6 leader epochs; v7 static members; v9 members of the consumer protocol; v10 topic ids.
"""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.coordinator import Decision
from twinlog.kafka.groups import GroupMachine, Wish
from twinlog.kafka.rights import Operation, Resource
from twinlog.servers.kafka.context import RequestContext
from twinlog.servers.kafka.waiting import Waiting
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

KEY: Final = 8
VERSIONS: Final = (2, 10)
RIGHTS: Final = (("group", "read"), ("topic", "read"))

MEMBER_EPOCHS_FROM: Final = 9
TOPIC_IDS_FROM: Final = 10


def handle(broker: Broker, request: OffsetCommitRequest, context: RequestContext) -> OffsetCommitResponse | None:
    commit = Commit(broker, request, context)
    if not broker.rights.allows(context, Operation.READ, Resource.GROUP, request.group_id):
        return commit.refused(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    waiting: Waiting[OffsetCommitResponse] = Waiting(
        context, lambda: commit.refused(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    )

    def on_stored(errors: list[int] | None, fault: Exception | None) -> None:
        if isinstance(fault, Refused):
            waiting.answer(commit.refused(fault.code))
        else:
            assert errors is not None
            waiting.answer(commit.stored(errors))

    try:
        shard = broker.groups.shard_for_offsets(request.group_id)
    except Refused as refused:
        return commit.refused(refused.code)
    shard.write(commit.decide, on_stored)
    return waiting.park()


class Commit:
    """One request: which partitions may be committed, and the response in the request's own order."""

    def __init__(self, broker: Broker, request: OffsetCommitRequest, context: RequestContext) -> None:
        self._request = request
        self._version = context.version
        self._by_id = context.version >= TOPIC_IDS_FROM
        self._wishes: list[Wish] = []
        self._answers: list[OffsetCommitResponsePartition] = []  # of the wishes, in order
        self.response = OffsetCommitResponse()
        for topic in request.topics:
            answer = OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id)
            self.response.topics.append(answer)
            known = (
                broker.image.topics_by_id.get(topic.topic_id)
                if self._by_id
                else broker.image.topics_by_name.get(topic.name)
            )
            error = ErrorCode.NONE
            if known is None:
                error = ErrorCode.UNKNOWN_TOPIC_ID if self._by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            elif not broker.rights.allows(context, Operation.READ, Resource.TOPIC, known.name):
                error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            for each in topic.partitions:
                place = OffsetCommitResponsePartition(partition_index=each.partition_index, error_code=error)
                answer.partitions.append(place)
                if known is None or error != ErrorCode.NONE:
                    continue
                if not 0 <= each.partition_index < len(known.partitions):
                    place.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                    continue
                self._answers.append(place)
                self._wishes.append(
                    Wish(
                        known.name,
                        known.topic_id,
                        each.partition_index,
                        each.committed_offset,
                        each.committed_leader_epoch,
                        each.committed_metadata,
                    )
                )

    def decide(self, machine: GroupMachine, now_ms: int) -> Decision[list[int]]:
        request = self._request
        machine.check_commit(
            request.group_id,
            request.member_id,
            request.group_instance_id,
            request.generation_id_or_member_epoch,
            now_ms,
            may_use_epochs=self._version >= MEMBER_EPOCHS_FROM,
        )
        return machine.commit(request.group_id, self._wishes, now_ms, request.retention_time_ms)

    def stored(self, errors: list[int]) -> OffsetCommitResponse:
        for answer, error in zip(self._answers, errors, strict=True):
            answer.error_code = error
        return self.response

    def refused(self, code: int) -> OffsetCommitResponse:
        for topic in self.response.topics:
            for answer in topic.partitions:
                answer.error_code = code
        return self.response
