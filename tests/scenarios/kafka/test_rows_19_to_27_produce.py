"""Produce and the log: what a batch must be, what is stamped on it, sequences, epochs."""

from __future__ import annotations

import time

import pytest

from tests.compat.target import Server, Target
from tests.scenarios.kafka.batches import (
    CODECS,
    CONTROL,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    Record,
    batch,
    compressed,
    record_bytes,
)
from tests.scenarios.kafka.raw import Connection, produce_request
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import init_producer_id, produce

NOW_MS = int(time.time() * 1000)


def three() -> list[Record]:
    return [Record(b"%d" % n, b"key", NOW_MS + n) for n in range(3)]


# ---- row 19: what is no batch ----

WRONG_BATCHES = {
    "crc": ({"crc": 12345}, {ErrorCode.CORRUPT_MESSAGE}),
    "count negative": ({"count": -1}, {ErrorCode.INVALID_RECORD, ErrorCode.CORRUPT_MESSAGE}),
    "count zero": ({"count": 0}, {ErrorCode.INVALID_RECORD, ErrorCode.CORRUPT_MESSAGE}),
    "count too small": ({"count": 2}, {ErrorCode.INVALID_RECORD}),
    "count too large": ({"count": 4}, {ErrorCode.INVALID_RECORD}),
    "count absurd": ({"count": 0x7FFFFFFF}, {ErrorCode.INVALID_RECORD, ErrorCode.CORRUPT_MESSAGE}),
    "last delta too small": ({"last_offset_delta": 1}, {ErrorCode.INVALID_RECORD}),
    "last delta too large": ({"last_offset_delta": 3}, {ErrorCode.INVALID_RECORD}),
    "last delta negative": ({"last_offset_delta": -1}, {ErrorCode.INVALID_RECORD}),
    "deltas shuffled": ({"offset_deltas": [0, 2, 1]}, {ErrorCode.INVALID_RECORD}),
    "deltas with a gap": ({"offset_deltas": [0, 2, 3], "last_offset_delta": 3}, {ErrorCode.INVALID_RECORD}),
    "bytes behind the records": ({"trailing": b"\0\0"}, {ErrorCode.INVALID_RECORD, ErrorCode.CORRUPT_MESSAGE}),
    "bytes inside a record": ({"record_trailing": b"\0"}, {ErrorCode.INVALID_RECORD, ErrorCode.CORRUPT_MESSAGE}),
    "magic 0": ({"magic": 0}, {ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, ErrorCode.CORRUPT_MESSAGE, 87}),
    "magic 1": ({"magic": 1}, {ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, ErrorCode.CORRUPT_MESSAGE, 87}),
    "magic 9": ({"magic": 9}, {ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, ErrorCode.CORRUPT_MESSAGE, 87}),
    "control": ({"attributes": CONTROL}, {ErrorCode.INVALID_RECORD}),
    "unknown codec": ({"attributes": 7}, {ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, ErrorCode.CORRUPT_MESSAGE}),
    "codec of other bytes": ({"attributes": 4}, {ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD}),
    "size too large": ({"size": 10_000}, {ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD}),
    "size too small": ({"size": 60}, {ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD}),
    "size negative": ({"size": -1}, {ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD}),
}
# Apache Kafka takes these, or answers them with "unexpected error", or not at all.
LOOSER_AT_KAFKA = {
    "count negative",
    "count zero",
    "count absurd",
    "last delta negative",
    "deltas shuffled",
    "deltas with a gap",
    "bytes behind the records",
    "bytes inside a record",
    "magic 0",
    "magic 1",
    "magic 9",
    "unknown codec",
    "codec of other bytes",
    "size too large",
    "size too small",
    "size negative",
}


@pytest.mark.parametrize("version", [3, 9, 13])
@pytest.mark.parametrize("what", WRONG_BATCHES)
def test_row_19_a_wrong_batch_is_refused_by_name_and_not_stored(
    target: Target, kafka: Connection, topic: str, what: str, version: int
) -> None:
    wrong, codes = WRONG_BATCHES[what]
    if what in LOOSER_AT_KAFKA and not target.is_twinlog:
        pytest.skip("Apache Kafka differs here")
    place = topic if version < 13 else kafka.topic(topic).topic_id
    answer = kafka.produce(place, batch(three(), **wrong), version=version)
    assert answer.error_code in codes
    assert answer.base_offset == -1
    assert kafka.end(topic) == 0
    assert kafka.produce(place, batch(three()), version=version).base_offset == 0


def test_row_19_two_batches_for_one_partition_are_refused(kafka: Connection, topic: str) -> None:
    answer = kafka.produce(topic, batch(three()) + batch(three()))
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert kafka.end(topic) == 0


def test_row_19_a_batch_cut_short_is_refused(target: Target, kafka: Connection, topic: str) -> None:
    if not target.is_twinlog:
        pytest.skip("Apache Kafka differs here: it leaves some of these unanswered")
    whole = batch(three())
    for size in range(1, len(whole)):
        answer = kafka.produce(topic, whole[:size])
        assert answer.error_code in (ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD), size
    assert kafka.end(topic) == 0


def test_row_19_one_wrong_partition_leaves_the_others_alone(kafka: Connection, new_name) -> None:
    name = new_name()
    kafka.create_topic(name, partitions=3)
    data = produce.TopicProduceData(
        name=name,
        partition_data=[
            produce.PartitionProduceData(index=0, records=batch(three())),
            produce.PartitionProduceData(index=1, records=batch(three(), crc=1)),
            produce.PartitionProduceData(index=2, records=batch(three())),
            produce.PartitionProduceData(index=3, records=batch(three())),
        ],
    )
    answer = kafka.call(produce.ProduceRequest(acks=-1, timeout_ms=9999, topic_data=[data]), 9)
    codes = {part.index: part.error_code for part in answer.responses[0].partition_responses}
    assert codes == {0: 0, 1: ErrorCode.CORRUPT_MESSAGE, 2: 0, 3: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert [kafka.end(name, index) for index in range(3)] == [3, 0, 3]


# ---- row 20: what the broker stamps ----


@pytest.mark.parametrize("codec", CODECS)
def test_row_20_offset_and_epoch_are_stamped_outside_the_checksum(kafka: Connection, topic: str, codec: str) -> None:
    sent = batch(three(), codec=CODECS[codec], leader_epoch=-1)
    for turn in range(3):
        assert kafka.produce(topic, sent).base_offset == 3 * turn
    read = kafka.read(topic)
    assert [found.base_offset for found in read] == [0, 3, 6]
    epoch = kafka.topic(topic).partitions[0].leader_epoch
    for found in read:
        assert (found.crc_holds, found.leader_epoch, found.attributes) == (True, epoch, CODECS[codec])
        assert [r.value for r in found.records] == [b"0", b"1", b"2"]
    stored = kafka.fetch(topic, 0).records
    assert stored[17 : len(sent)] == sent[17:]  # checksum and all behind it: untouched


def test_row_20_create_time_answers_minus_one(kafka: Connection, topic: str) -> None:
    assert kafka.produce(topic, batch(three())).log_append_time_ms == -1


@pytest.mark.parametrize("codec", CODECS)
def test_row_20_log_append_time_is_in_attributes_checksum_and_answer(kafka: Connection, new_name, codec: str) -> None:
    name = new_name()
    kafka.create_topic(name, configs={"message.timestamp.type": "LogAppendTime"})
    before = int(time.time() * 1000)
    answer = kafka.produce(name, batch(three(), codec=CODECS[codec]))
    assert before <= answer.log_append_time_ms <= int(time.time() * 1000)
    (found,) = kafka.read(name)
    assert found.crc_holds
    assert found.attributes == CODECS[codec] | LOG_APPEND_TIME
    assert found.max_timestamp == answer.log_append_time_ms


# ---- row 21: size ----


def test_row_21_a_batch_above_max_message_bytes_is_too_large(kafka: Connection, new_name) -> None:
    name = new_name()
    kafka.create_topic(name, configs={"max.message.bytes": "5000"})
    overhead = len(batch([Record(b"", None)])) + 1  # the value's length takes a byte more at this size
    fits, too_large = batch([Record(bytes(5000 - overhead - 2), None)]), batch([Record(bytes(5001), None)])
    assert len(fits) <= 5000
    assert kafka.produce(name, too_large).error_code == ErrorCode.MESSAGE_TOO_LARGE
    assert kafka.produce(name, fits).error_code == 0
    assert kafka.end(name) == 1


def test_row_21_the_default_limit_is_one_mebibyte_and_a_header(kafka: Connection, topic: str) -> None:
    assert kafka.produce(topic, batch([Record(bytes(1 << 20), None)])).error_code == ErrorCode.MESSAGE_TOO_LARGE
    assert kafka.produce(topic, batch([Record(bytes((1 << 20) - 100), None)])).error_code == 0


# ---- row 22: what a topic wants of its records ----


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_row_22_a_compacted_topic_wants_keys_and_names_the_record(kafka: Connection, new_name, codec: str) -> None:
    name = new_name()
    kafka.create_topic(name, configs={"cleanup.policy": "compact"})
    records = [Record(b"v", b"k"), Record(b"v", b"k"), Record(b"v", None), Record(b"v", b"k")]
    answer = kafka.produce(name, batch(records, codec=CODECS[codec]))
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert [wrong.batch_index for wrong in answer.record_errors] == [2]
    assert answer.error_message
    assert kafka.end(name) == 0
    assert kafka.produce(name, batch(records[:2], codec=CODECS[codec])).error_code == 0


@pytest.mark.parametrize(
    ("config", "away_ms", "code"),
    [
        ("message.timestamp.before.max.ms", -120_000, ErrorCode.INVALID_TIMESTAMP),
        ("message.timestamp.before.max.ms", -10_000, 0),
        ("message.timestamp.after.max.ms", 120_000, ErrorCode.INVALID_TIMESTAMP),
        ("message.timestamp.after.max.ms", 10_000, 0),
    ],
)
def test_row_22_timestamps_outside_the_limits_are_refused(
    kafka: Connection, new_name, config: str, away_ms: int, code: int
) -> None:
    name = new_name()
    kafka.create_topic(name, configs={config: "60000"})
    now = int(time.time() * 1000)
    records = [Record(timestamp=now), Record(timestamp=now + away_ms)]
    answer = kafka.produce(name, batch(records))
    assert answer.error_code == code
    assert kafka.end(name) == (0 if code else 2)


# ---- row 23: acks and replicas ----


@pytest.mark.parametrize("acks", [-1, 1, 0])
def test_row_23_no_more_replicas_are_wanted_in_sync_than_the_topic_has(kafka: Connection, new_name, acks: int) -> None:
    """A topic of one replica is writable whatever min.insync.replicas says (KIP-966); 19 needs a second one."""
    name = new_name()
    kafka.create_topic(name, configs={"min.insync.replicas": "2"})
    request, version = produce_request(name, batch(three()), acks=acks)
    kafka.send(request, version)
    if acks:
        assert kafka.receive(0, version).responses[0].partition_responses[0].error_code == 0
    assert kafka.end(name) == 3


@pytest.mark.parametrize("acks", [2, -2, 100])
def test_row_23_other_acks_are_invalid(kafka: Connection, topic: str, acks: int) -> None:
    assert kafka.produce(topic, batch(three()), acks=acks).error_code == ErrorCode.INVALID_REQUIRED_ACKS
    assert kafka.end(topic) == 0


# ---- rows 24-27: producers ----


def init(kafka: Connection, **more: object) -> tuple[int, int]:
    asked = init_producer_id.InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60000, **more)
    while (answer := kafka.call(asked, 4)).error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        time.sleep(0.1)  # Apache Kafka, just started
    assert answer.error_code == 0
    return answer.producer_id, answer.producer_epoch


def numbered(producer: tuple[int, int], sequence: int, count: int = 1, value: bytes = b"v") -> bytes:
    return batch(
        [Record(value, timestamp=NOW_MS)] * count,
        producer_id=producer[0],
        producer_epoch=producer[1],
        base_sequence=sequence,
    )


def test_row_24_producer_ids_differ(kafka: Connection) -> None:
    found = [init(kafka) for _ in range(5)]
    assert len({producer_id for producer_id, _ in found}) == 5
    assert {epoch for _, epoch in found} == {0}


def test_row_24_each_of_the_last_five_batches_again_answers_its_first_offset(kafka: Connection, topic: str) -> None:
    producer = init(kafka)
    for turn in range(8):
        kafka.produce(topic, numbered(producer, 10 * turn, 10))
    for turn in range(3, 8):
        again = kafka.produce(topic, numbered(producer, 10 * turn, 10))
        assert (again.error_code, again.base_offset) == (0, 10 * turn)
    assert kafka.end(topic) == 80


def test_row_24_five_in_flight_on_one_connection_each_twice(kafka: Connection, topic: str) -> None:
    """As after a lost connection: the first answers never came, all five are sent again."""
    producer = init(kafka)
    for _ in range(2):
        for sequence in range(5):
            request, version = produce_request(topic, numbered(producer, sequence))
            kafka.send(request, version)
    offsets = [kafka.receive(0, 9).responses[0].partition_responses[0].base_offset for _ in range(10)]
    assert offsets == [0, 1, 2, 3, 4] * 2
    assert kafka.end(topic) == 5


def test_row_24_an_older_batch_is_a_duplicate_and_a_gap_is_out_of_order(
    target: Target, kafka: Connection, topic: str
) -> None:
    producer = init(kafka)
    for sequence in range(8):
        kafka.produce(topic, numbered(producer, sequence))
    older = kafka.produce(topic, numbered(producer, 1)).error_code
    if target.is_twinlog:
        assert older == ErrorCode.DUPLICATE_SEQUENCE_NUMBER
    else:
        assert older in (ErrorCode.DUPLICATE_SEQUENCE_NUMBER, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
    assert kafka.produce(topic, numbered(producer, 9)).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert kafka.end(topic) == 8
    assert kafka.produce(topic, numbered(producer, 8)).base_offset == 8


def test_row_24_half_of_a_known_batch_is_not_a_duplicate(kafka: Connection, topic: str) -> None:
    producer = init(kafka)
    kafka.produce(topic, numbered(producer, 0, 10))
    assert kafka.produce(topic, numbered(producer, 0, 5)).error_code != 0
    assert kafka.produce(topic, numbered(producer, 5, 10)).error_code != 0
    assert kafka.end(topic) == 10


def test_row_24_a_first_sequence_other_than_0_is_refused(target: Target, kafka: Connection, topic: str) -> None:
    """Taking it would hide that earlier batches never arrived (KAFKA-15591): Apache Kafka 4.3.1 takes it."""
    if not target.is_twinlog:
        pytest.skip("Apache Kafka differs here")
    answer = kafka.produce(topic, numbered(init(kafka), 5))
    assert answer.error_code in (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID)
    assert kafka.end(topic) == 0


WRAP = 1 << 31


def test_row_25_sequences_wrap_to_0_between_and_inside_batches(kafka: Connection, topic: str) -> None:
    producer = init(kafka)
    largest = 0
    # A handful of huge steps is not possible, records count one each; so this starts just below the end where allowed.
    answer = kafka.produce(topic, numbered(producer, WRAP - 4, 3))
    if answer.error_code:
        pytest.skip("this broker wants sequence 0 first; the wrap is covered by tests of the producer state")
    largest = kafka.end(topic)
    assert kafka.produce(topic, numbered(producer, WRAP - 1, 3)).base_offset == largest  # sequences 2^31-1, 0, 1
    assert kafka.produce(topic, numbered(producer, 2, 1)).error_code == 0
    again = kafka.produce(topic, numbered(producer, WRAP - 1, 3))
    assert (again.error_code, again.base_offset) == (0, largest)
    assert kafka.end(topic) == largest + 4


def test_row_26_an_older_epoch_is_fenced_and_a_new_one_starts_at_0(kafka: Connection, topic: str) -> None:
    first = init(kafka)
    kafka.produce(topic, numbered(first, 0, 3))
    newer = (first[0], first[1] + 1)
    assert kafka.produce(topic, numbered(newer, 3)).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert kafka.produce(topic, numbered(newer, 0)).base_offset == 3
    assert kafka.produce(topic, numbered(first, 3)).error_code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert kafka.end(topic) == 4


@pytest.mark.parametrize("clean", [True, False], ids=["clean stop", "kill -9"])
def test_row_27_producer_state_survives_a_restart(own_server: Server, clean: bool) -> None:
    with Connection(own_server.bootstrap) as kafka:
        kafka.create_topic("t")
        producer = init(kafka)
        for sequence in range(7):
            kafka.produce("t", numbered(producer, sequence))
    for _ in range(2):
        if clean:
            own_server.stop()
        else:
            own_server.kill()
        own_server.start()
        with Connection(own_server.bootstrap) as kafka:
            for sequence in range(2, 7):
                again = kafka.produce("t", numbered(producer, sequence))
                assert (again.error_code, again.base_offset) == (0, sequence)
            assert kafka.produce("t", numbered(producer, 9)).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
            assert init(kafka)[0] > producer[0]  # a block of ids is never given twice
    with Connection(own_server.bootstrap) as kafka:
        assert kafka.produce("t", numbered(producer, 7)).base_offset == 7


def test_row_19_compressed_records_are_counted_too(target: Target, kafka: Connection, topic: str) -> None:
    if not target.is_twinlog:
        pytest.skip("Apache Kafka differs here: it answers CORRUPT_MESSAGE or an unexpected error")
    records = three()
    body = b"".join(record_bytes(record, n, records[0].timestamp) for n, record in enumerate(records))
    for codec in (1, 2, 3, 4):
        for payload, count in ((compressed(codec, body), 4), (compressed(codec, body + b"\0"), 3)):
            answer = kafka.produce(topic, batch(records, codec=codec, payload=payload, count=count))
            assert answer.error_code in (ErrorCode.INVALID_RECORD, ErrorCode.CORRUPT_MESSAGE)
        cut = kafka.produce(topic, batch(records, codec=codec, payload=compressed(codec, body)[:-3]))
        assert cut.error_code in (ErrorCode.INVALID_RECORD, ErrorCode.CORRUPT_MESSAGE)
    assert kafka.end(topic) == 0


def test_row_19_a_transactional_batch_needs_a_transactional_producer(kafka: Connection, topic: str) -> None:
    answer = kafka.produce(topic, batch(three(), attributes=TRANSACTIONAL))
    refused = (ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, ErrorCode.INVALID_RECORD, ErrorCode.INVALID_TXN_STATE)
    assert answer.error_code in refused
    assert kafka.end(topic) == 0
