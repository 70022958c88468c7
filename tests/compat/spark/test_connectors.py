"""Our source and sink on our broker and on Apache Kafka, beside Spark's own connector on both."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.spark.records import records_of
from tests.spark.test_sink import copy
from tests.spark.test_source import fill, numbers, read
from twinlog.client import Client
from twinlog.client.lookup import group_offsets

ROWS = 300


@pytest.fixture
def official(spark: Any, connector_jars: list[Path]) -> Iterator[str]:
    """The name of Spark's own connector, loaded into the running session."""
    for jar in connector_jars:
        spark.sql(f"ADD JAR '{jar}'")
    yield "kafka"


def frame_of(spark: Any) -> Any:
    return spark.range(ROWS).selectExpr(
        "cast(cast(id % 7 as string) as binary) key",
        "cast(concat('value-', id) as binary) value",
        "if(id % 3 = 0, array(struct('h' as key, cast('x' as binary) as value)), null) headers",
    )


def write(frame: Any, how: str, bootstrap: str, topic: str) -> None:
    options = {"kafka.bootstrap.servers": bootstrap, "topic": topic, "includeHeaders": "true"}
    frame.write.format(how).options(**options).mode("append").save()


def rows_of(spark: Any, how: str, bootstrap: str, topic: str) -> list[tuple[Any, ...]]:
    reader = spark.read.format(how).option("kafka.bootstrap.servers", bootstrap).option("subscribe", topic)
    rows = reader.option("includeHeaders", "true").option("kafka.isolation.level", "read_committed").load().collect()
    return sorted(
        (row.partition, row.offset, bytes(row.key), bytes(row.value), row.timestamp, row.timestampType,
         [(each.key, bytes(each.value)) for each in row.headers or ()])
        for row in rows
    )  # fmt: skip


def test_a_stream_is_exactly_once_and_shows_its_lag(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], tmp_path: Path
) -> None:
    source, sink, checkpoint = topic(3), topic(2), str(tmp_path / "checkpoint")
    fill(client, source, 90)
    copy(spark, bootstrap, source, sink, checkpoint).awaitTermination()
    # As if the driver had died between our commit and Spark's own note of it: the batch is repeated.
    last = max(int(path.name) for path in Path(checkpoint, "commits").iterdir() if path.name.isdecimal())
    for path in Path(checkpoint, "commits").glob(f"*{last}*"):
        path.unlink()
    fill(client, source, 30, start=90)
    frame = read(spark, bootstrap, source)
    assert frame.count() == 120
    again = copy(spark, bootstrap, source, sink, checkpoint)
    again.awaitTermination()
    assert sorted(record.value for record in records_of(client, sink)) == sorted(b"value-%d" % n for n in range(120))
    stream = (
        spark.readStream.format("twinlog").option("kafka.bootstrap.servers", bootstrap).option("subscribe", source)
        .option("startingOffsets", "earliest").option("groupOffsets", f"g-{source}").load()
    )  # fmt: skip
    query = (
        stream.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "other"))
        .trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination()
    client.topic(source)
    assert group_offsets(client, f"g-{source}", [(source, each) for each in range(3)]) == {
        (source, each): 40 for each in range(3)
    }


def test_bounds_compression_and_times_mean_the_same(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str]
) -> None:
    name = topic(2)
    for number, codec in enumerate(["none", "gzip", "snappy", "lz4", "zstd"]):
        fill(client, name, 20, codec=codec, partitions=2, start=number * 20)
    assert numbers(read(spark, bootstrap, name)) == list(range(100))
    ends = json.dumps({name: {"0": 5, "1": -1}})
    assert len(numbers(read(spark, bootstrap, name, endingOffsets=ends))) == 55


def test_the_official_connector_and_ours_read_each_other(
    spark: Any, official: str, bootstrap: str, topic: Callable[..., str]
) -> None:
    theirs, ours = topic(3), topic(3)
    write(frame_of(spark), official, bootstrap, theirs)
    write(frame_of(spark), "twinlog", bootstrap, ours)
    for name in (theirs, ours):
        rows = rows_of(spark, "twinlog", bootstrap, name)
        assert len(rows) == ROWS
        assert rows == rows_of(spark, official, bootstrap, name)
    placed = [{row[2]: row[0] for row in rows_of(spark, "twinlog", bootstrap, name)} for name in (theirs, ours)]
    assert placed[0] == placed[1], "both put a key into the same partition"


def test_the_official_connector_copies_a_stream_unmodified(
    spark: Any, official: str, bootstrap: str, client: Client, topic: Callable[..., str], tmp_path: Path
) -> None:
    source, sink = topic(3), topic(2)
    fill(client, source, 60)
    frame = (
        spark.readStream.format(official).option("kafka.bootstrap.servers", bootstrap).option("subscribe", source)
        .option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", 30).load()
    )  # fmt: skip
    query = (
        frame.selectExpr("key", "value").writeStream.format(official).option("kafka.bootstrap.servers", bootstrap)
        .option("topic", sink).option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination()
    assert sorted(record.value for record in records_of(client, sink)) == sorted(b"value-%d" % n for n in range(60))
