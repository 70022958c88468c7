"""From a pipeline's description to ordinary DataFrames: plain PySpark, for use without a file too."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any, Final

from pyspark_twinlog.pipelines.registry import json_column
from pyspark_twinlog.pipelines.spec import Pipeline, Source, SpecWrong

BAD: Final = "_bad"
META: Final = ("key", "topic", "partition", "offset", "timestamp")
RAW: Final = "_raw"
ADVICE: Final = "add [dead_letters] with topic = ... to the pipeline, and it goes there"


def read_topic(spark: Any, pipeline: Pipeline, source: Source, *, streaming: bool = True) -> Any:
    """The source's own columns, value unparsed."""
    reader = (spark.readStream if streaming else spark.read).format("twinlog")
    options: dict[str, object] = {
        "kafka.bootstrap.servers": pipeline.bootstrap,
        "subscribe" if source.topic else "subscribePattern": source.topic or source.pattern,
        "startingOffsets": source.starting,
        "includeHeaders": "true",
        **source.options,
    }
    if streaming and source.rate:
        options["maxOffsetsPerTrigger"] = source.rate
    if streaming and source.group:
        options["groupOffsets"] = source.group
    for name, value in options.items():
        reader = reader.option(name, str(value))
    return reader.load()


def parse(frame: Any, source: Source) -> Any:
    """The value's fields as columns beside the record's own (``_key``, ``_topic``, ``_partition``, ``_offset``), and
    ``_bad``: why the value could not be read, or null. ``timestamp`` is the record's unless the value has its own."""
    from pyspark.sql import functions as F

    corrupt = "_corrupt_text"
    kept = [F.col(name).alias(f"_{name}") for name in (*META, "headers") if name in frame.columns]
    base = frame.select(F.col("value").alias(RAW), *kept)
    if source.format == "bytes":
        return base.withColumn("value", F.col(RAW)).withColumn(BAD, F.lit(None).cast("string"))
    if source.format == "text":
        return base.withColumn("value", F.col(RAW).cast("string")).withColumn(BAD, F.lit(None).cast("string"))
    text = F.col(RAW).cast("string")
    reason = F.lit(None).cast("string")
    if source.format in ("avro", "protobuf"):
        from pyspark.sql.pandas import functions as pandas_functions

        udf: Any = pandas_functions.pandas_udf
        decode = udf(json_column(source.format, source.registry), "json string, error string")
        base = base.withColumn("_decoded", decode(F.col(RAW)))
        text, reason = F.col("_decoded.json"), F.col("_decoded.error")
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": corrupt}
    fields = F.from_json(text, f"{source.schema}, {corrupt} string", options)
    parsed = base.withColumn("_fields", fields)
    unreadable = F.col("_fields").isNull() | F.col(f"_fields.{corrupt}").isNotNull()
    bad = F.when(reason.isNotNull(), reason).when(
        F.col(RAW).isNotNull() & unreadable, F.lit(f"{source.format}: the value does not fit the schema")
    )
    names = [name for name in parsed.select("_fields.*").columns if name != corrupt]
    columns = [F.col(f"_fields.{name}").alias(name) for name in names]
    if "timestamp" not in names:
        columns.append(F.col("_timestamp").alias("timestamp"))
    others = [F.col(name) for name in (RAW, *[f"_{name}" for name in (*META, "headers")]) if name in parsed.columns]
    return parsed.select(*columns, *others, bad.alias(BAD))


def good(frame: Any) -> Any:
    """What could be read, without the columns that only dead letters need."""
    from pyspark.sql import functions as F

    return frame.where(F.col(BAD).isNull()).drop(BAD, RAW, "_headers")


def sound(frame: Any) -> Any:
    """Fails the query at the first value that cannot be read, and names it: where bad values go nowhere, to pass one
    over would be to lose it."""
    from pyspark.sql import functions as F

    told = F.format_string(
        f"pyspark_twinlog.errors.BadRecord: %s-%d has a record at offset %d that cannot be read (%s): {ADVICE}",
        *[F.col(name) for name in ("_topic", "_partition", "_offset", BAD)],
    )
    return frame.where(F.when(F.col(BAD).isNull(), F.lit(True)).otherwise(F.raise_error(told).cast("boolean")))


def dead_letters(frame: Any, topic: str) -> Any:
    """What could not be read, as it came, with the reason and the origin as headers."""
    from pyspark.sql import functions as F

    def header(name: str, value: Any) -> Any:
        return F.struct(F.lit(name).alias("key"), value.cast("string").cast("binary").alias("value"))

    told = F.array(
        header("twinlog.reason", F.col(BAD)),
        header("twinlog.topic", F.col("_topic")),
        header("twinlog.partition", F.col("_partition")),
        header("twinlog.offset", F.col("_offset")),
    )
    return frame.where(F.col(BAD).isNotNull()).select(
        F.lit(topic).alias("topic"),
        F.col("_key").alias("key"),
        F.col(RAW).alias("value"),
        F.concat(F.coalesce(F.col("_headers"), F.array()), told).alias("headers"),
    )


def function_of(pipeline: Pipeline) -> Callable[[Any], Any]:
    """``module:name``, looked for beside the file first."""
    module_name, colon, name = pipeline.transform.function.partition(":")
    if not colon:
        raise SpecWrong('[transform] function is like "module:name"')
    home = str(pipeline.home)
    if home not in sys.path:
        sys.path.insert(0, home)
    try:
        found = getattr(importlib.import_module(module_name), name)
    except (ImportError, AttributeError) as wrong:
        raise SpecWrong(f"[transform] function {pipeline.transform.function}: {wrong}") from None
    made: Callable[[Any], Any] = found
    return made


def transformed(spark: Any, pipeline: Pipeline, frames: dict[str, Any]) -> Any:
    """Applies the pipeline's kind to the readable rows of its sources."""
    from pyspark.sql import functions as F

    how = pipeline.transform
    main = frames[next(each.name for each in pipeline.sources if not each.table)]
    if how.kind == "sql":
        for name, frame in frames.items():
            frame.createOrReplaceTempView(name)
        return spark.sql(how.sql)
    if how.kind == "python":
        return function_of(pipeline)(frames if len(frames) > 1 else main)
    if how.kind == "deduplicate":
        return main.withWatermark(how.time, how.watermark).dropDuplicatesWithinWatermark(list(how.keys))
    if how.kind == "aggregate":
        window = F.window(how.time, how.window, how.slide or how.window)
        grouped = main.withWatermark(how.time, how.watermark).groupBy(window, *how.keys)
        made = grouped.agg(*[F.expr(each) for each in how.aggregates])
        return made.select("window.start", "window.end", *[name for name in made.columns if name != "window"])
    if how.kind == "enrich":
        return main.join(frames[how.join], on=list(how.on), how=how.how)
    return main


def as_records(frame: Any, pipeline: Pipeline) -> Any:
    """Rows as records of the sink's topic: all columns as JSON, the key's column beside it. Columns named as the sink
    names its own are taken as they are."""
    from pyspark.sql import functions as F

    names = [name for name in frame.columns if not name.startswith("_")]
    key = F.col(pipeline.sink.key).cast("string").cast("binary") if pipeline.sink.key else None
    if "value" in names and set(names) <= {"key", "value", "headers", "topic", "partition", "timestamp"}:
        value = F.col("value").cast("binary")
        key = key if key is not None else (F.col("key").cast("binary") if "key" in names else None)
    else:
        value = F.to_json(F.struct(*names)).cast("binary")
    if key is None:
        key = F.col("_key") if "_key" in frame.columns else F.lit(None).cast("binary")
    headers = F.lit(None).cast("array<struct<key:string,value:binary>>")
    return frame.select(
        F.lit(pipeline.sink.topic).alias("topic"), key.alias("key"), value.alias("value"), headers.alias("headers")
    )
