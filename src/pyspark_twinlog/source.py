"""Readers of ``format("twinlog")``: a batch reader, one that takes filters, and the reader of a stream."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pyspark.sql.datasource import (
    DataSourceReader,
    DataSourceStreamReader,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from pyspark_twinlog import columns as arrow
from pyspark_twinlog.cluster import Topics
from pyspark_twinlog.connections import client_of, tidy_worker
from pyspark_twinlog.errors import DataLoss, ForeignCheckpoint, TwinlogSparkError
from pyspark_twinlog.offsets import (
    Positions,
    StreamOffset,
    batch_start,
    check_topics,
    from_json,
    limited,
    spans,
    tasks,
    to_json,
)
from pyspark_twinlog.options import Bound, ReadOptions
from twinlog.client import BrokerError, ClientError
from twinlog.client.lookup import commit_group_offsets, persistently
from twinlog.client.scan import OffsetsGone, Scan, Span

log = logging.getLogger("pyspark_twinlog")

METADATA_MS: Final = 1000
IDLE_MS: Final = 100
IDLE_PAUSE_MS: Final = 8


@dataclass
class SpanTask(InputPartition):
    """The work of one Spark task."""

    spans: list[Span]

    def __init__(self, found: list[Span]) -> None:
        super().__init__(None)
        self.spans = found


def read_task(options: ReadOptions, task: SpanTask) -> Iterator[Any]:
    """Arrow batches of a task's spans; runs on the executors."""
    tidy_worker()
    client = client_of(options.cluster, "read")
    scan = Scan(
        client,
        task.spans,
        arrow.wanted(options.columns),
        committed=options.committed,
        skip_lost=not options.fail_on_loss,
        patience_ms=options.patience_ms,
    )
    schema = arrow.arrow_schema(options.columns)
    try:
        for blocks in scan.blocks():
            yield arrow.record_batch(options.columns, schema, blocks)
    except OffsetsGone as gone:
        raise DataLoss(
            f"{gone}. Keep records longer, start a query with a new checkpoint, or set failOnDataLoss to false"
        ) from None
    except ClientError as wrong:
        raise TwinlogSparkError(str(wrong)) from wrong
    if scan.lost_records:
        log.warning("%d offsets were gone before they could be read", scan.lost_records)


class BatchReader(DataSourceReader):
    """Reads once what lies between two bounds, fixed when the query is planned."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._narrowed: list[Filter] = []

    def partitions(self) -> Sequence[InputPartition]:
        options = self._options
        topics = Topics(client_of(options.cluster, "plan"), options)
        topics.refresh(missing_is_wrong=True)
        if not topics.places:
            return [SpanTask([])]
        start = topics.resolve(options.start, "startingOffsets")
        end = topics.resolve(options.end, "endingOffsets")
        start, end = self._narrow(topics, start, end)
        found = spans(start, {place: end[place] for place in end if end[place] > start[place]}, fail=False)
        planned = tasks(found, least=options.min_partitions, most_offsets=options.max_records)
        return [SpanTask(each) for each in planned] or [SpanTask([])]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        assert isinstance(partition, SpanTask)
        return read_task(self._options, partition)

    def _narrow(self, topics: Topics, start: Positions, end: Positions) -> tuple[Positions, Positions]:
        return start, end


def _column(each: Any) -> str:
    name: tuple[str, ...] = getattr(each, "attribute", ())
    return name[0] if len(name) == 1 else ""


class FilteringReader(BatchReader):
    """Leaves out what filters on offset, partition and timestamp exclude, before anything is fetched.

    A class of its own, because Spark refuses a reader that takes filters while
    ``spark.sql.python.filterPushdown.enabled`` is off. Filters are hints: Spark still applies every one of them.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        kinds = (EqualTo, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual, In)
        for each in filters:
            if isinstance(each, kinds) and _column(each) in ("offset", "partition", "timestamp", "topic"):
                self._narrowed.append(each)
            yield each

    def _narrow(self, topics: Topics, start: Positions, end: Positions) -> tuple[Positions, Positions]:
        for each in self._narrowed:
            name, value = _column(each), getattr(each, "value", None)
            if name in ("partition", "topic"):
                at = 1 if name == "partition" else 0
                chosen = {place for place in end if _holds(each, place[at], value)}
                start = {place: offset for place, offset in start.items() if place in chosen}
                end = {place: offset for place, offset in end.items() if place in chosen}
            elif name == "offset" and isinstance(value, int):
                low, high = _bounds(each, value)
                start = {place: max(offset, low) for place, offset in start.items()} if low is not None else start
                end = {place: min(offset, high) for place, offset in end.items()} if high is not None else end
            elif isinstance(value, datetime) and isinstance(each, GreaterThan | GreaterThanOrEqual | EqualTo):
                # Only lower bounds: records need not be in the order of their times.
                bound = Bound(time_ms=max(0, int(value.timestamp() * 1000)), younger="latest")
                young = topics.resolve(bound, "timestamp")
                start = {place: max(offset, young[place]) for place, offset in start.items()}
        return start, end


def _holds(each: Filter, found: Any, value: Any) -> bool:
    if isinstance(each, In):
        return found in value
    if isinstance(each, EqualTo):
        return bool(found == value)
    if isinstance(each, GreaterThan):
        return bool(found > value)
    if isinstance(each, GreaterThanOrEqual):
        return bool(found >= value)
    return bool(found < value) if isinstance(each, LessThan) else bool(found <= value)


def _bounds(each: Filter, value: int) -> tuple[int | None, int | None]:
    """(first offset, first offset behind) that may pass."""
    if isinstance(each, EqualTo):
        return value, value + 1
    if isinstance(each, GreaterThan):
        return value + 1, None
    if isinstance(each, GreaterThanOrEqual):
        return value, None
    if isinstance(each, LessThan):
        return None, value
    return (None, value + 1) if isinstance(each, LessThanOrEqual) else (None, None)


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Lives in one Python process beside the driver for the length of a query."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._topics: Topics | None = None
        self._frozen: Positions | None = None
        self._heads: Positions = {}
        self._refreshed_at_ms = 0
        self._batch_at_ms = 0
        self._committed: Positions = {}

    # ---- what Spark asks, in this order -----------------------------------------------------------------------

    def getDefaultReadLimit(self) -> ReadLimit:
        limit = self._options.max_offsets
        return ReadAllAvailable() if limit is None else ReadMaxRows(limit)

    def prepareForTriggerAvailableNow(self) -> None:
        self._refresh(missing_is_wrong=False, force=True)
        self._frozen = self._known.ends()

    def initialOffset(self) -> dict[str, Any]:
        self._refresh(missing_is_wrong=True, force=True)
        positions = self._known.resolve(self._options.start, "startingOffsets")
        return to_json(StreamOffset(positions, self._known.ids, fresh=True))

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        begun = self._own(start)
        # Everything in front of `start` has been committed by now, also after the last batch of a run.
        self._commit_group(begun.positions if not begun.fresh else {})
        now_ms = self._clock()
        give_up_ms = now_ms + IDLE_MS
        while True:
            end = self._end(begun, limit)
            waits = sum(max(0, stop - begun.positions.get(place, 0)) for place, stop in end.items())
            if waits and self._enough(waits):
                break
            if self._frozen is not None or self._clock() >= give_up_ms:
                return start
            self._known.client.door.pause(IDLE_PAUSE_MS)
        self._batch_at_ms = self._clock()
        initial = begun.positions if begun.fresh else None
        return to_json(StreamOffset(end, self._known.ids, initial))

    def reportLatestOffset(self) -> dict[str, Any] | None:
        return to_json(StreamOffset(self._heads, self._known.ids)) if self._heads else None

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        options, begun, ended = self._options, self._own(start), self._own(end)
        fail = options.fail_on_loss
        positions = batch_start(begun, ended)
        anew = check_topics(StreamOffset(positions, begun.ids), ended.ids, fail=fail)
        positions = {place: offset for place, offset in positions.items() if place[0] not in anew}
        found = spans(positions, ended.positions, fail=fail)
        planned = tasks(found, least=options.min_partitions, most_offsets=options.max_records)
        return [SpanTask(each) for each in planned] or [SpanTask([])]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        assert isinstance(partition, SpanTask)
        return read_task(self._options, partition)

    def commit(self, end: dict[str, Any]) -> None:
        self._commit_group(from_json(end).positions)

    def stop(self) -> None: ...

    def __getstate__(self) -> dict[str, Any]:
        # Executors only read; connections stay here.
        return {**self.__dict__, "_topics": None}

    # ---- how it knows -----------------------------------------------------------------------------------------

    @property
    def _known(self) -> Topics:
        if self._topics is None:
            self._topics = Topics(client_of(self._options.cluster, "stream"), self._options)
        return self._topics

    def _clock(self) -> int:
        return self._known.client.door.monotonic_ms()

    def _refresh(self, *, missing_is_wrong: bool, force: bool = False) -> None:
        now_ms = self._clock()
        if force or now_ms - self._refreshed_at_ms >= METADATA_MS:
            self._known.refresh(missing_is_wrong=missing_is_wrong)
            self._refreshed_at_ms = now_ms

    def _own(self, document: dict[str, Any]) -> StreamOffset:
        """An offset of the checkpoint. Without ``failOnDataLoss`` topics may leave the query."""
        offset = from_json(document)
        others = sorted({topic for topic, _ in offset.positions if not self._options.reads(topic)})
        if others and self._options.fail_on_loss:
            raise ForeignCheckpoint(
                f"the checkpoint holds offsets of {', '.join(map(repr, others))}, which this query does not read: it "
                "belongs to another query. Use the checkpointLocation that belongs to this one, or a new one; or set "
                "failOnDataLoss to false if the query is to leave these topics"
            )
        return offset

    def _end(self, begun: StreamOffset, limit: ReadLimit) -> Positions:
        self._refresh(missing_is_wrong=False)
        anew = check_topics(begun, self._known.ids, fail=self._options.fail_on_loss)
        try:
            self._heads = self._known.ends()
        except BrokerError:
            # A topic may have gone since the last refresh: say that rather than what followed from it.
            self._refresh(missing_is_wrong=False, force=True)
            anew = check_topics(begun, self._known.ids, fail=self._options.fail_on_loss)
            self._heads = self._known.ends()
        start = {place: offset for place, offset in begun.positions.items() if place[0] not in anew}
        end = dict(self._heads)
        if self._frozen is not None:
            end = {place: min(end.get(place, stop), stop) for place, stop in self._frozen.items()}
        if self._options.fail_on_loss:
            spans(start, {place: stop for place, stop in self._heads.items() if place in start}, fail=True)
        if isinstance(limit, ReadMaxRows):
            end = limited(start, end, limit.max_rows)
        return end

    def _enough(self, waits: int) -> bool:
        least = self._options.min_offsets
        if least is None or waits >= least or self._frozen is not None:
            return True
        return self._clock() - self._batch_at_ms >= self._options.max_delay_ms

    def _commit_group(self, positions: Positions) -> None:
        group = self._options.group
        if not group or not positions or positions == self._committed:
            return
        client = self._known.client
        try:
            persistently(client, lambda: commit_group_offsets(client, group, positions), timeout_ms=2000)
            self._committed = positions
        except ClientError as wrong:
            # Lag is for people to look at; the query does not depend on it.
            log.warning("the offsets of group %s were not stored: %s", group, wrong)
