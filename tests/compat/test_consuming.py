"""Consuming with every client, partitions assigned by hand: seeking, waiting, the edges of the log."""

from __future__ import annotations

import time

import pytest

from tests.compat.clients import CLIENT_NAMES, ClientRefused, Clients, record, values
from tests.compat.findings import skip_unless

OFFSET_OUT_OF_RANGE = 1
START_MS = int(time.time() * 1000) - 3_600_000  # young enough for every default retention


def fill(clients: Clients, topic: str, count: int = 100, compression: str = "none") -> None:
    """Records "0", "1", ... ten milliseconds apart, in batches of twenty."""
    for first in range(0, count, 20):
        batch = [record(b"%d" % n, timestamp=START_MS + 10 * n) for n in range(first, first + 20)]
        clients["confluent"].produce(topic=topic, partition=0, records=batch, compression=compression)


@pytest.mark.parametrize("compression", ["none", "zstd"])
@pytest.mark.parametrize("reader", CLIENT_NAMES)
def test_a_reader_starts_inside_a_batch(clients: Clients, topic: str, reader: str, compression: str) -> None:
    fill(clients, topic, compression=compression)
    for start in (0, 1, 19, 20, 33, 97):
        read = clients[reader].consume(topic=topic, partition=0, offset=start, count=3)
        assert values(read) == [b"%d" % n for n in range(start, start + 3)]
        assert read[0]["offset"] == start


@pytest.mark.parametrize("reader", CLIENT_NAMES)
def test_offsets_by_place_and_by_time(clients: Clients, topic: str, reader: str) -> None:
    fill(clients, topic)

    def at(where: str | int) -> int:
        return clients[reader].offset_at(topic=topic, partition=0, at=where)["offset"]

    assert (at("earliest"), at("latest")) == (0, 100)
    assert at(START_MS + 333) == 34
    assert at(START_MS + 330) == 33
    assert at(0) == 0
    assert at(START_MS + 991) == -1


@pytest.mark.parametrize("reader", CLIENT_NAMES)
def test_the_offset_of_the_newest_timestamp(clients: Clients, topic: str, reader: str) -> None:
    skip_unless(reader, "newest timestamp")
    stamps = [5, 90, 20, 10]
    clients["confluent"].produce(
        topic=topic, partition=0, records=[record(b"v", timestamp=START_MS + stamp) for stamp in stamps]
    )
    found = clients[reader].offset_at(topic=topic, partition=0, at="max_timestamp")
    assert found == {"offset": 1, "timestamp": START_MS + 90}


@pytest.mark.parametrize("offset", [101, 5000])
@pytest.mark.parametrize("reader", CLIENT_NAMES)
def test_an_offset_beyond_the_end_is_out_of_range(clients: Clients, topic: str, reader: str, offset: int) -> None:
    fill(clients, topic)
    with pytest.raises(ClientRefused) as refused:
        clients[reader].consume(topic=topic, partition=0, offset=offset, count=1, timeout_s=5)
    assert refused.value.code == OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize("reader", CLIENT_NAMES)
def test_a_waiting_reader_gets_what_is_written_later(clients: Clients, topic: str, reader: str) -> None:
    writer = "go" if reader != "go" else "java"
    clients[reader].ask("consume", topic=topic, partition=0, offset=0, count=30)
    for turn in range(3):
        clients[writer].produce(topic=topic, partition=0, records=[record(b"%d-%d" % (turn, n)) for n in range(10)])
    read = clients[reader].hear("consume")
    assert values(read) == [b"%d-%d" % (turn, n) for turn in range(3) for n in range(10)]


@pytest.mark.parametrize("reader", CLIENT_NAMES)
def test_reading_far_more_than_one_fetch_brings(clients: Clients, new_name, reader: str) -> None:
    """24 MB in one partition: several fetches, each cut at the reader's limits, none skipped or repeated."""
    topic = new_name()
    clients["confluent"].create_topic(topic=topic)
    for turn in range(4):
        batch = [record(b"%06d" % (turn * 60 + n) + bytes(100_000)) for n in range(60)]
        clients["confluent"].produce(topic=topic, partition=0, records=batch)
    read = clients[reader].consume(topic=topic, partition=0, offset=0, count=240, timeout_s=30)
    assert [int(value[:6]) for value in values(read) if value] == list(range(240))
