"""Runs a pipeline: its queries, their progress, and a clean end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pyspark_twinlog.pipelines.build import as_records, dead_letters, good, parse, read_topic, transformed
from pyspark_twinlog.pipelines.spec import TABLE_SINKS, Pipeline, Source, SpecWrong
from pyspark_twinlog.pipelines.tables import DELETED, open_table

POLL_S: Final = 0.25


@dataclass(frozen=True)
class Progress:
    """One look at a running pipeline."""

    batch: int
    rows: int
    rows_a_second: float
    batch_ms: int
    lag: int
    error: str = ""


def resolve(pipeline: Pipeline, place: str) -> str:
    """A path of the file is meant from where the file is."""
    return place if "://" in place or place.startswith("/") else str(pipeline.home / place)


def frames_of(spark: Any, pipeline: Pipeline) -> tuple[dict[str, Any], dict[str, Any]]:
    """(readable rows, all rows with ``_bad``) by source."""
    readable: dict[str, Any] = {}
    everything: dict[str, Any] = {}
    for source in pipeline.sources:
        if source.table:
            readable[source.name] = _table(spark, pipeline, source)
            continue
        parsed = parse(read_topic(spark, pipeline, source), source)
        everything[source.name] = parsed
        readable[source.name] = good(parsed)
    return readable, everything


def _table(spark: Any, pipeline: Pipeline, source: Source) -> Any:
    """Read once, when the pipeline starts: files (Parquet or Delta), or ``topic:NAME`` for the state of a topic."""
    if source.table.startswith("topic:"):
        from pyspark.sql import functions as F

        named = Source(name=source.name, topic=source.table[6:], format=source.format, schema=source.schema,
                       registry=source.registry, options=source.options)  # fmt: skip
        rows = parse(read_topic(spark, pipeline, named, streaming=False), named)
        names = [name for name in rows.columns if not name.startswith("_") and name != "timestamp"]
        last = rows.groupBy("_key").agg(F.max_by(F.struct("_raw", *names), "_offset").alias("last"))
        return last.where("last._raw is not null").select(*[f"last.{name}" for name in names])
    place = resolve(pipeline, source.table)
    if (Path(place) / "_delta_log").is_dir():
        from deltalake import DeltaTable

        return spark.createDataFrame(DeltaTable(place).to_pyarrow_table())
    return spark.read.parquet(place)


def result_of(spark: Any, pipeline: Pipeline, readable: dict[str, Any]) -> Any:
    """What the sink gets, before it is made into records."""
    from pyspark.sql import functions as F

    kind, how = pipeline.transform.kind, pipeline.transform
    result = transformed(spark, pipeline, readable)
    if kind == "replay":
        for bound, sign in ((how.start, ">="), (how.stop, "<")):
            if bound:
                column = "_offset" if bound.isdecimal() else "_timestamp"
                value = F.lit(int(bound)) if bound.isdecimal() else F.lit(bound).cast("timestamp")
                result = result.where(F.col(column) >= value if sign == ">=" else F.col(column) < value)
    return result


def start(spark: Any, pipeline: Pipeline) -> list[Any]:
    """Starts the queries; a topic as sink takes dead letters in the same commit, tables get a query beside them."""
    readable, everything = frames_of(spark, pipeline)
    result = result_of(spark, pipeline, readable)
    home = resolve(pipeline, pipeline.checkpoint)
    bad = [dead_letters(frame, pipeline.dead_letters) for frame in everything.values()] if pipeline.dead_letters else []
    queries = []
    if pipeline.sink.type == "topic":
        records = as_records(result, pipeline)
        for each in bad:
            records = records.unionByName(each)
        queries.append(_to_topic(pipeline, records, f"{home}/records", pipeline.name))
    else:
        queries.append(_to_table(pipeline, result, f"{home}/table"))
        for number, each in enumerate(bad):
            queries.append(
                _to_topic(pipeline, each, f"{home}/dead-letters-{number}", f"{pipeline.name}-dead-letters-{number}")
            )
    return queries


def _triggered(writer: Any, pipeline: Pipeline) -> Any:
    if pipeline.trigger == "available now":
        return writer.trigger(availableNow=True)
    return writer.trigger(processingTime=pipeline.trigger)


def _mode(pipeline: Pipeline) -> str:
    return pipeline.sink.mode or ("update" if pipeline.transform.kind == "aggregate" else "append")


def _to_topic(pipeline: Pipeline, records: Any, checkpoint: str, name: str) -> Any:
    options = {"kafka.bootstrap.servers": pipeline.bootstrap, **pipeline.sink.options}
    if _mode(pipeline) == "append":
        writer = records.writeStream.format("twinlog")
        for key, value in options.items():
            writer = writer.option(key, value)
    else:
        # Spark grants sinks in Python no other mode than append.
        writer = records.writeStream.foreachBatch(_each_batch(options, name))
    writer = writer.queryName(name).outputMode(_mode(pipeline)).option("checkpointLocation", checkpoint)
    return _triggered(writer, pipeline).start()


def _each_batch(options: Mapping[str, str], name: str) -> Callable[[Any, int], None]:
    """Writes each batch once, as the stream writer does; the query is known by the pipeline's name."""

    def write(batch: Any, number: int) -> None:
        writer = batch.write.format("twinlog").mode("append")
        epoch = {"sinkId": f"twinlog-pipeline-{name}", "queryId": name, "batchId": str(number)}
        for key, value in {**epoch, **options}.items():
            writer = writer.option(key, value)
        writer.save()

    return write


def _to_table(pipeline: Pipeline, result: Any, checkpoint: str) -> Any:
    from pyspark.sql import functions as F

    kind, sink = pipeline.transform.kind, pipeline.sink
    writer: Any
    if sink.type in ("console", "memory"):
        writer = result.writeStream.format(sink.type).queryName(pipeline.name).outputMode(_mode(pipeline))
    else:
        upsert = kind == "project"
        if upsert:
            # A record without a value deletes its key. The order of a partition is the order of its offsets.
            names = [name for name in result.columns if not name.startswith("_") and name != "timestamp"]
            keys = list(pipeline.transform.keys)
            filled = [
                F.coalesce(F.col(key), F.col("_key").cast("string").cast(result.schema[key].dataType)).alias(key)
                if key in keys and "_key" in result.columns
                else F.col(key)
                for key in names
            ]
            empty = F.lit(True)
            for name in names:
                if name not in keys:
                    empty = empty & F.col(name).isNull()
            result = result.select(*filled, "_partition", "_offset", empty.alias(DELETED))
        else:
            result = result.drop(*[name for name in result.columns if name.startswith("_")])
        home = pipeline
        if sink.type in ("parquet", "delta"):
            from dataclasses import replace

            home = replace(pipeline, sink=replace(sink, path=resolve(pipeline, sink.path)))

        def write(batch: Any, number: int) -> None:
            table = open_table(home)
            if upsert:
                ordered = batch.orderBy("_partition", "_offset").drop("_partition", "_offset")
                rows = ordered.toArrow()
                if rows.num_rows:
                    table.upsert(rows, pipeline.transform.keys, number)
            else:
                rows = batch.toArrow()
                if rows.num_rows:
                    table.append(rows, number)

        writer = result.writeStream.queryName(pipeline.name).foreachBatch(write)
        writer = writer.outputMode("append" if kind != "aggregate" else _mode(pipeline))
    return _triggered(writer.option("checkpointLocation", checkpoint), pipeline).start()


# ---- watching ---------------------------------------------------------------------------------------------------


def progress_of(query: Any) -> Progress | None:
    last = query.lastProgress
    if last is None:
        return None
    told = json.loads(last.json) if hasattr(last, "json") else dict(last)
    return Progress(
        batch=int(told["batchId"]),
        rows=int(told["numInputRows"]),
        rows_a_second=float(told.get("processedRowsPerSecond") or 0.0),
        batch_ms=int(told.get("durationMs", {}).get("triggerExecution", 0)),
        lag=sum(_lag(source) for source in told.get("sources", ())),
    )


def _lag(source: dict[str, Any]) -> int:
    """Offsets between the end of the batch and the end of the topic."""
    end, latest = source.get("endOffset"), source.get("latestOffset")
    if not isinstance(end, dict) or not isinstance(latest, dict):
        return 0
    lag = 0
    for topic, partitions in latest.items():
        if topic.startswith("#"):
            continue
        for partition, head in partitions.items():
            lag += max(0, int(head) - int(end.get(topic, {}).get(partition, 0)))
    return lag


def run(spark: Any, pipeline: Pipeline, on_progress: Callable[[str, Progress], None] | None = None) -> None:
    """Until every query is done, one fails, or Ctrl-C: then they are stopped, and the error is raised."""
    queries = start(spark, pipeline)
    seen: dict[str, int] = {}
    try:
        while True:
            running = False
            for query in queries:
                now = progress_of(query)
                if now and on_progress and seen.get(query.name) != now.batch:
                    seen[query.name] = now.batch
                    on_progress(query.name, now)
                running = running or query.isActive
                if not query.isActive and query.exception() is not None:
                    raise query.exception()
            if not running:
                return
            time.sleep(POLL_S)
    finally:
        for query in queries:
            if query.isActive:
                query.stop()


@dataclass(frozen=True)
class Plan:
    """What ``dry-run`` tells: nothing was started and nothing written."""

    source_columns: dict[str, list[str]]
    result_columns: list[str]


def dry_run(spark: Any, pipeline: Pipeline) -> Plan:
    """Reads the schemas, checks the transformation, and asks the cluster for the topics."""
    from pyspark_twinlog.cluster import Topics
    from pyspark_twinlog.connections import client_of
    from pyspark_twinlog.options import read_options

    for source in pipeline.sources:
        if source.table:
            continue
        way = {"subscribe": source.topic} if source.topic else {"subscribePattern": source.pattern}
        options = read_options({"kafka.bootstrap.servers": pipeline.bootstrap, **way}, streaming=True)
        Topics(client_of(options.cluster, "plan"), options).refresh(missing_is_wrong=True)
    readable, _ = frames_of(spark, pipeline)
    result = result_of(spark, pipeline, readable)
    shown = {
        name: [f"{field.name} {field.dataType.simpleString()}" for field in frame.schema.fields]
        for name, frame in readable.items()
    }
    return Plan(shown, [f"{field.name} {field.dataType.simpleString()}" for field in result.schema.fields])


def state_of(pipeline: Pipeline) -> list[tuple[str, int, str]]:
    """(query, last committed batch, when) from the checkpoints of a pipeline on a local disk."""
    home = Path(resolve(pipeline, pipeline.checkpoint))
    found = []
    for commits in sorted(home.glob("*/commits")):
        numbers = [int(path.name) for path in commits.iterdir() if path.name.isdecimal()]
        if numbers:
            at = datetime.fromtimestamp((commits / str(max(numbers))).stat().st_mtime, UTC)
            found.append((commits.parent.name, max(numbers), at.isoformat(timespec="seconds")))
    return found


@contextmanager
def session_for(pipeline: Pipeline, master: str = "", remote: str = "") -> Iterator[Any]:
    from pyspark_twinlog.session import twinlog_session

    if pipeline.sink.type not in ("topic", *TABLE_SINKS, "console", "memory"):
        raise SpecWrong(f"[sink] type {pipeline.sink.type!r} is not known")
    spark = twinlog_session(pipeline.name, master, remote=remote, settings=dict(pipeline.settings))
    try:
        yield spark
    finally:
        spark.stop()
