"""What one client writes, every client reads: keys, nulls, headers, times, in every compression."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.compat.clients import CLIENT_NAMES, Clients, record
from tests.compat.findings import can

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
EVERY_BYTE = bytes(range(256))
START_MS = int(time.time() * 1000) - 3_600_000  # young enough for every default retention


def sample(writer: str) -> list[dict[str, Any]]:
    """Records with all that a record may hold, and enough sameness for the codecs to find."""
    found = [
        record(b"value", b"key", timestamp=START_MS),
        record(b"no key", None, timestamp=START_MS + 5),
        record(None, b"a tombstone", timestamp=START_MS + 1),
        record(b"", b"", timestamp=START_MS + 2),
        record(
            bytes(range(256)), "schlüssel \U0001f511".encode(), [("a", b"1"), ("a", b"2"), ("empty", b"")], START_MS
        ),
        record(b"names", b"k", [("naïve \U0001f600", bytes(range(256)))], START_MS + 9),
    ]
    if can(writer, "null header value"):
        found.append(record(b"v", b"k", [("null", None)], START_MS + 3))
    if can(writer, "null key and value"):
        found.append(record(None, None, timestamp=START_MS + 4))
    found += [record(b"again and again " * 30 + b"%d" % n, b"k%d" % n, timestamp=START_MS + n) for n in range(60)]
    return found


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("writer", CLIENT_NAMES)
def test_every_client_reads_what_one_wrote(clients: Clients, topic: str, writer: str, codec: str) -> None:
    records = sample(writer)
    placed = clients[writer].produce(topic=topic, partition=0, records=records, compression=codec)
    assert [offset for _, offset, _ in placed] == list(range(len(records)))
    for reader in CLIENT_NAMES:
        read = clients[reader].consume(topic=topic, partition=0, offset=0, count=len(records))
        assert [found.pop("offset") for found in read] == list(range(len(records))), reader
        assert {found.pop("timestamp_type") for found in read} == {0}, reader
        assert read == records, reader


@pytest.mark.parametrize("writer", CLIENT_NAMES)
def test_a_log_append_time_topic_stamps_records_itself(clients: Clients, new_name, writer: str) -> None:
    topic = new_name()
    clients["confluent"].create_topic(topic=topic, configs={"message.timestamp.type": "LogAppendTime"})
    before = int(time.time() * 1000)
    placed = clients[writer].produce(
        topic=topic, partition=0, records=[record(b"%d" % n, timestamp=START_MS) for n in range(3)], compression="gzip"
    )
    after = int(time.time() * 1000)
    seen = set()
    for reader in CLIENT_NAMES:
        read = clients[reader].consume(topic=topic, partition=0, offset=0, count=3)
        assert {found["timestamp_type"] for found in read} == {1}, reader
        seen.add(tuple(found["timestamp"] for found in read))
    (stamps,) = seen
    assert all(before <= stamp <= after for stamp in stamps), (before, stamps, after)
    if can(writer, "log append time in reports"):
        assert tuple(stamp for _, _, stamp in placed) == stamps
