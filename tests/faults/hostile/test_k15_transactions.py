"""Hostile producers: old epochs, foreign ids, other people's transactions, markers by hand, crowds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.faults.hostile.attack import Attack
from tests.scenarios.kafka.raw import Connection
from tests.scenarios.kafka.transactions import NEW, OLD, Producer, described, find, listed
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    add_partitions_to_txn,
    describe_transactions,
    end_txn,
    init_producer_id,
    write_txn_markers,
)

PRODUCE, END_TXN = 0, 26


@pytest.fixture
def kafka(attack: Attack) -> Iterator[Connection]:
    with attack.connect(timeout_s=60) as connection:
        find(connection, attack.topic)
        yield connection


@pytest.fixture
def victim(kafka: Connection, attack: Attack, new_name) -> Producer:
    """A producer with a transaction open in a topic of its own."""
    topic = new_name()
    kafka.create_topic(topic)
    made = Producer(kafka, topic)
    assert made.produce(topic, b"mine").error_code == 0
    return made


@pytest.mark.parametrize("version", [OLD, NEW])
@pytest.mark.parametrize(
    ("producer_id", "epoch", "sequence", "codes"),
    [
        (0, -1, 0, {ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.INVALID_RECORD}),
        (0, 7, 0, {ErrorCode.INVALID_PRODUCER_EPOCH}),
        (0, 32767, 0, {ErrorCode.INVALID_PRODUCER_EPOCH}),
        (2**62, 0, 0, {ErrorCode.INVALID_PRODUCER_ID_MAPPING}),
        (-1, 0, 0, {ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.INVALID_RECORD}),
    ],
)
def test_k15_nobody_writes_as_somebody_else(
    attack: Attack, victim: Producer, version: int, producer_id: int, epoch: int, sequence: int, codes: set[ErrorCode]
) -> None:
    claimed = victim.id if producer_id == 0 else producer_id
    data = victim.batch(b"x", topic=attack.topic, sequence=sequence, producer_id=claimed, producer_epoch=epoch)
    request = victim.produce_request(attack.topic, data, version=version)
    answer = victim.kafka.call(request, version).responses[0].partition_responses[0]
    assert answer.error_code in codes


def test_k15_a_foreign_transactional_id_opens_no_door(attack: Attack, victim: Producer, new_name) -> None:
    for name in (new_name(), attack.topic, "", "\0", "x" * 30_000):
        data = victim.batch(b"x", topic=attack.topic, sequence=0)
        request = victim.produce_request(attack.topic, data)
        request.transactional_id = name
        answer = victim.kafka.call(request, NEW).responses[0].partition_responses[0]
        assert answer.error_code in (ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.INVALID_REQUEST), name
    assert described(victim.kafka, victim.name).transaction_state == "Ongoing"


def test_k15_nobody_ends_the_transaction_of_another(attack: Attack, victim: Producer) -> None:
    for producer_id, epoch in (
        (victim.id, victim.epoch + 1),
        (victim.id, -1),
        (victim.id + 1, 0),
        (-1, -1),
        (2**63 - 1, 0),
    ):
        for committed in (True, False):
            for version in (0, 2, 5):
                request = end_txn.EndTxnRequest(
                    transactional_id=victim.name, producer_id=producer_id, producer_epoch=epoch, committed=committed
                )
                assert victim.kafka.call(request, version).error_code in (
                    ErrorCode.PRODUCER_FENCED,
                    ErrorCode.INVALID_PRODUCER_EPOCH,
                    ErrorCode.INVALID_PRODUCER_ID_MAPPING,
                )
    assert described(victim.kafka, victim.name).transaction_state == "Ongoing"


def test_k15_a_gap_in_the_sequence_is_refused_within_a_transaction(victim: Producer) -> None:
    topic = victim.name
    assert victim.produce(topic, b"x", sequence=5).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert victim.kafka.end(topic) == 1


def test_k15_ids_without_sense_make_nothing(kafka: Connection) -> None:
    before = len(listed(kafka).transaction_states)
    for name, timeout_ms, code in (
        ("", 1000, ErrorCode.INVALID_REQUEST),
        ("x" * 30_000, 1000, ErrorCode.INVALID_REQUEST),
        ("x", -1, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
        ("x", 2**31 - 1, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
    ):
        request = init_producer_id.InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=timeout_ms)
        assert kafka.call(request, 4).error_code == code
    half = init_producer_id.InitProducerIdRequest(
        transactional_id="x", transaction_timeout_ms=1000, producer_id=5, producer_epoch=-1
    )
    assert kafka.call(half, 4).error_code == ErrorCode.INVALID_REQUEST
    assert len(listed(kafka).transaction_states) == before


def test_k15_partitions_that_do_not_exist_join_nothing(attack: Attack, victim: Producer) -> None:
    for partitions in ([-1], [2**31 - 1], list(range(1, 20_000))):
        request = add_partitions_to_txn.AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=victim.name,
            v3_and_below_producer_id=victim.id,
            v3_and_below_producer_epoch=victim.epoch,
            v3_and_below_topics=[
                add_partitions_to_txn.AddPartitionsToTxnTopic(name=attack.topic, partitions=partitions)
            ],
        )
        (result,) = victim.kafka.call(request, 3).results_by_topic_v3_and_below
        assert {each.partition_error_code for each in result.results_by_partition} == {
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        }
    assert [each.topic for each in described(victim.kafka, victim.name).topics] == [victim.name]


def test_k15_markers_for_nobody_are_refused(attack: Attack, kafka: Connection) -> None:
    marker = write_txn_markers.WritableTxnMarker(
        producer_id=-1,
        producer_epoch=0,
        transaction_result=True,
        topics=[
            write_txn_markers.WritableTxnMarkerTopic(name=attack.topic, partition_indexes=[0, -1, 2**31 - 1]),
            write_txn_markers.WritableTxnMarkerTopic(name="no-such-topic", partition_indexes=[0] * 5000),
        ],
    )
    answer = kafka.call(write_txn_markers.WriteTxnMarkersRequest(markers=[marker] * 3), 1)
    codes = {p.error_code for m in answer.markers for t in m.topics for p in t.partitions}
    assert codes <= {ErrorCode.INVALID_REQUEST, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


def test_k15_a_crowd_at_one_transaction_is_bounded_and_answered(attack: Attack, victim: Producer) -> None:
    """A thousand ends at once, and as many writes, over two connections: one end counts, nobody is left hanging."""
    with attack.connect(timeout_s=60) as other:
        writes = [victim.produce_request(attack.topic, victim.batch(b"x", topic=attack.topic, sequence=0))]
        end = victim.end_request(commit=False)
        for _ in range(1000):
            victim.kafka.send(end, 5)
            other.send(end, 5)
        codes: Counter[int] = Counter()
        for connection in (victim.kafka, other):
            codes.update(connection.receive(END_TXN, 5).error_code for _ in range(1000))
        assert codes == {0: 2000}, "the same end, asked for again and again"
        answer = other.call(writes[0], NEW).responses[0].partition_responses[0]
        assert answer.error_code == ErrorCode.INVALID_PRODUCER_EPOCH


def test_k15_many_names_in_one_question_cost_little(kafka: Connection) -> None:
    names = [f"nobody-{number}" for number in range(20_000)]
    answer = kafka.call(describe_transactions.DescribeTransactionsRequest(transactional_ids=names), 0)
    codes = {each.error_code for each in answer.transaction_states}
    assert codes == {ErrorCode.TRANSACTIONAL_ID_NOT_FOUND}
    refused = listed(kafka, transactional_id_pattern="(a+)+" * 500)
    assert refused.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert listed(kafka, transactional_id_pattern="(a+)+$").error_code == 0, "RE2 takes time by length alone"
