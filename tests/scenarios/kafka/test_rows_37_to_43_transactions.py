"""Transactions, as the checklist of brokers numbers what is got wrong (rows 26 and 37 to 43), over raw sockets."""

from __future__ import annotations

import pytest

from tests.compat.target import Target
from tests.scenarios.kafka.batches import Record, batch, read_batches
from tests.scenarios.kafka.raw import LATEST, Connection, fetch_request
from tests.scenarios.kafka.transactions import (
    NEW,
    OLD,
    Producer,
    committed_offset,
    committed_values,
    described,
    find,
    is_commit,
    is_marker,
    listed,
    producers_of,
    until_stable,
    verify_only,
    write_marker,
)
from twinlog.wire.kafka.errors import ErrorCode as Code
from twinlog.wire.kafka.messages import delete_topics, end_txn, init_producer_id, join_group, sync_group

VERSIONS = pytest.mark.parametrize("version", [OLD, NEW])


def begin(producer: Producer, topic: str, version: int, *partitions: int) -> None:
    if version == OLD:
        assert set(producer.add(topic, *(partitions or (0,)))) == {0}


def end_version(version: int) -> int:
    return 5 if version == NEW else 2


# ---- 37: what a reader of committed data sees -----------------------------------------------------------------------


@VERSIONS
def test_row_37_nothing_is_seen_before_the_end_and_nothing_ever_of_what_was_aborted(
    kafka: Connection, topic: str, new_name, version: int
) -> None:
    producer = Producer(kafka, new_name())
    begin(producer, topic, version)
    assert producer.produce(topic, b"a", b"b", version=version).error_code == 0
    assert committed_values(kafka, topic) == []
    assert len(kafka.read(topic)) == 1, "who reads uncommitted data sees it at once"
    producer.abort(end_version(version))
    begin(producer, topic, version)
    assert producer.produce(topic, b"c", version=version).error_code == 0
    producer.commit(end_version(version))
    until_stable(kafka, topic, 5)
    assert committed_values(kafka, topic) == [b"c"]


def test_row_37_the_aborted_list_covers_exactly_the_overlap(kafka: Connection, topic: str, new_name) -> None:
    producer = Producer(kafka, new_name())
    starts = []
    for commit in (False, True, False, True):
        starts.append(producer.produce(topic, b"1", b"2").base_offset)
        producer.end(commit=commit)
    until_stable(kafka, topic, 12)
    assert starts == [0, 3, 6, 9]

    def aborted(offset: int, **more: int) -> list[tuple[int, int]] | None:
        found = kafka.fetch(topic, offset, **more).aborted_transactions
        return None if found is None else [(each.producer_id, each.first_offset) for each in found]

    first, second = (producer.id, 0), (producer.id, 6)
    assert aborted(0, isolation_level=1) == [first, second]
    assert aborted(2, isolation_level=1) == [first, second], "the marker itself still belongs to it"
    assert aborted(3, isolation_level=1) == [second]
    assert aborted(9, isolation_level=1) == []
    assert aborted(0, isolation_level=1, partition_max_bytes=1) == [first], "only what the answer holds"
    assert aborted(0) is None, "readers of uncommitted data are not told"


def test_row_37_two_producers_are_kept_apart(kafka: Connection, topic: str, new_name) -> None:
    good, bad = Producer(kafka, new_name()), Producer(kafka, new_name())
    bad.produce(topic, b"bad 1")
    good.produce(topic, b"good 1")
    bad.produce(topic, b"bad 2")
    good.commit()
    assert committed_values(kafka, topic) == [], "the other one is open, and began before"
    assert kafka.offset(topic, LATEST, isolation_level=1).offset == 0
    bad.abort()
    until_stable(kafka, topic, 5)
    assert committed_values(kafka, topic) == [b"good 1"]
    kafka.produce(topic, batch([Record(b"plain")]))
    assert committed_values(kafka, topic) == [b"good 1", b"plain"]


def test_row_38_markers_are_control_batches_of_one_record(kafka: Connection, topic: str, new_name) -> None:
    producer = Producer(kafka, new_name())
    epochs = []
    for commit in (True, False):
        producer.produce(topic, b"v")
        producer.end(commit=commit)
        epochs.append(producer.epoch)
    until_stable(kafka, topic, 4)
    _, committed, _, aborted = kafka.read(topic)
    for marker, kind, epoch in ((committed, 1, epochs[0]), (aborted, 0, epochs[1])):
        assert is_marker(marker) and marker.crc_holds and marker.count == 1
        assert (marker.producer_id, marker.producer_epoch, marker.base_sequence) == (producer.id, epoch, -1)
        assert marker.records[0].key == b"\x00\x00" + kind.to_bytes(2, "big")
        assert (marker.records[0].value or b"")[:2] == b"\x00\x00"


def test_row_30_a_long_poll_for_committed_data_counts_stable_bytes_only(
    kafka: Connection, target: Target, topic: str, new_name
) -> None:
    producer = Producer(kafka, new_name())
    with Connection(target.bootstrap) as reader:
        request, version = fetch_request(topic, 0, max_wait_ms=15_000, min_bytes=1, isolation_level=1)
        reader.send(request, version)
        producer.produce(topic, b"x" * 1000)
        producer.produce(topic, b"y" * 1000)
        assert not answers_within(reader, 0.3), "an open transaction is no news"
        producer.commit()
        found = reader.receive(1, version).responses[0].partitions[0]
        assert len(read_batches(found.records)) >= 2


def answers_within(reader: Connection, seconds: float) -> bool:
    reader.socket.settimeout(seconds)
    try:
        reader.socket.recv(1, 2)  # MSG_PEEK
    except TimeoutError:
        return False
    finally:
        reader.socket.settimeout(20.0)
    return True


def test_row_40_a_fetch_that_waits_while_the_abort_lands_leaks_nothing(
    kafka: Connection, target: Target, topic: str, new_name
) -> None:
    producer = Producer(kafka, new_name())
    producer.produce(topic, b"never")
    with Connection(target.bootstrap) as reader:
        request, version = fetch_request(topic, 0, max_wait_ms=15_000, min_bytes=1, isolation_level=1)
        reader.send(request, version)
        producer.abort()
        found = reader.receive(1, version).responses[0].partitions[0]
        assert [(each.producer_id, each.first_offset) for each in found.aborted_transactions] == [(producer.id, 0)]


# ---- 39: who a producer is ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("timeout_ms", [0, -1, 2**31 - 1])
def test_row_39_a_timeout_beyond_the_limit_is_refused(kafka: Connection, new_name, timeout_ms: int) -> None:
    name = new_name()
    find(kafka, name)
    request = init_producer_id.InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=timeout_ms)
    assert kafka.call(request, 4).error_code == Code.INVALID_TRANSACTION_TIMEOUT


def test_row_39_a_new_instance_aborts_what_the_old_one_left_and_fences_it(
    kafka: Connection, topic: str, new_name
) -> None:
    old = Producer(kafka, new_name())
    old.produce(topic, b"left open")
    new = Producer(kafka, old.name)
    assert new.id == old.id and new.epoch > old.epoch
    until_stable(kafka, topic, 2)
    assert committed_values(kafka, topic) == []
    assert old.produce(topic, b"zombie").error_code == Code.INVALID_PRODUCER_EPOCH
    assert old.end(commit=True).error_code == Code.PRODUCER_FENCED
    assert old.end(commit=True, version=1).error_code == Code.INVALID_PRODUCER_EPOCH, "older clients know this one"
    assert old.add(topic) == [Code.PRODUCER_FENCED]
    assert old.ask_init(producer_id=old.id, epoch=old.epoch).error_code == Code.PRODUCER_FENCED
    assert old.ask_init(producer_id=old.id, epoch=old.epoch, version=3).error_code == Code.INVALID_PRODUCER_EPOCH
    assert new.produce(topic, b"fresh").error_code == 0
    new.commit()
    until_stable(kafka, topic, 4)
    assert committed_values(kafka, topic) == [b"fresh"]


def test_row_39_a_producer_that_goes_on_after_an_error_gets_the_same_answer_again(kafka: Connection, new_name) -> None:
    producer = Producer(kafka, new_name())
    first = producer.ask_init(producer_id=producer.id, epoch=producer.epoch)
    again = producer.ask_init(producer_id=producer.id, epoch=producer.epoch)
    assert (first.error_code, first.producer_epoch) == (0, producer.epoch + 1)
    assert (again.error_code, again.producer_epoch) == (0, producer.epoch + 1), "its answer may have been lost"


def test_row_26_a_new_epoch_begins_at_sequence_zero(kafka: Connection, topic: str, new_name) -> None:
    producer = Producer(kafka, new_name())
    producer.produce(topic, b"a")
    producer.commit()
    assert producer.produce(topic, b"b", sequence=1).error_code == Code.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert producer.produce(topic, b"b", sequence=0).error_code == 0


def test_row_24_a_batch_sent_again_within_a_transaction_keeps_its_offset(
    kafka: Connection, topic: str, new_name
) -> None:
    producer = Producer(kafka, new_name())
    first = producer.produce(topic, b"a", b"b", sequence=0)
    again = producer.produce(topic, b"a", b"b", sequence=0)
    assert (first.error_code, again.error_code, again.base_offset) == (0, 0, first.base_offset)


# ---- 40: the end ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("commit", [True, False])
def test_row_40_an_end_sent_again_is_answered_alike_and_the_opposite_is_refused(
    kafka: Connection, topic: str, new_name, commit: bool
) -> None:
    producer = Producer(kafka, new_name())
    producer.produce(topic, b"v")
    old_epoch = producer.epoch
    first = producer.end(commit=commit)
    again = producer.end(commit=commit, epoch=old_epoch)
    assert (first.error_code, again.error_code) == (0, 0)
    assert (
        (again.producer_id, again.producer_epoch)
        == (first.producer_id, first.producer_epoch)
        == (
            producer.id,
            old_epoch + 1,
        )
    )
    assert producer.end(commit=not commit, epoch=old_epoch).error_code == Code.INVALID_TXN_STATE
    until_stable(kafka, topic, 2)
    assert committed_values(kafka, topic) == ([b"v"] if commit else [])


@pytest.mark.parametrize("commit", [True, False])
def test_row_40_the_same_for_older_clients_whose_epoch_stays(
    kafka: Connection, topic: str, new_name, commit: bool
) -> None:
    producer = Producer(kafka, new_name())
    producer.add(topic)
    producer.produce(topic, b"v", version=OLD)
    assert producer.end(commit=commit, version=1).error_code == 0
    assert producer.end(commit=commit, version=1).error_code == 0
    assert producer.end(commit=not commit, version=1).error_code == Code.INVALID_TXN_STATE


def test_row_40_a_transaction_without_partitions_can_end(kafka: Connection, new_name) -> None:
    producer = Producer(kafka, new_name())
    epoch = producer.epoch
    producer.commit()
    producer.abort()
    assert producer.epoch == epoch + 2


def test_row_40_strangers_cannot_end_it(kafka: Connection, topic: str, new_name) -> None:
    producer = Producer(kafka, new_name())
    producer.produce(topic, b"v")
    for producer_id, epoch, code in (
        (producer.id + 1_000_000, producer.epoch, Code.INVALID_PRODUCER_ID_MAPPING),
        (producer.id, producer.epoch + 1, Code.PRODUCER_FENCED),
    ):
        request = end_txn.EndTxnRequest(
            transactional_id=producer.name, producer_id=producer_id, producer_epoch=epoch, committed=True
        )
        assert kafka.call(request, 5).error_code == code
    unknown = end_txn.EndTxnRequest(transactional_id=new_name(), producer_id=producer.id, committed=True)
    find(kafka, unknown.transactional_id)
    assert kafka.call(unknown, 5).error_code == Code.INVALID_PRODUCER_ID_MAPPING
    assert described(kafka, producer.name).transaction_state == "Ongoing"


# ---- 41: offsets in a transaction -----------------------------------------------------------------------------------


@VERSIONS
def test_row_41_offsets_count_only_once_it_is_committed(kafka: Connection, topic: str, new_name, version: int) -> None:
    producer, group = Producer(kafka, new_name()), new_name()
    commit_version = 5 if version == NEW else 3

    def write(offset: int) -> None:
        if version == OLD:
            assert producer.add_offsets(group) == 0
        assert producer.commit_offset(group, topic, offset, version=commit_version) == 0

    write(7)
    assert committed_offset(kafka, group, topic) == (Code.UNSTABLE_OFFSET_COMMIT, -1)
    assert committed_offset(kafka, group, topic, stable=False) == (0, -1)
    producer.commit(end_version(version))
    assert committed_offset(kafka, group, topic) == (0, 7)
    write(9)
    producer.abort(end_version(version))
    assert committed_offset(kafka, group, topic) == (0, 7)


def test_row_41_offsets_of_older_clients_have_to_be_added_first(kafka: Connection, topic: str, new_name) -> None:
    producer, group = Producer(kafka, new_name()), new_name()
    assert producer.commit_offset(group, topic, 7, version=3) == Code.INVALID_TXN_STATE
    assert producer.commit_offset(group, topic, 7, version=4) == Code.TRANSACTION_ABORTABLE
    assert committed_offset(kafka, group, topic) == (0, -1)


def test_row_41_only_current_members_commit(kafka: Connection, topic: str, new_name) -> None:
    group = new_name()
    find(kafka, group, 0)
    protocol = join_group.JoinGroupRequestProtocol(name="range", metadata=b"\0\0\0\0\0\0\0\0\0\0")
    join = join_group.JoinGroupRequest(
        group_id=group,
        session_timeout_ms=30_000,
        rebalance_timeout_ms=30_000,
        protocol_type="consumer",
        protocols=[protocol],
    )
    joined = kafka.call(join, 3)
    assert joined.error_code == 0
    member, generation = joined.member_id, joined.generation_id
    sync = sync_group.SyncGroupRequest(group_id=group, generation_id=generation, member_id=member)
    assert kafka.call(sync, 2).error_code == 0
    producer = Producer(kafka, new_name())
    assert producer.commit_offset(group, topic, 3, generation=generation, member="stranger") == Code.UNKNOWN_MEMBER_ID
    assert producer.commit_offset(group, topic, 3, generation=generation - 1, member=member) == Code.ILLEGAL_GENERATION
    assert producer.commit_offset(group, topic, 3, generation=generation, member=member) == 0
    producer.commit()
    assert committed_offset(kafka, group, topic) == (0, 3)


# ---- 42: nothing that does not belong to it -------------------------------------------------------------------------


def test_row_42_older_clients_cannot_write_to_a_partition_that_was_not_added(
    kafka: Connection, topic: str, new_name
) -> None:
    producer = Producer(kafka, new_name())
    assert producer.produce(topic, b"v", sequence=0, version=10).error_code == Code.INVALID_TXN_STATE
    assert producer.produce(topic, b"v", sequence=0, version=11).error_code == Code.TRANSACTION_ABORTABLE
    assert verify_only(kafka, producer, topic, 4) == Code.INVALID_TXN_STATE
    assert verify_only(kafka, producer, topic, 5) == Code.TRANSACTION_ABORTABLE
    assert kafka.end(topic) == 0
    producer.add(topic)
    assert verify_only(kafka, producer, topic) == 0
    producer.commit(2)
    assert producer.produce(topic, b"late", sequence=0, version=11).error_code == Code.TRANSACTION_ABORTABLE
    assert b"late" not in [record.value for each in kafka.read(topic) for record in each.records]
    assert producers_of(kafka, topic).active_producers[0].current_txn_start_offset == -1, "and nothing hangs"


def test_row_42_a_late_write_never_joins_the_next_transaction(kafka: Connection, topic: str, new_name) -> None:
    producer = Producer(kafka, new_name())
    producer.produce(topic, b"first")
    late = producer.produce_request(topic, producer.batch(b"late", topic=topic))
    late_end = producer.end_request(commit=False)
    producer.commit()
    assert kafka.call(late, NEW).responses[0].partition_responses[0].error_code == Code.INVALID_PRODUCER_EPOCH
    producer.produce(topic, b"second")
    assert kafka.call(late, NEW).responses[0].partition_responses[0].error_code == Code.INVALID_PRODUCER_EPOCH
    assert kafka.call(late_end, 5).error_code == Code.PRODUCER_FENCED
    producer.commit()
    until_stable(kafka, topic, 4)
    assert committed_values(kafka, topic) == [b"first", b"second"]


def test_row_42_all_partitions_are_added_or_none(kafka: Connection, topic: str, new_name) -> None:
    producer = Producer(kafka, new_name())
    assert producer.add(topic, 0, 5) == [Code.OPERATION_NOT_ATTEMPTED, Code.UNKNOWN_TOPIC_OR_PARTITION]
    assert described(kafka, producer.name).transaction_state == "Empty"


def test_row_42_a_plain_batch_does_not_slip_into_an_open_transaction(kafka: Connection, topic: str, new_name) -> None:
    producer = Producer(kafka, new_name())
    producer.produce(topic, b"v")
    plain = producer.produce(topic, b"plain", attributes=0)
    assert plain.error_code == Code.INVALID_TXN_STATE
    assert kafka.end(topic) == 1


def test_row_42_the_next_transaction_follows_at_once(kafka: Connection, topic: str, new_name) -> None:
    """Each of them meets the end of the one before, and none is sent away to come back later."""
    producer = Producer(kafka, new_name())
    for number in range(20):
        assert producer.produce(topic, b"%d" % number).error_code == 0
        assert producer.end(commit=number % 2 == 0).error_code == 0
    old = Producer(kafka, new_name())
    for number in range(20, 30):
        assert old.add(topic) == [0]
        assert old.produce(topic, b"%d" % number, version=OLD).error_code == 0
        assert old.end(commit=number % 2 == 0, version=2).error_code == 0
    until_stable(kafka, topic, 60)
    assert committed_values(kafka, topic) == [b"%d" % number for number in range(0, 30, 2)]


def test_row_42_writes_sent_without_waiting_join_in_their_order(kafka: Connection, topic: str, new_name) -> None:
    producer = Producer(kafka, new_name())
    for _ in range(3):
        for number in range(5):
            data = producer.batch(b"%d" % number, topic=topic)
            kafka.send(producer.produce_request(topic, data), NEW)
        codes = [kafka.receive(0, NEW).responses[0].partition_responses[0].error_code for _ in range(5)]
        assert codes == [0] * 5
        producer.commit()
    until_stable(kafka, topic, 18)
    assert committed_values(kafka, topic) == [b"%d" % number for number in range(5)] * 3


# ---- 43: time, and administration -----------------------------------------------------------------------------------


@VERSIONS
def test_row_43_a_transaction_whose_time_is_over_is_aborted_and_its_producer_fenced(
    kafka: Connection, topic: str, new_name, version: int
) -> None:
    producer = Producer(kafka, new_name(), timeout_ms=300)
    begin(producer, topic, version)
    producer.produce(topic, b"slow", version=version)
    until_stable(kafka, topic, 2)
    assert committed_values(kafka, topic) == []
    assert producer.end(commit=True, version=2).error_code == Code.PRODUCER_FENCED
    assert producer.produce(topic, b"more", version=version).error_code == Code.INVALID_PRODUCER_EPOCH
    again = Producer(kafka, producer.name)
    assert again.produce(topic, b"fresh").error_code == 0
    again.commit()
    until_stable(kafka, topic, 4)
    assert committed_values(kafka, topic) == [b"fresh"]


def test_row_43_transactions_are_listed_by_state_producer_age_and_name(kafka: Connection, topic: str, new_name) -> None:
    producer = Producer(kafka, new_name())
    assert producer.produce(topic, b"v").error_code == 0

    def names(**filters: object) -> list[str]:
        answer = listed(kafka, **filters)
        assert answer.error_code == 0
        return [each.transactional_id for each in answer.transaction_states]

    assert producer.name in names()
    assert names(producer_id_filters=[producer.id]) == [producer.name]
    assert names(producer_id_filters=[producer.id], state_filters=["Empty"]) == []
    assert names(producer_id_filters=[producer.id], state_filters=["Ongoing"]) == [producer.name]
    assert names(producer_id_filters=[producer.id], duration_filter=3_600_000) == []
    assert names(transactional_id_pattern=producer.name[:-1] + ".") == [producer.name]
    assert names(transactional_id_pattern=producer.name[:-1]) == [], "the whole name has to match"
    assert listed(kafka, transactional_id_pattern="(").error_code == Code.INVALID_REGULAR_EXPRESSION
    answer = listed(kafka, state_filters=["Sleeping"])
    assert answer.unknown_state_filters == ["Sleeping"] and answer.transaction_states == []
    state = described(kafka, producer.name)
    assert (state.transaction_state, state.producer_id, state.producer_epoch) == (
        "Ongoing",
        producer.id,
        producer.epoch,
    )
    assert [(each.topic, each.partitions) for each in state.topics] == [(topic, [0])]
    assert state.transaction_start_time_ms > 0 and state.transaction_timeout_ms == 60_000
    assert described(kafka, new_name()).error_code == Code.TRANSACTIONAL_ID_NOT_FOUND
    producer.abort()


def test_row_43_a_hanging_transaction_is_found_and_ended_by_hand(kafka: Connection, topic: str, new_name) -> None:
    producer = Producer(kafka, new_name())
    producer.produce(topic, b"hangs")
    (found,) = producers_of(kafka, topic).active_producers
    assert (found.producer_id, found.producer_epoch) == (producer.id, producer.epoch)
    assert (found.current_txn_start_offset, found.last_sequence) == (0, 0)
    assert write_marker(kafka, topic, producer.id, producer.epoch) == 0
    assert kafka.offset(topic, LATEST, isolation_level=1).offset == 2, "answered once readers see it"
    assert committed_values(kafka, topic) == []
    assert producers_of(kafka, topic).active_producers[0].current_txn_start_offset == -1
    marker = kafka.read(topic)[-1]
    assert is_marker(marker) and not is_commit(marker)


def test_row_43_markers_older_than_what_they_would_end_are_refused(kafka: Connection, topic: str, new_name) -> None:
    producer = Producer(kafka, new_name())
    producer.commit()
    producer.produce(topic, b"v")
    assert write_marker(kafka, topic, producer.id, producer.epoch - 1) == Code.INVALID_PRODUCER_EPOCH
    assert write_marker(kafka, new_name(), producer.id, producer.epoch) == Code.UNKNOWN_TOPIC_OR_PARTITION
    assert write_marker(kafka, topic, -1, 0) == Code.INVALID_REQUEST
    assert kafka.end(topic) == 1
    producer.commit()
    until_stable(kafka, topic, 2)
    assert committed_values(kafka, topic) == [b"v"]


def test_row_43_a_topic_deleted_within_a_transaction_does_not_keep_it_open(
    kafka: Connection, topic: str, new_name
) -> None:
    other = new_name()
    kafka.create_topic(other)
    producer = Producer(kafka, new_name())
    producer.produce(topic, b"v")
    producer.produce(other, b"gone")
    kafka.call(delete_topics.DeleteTopicsRequest(topic_names=[other], timeout_ms=10_000), 5)
    producer.commit()
    until_stable(kafka, topic, 2)
    assert committed_values(kafka, topic) == [b"v"]
    assert producer.produce(topic, b"next").error_code == 0
    producer.commit()
