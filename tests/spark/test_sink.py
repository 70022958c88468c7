"""Writing topics with ``format("twinlog")``: a batch once, a stream exactly once, whatever is repeated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.spark.test_source import fill, numbers, read, stream
from twinlog.client import Client
from twinlog.client.partitioner import partition_for_key


def copy(spark: Any, bootstrap: str, source: str, sink: str, checkpoint: str, **options: object) -> Any:
    limit = options.pop("maxOffsetsPerTrigger", 40)
    frame = stream(spark, bootstrap, source, maxOffsetsPerTrigger=limit, minPartitions=2)
    writer = frame.selectExpr("key", "value").writeStream.format("twinlog")
    settings = {"kafka.bootstrap.servers": bootstrap, "topic": sink, "checkpointLocation": checkpoint, **options}
    for name, value in settings.items():
        writer = writer.option(name, value)
    return writer.trigger(availableNow=True).start()


def test_rows_go_where_the_java_client_would_put_them(spark: Any, bootstrap: str, topic: Callable[..., str]) -> None:
    name = topic(5)
    frame = spark.range(200).selectExpr(
        "cast(id as string) key",
        "cast(concat('value-', id) as binary) value",
        "if(id % 2 = 0, array(struct('h' as key, cast('x' as binary) as value)), null) headers",
        "timestamp_millis(1700000000000 + id) timestamp",
    )
    frame.write.format("twinlog").option("kafka.bootstrap.servers", bootstrap).option("topic", name).mode(
        "append"
    ).save()
    rows = read(spark, bootstrap, name, includeHeaders="true").collect()
    assert len(rows) == 200
    for row in rows:
        number = int(bytes(row.value)[6:])
        assert row.partition == partition_for_key(bytes(row.key), 5)
        assert row.timestamp.timestamp() * 1000 == pytest.approx(1_700_000_000_000 + number)
        assert (row.headers is None) == (number % 2 == 1)


def test_rows_may_name_topic_and_partition(spark: Any, bootstrap: str, topic: Callable[..., str]) -> None:
    one, two = topic(2), topic(2)
    frame = spark.createDataFrame(
        [(one, 1, "value-1"), (two, 0, "value-2"), (one, 0, "value-3")], "topic string, partition int, value string"
    )
    frame.write.format("twinlog").option("kafka.bootstrap.servers", bootstrap).mode("append").save()
    found = [(row.partition, bytes(row.value)) for row in read(spark, bootstrap, one).orderBy("partition").collect()]
    assert found == [(0, b"value-3"), (1, b"value-1")]
    assert numbers(read(spark, bootstrap, two)) == [2]


def test_a_stream_is_copied_once_over_restarts(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], checkpoint: str
) -> None:
    source, sink = topic(3), topic(2)
    fill(client, source, 90)
    copy(spark, bootstrap, source, sink, checkpoint).awaitTermination()
    fill(client, source, 30, start=90)
    copy(spark, bootstrap, source, sink, checkpoint).awaitTermination()
    assert numbers(read(spark, bootstrap, sink)) == list(range(120))


def test_a_batch_that_spark_repeats_is_not_written_again(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], checkpoint: str
) -> None:
    source, sink = topic(3), topic(2)
    fill(client, source, 60)
    copy(spark, bootstrap, source, sink, checkpoint).awaitTermination()
    # As if the driver had been killed after the commit, before Spark wrote down that the batch was done.
    last = max(int(path.name) for path in Path(checkpoint, "commits").iterdir() if path.name.isdecimal())
    for path in Path(checkpoint, "commits").glob(f"*{last}*"):
        path.unlink()
    copy(spark, bootstrap, source, sink, checkpoint).awaitTermination()
    assert numbers(read(spark, bootstrap, sink)) == list(range(60))


def test_a_task_that_fails_and_runs_again_writes_once(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], checkpoint: str, tmp_path: Path
) -> None:
    source, sink = topic(2), topic(2)
    fill(client, source, 40, partitions=2)
    flag = tmp_path / "failed"

    def fails_once(batches: Any) -> Any:
        yield from batches
        if not flag.exists():
            flag.touch()
            raise RuntimeError("injected")

    frame = stream(spark, bootstrap, source).select("key", "value").mapInArrow(fails_once, "key binary, value binary")
    query = (
        frame.writeStream.format("twinlog").option("kafka.bootstrap.servers", bootstrap).option("topic", sink)
        .option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination()
    assert flag.exists()
    assert numbers(read(spark, bootstrap, sink)) == list(range(40))


def test_a_batch_that_cannot_be_written_leaves_nothing(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], checkpoint: str
) -> None:
    source, sink = topic(1), topic(1)
    fill(client, source, 10, partitions=1)

    def wrong(batches: Any) -> Any:
        yield from batches
        raise RuntimeError("injected")

    frame = stream(spark, bootstrap, source).select("key", "value").mapInArrow(wrong, "key binary, value binary")
    query = (
        frame.writeStream.format("twinlog").option("kafka.bootstrap.servers", bootstrap).option("topic", sink)
        .option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    )  # fmt: skip
    with pytest.raises(Exception, match="injected"):
        query.awaitTermination()
    assert read(spark, bootstrap, sink).count() == 0


def test_two_queries_on_one_sink_are_told_apart(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], tmp_path: Path
) -> None:
    source, sink = topic(1), topic(1)
    fill(client, source, 10, partitions=1)
    shared = f"shared-{sink}"
    copy(spark, bootstrap, source, sink, str(tmp_path / "one"), sinkId=shared).awaitTermination()
    with pytest.raises(Exception, match=rf"sink '{shared}' belongs to query .* Set another sinkId"):
        copy(spark, bootstrap, source, sink, str(tmp_path / "two"), sinkId=shared).awaitTermination()
    assert numbers(read(spark, bootstrap, sink)) == list(range(10))


def test_rows_that_do_not_fit_are_told(spark: Any, bootstrap: str, topic: Callable[..., str]) -> None:
    def write(frame: Any) -> None:
        frame.write.format("twinlog").option("kafka.bootstrap.servers", bootstrap).mode("append").save()

    with pytest.raises(Exception, match="the sink needs a column 'value'"):
        write(spark.range(1))
    with pytest.raises(Exception, match="column 'value' must be of type string or binary, not bigint"):
        write(spark.range(1).selectExpr("id as value"))
    with pytest.raises(Exception, match="name the topic"):
        write(spark.range(1).selectExpr("'x' as value"))
    with pytest.raises(Exception, match="names partition 7, and the topic has 2"):
        write(spark.range(1).selectExpr("'x' as value", f"'{topic(2)}' as topic", "7 as partition"))
