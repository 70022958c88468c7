"""Reading topics with ``format("twinlog")``, batch and streaming, from a real broker."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from twinlog.client import Client, Producer

T0_MS = 1_700_000_000_000


def fill(client: Client, topic: str, count: int, *, codec: str = "none", partitions: int = 3, start: int = 0) -> None:
    producer = Producer(client, codec=codec, batch_bytes=4096)
    for number in range(start, start + count):
        producer.add(
            topic,
            b"value-%d" % number,
            None if number % 5 == 0 else b"key-%d" % number,
            partition=number % partitions,
            timestamp_ms=T0_MS + number * 1000,
            headers=[("origin", b"test"), ("empty", None)] if number % 2 else [],
        )
    producer.flush()


def read(spark: Any, bootstrap: str, topic: str, **options: object) -> Any:
    reader = spark.read.format("twinlog").option("kafka.bootstrap.servers", bootstrap).option("subscribe", topic)
    for name, value in options.items():
        reader = reader.option(name.replace("_", "."), value)
    return reader.load()


def numbers(frame: Any) -> list[int]:
    return sorted(int(bytes(row.value)[6:]) for row in frame.select("value").collect())


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_every_column_is_what_was_written(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], codec: str
) -> None:
    name = topic(3)
    fill(client, name, 60, codec=codec)
    rows = read(spark, bootstrap, name, includeHeaders="true").collect()
    assert len(rows) == 60
    for row in rows:
        number = int(bytes(row.value)[6:])
        assert (row.topic, row.partition, row.offset) == (name, number % 3, number // 3)
        assert row.key == (None if number % 5 == 0 else b"key-%d" % number)
        assert row.timestamp.timestamp() * 1000 == T0_MS + number * 1000
        assert row.timestampType == 0
        pairs = None if row.headers is None else [(pair.key, pair.value) for pair in row.headers]
        assert pairs == ([("origin", b"test"), ("empty", None)] if number % 2 else None)


def test_only_wanted_columns_are_read(spark: Any, bootstrap: str, client: Client, topic: Callable[..., str]) -> None:
    name = topic(1)
    fill(client, name, 5, partitions=1)
    frame = read(spark, bootstrap, name, columns="offset, value")
    assert frame.columns == ["value", "offset"]
    assert [row.offset for row in frame.orderBy("offset").collect()] == [0, 1, 2, 3, 4]


def test_bounds_by_offset_and_time(spark: Any, bootstrap: str, client: Client, topic: Callable[..., str]) -> None:
    name = topic(2)
    fill(client, name, 20, partitions=2)
    starts, ends = json.dumps({name: {"0": 2, "1": -2}}), json.dumps({name: {"0": 5, "1": -1}})
    found = numbers(read(spark, bootstrap, name, startingOffsets=starts, endingOffsets=ends))
    assert found == sorted([4, 6, 8, *range(1, 20, 2)])
    by_time = read(spark, bootstrap, name, startingTimestamp=T0_MS + 7000, endingTimestamp=T0_MS + 11000)
    assert numbers(by_time) == [7, 8, 9, 10]


def test_small_partitions_share_a_task_and_large_ones_are_cut(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str]
) -> None:
    name = topic(3)
    fill(client, name, 30)
    assert read(spark, bootstrap, name).rdd.getNumPartitions() == 1
    assert read(spark, bootstrap, name, minPartitions=6).rdd.getNumPartitions() == 6
    cut = read(spark, bootstrap, name, maxRecordsPerPartition=4)
    assert numbers(cut) == list(range(30))


def test_filters_narrow_what_is_fetched(spark: Any, bootstrap: str, client: Client, topic: Callable[..., str]) -> None:
    name = topic(3)
    fill(client, name, 60)
    frame = read(spark, bootstrap, name, pushdown="true")
    assert numbers(frame.where("partition = 1 and offset >= 3 and offset < 6")) == [10, 13, 16]
    since = datetime.fromtimestamp((T0_MS + 55_000) / 1000, UTC)
    assert numbers(frame.where(frame.timestamp >= since)) == [55, 56, 57, 58, 59]


def stream(spark: Any, bootstrap: str, topic: str, **options: object) -> Any:
    reader = spark.readStream.format("twinlog").option("kafka.bootstrap.servers", bootstrap)
    for name, value in {"subscribe": topic, "startingOffsets": "earliest", **options}.items():
        reader = reader.option(name, value)
    return reader.load()


def run(frame: Any, checkpoint: str, name: str) -> list[dict[str, Any]]:
    """Reads everything there is into a table in memory; the progress of every batch."""
    query = (
        frame.selectExpr("value").writeStream.format("memory").queryName(name)
        .option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination()
    return [json.loads(each.json) for each in query.recentProgress]


def test_a_stream_reads_in_portions_and_stops_where_it_began(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], checkpoint: str
) -> None:
    name = topic(3)
    fill(client, name, 90)
    table = name.replace("-", "_")
    progress = run(stream(spark, bootstrap, name, maxOffsetsPerTrigger=40), checkpoint, table)
    rows = [each["numInputRows"] for each in progress if each["numInputRows"]]
    assert sum(rows) == 90 and max(rows) <= 40
    assert numbers(spark.table(table)) == list(range(90))


def test_new_partitions_are_read_from_their_beginning(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], tmp_path: Any
) -> None:
    name = topic(1)
    fill(client, name, 4, partitions=1)

    def copy() -> list[int]:
        query = (
            stream(spark, bootstrap, name).selectExpr("value").writeStream.format("parquet")
            .option("checkpointLocation", str(tmp_path / "c")).option("path", str(tmp_path / "out"))
            .trigger(availableNow=True).start()
        )  # fmt: skip
        query.awaitTermination()
        return numbers(spark.read.parquet(str(tmp_path / "out")))

    assert copy() == [0, 1, 2, 3]
    client.grow_topic(name, 2)
    producer = Producer(client)
    producer.add(name, b"value-4", partition=1)
    producer.flush()
    assert copy() == [0, 1, 2, 3, 4]


def test_the_group_shows_how_far_the_stream_is(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], checkpoint: str
) -> None:
    from twinlog.client.lookup import group_offsets

    name = topic(2)
    fill(client, name, 10, partitions=2)
    run(stream(spark, bootstrap, name, groupOffsets=f"g-{name}"), checkpoint, name.replace("-", "_"))
    client.topic(name)
    assert group_offsets(client, f"g-{name}", [(name, 0), (name, 1)]) == {(name, 0): 5, (name, 1): 5}


def test_a_topic_made_anew_is_told_from_the_old_one(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], checkpoint: str
) -> None:
    name = topic(1)
    fill(client, name, 3, partitions=1)

    def run_on() -> None:
        query = (
            stream(spark, bootstrap, name).writeStream.format("noop").option("checkpointLocation", checkpoint)
            .trigger(availableNow=True).start()
        )  # fmt: skip
        query.awaitTermination()

    run_on()
    client.delete_topics([name])
    with pytest.raises(Exception, match=f"topic '{name}' has been deleted since this query last read it"):
        run_on()
    client.create_topic(name, 1)
    fill(client, name, 5, partitions=1)
    with pytest.raises(Exception, match=f"topic '{name}' has been deleted and made anew"):
        run_on()


def test_wrong_options_say_what_is_right(spark: Any, bootstrap: str) -> None:
    with pytest.raises(Exception, match="there is no topic 'nowhere'"):
        read(spark, bootstrap, "nowhere").count()
    with pytest.raises(Exception, match="there is no option 'startingoffset'"):
        read(spark, bootstrap, "nowhere", startingOffset="earliest").count()
