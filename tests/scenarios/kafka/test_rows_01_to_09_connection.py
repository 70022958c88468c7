"""Connection and encoding: versions, headers, order of answers, what closes a connection."""

from __future__ import annotations

import struct

import pytest

from tests.compat.target import Target
from tests.scenarios.kafka.batches import Record, batch
from tests.scenarios.kafka.raw import API_VERSIONS, FETCH, METADATA, PRODUCE, Closed, Connection, produce_request
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import api_versions, describe_cluster, fetch, list_offsets, metadata


def header(key: int, version: int, correlation_id: int, client_id: bytes | None = b"raw") -> bytes:
    name = struct.pack(">h", -1) if client_id is None else struct.pack(">h", len(client_id)) + client_id
    return struct.pack(">hhi", key, version, correlation_id) + name


def framed(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def read_versions_v0(body: bytes) -> tuple[int, dict[int, tuple[int, int]]]:
    """Error and ranges of an ApiVersions answer in the oldest layout; nothing may follow them."""
    error, count = struct.unpack_from(">hi", body)
    ranges = {k: (low, high) for k, low, high in struct.iter_unpack(">hhh", body[6 : 6 + 6 * count])}
    assert len(body) == 6 + 6 * count
    return error, ranges


# What a tagged field from the future looks like: one tag, number 77, three bytes.
FUTURE_TAG = b"\x01\x4d\x03abc"


def test_row_01_api_versions_above_ours_is_answered_in_v0_and_the_socket_stays_open(kafka: Connection) -> None:
    kafka.send_bytes(framed(header(API_VERSIONS, 27, 5) + b"\0" + b"\x08raw-one\x041.0" + FUTURE_TAG + b"whatever"))
    answer = kafka.receive_frame()
    assert answer[:4] == struct.pack(">i", 5)
    error, ranges = read_versions_v0(answer[4:])
    assert error == ErrorCode.UNSUPPORTED_VERSION
    low, high = ranges[API_VERSIONS]
    assert (low, high) >= (0, 4)
    again = kafka.call(api_versions.ApiVersionsRequest(client_software_name="raw", client_software_version="1"), 4)
    assert again.error_code == 0


def test_row_02_the_api_versions_answer_has_the_oldest_header_in_every_version(kafka: Connection) -> None:
    for version in range(5):
        asked = api_versions.ApiVersionsRequest()
        if version >= 3:
            asked.client_software_name, asked.client_software_version = "raw", "1"
        correlation_id = kafka.send(asked, version)
        answer = kafka.receive_frame()
        # Right behind the correlation id comes the error code, never a tag section.
        assert answer[:6] == struct.pack(">ih", correlation_id, 0)
        if version >= 3:
            count = answer[6] - 1
            entries = [answer[7 + 7 * n : 14 + 7 * n] for n in range(count)]
            assert all(entry[6] == 0 for entry in entries)
            assert struct.unpack(">hhh", entries[0][:6])[0] == 0
        else:
            assert struct.unpack_from(">i", answer, 6)[0] > 20


def test_row_03_a_flexible_header_keeps_the_old_client_id_and_unknown_tags_are_skipped(kafka: Connection) -> None:
    for client_id in (b"old style", b"", None):
        # DescribeCluster v0 is flexible: header tags, one bool, body tags.
        kafka.send_bytes(framed(header(60, 0, 9, client_id) + FUTURE_TAG + b"\0" + FUTURE_TAG))
        answer = kafka.receive_frame()
        assert answer[:5] == struct.pack(">i", 9) + b"\0"
        assert kafka.call(describe_cluster.DescribeClusterRequest(), 0).error_code == 0


def test_row_04_fields_of_newer_versions_are_not_written_in_older_ones(kafka: Connection, topic: str) -> None:
    """Our decoder refuses a byte too many or too few, so that decoding every version proves it."""
    kafka.produce(topic, batch([Record()]))
    for version in range(14):
        kafka.call(metadata.MetadataRequest(topics=[metadata.MetadataRequestTopic(name=topic)]), version)
    topic_id = kafka.topic(topic).topic_id
    for version in range(3, 14):
        kafka.produce(topic if version < 13 else topic_id, batch([Record()]), version=version)
    for version in range(4, 19):
        assert len(kafka.read(topic if version < 13 else topic_id, 0, version=version)) == 12
    for version in range(1, 12):
        assert kafka.offset(topic, -1, version=version).offset == 12


@pytest.mark.parametrize(
    "request_bytes",
    [
        pytest.param(header(4711, 0, 1), id="unknown key"),
        pytest.param(header(-1, 0, 1), id="negative key"),
        pytest.param(header(PRODUCE, 2, 1) + bytes(20), id="produce too old"),
        pytest.param(header(METADATA, 99, 1) + b"\0\0", id="metadata too new"),
        pytest.param(header(METADATA, -1, 1), id="negative version"),
        pytest.param(header(METADATA, 1, 1) + struct.pack(">i", 0x7FFFFFFF), id="two billion topics"),
        pytest.param(header(METADATA, 1, 1) + struct.pack(">ih", 1, 0x7FFF) + b"abc", id="name beyond the frame"),
        pytest.param(header(METADATA, 9, 1) + b"\0" + b"\xff" * 9 + b"\x01", id="count of ten bytes"),
        pytest.param(header(FETCH, 12, 1) + b"\0" + bytes(3), id="ends in the middle"),
    ],
)
def test_row_05_what_cannot_be_answered_closes_the_connection(target: Target, request_bytes: bytes) -> None:
    with Connection(target.bootstrap) as connection:
        connection.send_bytes(framed(request_bytes))
        assert connection.is_closed_within(10)
    with Connection(target.bootstrap) as connection:
        assert connection.call(metadata.MetadataRequest(topics=[]), 12).brokers


@pytest.mark.parametrize("size", [-1, 0, 3, 0x7FFFFFFF])
def test_row_05_an_absurd_size_closes_the_connection_at_once(target: Target, size: int) -> None:
    with Connection(target.bootstrap) as connection:
        connection.send_bytes(struct.pack(">i", size) + bytes(64))
        assert connection.is_closed_within(10)


def test_row_06_pipelined_requests_are_answered_in_order(kafka: Connection, topic: str) -> None:
    """A fetch that waits for data holds back what was asked behind it on the same connection, and nothing else."""
    waiting = fetch.FetchRequest(
        max_wait_ms=400,
        min_bytes=1,
        topics=[
            fetch.FetchRequestTopic(
                topic=topic, partitions=[fetch.FetchRequestPartition(fetch_offset=0, partition_max_bytes=1000)]
            )
        ],
    )
    asked = []
    for _ in range(3):
        asked.append((FETCH, 12, kafka.send(waiting, 12)))
        asked.append((METADATA, 9, kafka.send(metadata.MetadataRequest(topics=[]), 9)))
        asked.append((API_VERSIONS, 0, kafka.send(api_versions.ApiVersionsRequest(), 0)))
    for key, version, correlation_id in asked:
        kafka.receive(key, version)
        assert kafka.answered_id == correlation_id


def test_row_06_acks_0_has_no_answer_and_does_not_shift_later_ones(kafka: Connection, topic: str) -> None:
    asked = []
    for _ in range(5):
        silent, version = produce_request(topic, batch([Record()]), acks=0)
        kafka.send(silent, version)
        asked.append(kafka.send(list_offsets_request(topic), 5))
    counts = []
    for correlation_id in asked:
        answer = kafka.receive(2, 5)
        assert kafka.answered_id == correlation_id
        counts.append(answer.topics[0].partitions[0].offset)
    assert counts == [1, 2, 3, 4, 5]


def list_offsets_request(topic: str) -> list_offsets.ListOffsetsRequest:
    wanted = list_offsets.ListOffsetsPartition(timestamp=-1)
    return list_offsets.ListOffsetsRequest(
        replica_id=-1, topics=[list_offsets.ListOffsetsTopic(name=topic, partitions=[wanted])]
    )


def test_row_06_acks_0_that_fails_closes_the_connection(target: Target, topic: str) -> None:
    """Without an answer this is the only way to tell the producer."""
    with Connection(target.bootstrap) as connection:
        silent, version = produce_request(topic, batch([Record()], crc=1), acks=0)
        connection.send(silent, version)
        assert connection.is_closed_within(10)
    with Connection(target.bootstrap) as connection:
        assert connection.end(topic) == 0


def test_row_07_produce_is_advertised_from_0_and_served_from_3(kafka: Connection, topic: str) -> None:
    kafka.send(api_versions.ApiVersionsRequest(), 0)
    error, ranges = read_versions_v0(kafka.receive_frame()[4:])
    assert error == 0
    assert ranges[PRODUCE][0] == 0
    assert ranges[PRODUCE][1] >= 13
    assert ranges[FETCH] >= (4, 18)
    for version in (0, 1, 2):
        with Connection(":".join(map(str, kafka.socket.getpeername()))) as old, pytest.raises(Closed):
            old.send_bytes(framed(header(PRODUCE, version, 1) + struct.pack(">hii", -1, 1000, 0)))
            old.receive_frame()
    assert kafka.produce(topic, batch([Record()]), version=3).error_code == 0


def test_row_08_no_topics_means_all_in_metadata_v0_and_none_later(kafka: Connection, topic: str) -> None:
    def names(topics: list[metadata.MetadataRequestTopic] | None, version: int) -> set[str]:
        return {found.name for found in kafka.call(metadata.MetadataRequest(topics=topics), version).topics}

    assert topic in names([], 0)
    assert names([], 1) == set()
    assert names([], 12) == set()
    assert topic in names(None, 1)
    assert topic in names(None, 12)


def test_row_08_null_and_empty_keys_and_values_stay_what_they_are(kafka: Connection, topic: str) -> None:
    sent = [Record(value, key) for key in (None, b"", b"k") for value in (None, b"", b"v")]
    kafka.produce(topic, batch(sent))
    (read,) = kafka.read(topic)
    assert [(r.key, r.value) for r in read.records] == [(r.key, r.value) for r in sent]


@pytest.mark.parametrize("records", [None, b""])
def test_row_08_a_produce_without_records_stores_nothing(
    target: Target, kafka: Connection, topic: str, records: bytes | None
) -> None:
    with Connection(target.bootstrap, timeout_s=5) as connection:
        try:
            assert connection.produce(topic, records).error_code != 0
        except Closed:
            pass
        except TimeoutError:
            assert not target.is_twinlog  # Apache Kafka 4.3.1 leaves a produce of null records unanswered
    assert kafka.end(topic) == 0


def test_row_09_answers_without_a_quota_carry_no_throttle_time(kafka: Connection, topic: str) -> None:
    request, version = produce_request(topic, batch([Record()]))
    assert kafka.call(request, version).throttle_time_ms == 0
    assert kafka.call(metadata.MetadataRequest(topics=[]), 12).throttle_time_ms == 0
