"""Writers of ``format("twinlog")``.

A stream is written exactly once. Every task writes in a transaction of its own, whose id is that of the sink and the
task's slot, so that a new attempt fences the old one; the task ends by flushing, not by committing. ``commit`` on the
driver records the decision (``decisions``) and then ends the transactions. A batch that Spark repeats although it was
decided writes nothing: its ends are finished, and that is all.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from pyspark_twinlog.connections import client_of, tidy_worker
from pyspark_twinlog.decisions import Decision, Decisions, Part
from pyspark_twinlog.errors import CommittedRecordsLost, OptionWrong, SinkInUse, TwinlogSparkError, WrongRows
from pyspark_twinlog.options import WriteOptions
from pyspark_twinlog.rows import add_rows, check_schema
from twinlog.client import BrokerError, Client, ClientError
from twinlog.client.staging import BATCH_BYTES, Staging
from twinlog.client.transaction import GONE, Identity, begin, end

log = logging.getLogger("pyspark_twinlog")

BATCH_ID: Final = "streaming.sql.batchId"
QUERY_ID: Final = "sql.streaming.queryId"


@dataclass
class Written(WriterCommitMessage):
    """What one task did. ``identity`` is None without a transaction, or when there was nothing to write."""

    records: int
    identity: Identity | None = None
    plan: Plan | None = None
    query: str = ""
    skipped: bool = False


@dataclass(frozen=True)
class Plan:
    """What the driver knew when it planned a batch."""

    sink: str
    driver: Identity
    timeout_ms: int
    last: Decision | None


def _write(client: Client, options: WriteOptions, identity: Identity | None, batches: Iterator[Any], slot: int) -> int:
    staging = Staging(
        client,
        identity,
        codec=options.codec,
        batch_bytes=min(options.batch_bytes or BATCH_BYTES, BATCH_BYTES),
        sticky=slot,
    )
    for batch in batches:
        try:
            add_rows(staging, batch, options.topic)
        except ValueError as wrong:
            raise WrongRows(str(wrong)) from None
    staging.flush()
    return staging.records


def _slot() -> int:
    context = TaskContext.get()
    return context.partitionId() if context else 0


# ---- batch ------------------------------------------------------------------------------------------------------


class BatchWriter(DataSourceArrowWriter):
    """Writes a DataFrame once. Without ``exactlyOnce`` a task that Spark repeats writes its rows again."""

    def __init__(self, options: WriteOptions, schema: StructType) -> None:
        check_schema(schema, options.topic)
        self._options = options
        self._name = options.sink_id or f"spark-batch-{uuid.uuid4()}"

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        tidy_worker()
        options, slot = self._options, _slot()
        client = client_of(options.cluster, "write")
        with _told():
            identity = None
            if options.exactly_once:
                identity = begin(client, f"{self._name}-{slot}", options.timeout_ms or 900_000)
            records = _write(client, options, identity, iterator, slot)
        return Written(records, identity if records else None)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        self._end(messages, committed=True)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        self._end(messages, committed=False)

    def _end(self, messages: Sequence[WriterCommitMessage | None], *, committed: bool) -> None:
        client = client_of(self._options.cluster, "commit")
        with _told():
            for message in messages:
                if isinstance(message, Written) and message.identity:
                    end(client, message.identity, committed=committed)


class _told:
    """What goes wrong with the broker, under a name of ours."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, wrong: BaseException | None, trace: Any) -> None:
        if isinstance(wrong, ClientError):
            raise TwinlogSparkError(str(wrong)) from wrong


# ---- stream -----------------------------------------------------------------------------------------------------


def sink_id_of(options: WriteOptions) -> str:
    """The option, else the query's id from a checkpoint on a local disk, else the checkpoint's place."""
    if options.sink_id:
        return options.sink_id
    place = options.checkpoint
    if not place:
        raise OptionWrong('exactly once needs .option("checkpointLocation", ...) or .option("sinkId", ...) on the sink')
    local = place.removeprefix("file://").removeprefix("file:")
    if "://" not in local:
        try:
            with open(os.path.join(local, "metadata"), encoding="utf-8") as file:
                query = json.load(file)["id"]
            return f"spark-{query}-{_digest(options.topic)}" if options.topic else f"spark-{query}"
        except (OSError, ValueError, KeyError) as wrong:
            raise OptionWrong(f"the checkpoint {place} cannot be read here ({wrong}): set the option sinkId") from None
    return f"spark-{_digest(place)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


_kept: Final[dict[tuple[int, int], Decisions]] = {}


def _decisions(options: WriteOptions) -> Decisions:
    """Kept beside its client, so that only what is new has to be read."""
    client = client_of(options.cluster, "decide")
    kept = _kept.get((os.getpid(), hash(options.decision_topic)))
    if kept is None or kept.client is not client or kept.topic != options.decision_topic:
        kept = _kept[os.getpid(), hash(options.decision_topic)] = Decisions(client, options.decision_topic)
    return kept


class StreamWriter(DataSourceStreamArrowWriter):
    """Made twice for every micro-batch, once to plan it and once to commit it; pickled only when it is planned."""

    def __init__(self, options: WriteOptions, schema: StructType) -> None:
        check_schema(schema, options.topic)
        if options.exactly_once and not options.sink_id and not options.checkpoint:
            sink_id_of(options)
        self._options = options
        self._plan: Plan | None = None

    def __getstate__(self) -> dict[str, Any]:
        if self._options.exactly_once and self._plan is None:
            with _told():
                self._plan = self._make_plan()
        return self.__dict__

    def _make_plan(self) -> Plan:
        options = self._options
        sink = sink_id_of(options)
        decisions = _decisions(options)
        decisions.make_sure()
        driver, timeout_ms = decisions.take_over(sink, options.timeout_ms)
        return Plan(sink, driver, timeout_ms, decisions.latest(sink))

    # ---- in the tasks -----------------------------------------------------------------------------------------

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        tidy_worker()
        options, slot, plan = self._options, _slot(), self._plan
        client = client_of(options.cluster, "write")
        if plan is None:
            with _told():
                return Written(_write(client, options, None, iterator, slot))
        query, batch = options.epoch or _epoch_of_task()
        if _already_decided(plan, query, batch):
            for _ in iterator:
                pass
            return Written(0, None, plan, query, skipped=True)
        with _told():
            first = next((rows for rows in iterator if rows.num_rows), None)
            if first is None:
                return Written(0, None, plan, query)
            identity = begin(client, f"{plan.sink}-{slot}", plan.timeout_ms)
            records = _write(client, options, identity, _chained(first, iterator), slot)
        return Written(records, identity, plan, query)

    # ---- on the driver ----------------------------------------------------------------------------------------

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        written = [message for message in messages if isinstance(message, Written)]
        plan = next((message.plan for message in written if message.plan), None)
        if plan is None:
            return
        with _told():
            decisions = _decisions(self._options)
            if any(message.skipped for message in written):
                assert plan.last is not None, "skipped without a decision"
                self._finish(decisions.client, plan.last)
                return
            parts = tuple(Part(message.identity, message.records) for message in written if message.identity)
            if not parts:
                return
            slots = max(len(messages), plan.last.slots if plan.last else 0)
            decision = Decision(plan.sink, written[0].query, batchId, parts, slots)
            try:
                decisions.decide(decision, plan.driver)
            except BrokerError as error:
                if error.code in GONE:
                    raise SinkInUse(
                        f"another run has taken sink {plan.sink!r} over while batch {batchId} was written; "
                        "this one has written nothing of it. Run one query a sink id, or set another sinkId"
                    ) from error
                raise
            self._finish(decisions.client, decision)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        written = [message for message in messages if isinstance(message, Written) and message.identity]
        plan = next((message.plan for message in written if message.plan), None)
        if plan is None:
            return
        # Spark also calls this when `commit` failed behind the decision. What is decided stays.
        last = _decisions(self._options).latest(plan.sink)
        if last is not None and (last.query, last.batch) == (written[0].query, batchId):
            return
        client = client_of(self._options.cluster, "decide")
        for message in written:
            assert message.identity is not None
            try:
                end(client, message.identity, committed=False)
            except ClientError as wrong:
                log.info("%s is rolled back by its timeout: %s", message.identity.transactional_id, wrong)

    def _finish(self, client: Client, decision: Decision) -> None:
        lost = []
        for part in decision.parts:
            try:
                end(client, part.identity, committed=True)
            except BrokerError as error:
                if error.code not in GONE:
                    raise
                lost.append(f"{part.records} records of {part.identity.transactional_id} ({error.name})")
        if not lost:
            return
        told = (
            f"batch {decision.batch} of query {decision.query} was decided for sink {decision.sink!r}, but the broker "
            f"had rolled back {', '.join(lost)}"
        )
        if self._options.accepted_loss == decision.batch:
            log.error("%s; accepted by acceptLostBatch", told)
            return
        raise CommittedRecordsLost(
            f"{told}. The query was down for longer than the transaction timeout. Write these records again from the "
            f"batch's source offsets, then go on with the option acceptLostBatch={decision.batch}"
        )


class EachBatchWriter(DataSourceArrowWriter):
    """Writes one micro-batch inside ``foreachBatch`` as the stream writer would: for output modes that Spark does not
    grant to sinks in Python, and for programs that write to several places."""

    def __init__(self, options: WriteOptions, schema: StructType) -> None:
        assert options.epoch is not None
        self._batch = options.epoch[1]
        self._stream = StreamWriter(options, schema)

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        return self._stream.write(iterator)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        self._stream.commit(messages, self._batch)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        self._stream.abort(messages, self._batch)


def _epoch_of_task() -> tuple[str, int]:
    context = TaskContext.get()
    query = context.getLocalProperty(QUERY_ID) if context else None
    batch = context.getLocalProperty(BATCH_ID) if context else None
    if query is None or batch is None:
        raise TwinlogSparkError("this Spark does not tell its tasks the batch: set exactlyOnce to false")
    return query, int(batch)


def _already_decided(plan: Plan, query: str, batch: int) -> bool:
    last = plan.last
    if last is None:
        return False
    if last.query != query:
        raise SinkInUse(
            f"sink {plan.sink!r} belongs to query {last.query}, which last wrote batch {last.batch}; this is query "
            f"{query}, batch {batch}. Set another sinkId, or go on with that query's checkpoint"
        )
    if batch < last.batch:
        raise SinkInUse(
            f"sink {plan.sink!r} has written up to batch {last.batch} of query {query}, and this is batch {batch}: the "
            "checkpoint is older than what was written. Go on with the newer checkpoint, or set another sinkId"
        )
    return batch == last.batch


def _chained(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest
