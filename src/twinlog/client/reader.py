"""Records on their way in: positions, fetch requests, decoding.

A reader remembers the next offset of each partition it was given. ``answer`` moves positions forward over whole
batches; a batch that the answer's size limit cut off comes again with the next request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from twinlog import _kernel
from twinlog.base.units import MIB
from twinlog.client.errors import BrokerError
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    FetchRequest,
    FetchRequestPartition,
    FetchRequestTopic,
    FetchResponse,
    FetchResponsePartitionData,
)

TRANSACTIONAL_BIT: Final = 1 << 4
CONTROL_BIT: Final = 1 << 5
LOG_APPEND_TIME_BIT: Final = 1 << 3
READ_COMMITTED: Final = 1


class Record(NamedTuple):
    """A record as it lies in its partition."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


class Reader:
    """The core of a consumer that is told its partitions."""

    def __init__(
        self,
        *,
        wait_ms: int = 500,
        bytes_max: int = 16 * MIB,
        partition_bytes_max: int = 4 * MIB,
        inflated_bytes_max: int = 256 * MIB,
        committed_only: bool = False,
    ) -> None:
        self.positions: dict[tuple[str, int], int] = {}
        self.ends: dict[tuple[str, int], int] = {}  # the high watermark, as last told
        self._wait_ms = wait_ms
        self._bytes_max = bytes_max
        self._partition_bytes_max = partition_bytes_max
        self._inflated_bytes_max = inflated_bytes_max
        self._isolation_level = READ_COMMITTED if committed_only else 0

    def seek(self, topic: str, partition: int, offset: int) -> None:
        self.positions[topic, partition] = offset

    def forget(self, topic: str, partition: int) -> None:
        self.positions.pop((topic, partition), None)

    def request(self, places: Iterable[tuple[str, int]]) -> FetchRequest:
        """Asks one broker for the partitions it leads."""
        topics: dict[str, FetchRequestTopic] = {}
        for topic, partition in places:
            asked = FetchRequestPartition(
                partition=partition,
                fetch_offset=self.positions[topic, partition],
                partition_max_bytes=self._partition_bytes_max,
            )
            topics.setdefault(topic, FetchRequestTopic(topic=topic)).partitions.append(asked)
        return FetchRequest(
            max_wait_ms=self._wait_ms,
            min_bytes=1,
            max_bytes=self._bytes_max,
            isolation_level=self._isolation_level,
            topics=list(topics.values()),
        )

    def answer(self, response: FetchResponse, buffer: bytes | bytearray) -> tuple[list[Record], list[BrokerError]]:
        """The records of an answer in offset order per partition, and what went wrong per partition."""
        records: list[Record] = []
        wrong: list[BrokerError] = []
        if response.error_code:
            wrong.append(BrokerError(response.error_code, "fetching"))
        for topic in response.responses:
            for data in topic.partitions:
                place = (topic.topic, data.partition_index)
                if place not in self.positions:
                    continue
                if data.error_code:
                    wrong.append(BrokerError(data.error_code, f"fetching {place[0]}-{place[1]}"))
                    continue
                self.ends[place] = data.high_watermark
                records.extend(self._records(place, data, buffer))
        return records, wrong

    def _records(
        self, place: tuple[str, int], data: FetchResponsePartitionData, buffer: bytes | bytearray
    ) -> Iterator[Record]:
        if data.records is None:
            return
        assert isinstance(data.records, tuple)
        start, size = data.records
        position = self.positions[place]
        # The last batch may be cut off. That never lasts: a broker sends the first batch of a request whole.
        batches, _, reason = _kernel.scan_batches(buffer, start, start + size)
        if reason not in ("", "short"):
            raise BrokerError(ErrorCode.CORRUPT_MESSAGE, f"fetching {place[0]}-{place[1]}", f"damaged batch: {reason}")
        aborted = Aborted(data) if self._isolation_level else None
        for batch in batches:
            at, batch_size, base_offset, last_delta, _, attributes, _, max_timestamp, producer_id = batch[:9]
            self.positions[place] = max(position, base_offset + last_delta + 1)
            hidden = aborted.hides(producer_id, base_offset + last_delta) if aborted else False
            if attributes & CONTROL_BIT:
                if aborted:
                    aborted.marker(producer_id)
                continue
            if hidden and attributes & TRANSACTIONAL_BIT:
                continue
            decoded = _kernel.decode_records(buffer, at, at + batch_size, self._inflated_bytes_max)
            for offset, timestamp, key, value, headers in decoded:
                if offset >= position:
                    stamp = max_timestamp if attributes & LOG_APPEND_TIME_BIT else timestamp
                    yield Record(place[0], place[1], offset, stamp, key, value, headers)


class Aborted:
    """Which batches of an answer belong to transactions that were rolled back."""

    def __init__(self, data: FetchResponsePartitionData) -> None:
        self._starts = sorted((each.first_offset, each.producer_id) for each in data.aborted_transactions or ())
        self._open: set[int] = set()

    def hides(self, producer_id: int, last_offset: int) -> bool:
        """To be asked of every batch, markers as well: the first one of an answer may end what began before it."""
        while self._starts and self._starts[0][0] <= last_offset:
            self._open.add(self._starts.pop(0)[1])
        return producer_id in self._open

    def marker(self, producer_id: int) -> None:
        """The end of that producer's transaction."""
        self._open.discard(producer_id)
