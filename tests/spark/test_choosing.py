"""What a query reads: topics by name, pattern and partition; bounds by time; how much at once; what is committed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.spark.test_source import T0_MS, fill, numbers, read, stream
from twinlog.client import Client, Producer
from twinlog.client.staging import Staging
from twinlog.client.transaction import begin, end


def chosen(spark: Any, bootstrap: str, **options: object) -> Any:
    return spark.read.format("twinlog").options(**{"kafka.bootstrap.servers": bootstrap, **options}).load()


def test_topics_by_pattern_and_partitions_by_name(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str]
) -> None:
    one, two, other = topic(1), topic(2), topic(1)
    fill(client, one, 3, partitions=1)
    fill(client, two, 6, partitions=2, start=10)
    fill(client, other, 1, partitions=1, start=90)
    assert numbers(chosen(spark, bootstrap, subscribePattern=f"({one}|{two})")) == [0, 1, 2, *range(10, 16)]
    assert numbers(chosen(spark, bootstrap, subscribe=f"{one},{other}")) == [0, 1, 2, 90]
    assert numbers(chosen(spark, bootstrap, assign=json.dumps({two: [1]}))) == [11, 13, 15]
    with pytest.raises(Exception, match="has 2 partitions, not 5: correct assign"):
        chosen(spark, bootstrap, assign=json.dumps({two: [5]})).count()


def test_bounds_by_time_for_each_partition(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str]
) -> None:
    name = topic(2)
    fill(client, name, 20, partitions=2)

    def at(*seconds: int) -> str:
        return json.dumps({name: {str(number): T0_MS + each * 1000 for number, each in enumerate(seconds)}})

    found = read(spark, bootstrap, name, startingOffsetsByTimestamp=at(4, 11), endingOffsetsByTimestamp=at(8, 17))
    assert numbers(found) == [4, 6, 11, 13, 15]
    late = {"startingOffsetsByTimestamp": at(4, 99)}
    with pytest.raises(Exception, match=rf"{name}-1 has no record at or after .* Take an earlier time"):
        read(spark, bootstrap, name, **late).count()
    found = read(spark, bootstrap, name, **late, startingOffsetsByTimestampStrategy="latest")
    assert numbers(found) == list(range(4, 20, 2))


def test_a_stream_waits_for_enough_but_not_for_ever(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], checkpoint: str
) -> None:
    """Without Trigger.AvailableNow, which reads what is left however little it is."""
    name = topic(1)
    fill(client, name, 5, partitions=1)
    frame = stream(spark, bootstrap, name, minOffsetsPerTrigger=100, maxTriggerDelay="3s")
    table = name.replace("-", "_")
    query = frame.select("value").writeStream.format("memory").queryName(table).option("checkpointLocation", checkpoint)
    running = query.start()
    try:
        began = time.monotonic()
        while spark.table(table).count() < 5:
            assert running.exception() is None and time.monotonic() - began < 120
        fill(client, name, 200, partitions=1, start=5)
        while spark.table(table).count() < 205:
            assert running.exception() is None and time.monotonic() - began < 120
    finally:
        running.stop()
    assert numbers(spark.table(table)) == list(range(205))


def test_open_and_aborted_transactions_markers_and_gaps_of_compaction(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], checkpoint: str
) -> None:
    name = topic(1)
    fill(client, name, 2, partitions=1)

    def transaction(value: bytes, committed: bool | None) -> None:
        identity = begin(client, f"{name}-{value.decode()}", 60_000)
        staging = Staging(client, identity)
        staging.add(name, 1, values=(None, b"\0\0\0\0" + len(value).to_bytes(4, "little"), value, 0))
        staging.flush()
        if committed is not None:
            end(client, identity, committed=committed)

    transaction(b"value-10", True)
    transaction(b"value-11", False)
    producer = Producer(client)
    producer.add(name, b"value-12", partition=0)
    producer.flush()
    transaction(b"value-13", None)  # open: what is behind it is not stable yet
    producer.add(name, b"value-14", partition=0)
    producer.flush()
    assert numbers(read(spark, bootstrap, name)) == [0, 1, 10, 12]
    assert numbers(read(spark, bootstrap, name, kafka_isolation_level="read_uncommitted")) == [0, 1, *range(10, 15)]
    # The end of the stable part is a marker, not a record: the stream ends all the same, and goes on from there.
    query, found = collecting(stream(spark, bootstrap, name), checkpoint, availableNow=True)
    query.awaitTermination()
    assert sorted(found) == [0, 1, 10, 12]
    begin(client, f"{name}-value-13", 60_000)  # rolls the open one back
    query, found = collecting(stream(spark, bootstrap, name), checkpoint, availableNow=True)
    query.awaitTermination()
    assert found == [14]


def collecting(frame: Any, checkpoint: str, **trigger: Any) -> tuple[Any, list[int]]:
    """A running query, and the numbers that it has found so far."""
    found: list[int] = []
    writer = frame.select("value").writeStream.foreachBatch(lambda batch, _: found.extend(numbers(batch)))
    writer = writer.option("checkpointLocation", checkpoint)
    return (writer.trigger(**trigger) if trigger else writer).start(), found


def test_a_query_that_starts_at_the_end_keeps_its_start_when_its_first_batch_is_repeated(
    spark: Any, bootstrap: str, client: Client, topic: Callable[..., str], tmp_path: Path
) -> None:
    name = topic(1)
    fill(client, name, 3, partitions=1)
    frame = stream(spark, bootstrap, name, startingOffsets="latest")
    query, found = collecting(frame, str(tmp_path))
    while not query.lastProgress:
        assert query.exception() is None
        query.awaitTermination(0.05)
    fill(client, name, 2, partitions=1, start=3)
    query.processAllAvailable()
    query.stop()
    assert found == [3, 4]
    # As if the driver had died in its first batch: planned, and not written down as done.
    for path in (tmp_path / "commits").iterdir():
        path.unlink()
    fill(client, name, 2, partitions=1, start=5)
    query, found = collecting(frame, str(tmp_path))
    query.processAllAvailable()
    query.stop()
    assert found == [3, 4, 5, 6]
