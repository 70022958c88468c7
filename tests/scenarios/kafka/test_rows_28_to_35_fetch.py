"""Fetch and offsets: whole batches, limits, waiting, sessions, epochs, times."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

import pytest

from tests.compat.target import Target
from tests.scenarios.kafka.batches import CODECS, Record, batch, read_batches
from tests.scenarios.kafka.raw import EARLIEST, FETCH, LATEST, MAX_TIMESTAMP, Connection, fetch_request, produce_request
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import delete_topics, fetch, list_offsets, offset_for_leader_epoch

NOW_MS = int(time.time() * 1000) - 60_000
EARLIEST_LOCAL = -4


def ten(turn: int = 0, size: int = 1) -> bytes:
    return batch([Record(b"%d" % n * size, timestamp=NOW_MS + 100 * turn + n) for n in range(10)])


def fill(kafka: Connection, topic: str, batches: int = 5, partition: int = 0, size: int = 1) -> int:
    """Batches of ten records; the size of one."""
    for turn in range(batches):
        assert kafka.produce(topic, ten(turn, size), partition=partition).base_offset == 10 * turn
    return len(ten(0, size))


# ---- row 28 ----


@pytest.mark.parametrize("version", [4, 10, 11, 12, 13, 18])
def test_row_28_an_offset_inside_a_batch_brings_that_whole_batch(kafka: Connection, topic: str, version: int) -> None:
    fill(kafka, topic)
    place = topic if version < 13 else kafka.topic(topic).topic_id
    for offset in (0, 1, 9, 10, 25, 49):
        read = kafka.read(place, offset, version=version)
        assert [found.base_offset for found in read] == list(range(offset // 10 * 10, 50, 10))


def test_row_28_every_byte_of_every_version_is_a_whole_batch(kafka: Connection, topic: str) -> None:
    size = fill(kafka, topic)
    for limit in (1, size - 1, size, size + 1, 2 * size, 3 * size - 1):
        found = kafka.fetch(topic, 0, partition_max_bytes=limit)
        assert found.records[:8] == bytes(8)
        assert read_batches(found.records)[0].base_offset == 0


# ---- row 29 ----


def test_row_29_a_first_batch_beyond_every_limit_is_returned(kafka: Connection, topic: str) -> None:
    size = fill(kafka, topic, size=2000)
    found = kafka.fetch(topic, 20, max_bytes=1, partition_max_bytes=1)
    assert [b.base_offset for b in read_batches(found.records)] == [20]
    assert len(found.records) == size


def many(kafka: Connection, topic: str, partitions: list[int], max_bytes: int, each: int) -> dict[int, int]:
    """One fetch over several partitions; the bytes that each brought."""
    wanted = fetch.FetchRequestTopic(
        topic=topic,
        partitions=[
            fetch.FetchRequestPartition(partition=index, fetch_offset=0, partition_max_bytes=each)
            for index in partitions
        ],
    )
    answer = kafka.call(fetch.FetchRequest(max_bytes=max_bytes, topics=[wanted]), 12)
    assert [part.partition_index for part in answer.responses[0].partitions] == partitions
    return {part.partition_index: len(part.records or b"") for part in answer.responses[0].partitions}


def test_row_29_later_partitions_keep_to_the_limits(kafka: Connection, new_name) -> None:
    name = new_name()
    kafka.create_topic(name, partitions=4)
    for partition in range(4):
        size = fill(kafka, name, batches=3, partition=partition, size=100)
    # Only the first partition with data may pass a limit, and only by its first batch.
    assert many(kafka, name, [0, 1, 2, 3], max_bytes=1, each=1 << 20) == {0: size, 1: 0, 2: 0, 3: 0}
    assert many(kafka, name, [2, 1, 0, 3], max_bytes=1, each=1 << 20) == {2: size, 1: 0, 0: 0, 3: 0}
    generous = many(kafka, name, [0, 1, 2, 3], max_bytes=1 << 20, each=1 << 20)
    assert generous == dict.fromkeys(range(4), 3 * size)
    two = many(kafka, name, [0, 1, 2, 3], max_bytes=5 * size, each=3 * size)
    assert two[0] == 3 * size
    assert sum(two.values()) <= 5 * size


def test_row_29_an_empty_first_partition_does_not_use_up_the_exception(kafka: Connection, new_name) -> None:
    name = new_name()
    kafka.create_topic(name, partitions=2)
    size = fill(kafka, name, batches=2, partition=1, size=100)
    assert many(kafka, name, [0, 1], max_bytes=1, each=1) == {0: 0, 1: size}


# ---- row 30 ----


def test_row_30_a_fetch_without_data_waits_its_time_out(kafka: Connection, topic: str) -> None:
    fill(kafka, topic, 1)
    started = time.monotonic()
    found = kafka.fetch(topic, 10, max_wait_ms=300, min_bytes=1)
    assert time.monotonic() - started >= 0.29
    assert not found.records
    assert found.high_watermark == 10


@pytest.mark.parametrize("acks", [0, 1, -1])
def test_row_30_a_waiting_fetch_wakes_on_the_next_record(
    target: Target, kafka: Connection, topic: str, acks: int
) -> None:
    request, version = fetch_request(topic, 0, max_wait_ms=30_000, min_bytes=1)
    kafka.send(request, version)
    with Connection(target.bootstrap) as writer:
        writer.send(*produce_request(topic, ten(), acks=acks))
        kafka.socket.settimeout(10)
        answer = kafka.receive(FETCH, version)
    assert len(read_batches(answer.responses[0].partitions[0].records)) == 1


def test_row_30_min_bytes_are_counted_over_all_that_came(target: Target, kafka: Connection, topic: str) -> None:
    size = len(ten())
    request, version = fetch_request(topic, 0, max_wait_ms=30_000, min_bytes=3 * size)
    kafka.send(request, version)
    with Connection(target.bootstrap) as writer:
        for turn in range(2):
            writer.produce(topic, ten(turn))
        kafka.socket.settimeout(0.3)
        with pytest.raises(TimeoutError):
            kafka.receive_bytes(1)
        kafka.socket.settimeout(10)
        writer.produce(topic, ten(2))
    answer = kafka.receive(FETCH, version)
    assert len(read_batches(answer.responses[0].partitions[0].records)) == 3


def test_row_30_an_error_is_answered_without_waiting(kafka: Connection, topic: str) -> None:
    kafka.socket.settimeout(10)
    found = kafka.fetch(topic, 99, max_wait_ms=30_000, min_bytes=1)
    assert found.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_row_30_a_waiter_whose_topic_is_deleted_is_answered(target: Target, kafka: Connection, topic: str) -> None:
    request, version = fetch_request(topic, 0, max_wait_ms=15_000 if target.is_twinlog else 1_000, min_bytes=1)
    kafka.send(request, version)
    with Connection(target.bootstrap) as other:
        other.call(delete_topics.DeleteTopicsRequest(topic_names=[topic], timeout_ms=9999), 5)
        kafka.socket.settimeout(10)
        answer = kafka.receive(FETCH, version)
    assert answer.responses[0].partitions[0].error_code in (
        0,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
    )


# ---- row 31 ----


def test_row_31_an_empty_topic_starts_and_ends_at_0(kafka: Connection, topic: str) -> None:
    found = kafka.fetch(topic, 0)
    assert (found.error_code, found.high_watermark, found.last_stable_offset, found.log_start_offset) == (0, 0, 0, 0)
    assert not found.records
    assert kafka.offset(topic, EARLIEST).offset == kafka.offset(topic, LATEST).offset == 0


def test_row_31_the_end_is_exactly_the_number_of_records(kafka: Connection, topic: str) -> None:
    """Nothing hidden makes a reader's lag stand still above 0."""
    fill(kafka, topic, 3)
    found = kafka.fetch(topic, 0)
    assert (found.high_watermark, found.last_stable_offset, kafka.end(topic)) == (30, 30, 30)
    at_end = kafka.fetch(topic, 30)
    assert (at_end.error_code, at_end.records or b"") == (0, b"")
    assert kafka.fetch(topic, 31).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_row_31_readers_beside_a_writer_see_a_growing_prefix(target: Target, kafka: Connection, topic: str) -> None:
    """Never a gap, never a record twice, never above the high watermark."""

    def write() -> None:
        with Connection(target.bootstrap) as writer:
            for turn in range(100):
                writer.produce(topic, ten(turn), acks=-1 if turn % 2 else 1)

    writing = threading.Thread(target=write)
    writing.start()
    offset, watermark = 0, 0
    while offset < 1000:
        found = kafka.fetch(topic, offset, max_wait_ms=1000, min_bytes=1)
        assert found.error_code == 0
        assert found.high_watermark >= watermark
        watermark = found.high_watermark
        for read in read_batches(found.records):
            assert read.base_offset == offset
            offset += read.count
        assert offset <= watermark or not target.is_twinlog  # Apache Kafka reads the watermark before the records
    writing.join()


# ---- row 32: sessions ----


def session_fetch(
    kafka: Connection,
    session_id: int,
    epoch: int,
    wanted: dict[tuple[str, int], int],
    forgotten: dict[str, list[int]] | None = None,
    version: int = 12,
    **more: Any,
) -> Any:
    """A fetch within a session: (topic, partition) -> offset to begin at."""
    topics = [
        fetch.FetchRequestTopic(
            topic=topic,
            partitions=[
                fetch.FetchRequestPartition(
                    partition=partition, fetch_offset=wanted[topic, partition], partition_max_bytes=1 << 20
                )
                for _, partition in group
            ],
        )
        for topic, group in itertools.groupby(wanted, key=lambda place: place[0])
    ]
    dropped = [fetch.FetchRequestForgottenTopic(topic=t, partitions=p) for t, p in (forgotten or {}).items()]
    asked = fetch.FetchRequest(
        session_id=session_id, session_epoch=epoch, topics=topics, forgotten_topics_data=dropped, **more
    )
    return kafka.call(asked, version)


def came(answer: Any) -> dict[tuple[str, int], int]:
    """(topic, partition) -> bytes of records, for every partition in the answer."""
    return {
        (topic.topic, part.partition_index): len(part.records or b"")
        for topic in answer.responses
        for part in topic.partitions
    }


def test_row_32_an_incremental_answer_omits_what_did_not_change(kafka: Connection, new_name) -> None:
    name = new_name()
    kafka.create_topic(name, partitions=3)
    size = fill(kafka, name, 1, partition=0)
    wanted = {(name, index): 0 for index in range(3)}
    first = session_fetch(kafka, 0, 0, wanted)
    session = first.session_id
    assert (first.error_code, session > 0) == (0, True)
    assert came(first) == {(name, 0): size, (name, 1): 0, (name, 2): 0}
    assert came(session_fetch(kafka, session, 1, {(name, 0): 10})) == {}
    fill(kafka, name, 1, partition=2)
    second = session_fetch(kafka, session, 2, {})
    assert (second.session_id, came(second)) == (session, {(name, 2): size})


def test_row_32_errors_and_a_moved_log_start_are_told_again(kafka: Connection, new_name) -> None:
    name = new_name()
    kafka.create_topic(name, partitions=2)
    fill(kafka, name, 1, partition=0)
    session = session_fetch(kafka, 0, 0, {(name, 0): 10, (name, 1): 5}).session_id
    for epoch in (1, 2):
        answer = session_fetch(kafka, session, epoch, {})
        (part,) = answer.responses[0].partitions
        assert (part.partition_index, part.error_code) == (1, ErrorCode.OFFSET_OUT_OF_RANGE)


def test_row_32_a_forgotten_partition_stays_away(kafka: Connection, new_name) -> None:
    name = new_name()
    kafka.create_topic(name, partitions=2)
    session = session_fetch(kafka, 0, 0, {(name, 0): 0, (name, 1): 0}).session_id
    size = fill(kafka, name, 1, partition=0)
    fill(kafka, name, 1, partition=1)
    assert came(session_fetch(kafka, session, 1, {}, forgotten={name: [1]})) == {(name, 0): size}


def test_row_32_unknown_sessions_and_wrong_epochs_have_their_codes(kafka: Connection, topic: str) -> None:
    session = session_fetch(kafka, 0, 0, {(topic, 0): 0}).session_id
    unknown = session_fetch(kafka, session ^ 0x55555, 1, {})
    assert (unknown.error_code, unknown.session_id, unknown.responses) == (
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        0,
        [],
    )
    wrong = session_fetch(kafka, session, 5, {})
    assert (wrong.error_code, wrong.responses) == (ErrorCode.INVALID_FETCH_SESSION_EPOCH, [])
    assert session_fetch(kafka, session, 1, {}).error_code == 0
    assert session_fetch(kafka, session, 1, {}).error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH


def test_row_32_epoch_minus_one_reads_without_a_session_and_closes_one(kafka: Connection, topic: str) -> None:
    size = fill(kafka, topic, 1)
    without = session_fetch(kafka, 0, -1, {(topic, 0): 0})
    assert (without.session_id, came(without)) == (0, {(topic, 0): size})
    session = session_fetch(kafka, 0, 0, {(topic, 0): 0}).session_id
    closing = session_fetch(kafka, session, -1, {(topic, 0): 0})
    assert (closing.error_code, closing.session_id, came(closing)) == (0, 0, {(topic, 0): size})
    assert session_fetch(kafka, session, 1, {}).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_row_32_epoch_0_replaces_a_session(kafka: Connection, topic: str) -> None:
    old = session_fetch(kafka, 0, 0, {(topic, 0): 0}).session_id
    new = session_fetch(kafka, old, 0, {(topic, 0): 0}).session_id
    assert new not in (0, old)
    assert session_fetch(kafka, old, 1, {}).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_row_32_sessions_by_id_follow_the_topic_not_its_name(kafka: Connection, new_name) -> None:
    name = new_name()
    topic_id = kafka.create_topic(name)
    size = fill(kafka, name, 1)
    request, version = fetch_request(topic_id, 0, session_epoch=0)
    first = kafka.call(request, version)
    assert (first.error_code, len(first.responses[0].partitions[0].records)) == (0, size)
    kafka.produce(topic_id, ten())
    again = fetch.FetchRequest(session_id=first.session_id, session_epoch=1)
    answer = kafka.call(again, version)
    assert [topic.topic_id for topic in answer.responses] == [topic_id]


def test_row_32_many_sessions_push_out_old_ones_not_the_broker(kafka: Connection, topic: str) -> None:
    """More sessions than any broker keeps: each answer works, with a session or without one."""
    size = fill(kafka, topic, 1)
    sessions = set()
    for _ in range(1_500):
        answer = session_fetch(kafka, 0, 0, {(topic, 0): 0})
        assert (answer.error_code, came(answer)) == (0, {(topic, 0): size})
        sessions.add(answer.session_id)
    for session in sessions - {0}:  # others want one, too
        session_fetch(kafka, session, -1, {(topic, 0): 0})


# ---- row 33: epochs ----


def end_of_epoch(kafka: Connection, topic: str, epoch: int, current: int = -1, version: int = 4) -> Any:
    wanted = offset_for_leader_epoch.OffsetForLeaderPartition(leader_epoch=epoch, current_leader_epoch=current)
    asked = offset_for_leader_epoch.OffsetForLeaderEpochRequest(
        replica_id=-1, topics=[offset_for_leader_epoch.OffsetForLeaderTopic(topic=topic, partitions=[wanted])]
    )
    if version < 3:
        asked.replica_id = -2
    return kafka.call(asked, version).topics[0].partitions[0]


def test_row_33_a_newer_epoch_than_ours_is_unknown_and_an_older_one_fenced(kafka: Connection, topic: str) -> None:
    fill(kafka, topic, 1)
    epoch = kafka.topic(topic).partitions[0].leader_epoch
    assert epoch >= 0
    codes = {epoch: 0, epoch + 1: ErrorCode.UNKNOWN_LEADER_EPOCH}
    if epoch > 0:
        codes[epoch - 1] = ErrorCode.FENCED_LEADER_EPOCH
    for asked, code in codes.items():
        assert kafka.fetch(topic, 0, current_leader_epoch=asked).error_code == code
        assert kafka.offset(topic, LATEST, current_leader_epoch=asked).error_code == code
        assert end_of_epoch(kafka, topic, epoch, current=asked).error_code == code


@pytest.mark.parametrize("version", [2, 3, 4])
def test_row_33_the_end_of_an_epoch(kafka: Connection, topic: str, version: int) -> None:
    fill(kafka, topic, 2)
    epoch = kafka.topic(topic).partitions[0].leader_epoch
    found = end_of_epoch(kafka, topic, epoch, version=version)
    assert (found.error_code, found.leader_epoch, found.end_offset) == (0, epoch, 20)
    unknown = end_of_epoch(kafka, topic, epoch + 3, version=version)
    assert (unknown.error_code, unknown.leader_epoch, unknown.end_offset) == (0, -1, -1)


def test_row_33_a_fetch_that_diverged_is_told_where(kafka: Connection, topic: str) -> None:
    fill(kafka, topic, 1)
    epoch = kafka.topic(topic).partitions[0].leader_epoch
    none = fetch.FetchResponseEpochEndOffset()
    same = kafka.fetch(topic, 10, last_fetched_epoch=epoch)
    assert (same.error_code, same.diverging_epoch or none) == (0, none)
    beyond = kafka.fetch(topic, 15, last_fetched_epoch=epoch)
    diverged = fetch.FetchResponseEpochEndOffset(epoch=epoch, end_offset=10)
    assert (beyond.error_code, beyond.diverging_epoch) == (0, diverged)


def test_row_33_an_error_about_the_leader_names_it(kafka: Connection, topic: str) -> None:
    epoch = kafka.topic(topic).partitions[0].leader_epoch
    found = kafka.fetch(topic, 0, current_leader_epoch=epoch + 1, version=12)
    assert found.error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


# ---- row 35: times ----


def timed(kafka: Connection, topic: str, codec: str = "none") -> None:
    """Offsets 0-8 at +0, +50, +20 | +30, +90, +40 | +60, +60, +70."""
    for stamps in ((0, 50, 20), (30, 90, 40), (60, 60, 70)):
        kafka.produce(topic, batch([Record(timestamp=NOW_MS + s) for s in stamps], codec=CODECS[codec]))


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_row_35_a_time_finds_the_first_record_that_late_with_its_own_time(
    kafka: Connection, topic: str, codec: str
) -> None:
    timed(kafka, topic, codec)
    epoch = kafka.topic(topic).partitions[0].leader_epoch
    for asked, offset, stamp in ((0, 0, 0), (1, 1, 50), (50, 1, 50), (51, 4, 90), (90, 4, 90), (-5000, 0, 0)):
        found = kafka.offset(topic, NOW_MS + asked)
        assert (found.error_code, found.offset, found.timestamp) == (0, offset, NOW_MS + stamp)
        assert found.leader_epoch == epoch
    none = kafka.offset(topic, NOW_MS + 91)
    assert (none.error_code, none.offset, none.timestamp) == (0, -1, -1)


def test_row_35_the_newest_timestamp_and_its_offset(kafka: Connection, topic: str) -> None:
    empty = kafka.offset(topic, MAX_TIMESTAMP)
    assert (empty.error_code, empty.offset, empty.timestamp) == (0, -1, -1)
    timed(kafka, topic)
    found = kafka.offset(topic, MAX_TIMESTAMP)
    assert (found.offset, found.timestamp) == (4, NOW_MS + 90)


@pytest.mark.parametrize("version", range(1, 12))
def test_row_35_earliest_and_latest_in_every_version(kafka: Connection, topic: str, version: int) -> None:
    fill(kafka, topic, 2)
    earliest, latest = (kafka.offset(topic, which, version=version) for which in (EARLIEST, LATEST))
    assert (earliest.offset, earliest.timestamp) == (0, -1)
    assert (latest.offset, latest.timestamp) == (20, -1)
    if version >= 2:
        committed = kafka.offset(topic, LATEST, version=version, isolation_level=1)
        assert committed.offset == 20
    if version >= 8:
        assert kafka.offset(topic, EARLIEST_LOCAL, version=version).offset == 0


def test_row_35_unknown_partitions_and_topics_have_their_own_errors(kafka: Connection, topic: str) -> None:
    wanted = [
        list_offsets.ListOffsetsTopic(
            name=name,
            partitions=[list_offsets.ListOffsetsPartition(partition_index=p, timestamp=LATEST) for p in (0, 7)],
        )
        for name in (topic, topic + "-missing")
    ]
    answer = kafka.call(list_offsets.ListOffsetsRequest(replica_id=-1, topics=wanted), 7)
    codes = {(t.name, p.partition_index): p.error_code for t in answer.topics for p in t.partitions}
    missing = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert codes == {
        (topic, 0): 0,
        (topic, 7): missing,
        (topic + "-missing", 0): missing,
        (topic + "-missing", 7): missing,
    }
