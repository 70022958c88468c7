"""A produce request: many batches for many partitions, one answer when the last of them counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from twinlog.base import HostFault, Refused
from twinlog.kafka.names import INTERNAL_TOPICS
from twinlog.kafka.partition import AppendResult, InvalidRecord
from twinlog.kafka.partition_table import PartitionTable
from twinlog.storage import Batch
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)

ACKS_ALLOWED: Final = (-1, 0, 1)

# As the kernel parses it: topic name (or id), and for each partition (index, off, size, code, detail, batch).
ResultOf: TypeAlias = Callable[[str | bytes, int, "Batch | None"], AppendResult]
ParsedTopics: TypeAlias = Sequence[tuple[str | bytes, Sequence[tuple[int, int, int, int, int, Batch | None]]]]

KERNEL_REASONS: Final[dict[int, str]] = {
    ErrorCode.CORRUPT_MESSAGE: "The batch is damaged: its length or its checksum is wrong.",
    ErrorCode.INVALID_RECORD: "The batch is not one well-formed batch of records.",
    ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT: "Only record batches of format 2 are taken.",
    ErrorCode.UNSUPPORTED_COMPRESSION_TYPE: "The compression is not known.",
    ErrorCode.MESSAGE_TOO_LARGE: "The batch is larger than allowed once it is inflated.",
}


class Production:
    """One produce request on its way; ``response`` is its answer once it is done.

    ``append`` does all that can be done now. If something has to wait for the disk, ``wait`` says who is called once,
    when the last part is stable or has failed. What did not have to wait knows nobody: with a cycle of references for
    each request the garbage collector took a tenth of the time.
    """

    __slots__ = ("_is_over", "_on_done", "failed_any", "response", "waiting")

    def __init__(self) -> None:
        self._on_done: Callable[[Production], None] | None = None
        self._is_over = False
        self.response = ProduceResponse()
        self.failed_any = False
        self.waiting = 0

    def append(
        self,
        partitions: PartitionTable,
        topics: ParsedTopics,
        buffer: bytearray,
        acks: int,
        now_ms: int,
        result_of: ResultOf | None = None,
    ) -> bool:
        """True: the response is final. False: ``wait`` says who gets it. ``result_of`` is asked for the results of a
        transactional request: they say whether their batches may be written."""
        code = ErrorCode.NONE if acks in ACKS_ALLOWED else ErrorCode.INVALID_REQUIRED_ACKS
        # We wait for ourselves as well: an append that takes the log offline fails those before it, which must not send
        # an answer in which the rest still looks like success.
        self.waiting += 1
        for name, batches in topics:
            results: list[PartitionProduceResponse] = []
            if isinstance(name, str):
                self.response.responses.append(TopicProduceResponse(name=name, partition_responses=results))
            else:
                self.response.responses.append(TopicProduceResponse(topic_id=name, partition_responses=results))
            of_topic = partitions.of_topic(name)
            for index, _, _, batch_code, detail, batch in batches:
                result = AppendResult(index) if result_of is None else result_of(name, index, batch)
                results.append(result)
                if code:
                    self._fail(result, code)
                elif result.error_code:
                    self.failed_any = True
                elif batch is None:
                    self._fail_broken(result, batch_code, detail)
                elif of_topic is None:
                    self._fail(result, unknown_topic(name))
                elif not 0 <= index < len(of_topic):
                    self._fail(result, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                elif of_topic[index].topic in INTERNAL_TOPICS:
                    # A coordinator's state is what it has written itself: a stranger's record there would be a lie.
                    self._fail(result, ErrorCode.INVALID_TOPIC_EXCEPTION, "only the broker itself writes to this topic")
                else:
                    try:
                        of_topic[index].append(buffer, batch, detail, acks, now_ms, self, result)
                    except InvalidRecord as refused:
                        self._fail(result, refused.code, refused.message)
                        result.record_errors = _record_errors(refused.records)
                    except Refused as refused:
                        self._fail(result, refused.code, refused.message)
                    except HostFault:
                        self._fail(result, ErrorCode.KAFKA_STORAGE_ERROR)
        self.waiting -= 1
        return self.waiting == 0

    def refuse(self, topics: ParsedTopics, code: int) -> None:
        """Nothing was looked at, and nothing will be."""
        for name, batches in topics:
            named = {"name": name} if isinstance(name, str) else {"topic_id": name}
            results: list[PartitionProduceResponse] = []
            for index, *_ in batches:
                result = AppendResult(index)
                self._fail(result, code)
                results.append(result)
            self.response.responses.append(TopicProduceResponse(partition_responses=results, **named))

    def wait(self, on_done: Callable[[Production], None]) -> None:
        """Who is called when the response is final."""
        self._on_done = on_done

    def stored(self, token: object) -> None:
        assert isinstance(token, AppendResult)
        token.waits = False
        self.waiting -= 1
        if not self.waiting:
            self._done()

    def failed(self, token: object, code: int) -> None:
        assert isinstance(token, AppendResult)
        if not self._is_over:
            self._fail(token, code)
        self.stored(token)

    def expire(self) -> None:
        """Time is over: what is not stable yet is reported so, and may still become stable later."""
        if self._is_over:
            return
        for topic in self.response.responses:
            for result in topic.partition_responses:
                if isinstance(result, AppendResult) and result.waits:
                    self._fail(result, ErrorCode.REQUEST_TIMED_OUT)
        self._done()

    def abandon(self) -> None:
        """Nobody wants the answer any more."""
        self._is_over = True
        self._on_done = None

    def _done(self) -> None:
        self._is_over = True
        on_done, self._on_done = self._on_done, None
        if on_done is not None:
            on_done(self)

    def _fail(self, result: AppendResult, code: int, message: str | None = None) -> None:
        self.failed_any = True
        result.fail(code, message)

    def _fail_broken(self, result: AppendResult, code: int, record_at: int) -> None:
        self._fail(result, code, KERNEL_REASONS.get(code))
        if record_at >= 0:
            result.record_errors = _record_errors([(record_at, "The record is not well-formed.")])


def _record_errors(records: Sequence[tuple[int, str]]) -> list[BatchIndexAndErrorMessage]:
    return [BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=why) for index, why in records]


def unknown_topic(name: str | bytes) -> ErrorCode:
    """A topic is asked for by name or by id, and the two have different codes."""
    return ErrorCode.UNKNOWN_TOPIC_ID if isinstance(name, bytes) else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
