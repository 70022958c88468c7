"""Ranges of offsets as columns: from the socket to Arrow's buffers without an object per record.

One request a broker is under way while the answer before it is decoded. A range ends at its offset, not at a record:
markers, gaps of compaction and aborted records at its end are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from twinlog import _kernel
from twinlog.base.units import KIB, MIB
from twinlog.client.blocking import EARLIEST, PAUSE_MS, Client
from twinlog.client.errors import BrokerError, ClientError, ConnectionLost, NoAnswer, check
from twinlog.client.lookup import offsets_of
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    FetchRequest,
    FetchRequestPartition,
    FetchRequestTopic,
    FetchResponse,
    FetchResponsePartitionData,
)

WAIT_MS: Final = 500
FETCH_BYTES_MAX: Final = 32 * MIB
PARTITION_BYTES_MAX: Final = 2 * MIB
PARTITION_BYTES_MIN: Final = 64 * KIB
GUESSED_RECORD_BYTES: Final = 1 * KIB
# Blocks small enough to be in the processor's cache still when the next process takes them.
ROWS_MAX: Final = 8_192
ROWS_ENOUGH: Final = 4_096
DATA_BYTES_MAX: Final = 2 * MIB
INFLATED_BYTES_MAX: Final = 256 * MIB


class OffsetsGone(ClientError):
    """Records between two offsets are no longer there: they were deleted, or the topic was made anew."""

    def __init__(self, topic: str, partition: int, position: int, earliest: int) -> None:
        super().__init__(topic, partition, position, earliest)
        self.topic, self.partition, self.position, self.earliest = topic, partition, position, earliest

    def __str__(self) -> str:
        return (
            f"{self.topic}-{self.partition} no longer has offset {self.position}: its first record is at "
            f"{self.earliest}. Retention or a deletion was faster than this reader"
        )


@dataclass(slots=True)
class Span:
    """Offsets of one partition, up to but without ``stop``."""

    topic: str
    partition: int
    start: int
    stop: int


@dataclass(slots=True)
class _Progress:
    span: Span
    position: int
    record_bytes: float = GUESSED_RECORD_BYTES
    told_at_ms: int = 0
    node: int = -1


@dataclass(slots=True)
class _Sent:
    node: int
    asked: dict[tuple[str, int], _Progress] = field(default_factory=dict)


class Scan:
    """Reads every span once. ``patience_ms`` bounds the time without any progress."""

    def __init__(
        self,
        client: Client,
        spans: Sequence[Span],
        wanted: int,
        *,
        committed: bool = True,
        skip_lost: bool = False,
        patience_ms: int = 120_000,
    ) -> None:
        self._client = client
        self._committed = committed
        self._skip_lost = skip_lost
        self._patience_ms = patience_ms
        self._columns = _kernel.RecordColumns(
            wanted, rows_max=ROWS_MAX, data_bytes_max=DATA_BYTES_MAX, inflated_max=INFLATED_BYTES_MAX
        )
        now_ms = client.door.monotonic_ms()
        self._left = [_Progress(span, span.start, told_at_ms=now_ms) for span in spans if span.start < span.stop]
        self._topics = sorted({span.topic for span in spans})
        self.lost_records = 0

    def blocks(self) -> Iterator[_kernel.ColumnBlocks]:
        """Columns of some thousand rows each."""
        sent: list[_Sent] = []
        try:
            while self._left:
                try:
                    sent = sent or self._send(self._left)
                    now, sent = sent[0], sent[1:]
                    answer, buffer = self._receive(now)
                    # The next request leaves before this answer is decoded.
                    ahead = self._send_ahead(now, answer, buffer)
                    yield from self._decode(now, answer, buffer)
                    sent += ahead
                except (ConnectionLost, NoAnswer, BrokerError) as trouble:
                    for each in sent:
                        self._client.drop(each.node)
                    sent = []
                    self._endure(trouble)
            if self._columns.rows:
                yield self._columns.take()
        finally:
            # Answers that nobody will read any more stand in the way of the next question.
            for each in sent:
                self._client.drop(each.node)

    # ---- asking -----------------------------------------------------------------------------------------------

    def _send(self, progress: Sequence[_Progress]) -> list[_Sent]:
        by_node: dict[int, _Sent] = {}
        for each in progress:
            place = (each.span.topic, each.span.partition)
            leader = self._client.view.leader(*place)
            if leader < 0:
                self._client.refresh({*self._client.view.topics, *self._topics})
                leader = self._client.view.leader(*place)
            if leader < 0:
                known = self._client.view.topics.get(each.span.topic)
                code = known.error if known and known.error else ErrorCode.LEADER_NOT_AVAILABLE
                raise BrokerError(code, f"reading {place[0]}-{place[1]}")
            by_node.setdefault(leader, _Sent(leader)).asked[place] = each
        for node, request in by_node.items():
            self._client.link(node).send(self._request(request, {}))
        return list(by_node.values())

    def _request(self, sent: _Sent, ahead: dict[tuple[str, int], int]) -> FetchRequest:
        topics: dict[str, FetchRequestTopic] = {}
        for (topic, partition), progress in sent.asked.items():
            position = ahead.get((topic, partition), progress.position)
            wanted = int((progress.span.stop - position) * progress.record_bytes * 1.1) + PARTITION_BYTES_MIN
            asked = FetchRequestPartition(
                partition=partition,
                fetch_offset=position,
                partition_max_bytes=min(wanted, PARTITION_BYTES_MAX),
            )
            topics.setdefault(topic, FetchRequestTopic(topic=topic)).partitions.append(asked)
        return FetchRequest(
            max_wait_ms=WAIT_MS,
            min_bytes=1,
            max_bytes=FETCH_BYTES_MAX,
            isolation_level=int(self._committed),
            topics=list(topics.values()),
        )

    def _receive(self, sent: _Sent) -> tuple[FetchResponse, bytes | bytearray]:
        try:
            answer = self._client.link(sent.node).take(WAIT_MS)
        except ClientError:
            self._client.drop(sent.node)
            raise
        assert isinstance(answer.message, FetchResponse)
        check(answer.message.error_code, "reading")
        return answer.message, answer.buffer

    def _send_ahead(self, now: _Sent, answer: FetchResponse, buffer: bytes | bytearray) -> list[_Sent]:
        positions: dict[tuple[str, int], int] = {}
        for topic in answer.responses:
            for data in topic.partitions:
                progress = now.asked.get((topic.topic, data.partition_index))
                if progress is None or data.error_code:
                    return []  # what went wrong is looked into first
                if data.records is not None:
                    assert isinstance(data.records, tuple)
                    start, size = data.records
                    behind = _kernel.position_behind(buffer, start, start + size, progress.position)
                    positions[topic.topic, data.partition_index] = behind
        ahead = _Sent(now.node)
        # Those without records come last, so that none of them starves behind the others.
        for place in sorted(now.asked, key=lambda place: place in positions):
            progress = now.asked[place]
            if positions.get(place, progress.position) < progress.span.stop:
                ahead.asked[place] = progress
        if not ahead.asked:
            return []
        self._client.link(now.node).send(self._request(ahead, positions))
        return [ahead]

    # ---- decoding ---------------------------------------------------------------------------------------------

    def _decode(self, now: _Sent, answer: FetchResponse, buffer: bytes | bytearray) -> Iterator[_kernel.ColumnBlocks]:
        trouble: ClientError | None = None
        for topic in answer.responses:
            for data in topic.partitions:
                progress = now.asked.get((topic.topic, data.partition_index))
                if progress is None:
                    continue
                if data.error_code:
                    trouble = self._failed(progress, data.error_code) or trouble
                else:
                    yield from self._append(progress, data, buffer)
        self._left = [each for each in self._left if each.position < each.span.stop]
        if trouble:
            raise trouble

    def _append(
        self, progress: _Progress, data: FetchResponsePartitionData, buffer: bytes | bytearray
    ) -> Iterator[_kernel.ColumnBlocks]:
        span, columns = progress.span, self._columns
        now_ms = self._client.door.monotonic_ms()
        if data.records is None or data.records[1] == 0:  # type: ignore[index]
            if now_ms - progress.told_at_ms > self._patience_ms:
                raise NoAnswer(
                    f"{span.topic}-{span.partition} gave nothing at offset {progress.position} for "
                    f"{self._patience_ms} ms, although records up to {span.stop} were announced"
                )
            return
        assert isinstance(data.records, tuple)
        start, size = data.records
        end = start + size
        columns.seek(span.topic, span.partition, progress.position, span.stop)
        starts = [(each.first_offset, each.producer_id) for each in data.aborted_transactions or ()]
        columns.hide(starts if self._committed else None)
        before = progress.position
        while True:
            try:
                start, why = columns.append(buffer, start, end)
            except _kernel.Malformed as damage:
                place = f"reading {span.topic}-{span.partition} at offset {columns.position}"
                raise DamagedRecords(f"{place}: {damage}") from None
            # Kept before anything is handed out: whoever comes back after that goes on from here.
            progress.position = columns.position
            if why == "full" or columns.rows >= ROWS_ENOUGH:
                yield columns.take()
            if why != "full":
                break
        read = progress.position - before
        if read > 0:
            progress.record_bytes = size / read
            progress.told_at_ms = now_ms

    # ---- trouble ----------------------------------------------------------------------------------------------

    def _failed(self, progress: _Progress, code: int) -> ClientError | None:
        span = progress.span
        if code != ErrorCode.OFFSET_OUT_OF_RANGE:
            return BrokerError(code, f"reading {span.topic}-{span.partition}")
        place = (span.topic, span.partition)
        earliest = offsets_of(self._client, {place: EARLIEST})[place]
        if not self._skip_lost:
            return OffsetsGone(span.topic, span.partition, progress.position, earliest)
        behind = span.stop if earliest <= progress.position else min(earliest, span.stop)
        self.lost_records += behind - progress.position
        progress.position = behind
        return None

    def _endure(self, trouble: ClientError) -> None:
        now_ms = self._client.door.monotonic_ms()
        patient = all(now_ms - each.told_at_ms < self._patience_ms for each in self._left)
        if (isinstance(trouble, BrokerError) and not trouble.retriable) or not patient:
            raise trouble
        self._client.door.pause(PAUSE_MS)
        try:
            self._client.refresh({*self._client.view.topics, *self._topics})
        except (ConnectionLost, NoAnswer):
            self._client.close()


class DamagedRecords(ClientError):
    """The broker handed out bytes that are no record batch."""
