"""9 OffsetFetch: how far a group has come, never more than what is durable.

v2 topics may be null for "all"; v7 require_stable: an offset that an open transaction would change is reported as
such; v8 several groups; v9 members of the consumer protocol; v10 topic ids.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.groups import GroupMachine
from twinlog.kafka.rights import Operation, Resource
from twinlog.servers.kafka.context import RequestContext
from twinlog.servers.kafka.waiting import Waiting
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.message import ZERO_UUID
from twinlog.wire.kafka.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

KEY: Final = 9
VERSIONS: Final = (1, 10)
RIGHTS: Final = (("group", "describe"), ("topic", "describe"))

GROUPS_FROM: Final = 8
GROUP_ERROR_FROM: Final = 2
TOPIC_IDS_FROM: Final = 10
GROUPS_MAX: Final = 10_000


def handle(broker: Broker, request: OffsetFetchRequest, context: RequestContext) -> OffsetFetchResponse | None:
    several = context.version >= GROUPS_FROM
    groups = request.groups[:GROUPS_MAX] if several else [_as_group(request)]
    lookup = Lookup(broker, context, groups, request.require_stable, several)
    return lookup.run()


def _as_group(request: OffsetFetchRequest) -> OffsetFetchRequestGroup:
    """Older versions ask for one group, by topic names."""
    topics = request.topics
    return OffsetFetchRequestGroup(
        group_id=request.group_id,
        topics=None
        if topics is None
        else [OffsetFetchRequestTopics(name=topic.name, partition_indexes=topic.partition_indexes) for topic in topics],
    )


class Lookup:
    """One request, whose groups may lie on several shards: it is answered when the last one has answered."""

    def __init__(
        self,
        broker: Broker,
        context: RequestContext,
        groups: list[OffsetFetchRequestGroup],
        require_stable: bool,
        several: bool,
    ) -> None:
        self._broker = broker
        self._context = context
        self._groups = groups
        self._require_stable = require_stable
        self._several = several
        self._left = len(groups)
        self._answers: list[OffsetFetchResponseGroup] = [OffsetFetchResponseGroup() for _ in groups]
        self._waiting: Waiting[OffsetFetchResponse] = Waiting(context, self._timed_out)

    def run(self) -> OffsetFetchResponse | None:
        if not self._groups:
            return OffsetFetchResponse()
        for index, group in enumerate(self._groups):
            self._look(index, group)
        return self._waiting.park()

    def _look(self, index: int, group: OffsetFetchRequestGroup) -> None:
        def done(found: OffsetFetchResponseGroup | None, fault: Exception | None) -> None:
            if isinstance(fault, Refused):
                found = self._refusal(group, fault.code)
            assert found is not None
            self._answers[index] = found
            self._left -= 1
            if not self._left:
                self._waiting.answer(self._response())

        if not self._broker.rights.allows(self._context, Operation.DESCRIBE, Resource.GROUP, group.group_id):
            done(None, Refused(ErrorCode.GROUP_AUTHORIZATION_FAILED))
            return
        try:
            shard = self._broker.groups.shard_for_offsets(group.group_id)
        except Refused as refused:
            done(None, refused)
            return
        shard.read(lambda machine, now_ms: self._found(machine, group), done)

    def _found(self, machine: GroupMachine, group: OffsetFetchRequestGroup) -> OffsetFetchResponseGroup:
        machine.check_fetch(group.group_id, group.member_id, group.member_epoch)
        answer = OffsetFetchResponseGroup(group_id=group.group_id)
        wanted: Iterable[tuple[str, bytes, list[int]]]
        if group.topics is None:
            wanted = self._all_of(machine, group.group_id)
        else:
            wanted = [self._named(topic) for topic in group.topics]
        for name, topic_id, partitions in wanted:
            answer.topics.append(
                OffsetFetchResponseTopics(
                    name=name,
                    topic_id=topic_id,
                    partitions=[self._offset(machine, group.group_id, name, index) for index in partitions],
                )
            )
        return answer

    def _named(self, topic: OffsetFetchRequestTopics) -> tuple[str, bytes, list[int]]:
        if self._context.version < TOPIC_IDS_FROM:
            return topic.name, ZERO_UUID, topic.partition_indexes
        known = self._broker.image.topics_by_id.get(topic.topic_id)
        return (known.name if known is not None else ""), topic.topic_id, topic.partition_indexes

    def _all_of(self, machine: GroupMachine, group_id: str) -> list[tuple[str, bytes, list[int]]]:
        topics: dict[str, list[int]] = {}
        for (name, index), _ in machine.offsets.of_group(group_id):
            topics.setdefault(name, []).append(index)
        result = []
        for name, indexes in topics.items():
            known = self._broker.image.topics_by_name.get(name)
            if known is None and self._context.version >= TOPIC_IDS_FROM:
                continue  # a topic that is gone has no id to answer with
            if self._broker.rights.allows(self._context, Operation.DESCRIBE, Resource.TOPIC, name):
                result.append((name, known.topic_id if known is not None else ZERO_UUID, sorted(indexes)))
        return result

    def _offset(self, machine: GroupMachine, group_id: str, topic: str, index: int) -> OffsetFetchResponsePartitions:
        answer = OffsetFetchResponsePartitions(partition_index=index, committed_offset=-1, metadata="")
        if not topic:
            answer.error_code = ErrorCode.UNKNOWN_TOPIC_ID
        elif not self._broker.rights.allows(self._context, Operation.DESCRIBE, Resource.TOPIC, topic):
            answer.error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        elif self._require_stable and machine.offsets.is_unstable(group_id, (topic, index)):
            answer.error_code = ErrorCode.UNSTABLE_OFFSET_COMMIT
        else:
            found = machine.offsets.get(group_id, (topic, index))
            if found is not None:
                answer.committed_offset = found.offset
                answer.committed_leader_epoch = found.leader_epoch
                answer.metadata = found.metadata
        return answer

    def _refusal(self, group: OffsetFetchRequestGroup, code: int) -> OffsetFetchResponseGroup:
        answer = OffsetFetchResponseGroup(group_id=group.group_id, error_code=code)
        if self._several or self._context.version >= GROUP_ERROR_FROM:
            return answer
        for topic in group.topics or []:  # version 1 has no place for the group's error but its partitions
            answer.topics.append(
                OffsetFetchResponseTopics(
                    name=topic.name,
                    partitions=[
                        OffsetFetchResponsePartitions(
                            partition_index=index, committed_offset=-1, metadata="", error_code=code
                        )
                        for index in topic.partition_indexes
                    ],
                )
            )
        return answer

    def _timed_out(self) -> OffsetFetchResponse:
        self._answers = [self._refusal(group, ErrorCode.COORDINATOR_NOT_AVAILABLE) for group in self._groups]
        return self._response()

    def _response(self) -> OffsetFetchResponse:
        if self._several:
            return OffsetFetchResponse(groups=self._answers)
        only = self._answers[0]
        return OffsetFetchResponse(
            error_code=only.error_code,
            topics=[
                OffsetFetchResponseTopic(
                    name=topic.name,
                    partitions=[
                        OffsetFetchResponsePartition(
                            partition_index=each.partition_index,
                            committed_offset=each.committed_offset,
                            committed_leader_epoch=each.committed_leader_epoch,
                            metadata=each.metadata,
                            error_code=each.error_code,
                        )
                        for each in topic.partitions
                    ],
                )
                for topic in only.topics
            ],
        )
