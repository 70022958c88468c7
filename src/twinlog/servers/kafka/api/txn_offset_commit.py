"""28 TxnOffsetCommit: offsets that count when the transaction does.

v2 leader epochs; v3 the member names itself and must be current; v5 the group's offsets join the transaction by this,
before that AddOffsetsToTxn has to have been sent.
"""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.coordinator import Decision
from twinlog.kafka.groups import GroupMachine, Wish
from twinlog.kafka.rights import Operation, Resource
from twinlog.kafka.transactions import ProducerKey
from twinlog.servers.kafka.context import RequestContext
from twinlog.servers.kafka.transaction_codes import abortable, fenced
from twinlog.servers.kafka.waiting import Waiting
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

KEY: Final = 28
VERSIONS: Final = (0, 5)
RIGHTS: Final = (("transactional_id", "write"), ("group", "read"), ("topic", "read"))

ABORTABLE_FROM: Final = 4
IMPLICIT_FROM: Final = 5


def handle(broker: Broker, request: TxnOffsetCommitRequest, context: RequestContext) -> TxnOffsetCommitResponse | None:
    commit = TransactionalCommit(broker, request, context)
    if not broker.rights.allows(context, Operation.WRITE, Resource.TRANSACTIONAL_ID, request.transactional_id):
        return commit.refused(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    if not broker.rights.allows(context, Operation.READ, Resource.GROUP, request.group_id):
        return commit.refused(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    try:
        commit.place = broker.groups.offsets_place(request.group_id)
    except Refused as refused:
        return commit.refused(refused.code)
    code = broker.joining.join(
        request.transactional_id,
        commit.producer,
        [commit.place],
        commit.joined,
        implicit=context.version >= IMPLICIT_FROM,
    )
    if code is not None:
        commit.joined(code)
    return commit.waiting.park()


class TransactionalCommit:
    """One request: which partitions may be committed, and the response in the request's own order."""

    def __init__(self, broker: Broker, request: TxnOffsetCommitRequest, context: RequestContext) -> None:
        self._broker = broker
        self._request = request
        self._version = context.version
        self._wishes: list[Wish] = []
        self._answers: list[TxnOffsetCommitResponsePartition] = []  # of the wishes, in order
        self.producer = ProducerKey(request.producer_id, request.producer_epoch)
        self.place = ("", -1)
        self.response = TxnOffsetCommitResponse()
        self.waiting: Waiting[TxnOffsetCommitResponse] = Waiting(
            context, lambda: self.refused(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        )
        for topic in request.topics:
            answer = TxnOffsetCommitResponseTopic(name=topic.name)
            self.response.topics.append(answer)
            known = broker.image.topics_by_name.get(topic.name)
            may = broker.rights.allows(context, Operation.READ, Resource.TOPIC, topic.name)
            for each in topic.partitions:
                part = TxnOffsetCommitResponsePartition(partition_index=each.partition_index)
                answer.partitions.append(part)
                if not may:
                    part.error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
                elif known is None or not 0 <= each.partition_index < len(known.partitions):
                    part.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                else:
                    self._answers.append(part)
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

    def joined(self, code: ErrorCode) -> None:
        """The group's offsets are part of the transaction, or why not."""
        if code:
            self.waiting.answer(self.refused(self._told(code)))
            return
        try:
            shard = self._broker.groups.shard(self._request.group_id)
        except Refused as refused:
            self.waiting.answer(self.refused(refused.code))
            return
        shard.write(self._decide, self._stored)

    def _decide(self, machine: GroupMachine, now_ms: int) -> Decision[list[int]]:
        request = self._request
        # Checked in the turn in which it is written: the transaction may have ended while this one waited.
        code = self._broker.transactions.verify(request.transactional_id, self.producer, self.place)
        if code:
            raise Refused(self._told(code))
        machine.check_transactional_commit(
            request.group_id, request.member_id, request.group_instance_id, request.generation_id
        )
        return machine.commit_transactional(request.group_id, self._wishes, *self.producer, now_ms)

    def _stored(self, errors: list[int] | None, fault: Exception | None) -> None:
        if isinstance(fault, Refused):
            self.waiting.answer(self.refused(fault.code))
            return
        for answer, error in zip(self._answers, errors or [], strict=True):
            answer.error_code = error
        self.waiting.answer(self.response)

    def _told(self, code: int) -> int:
        return abortable(fenced(code, False), self._version >= ABORTABLE_FROM)

    def refused(self, code: int) -> TxnOffsetCommitResponse:
        for topic in self.response.topics:
            for answer in topic.partitions:
                answer.error_code = code
        return self.response
