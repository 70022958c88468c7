"""What goes wrong is told in words that name what to do, and nothing is lost by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import confluent_kafka
import confluent_kafka.admin
import pytest
from pyspark.sql.types import StringType, StructField, StructType

from pyspark_twinlog import columns
from pyspark_twinlog.decisions import Decision, Decisions, Part
from pyspark_twinlog.errors import SinkInUse
from pyspark_twinlog.options import write_options
from pyspark_twinlog.pipelines import run
from pyspark_twinlog.sink import Plan, StreamWriter, Written
from tests.spark.records import records_of
from tests.spark.test_pipelines import BAD, orders_of, pipeline_of
from tests.spark.test_sink import copy
from tests.spark.test_source import fill, numbers, read, stream
from twinlog.client import Client, Producer, scan
from twinlog.client.transaction import begin


def finish(frame: Any, checkpoint: str) -> Any:
    query = frame.writeStream.format("noop").option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    query.awaitTermination()
    return query


def cut(bootstrap: str, topic: str, offset: int) -> None:
    """What retention would do: the first records of the topic's only partition are gone."""
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": bootstrap})
    for each in admin.delete_records([confluent_kafka.TopicPartition(topic, 0, offset)]).values():
        each.result(20)


def test_offsets_that_aged_out_stop_the_query_or_are_passed_over(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], tmp_path: Path
) -> None:
    name, sink = topic(1), topic(1)
    fill(client, name, 10, partitions=1)
    checkpoint = str(tmp_path / "c")
    copy(spark, bootstrap, name, sink, checkpoint).awaitTermination()
    fill(client, name, 10, partitions=1, start=10)
    cut(bootstrap, name, 15)
    with pytest.raises(Exception, match=rf"{name}-0 no longer has offset 10: its first record is at 15.*Keep records"):
        copy(spark, bootstrap, name, sink, checkpoint).awaitTermination()
    assert len(records_of(client, sink)) == 10, "what failed has written nothing"
    frame = stream(spark, bootstrap, name, failOnDataLoss="false")
    query = (
        frame.select("key", "value").writeStream.format("twinlog").option("kafka.bootstrap.servers", bootstrap)
        .option("topic", sink).option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination()
    assert numbers(read(spark, bootstrap, sink)) == [*range(10), *range(15, 20)]


def test_the_checkpoint_of_another_query_is_refused(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], tmp_path: Path
) -> None:
    one, other = topic(1), topic(1)
    for name in (one, other):
        fill(client, name, 3, partitions=1)
    finish(stream(spark, bootstrap, one), str(tmp_path / "of-one"))
    with pytest.raises(Exception, match=f"the checkpoint holds offsets of '{one}', which this query does not read"):
        finish(stream(spark, bootstrap, other), str(tmp_path / "of-one"))
    rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 5).load()
    query = rate.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "of-rate")).start()
    after_a_batch(query)
    with pytest.raises(Exception, match=r"which this source never wrote|was not written by this source"):
        finish(stream(spark, bootstrap, other), str(tmp_path / "of-rate"))


def after_a_batch(query: Any) -> None:
    try:
        while not query.recentProgress:
            query.awaitTermination(0.1)
    finally:
        query.stop()


def test_a_pipeline_without_dead_letters_stops_at_a_bad_value_and_loses_nothing(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], tmp_path: Path
) -> None:
    topics = {"orders": topic(1), "out": topic(1), "dead": topic(1)}
    orders_of(client, topics["orders"])
    pipeline = pipeline_of("sql", bootstrap, tmp_path, topics)
    with pytest.raises(Exception, match=rf"{topics['orders']}-0 has a record at offset 4 that cannot be read"):
        run(spark, replace(pipeline, dead_letters=""))
    assert records_of(client, topics["out"]) == []
    run(spark, pipeline)
    assert len(records_of(client, topics["out"])) == 4
    assert [record.value for record in records_of(client, topics["dead"])] == [BAD]


def test_records_that_are_no_batch_are_told_with_their_place(
    bootstrap: str, client: Client, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = topic(1)
    fill(client, name, 5, partitions=1)
    client.topic(name)
    receive = scan.Scan._receive

    def damaged(self: Any, sent: Any) -> Any:
        answer, buffer = receive(self, sent)
        (data,) = answer.responses[0].partitions
        torn = bytearray(buffer)
        torn[data.records[0] + 70] ^= 0xFF
        return answer, torn

    monkeypatch.setattr(scan.Scan, "_receive", damaged)
    with pytest.raises(scan.DamagedRecords, match=f"reading {name}-0 at offset 0: "):
        list(scan.Scan(client, [scan.Span(name, 0, 0, 5)], columns.wanted(("value",))).blocks())


def test_a_decided_batch_that_the_broker_rolled_back_is_a_loss_by_name(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], tmp_path: Path
) -> None:
    """The driver died behind its decision, and came back after the transaction's timeout."""
    source, sink, checkpoint = topic(1), topic(1), str(tmp_path / "c")
    fill(client, source, 10, partitions=1)
    query = copy(spark, bootstrap, source, sink, checkpoint, sinkId=f"late-{sink}")
    query.awaitTermination()
    last = max(int(path.name) for path in Path(checkpoint, "commits").iterdir() if path.name.isdecimal())
    lost = begin(client, f"late-{sink}-0", 60_000)
    begin(client, f"late-{sink}-0", 60_000)  # fences it, as the broker does when the time is over
    decision = Decision(f"late-{sink}", str(query.id), last, (Part(lost, 7),), 1)
    producer = Producer(client)
    producer.add("twinlog-spark-decisions", decision.to_bytes(), decision.sink.encode())
    producer.flush()
    for path in Path(checkpoint, "commits").glob(f"*{last}*"):
        path.unlink()
    told = rf"batch {last} of query {query.id} was decided for sink 'late-{sink}', but the broker had rolled back 7 rec"
    with pytest.raises(Exception, match=told):
        copy(spark, bootstrap, source, sink, checkpoint, sinkId=f"late-{sink}").awaitTermination()
    fill(client, source, 5, partitions=1, start=10)
    copy(spark, bootstrap, source, sink, checkpoint, sinkId=f"late-{sink}", acceptLostBatch=last).awaitTermination()
    assert numbers(read(spark, bootstrap, sink)) == list(range(15))


def test_a_newer_run_of_the_same_query_ends_the_older_one(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], tmp_path: Path
) -> None:
    """Two drivers with copies of one checkpoint: the one that began later writes, the other is told why it may not."""
    sink = topic(1)
    name = f"taken-{sink}"
    options = write_options(
        {"kafka.bootstrap.servers": bootstrap, "topic": sink, "sinkId": name, "checkpointLocation": str(tmp_path)},
        streaming=True,
    )
    decisions = Decisions(client, "twinlog-spark-decisions")
    decisions.make_sure()
    older, timeout_ms = decisions.take_over(name, 60_000)
    part = begin(client, f"{name}-0", 60_000)
    decisions.take_over(name, 60_000)
    writer = StreamWriter(options, StructType([StructField("value", StringType())]))
    written = Written(3, part, Plan(name, older, timeout_ms, None), "query")
    with pytest.raises(SinkInUse, match=f"another run has taken sink '{name}' over while batch 4 was written"):
        writer.commit([written], 4)
    assert decisions.latest(name) is None
