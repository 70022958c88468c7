"""DeleteRecords: moves the first offset of partitions forward. Answered when no crash can undo it."""

from __future__ import annotations

from typing import Final

from twinlog.base import HostFault, Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.offsets import led_partition
from twinlog.servers.kafka.context import RequestContext
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

KEY: Final = DeleteRecordsRequest.KEY
VERSIONS: Final = (0, 2)
RIGHTS: Final = (("topic", "delete"),)


def handle(broker: Broker, request: DeleteRecordsRequest, context: RequestContext) -> DeleteRecordsResponse | None:
    deletion = Deletion(broker, request, context)
    if not deletion.waiting:
        return deletion.response
    context.park(deletion, request.timeout_ms)
    return None


class Deletion:
    """One request on its way. Partitions whose new start is not durable yet are ``waiting``."""

    def __init__(self, broker: Broker, request: DeleteRecordsRequest, context: RequestContext) -> None:
        self.response = DeleteRecordsResponse()
        self.waiting: list[DeleteRecordsPartitionResult] = []
        self._context: RequestContext | None = None
        for topic in request.topics:
            answers: list[DeleteRecordsPartitionResult] = []
            self.response.topics.append(DeleteRecordsTopicResult(name=topic.name, partitions=answers))
            for each in topic.partitions:
                answer = DeleteRecordsPartitionResult(partition_index=each.partition_index, low_watermark=-1)
                answers.append(answer)
                self._delete(broker, topic.name, each.offset, answer)
        self._context = context

    def expire(self) -> None:
        for answer in self.waiting:
            answer.error_code = ErrorCode.REQUEST_TIMED_OUT
        self.waiting = []
        self._reply()

    def abandon(self) -> None:
        self._context = None

    def _delete(self, broker: Broker, topic: str, offset: int, answer: DeleteRecordsPartitionResult) -> None:
        self.waiting.append(answer)
        try:
            partition = led_partition(broker.partitions, topic, answer.partition_index)
            partition.delete_before(offset, lambda low_watermark: self._deleted(answer, low_watermark))
            return
        except Refused as refused:
            answer.error_code = refused.code
        except HostFault:
            answer.error_code = ErrorCode.KAFKA_STORAGE_ERROR
        self.waiting.pop()  # the last one: nothing came between

    def _deleted(self, answer: DeleteRecordsPartitionResult, low_watermark: int) -> None:
        waiting = [each for each in self.waiting if each is not answer]
        if len(waiting) < len(self.waiting):
            self.waiting = waiting
            answer.low_watermark = low_watermark
            if not waiting:
                self._reply()

    def _reply(self) -> None:
        context, self._context = self._context, None
        if context is not None:
            context.reply(self.response)
