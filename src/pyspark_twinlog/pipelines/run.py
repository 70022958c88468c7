"""Runs a pipeline: its queries, their progress, and a clean end."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pyspark_twinlog.foreach import each_batch
from pyspark_twinlog.pipelines.build import as_records, dead_letters, good, parse, read_topic, sound, transformed
from pyspark_twinlog.pipelines.progress import WRITTEN, Status, master_of, progress_of, reason_of
from pyspark_twinlog.pipelines.report import Reporter
from pyspark_twinlog.pipelines.spec import TABLE_SINKS, Pipeline, Source, SpecWrong
from pyspark_twinlog.pipelines.tables import DELETED, open_table

POLL_S: Final = 0.25


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
        rows = sound(parse(read_topic(spark, pipeline, named, streaming=False), named))
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
    _activate(spark)
    readable, everything = frames_of(spark, pipeline)
    doubtful = [everything[each.name] for each in pipeline.sources if each.name in everything and each.may_be_bad]
    home = resolve(pipeline, pipeline.checkpoint)
    if pipeline.sink.type == "topic":
        records = as_records(result_of(spark, pipeline, readable), pipeline)
        for each in doubtful:
            # Also without dead letters, so that they may be added to a checkpoint that stopped at a bad value.
            frame = each if pipeline.dead_letters else sound(each)
            records = records.unionByName(dead_letters(frame, pipeline.dead_letters))
        return [_to_topic(pipeline, records, f"{home}/records", pipeline.name)]
    if not pipeline.dead_letters:
        readable |= {name: good(sound(frame)) for name, frame in everything.items()}
    queries = [_to_table(pipeline, result_of(spark, pipeline, readable), f"{home}/table")]
    for number, each in enumerate(doubtful if pipeline.dead_letters else ()):
        letters, name = dead_letters(each, pipeline.dead_letters), f"dead-letters-{number}"
        queries.append(_to_topic(pipeline, letters, f"{home}/{name}", f"{pipeline.name}-{name}"))
    return queries


def _activate(spark: Any) -> None:
    """Spark looks for sources in Python in the session of the thread, and a thread of the caller's has none yet."""
    if hasattr(spark, "_jsparkSession"):
        spark._jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(spark._jsparkSession)


def _counted(rows: Any) -> Any:
    """Lets a query's progress tell how many rows it has written."""
    from pyspark.sql import functions as F

    return rows.observe(WRITTEN, F.count(F.lit(1)).alias("rows"))


def _triggered(writer: Any, pipeline: Pipeline) -> Any:
    if pipeline.trigger == "available now":
        return writer.trigger(availableNow=True)
    return writer.trigger(processingTime=pipeline.trigger)


def _mode(pipeline: Pipeline) -> str:
    return pipeline.sink.mode or ("update" if pipeline.transform.kind == "aggregate" else "append")


def _to_topic(pipeline: Pipeline, records: Any, checkpoint: str, name: str) -> Any:
    options = {"kafka.bootstrap.servers": pipeline.bootstrap, **pipeline.sink.options}
    records = _counted(records)
    if _mode(pipeline) == "append":
        writer = records.writeStream.format("twinlog")
        for key, value in options.items():
            writer = writer.option(key, value)
    else:
        # Spark grants sinks in Python no other mode than append.
        writer = records.writeStream.foreachBatch(each_batch(name, **options))
    writer = writer.queryName(name).outputMode(_mode(pipeline)).option("checkpointLocation", checkpoint)
    return _triggered(writer, pipeline).start()


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

        writer = _counted(result).writeStream.queryName(pipeline.name).foreachBatch(write)
        writer = writer.outputMode("append" if kind != "aggregate" else _mode(pipeline))
    return _triggered(writer.option("checkpointLocation", checkpoint), pipeline).start()


# ---- running ----------------------------------------------------------------------------------------------------


def run(
    spark: Any,
    pipeline: Pipeline,
    on_status: Callable[[Status], None] | None = None,
    enough: Callable[[], bool] = lambda: False,
) -> None:
    """Until every query is done, it is ``enough``, one fails, or Ctrl-C: the last two raise, and stop the others.

    What it does is reported to the cluster, for consoles and ``twinlog pipeline list``; see ``report``.
    """
    status = Status(pipeline.name, uuid.uuid4().hex[:12], "starting", _now_ms(), master_of(spark))
    reporter = Reporter(pipeline, time.monotonic)

    def tell(now: Status) -> None:
        if on_status:
            on_status(now)
        reporter.tell(now, _now_ms())

    tell(status)
    queries: list[Any] = []
    try:
        queries = start(spark, pipeline)
        status = replace(status, state="running")
        while True:
            # What is asked first is certain to be over when the progress is asked for: no last batch is missed.
            over = not any(query.isActive for query in queries)
            seen = {query.name: now for query in queries if (now := progress_of(query))}
            if seen != status.progress or reporter.is_due(status, _now_ms()):
                status = replace(status, progress=seen)
                tell(status)
            for query in queries:
                if not query.isActive and (wrong := query.exception()) is not None:
                    raise wrong
            if over or enough():
                break
            time.sleep(POLL_S)
    except KeyboardInterrupt:
        tell(replace(status, state="stopped"))
        raise
    except Exception as wrong:
        tell(replace(status, state="failed", error=reason_of(wrong)))
        raise
    else:
        tell(replace(status, state="finished" if over else "stopped"))
    finally:
        reporter.close()
        for query in queries:
            if query.isActive:
                query.stop()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


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
