"""Fetch through a connection: rows 16 and 28 to 33 of the checklist, limits, waiting, sessions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.unit.servers.harness import Client, Node, batch, fetch, produce, records_of, values
from twinlog.base import HostFault
from twinlog.kafka.settings import KafkaSettings
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.fetch import FetchRequest, FetchRequestReplicaState

NAMED, BY_ID = 12, 17


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    yield Node(str(tmp_path / "data"))


def write(client: Client, topic: str, *payloads: bytes, partition: int = 0) -> None:
    """Each payload in a batch of its own."""
    for payload in payloads:
        answer = client.ask(produce(topic, batch(payload), partition=partition), 9)
        assert answer.responses[0].partition_responses[0].error_code == 0


def only(response: Any) -> Any:
    ((partition,),) = [topic.partitions for topic in response.responses]
    return partition


def indexes(response: Any) -> list[int]:
    return [partition.partition_index for topic in response.responses for partition in topic.partitions]


# -- what is served


@pytest.mark.parametrize("version", range(4, 19))
def test_every_version_serves_the_same_records(node: Node, version: int) -> None:
    topic_id = node.topic("t")
    client = node.client()
    write(client, "t", b"a", b"b")
    answer = client.ask(fetch(topic_id if version >= 13 else "t", 0), version)
    assert values(only(answer).records) == [b"a", b"b"]
    assert (only(answer).error_code, only(answer).high_watermark, answer.session_id) == (0, 2, 0)
    assert (answer.responses[0].topic_id if version >= 13 else answer.responses[0].topic) in (topic_id, "t")


def test_row_28_an_offset_inside_a_batch_gets_the_whole_batch(node: Node) -> None:
    node.topic("t")
    client = node.client()
    write(client, "t", b"first")
    client.ask(produce("t", batch(b"a", b"b", b"c")), 9)
    records = records_of(only(client.ask(fetch("t", 2), NAMED)).records)
    assert [(record[0], record[3]) for record in records] == [(1, b"a"), (2, b"b"), (3, b"c")]


def test_row_29_the_first_batch_is_whole_even_above_every_limit(node: Node) -> None:
    node.topic("t", 2)
    client = node.client()
    write(client, "t", b"x" * 1000, b"y")
    write(client, "t", b"z" * 1000, partition=1)
    answer = client.ask(fetch("t", 0, 0, max_bytes=10, partition_max_bytes=10), NAMED)
    first, second = answer.responses[0].partitions
    assert values(first.records) == [b"x" * 1000]
    assert second.records == b"" and second.high_watermark == 1


def test_row_29_a_partition_stays_within_its_own_limit(node: Node) -> None:
    node.topic("t")
    client = node.client()
    write(client, "t", b"x" * 100, b"y" * 100, b"z" * 100)
    one = len(batch(b"x" * 100))
    assert len(values(only(client.ask(fetch("t", 0, partition_max_bytes=2 * one), NAMED)).records)) == 2
    assert len(values(only(client.ask(fetch("t", 0, partition_max_bytes=2 * one - 1), NAMED)).records)) == 1


def test_row_29_later_partitions_share_what_is_left(node: Node) -> None:
    node.topic("t", 3)
    client = node.client()
    for index in range(3):
        write(client, "t", b"x" * 100, b"y" * 100, partition=index)
    one = len(batch(b"x" * 100))
    answer = client.ask(fetch("t", 0, 0, 0, max_bytes=3 * one), NAMED)
    assert [len(values(each.records)) for each in answer.responses[0].partitions] == [2, 1, 0]


def test_row_31_nothing_above_the_high_watermark_is_served(node: Node) -> None:
    node.topic("t")
    client, writer = node.client(), node.client()
    write(client, "t", b"a")
    node.hold_syncs()
    writer.send_request(produce("t", batch(b"b")), 9)
    assert values(only(client.ask(fetch("t", 0), NAMED)).records) == [b"a"]
    ahead = only(client.ask(fetch("t", 2), NAMED))
    assert (ahead.error_code, ahead.records, ahead.high_watermark) == (0, b"", 1)


def test_row_31_an_empty_topic_begins_and_ends_at_0(node: Node) -> None:
    node.topic("t")
    answer = only(node.client().ask(fetch("t", 0), NAMED))
    assert (answer.error_code, answer.high_watermark, answer.log_start_offset, answer.records) == (0, 0, 0, b"")


@pytest.mark.parametrize("offset", [-1, 2, 2**62])
def test_an_offset_outside_the_log_is_out_of_range(node: Node, offset: int) -> None:
    node.topic("t")
    client = node.client()
    write(client, "t", b"a")
    answer = only(client.ask(fetch("t", offset), NAMED))
    assert (answer.error_code, answer.high_watermark, answer.records) == (1, -1, b"")


def test_row_33_a_leader_epoch_is_fenced_or_unknown(node: Node) -> None:
    node.topic("t")
    client = node.client()
    write(client, "t", b"a")
    node.broker.partitions.get("t", 0).lead(5, 1, 1)  # type: ignore[union-attr]
    assert only(client.ask(fetch("t", 0, epoch=4), NAMED)).error_code == 74
    assert only(client.ask(fetch("t", 0, epoch=6), NAMED)).error_code == 75
    assert only(client.ask(fetch("t", 0, epoch=5), NAMED)).error_code == 0


def test_row_33_a_reader_whose_history_differs_learns_where(node: Node) -> None:
    node.topic("t")
    client = node.client()
    write(client, "t", b"a", b"b")
    partition = node.broker.partitions.get("t", 0)
    assert partition is not None
    partition.lead(5, 1, 1)
    write(client, "t", b"c")
    answer = only(client.ask(fetch("t", 3, last_fetched_epoch=3), NAMED))
    assert (answer.diverging_epoch.epoch, answer.diverging_epoch.end_offset, answer.records) == (0, 2, b"")
    assert only(client.ask(fetch("t", 2, last_fetched_epoch=0), NAMED)).diverging_epoch is None
    assert only(client.ask(fetch("t", 2, last_fetched_epoch=9), NAMED)).error_code == 1


def test_the_aborted_list_is_null_for_read_uncommitted_and_empty_for_read_committed(node: Node) -> None:
    node.topic("t")
    client = node.client()
    write(client, "t", b"a")
    assert only(client.ask(fetch("t", 0), NAMED)).aborted_transactions is None
    committed = only(client.ask(fetch("t", 0, isolation_level=1), NAMED))
    assert committed.aborted_transactions == [] and values(committed.records) == [b"a"]


def test_row_12_unknown_topics_have_a_code_for_name_and_id(node: Node) -> None:
    topic_id = node.topic("t")
    client = node.client()
    assert only(client.ask(fetch("nowhere", 0), NAMED)).error_code == 3
    assert only(client.ask(fetch(b"i" * 16, 0), BY_ID)).error_code == 100
    assert only(client.ask(fetch(topic_id, 0, partitions=[7]), BY_ID)).error_code == 3


@pytest.mark.parametrize("version", [4, 7, 14, 15])
def test_a_client_that_poses_as_a_follower_is_refused_and_moves_nothing(node: Node, version: int) -> None:
    topic_id = node.topic("t")
    client = node.client()
    request = fetch(topic_id if version >= 13 else "t", 0)
    if version >= 15:
        request.replica_state = FetchRequestReplicaState(replica_id=2, replica_epoch=1)
    else:
        request.replica_id = 2
    answer = client.ask(request, version)
    assert (answer.error_code or only(answer).error_code) == 31


def test_a_failing_disk_is_a_storage_error_for_its_partition_only(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    node.topic("t", 2)
    client = node.client()
    write(client, "t", b"a")
    write(client, "t", b"b", partition=1)
    partition = node.broker.partitions.get("t", 0)
    assert partition is not None
    partition.log.offline = HostFault("disk", "broken")
    answer = client.ask(fetch("t", 0, 0), NAMED)
    assert [each.error_code for each in answer.responses[0].partitions] == [56, 0]


# -- waiting


def test_row_30_a_reader_at_the_end_waits_for_the_high_watermark(node: Node) -> None:
    node.topic("t")
    node.hold_syncs()
    reader, writer = node.client(), node.client()
    reader.send_request(fetch("t", 0, max_wait_ms=500), NAMED)
    writer.send_request(produce("t", batch(b"a")), 9)
    assert reader.answers() == []
    node.sync()
    ((_, answer),) = reader.answers()
    assert values(only(answer).records) == [b"a"]


def test_row_30_a_reader_is_answered_with_nothing_when_its_time_is_over(node: Node) -> None:
    node.topic("t")
    reader = node.client()
    reader.send_request(fetch("t", 0, max_wait_ms=500), NAMED)
    node.pass_time(499)
    assert reader.answers() == []
    node.pass_time(1)
    ((_, answer),) = reader.answers()
    assert only(answer).records == b""


def test_row_30_min_bytes_are_gathered_before_the_answer(node: Node) -> None:
    node.topic("t", 2)
    reader, writer = node.client(), node.client()
    one = len(batch(b"a"))
    reader.send_request(fetch("t", 0, 0, max_wait_ms=500, min_bytes=3 * one), NAMED)
    write(writer, "t", b"a")
    write(writer, "t", b"b", partition=1)
    assert reader.answers() == []
    write(writer, "t", b"c")
    ((_, answer),) = reader.answers()
    assert [values(each.records) for each in answer.responses[0].partitions] == [[b"a", b"c"], [b"b"]]


def test_row_30_read_committed_counts_only_stable_bytes(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    from twinlog.kafka.partition import Partition

    node.topic("t")
    monkeypatch.setattr(Partition, "stable_offset", property(lambda self: min(1, self.high_watermark)))
    reader, writer = node.client(), node.client()
    write(writer, "t", b"a")
    reader.send_request(fetch("t", 1, max_wait_ms=500, isolation_level=1), NAMED)
    write(writer, "t", b"undecided")
    assert reader.answers() == []
    assert values(only(writer.ask(fetch("t", 1), NAMED)).records) == [b"undecided"]


def test_bytes_that_are_there_already_count(node: Node) -> None:
    node.topic("t")
    reader, writer = node.client(), node.client()
    write(writer, "t", b"a")
    reader.send_request(fetch("t", 0, max_wait_ms=500, min_bytes=len(batch(b"a")) + 1), NAMED)
    assert reader.answers() == []
    write(writer, "t", b"b")
    assert len(values(only(reader.answers()[0][1]).records)) == 2


@pytest.mark.parametrize("version", [NAMED, BY_ID])
def test_a_topic_that_is_deleted_under_a_waiting_reader_wakes_it(node: Node, version: int) -> None:
    topic_id = node.topic("t")
    reader = node.client()
    reader.send_request(fetch(topic_id if version >= 13 else "t", 0, max_wait_ms=500), version)
    node.delete_topic(topic_id)
    ((_, answer),) = reader.answers()
    assert only(answer).error_code == (100 if version >= 13 else 3)


def test_a_new_leader_epoch_wakes_a_waiting_reader(node: Node) -> None:
    node.topic("t")
    reader = node.client()
    reader.send_request(fetch("t", 0, max_wait_ms=500, epoch=0), NAMED)
    node.broker.partitions.get("t", 0).lead(1, 1, 1)  # type: ignore[union-attr]
    node.settle()
    assert only(reader.answers()[0][1]).error_code == 74


def test_an_error_is_not_kept_waiting(node: Node) -> None:
    node.topic("t")
    reader = node.client()
    reader.send_request(fetch("t", 0, 0, max_wait_ms=500, partitions=[0, 9]), NAMED)
    assert indexes(reader.answers()[0][1]) == [0, 9]


def test_a_request_for_nothing_is_not_kept_waiting(node: Node) -> None:
    reader = node.client()
    assert reader.ask(FetchRequest(max_wait_ms=500, min_bytes=1), NAMED).responses == []


def test_nothing_stays_behind_when_a_waiting_reader_leaves(node: Node) -> None:
    node.topic("t")
    partition = node.broker.partitions.get("t", 0)
    assert partition is not None
    reader, writer = node.client(), node.client()
    reader.send_request(fetch("t", 0, max_wait_ms=500), NAMED)
    assert partition.watcher_count == 1
    reader.gone()
    assert partition.watcher_count == 0
    write(writer, "t", b"a")
    node.pass_time(1000)
    assert not reader.received


def test_one_turn_of_the_loop_wakes_a_reader_once_for_all_that_came(node: Node) -> None:
    node.topic("t", 2)
    node.hold_syncs()
    reader, writer = node.client(), node.client()
    reader.send_request(fetch("t", 0, 0, max_wait_ms=500), NAMED)
    writer.send_request(produce("t", batch(b"a"), batch(b"b")), 9)
    node.sync()
    ((_, answer),) = reader.answers()
    assert [values(each.records) for each in answer.responses[0].partitions] == [[b"a"], [b"b"]]


def test_what_producers_are_told_leaves_before_readers_are_looked_after(node: Node) -> None:
    order: list[str] = []

    class Telling(Client):
        """What its stream would send at the end of the turn is told then."""

        def send(self, parts: Sequence[object]) -> None:
            self._node.tasks.soon(order.append, "told")

    class Reading(Client):
        def send(self, parts: Sequence[object]) -> None:
            order.append("read")

    node.topic("t")
    node.hold_syncs()
    Reading(node).send_request(fetch("t", 0, max_wait_ms=500), NAMED)
    Telling(node).send_request(produce("t", batch(b"a")), 9)
    assert order == []
    node.sync()
    assert order == ["told", "read"]


# -- sessions


def open_session(client: Client, topic: str | bytes, *offsets: int, version: int = NAMED) -> int:
    answer = client.ask(fetch(topic, *offsets, session=(0, 0)), version)
    assert answer.error_code == 0 and answer.session_id > 0
    assert indexes(answer) == list(range(len(offsets)))
    return int(answer.session_id)


def test_row_32_an_incremental_answer_leaves_out_what_did_not_change(node: Node) -> None:
    node.topic("t", 3)
    reader, writer = node.client(), node.client()
    session = open_session(reader, "t", 0, 0, 0)
    assert reader.ask(fetch("t", session=(session, 1)), NAMED).responses == []
    write(writer, "t", b"a", partition=1)
    answer = reader.ask(fetch("t", session=(session, 2)), NAMED)
    assert indexes(answer) == [1] and values(only(answer).records) == [b"a"]
    assert answer.session_id == session


def test_row_32_a_position_that_was_not_moved_is_answered_again(node: Node) -> None:
    node.topic("t", 2)
    reader, writer = node.client(), node.client()
    session = open_session(reader, "t", 0, 0)
    write(writer, "t", b"a")
    for epoch in (1, 2):
        assert values(only(reader.ask(fetch("t", session=(session, epoch)), NAMED)).records) == [b"a"]
    assert reader.ask(fetch("t", 1, session=(session, 3)), NAMED).responses == []


def test_row_32_a_high_watermark_that_moved_is_told_even_without_records(node: Node) -> None:
    node.topic("t")
    reader, writer = node.client(), node.client()
    write(writer, "t", b"a", b"b")
    session = open_session(reader, "t", 2)
    node.hold_syncs()
    writer.send_request(produce("t", batch(b"c")), 9)
    reader.ask(fetch("t", 3, session=(session, 1)), NAMED)
    node.sync()
    answer = only(reader.ask(fetch("t", session=(session, 2)), NAMED))
    assert (answer.high_watermark, answer.records) == (3, b"")


def test_row_32_errors_are_told_again_and_again(node: Node) -> None:
    node.topic("t")
    reader = node.client()
    session = int(reader.ask(fetch("t", 0, 0, session=(0, 0), partitions=[0, 5]), NAMED).session_id)
    for epoch in (1, 2):
        answer = only(reader.ask(fetch("t", session=(session, epoch)), NAMED))
        assert (answer.partition_index, answer.error_code) == (5, 3)


def test_row_32_the_epoch_has_to_be_the_next(node: Node) -> None:
    node.topic("t")
    reader = node.client()
    session = open_session(reader, "t", 0)
    assert reader.ask(fetch("t", session=(session, 2)), NAMED).error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert reader.ask(fetch("t", session=(session, 1)), NAMED).error_code == 0


def test_row_32_an_unknown_session_is_70(node: Node) -> None:
    answer = node.client().ask(fetch("t", session=(12345, 1)), NAMED)
    assert (answer.error_code, answer.session_id) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, 0)
    assert node.client().ask(fetch("t", session=(0, 1)), NAMED).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_row_32_epoch_minus_1_closes_the_session(node: Node) -> None:
    node.topic("t")
    reader = node.client()
    session = open_session(reader, "t", 0)
    answer = reader.ask(fetch("t", 0, session=(session, -1)), NAMED)
    assert (answer.error_code, answer.session_id, indexes(answer)) == (0, 0, [0])
    assert len(node.broker.fetches.sessions) == 0
    assert node.broker.partitions.get("t", 0).watcher_count == 0  # type: ignore[union-attr]


def test_row_32_epoch_0_replaces_the_session(node: Node) -> None:
    node.topic("t")
    reader = node.client()
    session = open_session(reader, "t", 0)
    again = reader.ask(fetch("t", 0, session=(session, 0)), NAMED).session_id
    assert again not in (0, session)
    assert len(node.broker.fetches.sessions) == 1
    assert reader.ask(fetch("t", session=(session, 1)), NAMED).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_row_32_forgotten_partitions_are_gone_and_an_empty_session_ends(node: Node) -> None:
    node.topic("t", 2)
    reader, writer = node.client(), node.client()
    session = open_session(reader, "t", 0, 0)
    write(writer, "t", b"a")
    write(writer, "t", b"b", partition=1)
    assert indexes(reader.ask(fetch("t", session=(session, 1), forget=[0]), NAMED)) == [1]
    answer = reader.ask(fetch("t", session=(session, 2), forget=[1]), NAMED)
    assert (answer.error_code, answer.session_id, answer.responses) == (0, 0, [])
    assert len(node.broker.fetches.sessions) == 0
    assert node.broker.fetches.sessions.partition_count == 0


def test_row_32_partitions_join_a_session(node: Node) -> None:
    node.topic("t", 2)
    reader, writer = node.client(), node.client()
    session = open_session(reader, "t", 0)
    answer = reader.ask(fetch("t", 0, session=(session, 1), partitions=[1]), NAMED)
    assert indexes(answer) == [1]
    write(writer, "t", b"b", partition=1)
    assert values(only(reader.ask(fetch("t", session=(session, 2)), NAMED)).records) == [b"b"]


def test_row_32_names_and_ids_do_not_mix_in_a_session(node: Node) -> None:
    topic_id = node.topic("t")
    reader = node.client()
    session = open_session(reader, topic_id, 0, version=BY_ID)
    assert reader.ask(fetch("t", session=(session, 1)), NAMED).error_code == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def test_row_32_a_topic_made_anew_is_another_one_by_id_and_the_same_by_name(node: Node) -> None:
    topic_id = node.topic("t")
    by_name, by_id, writer = node.client(), node.client(), node.client()
    named, identified = open_session(by_name, "t", 0), open_session(by_id, topic_id, 0, version=BY_ID)
    node.delete_topic(topic_id)
    node.topic("t")
    write(writer, "t", b"new")
    assert values(only(by_name.ask(fetch("t", session=(named, 1)), NAMED)).records) == [b"new"]
    assert only(by_id.ask(fetch(topic_id, session=(identified, 1)), BY_ID)).error_code == 100


def test_row_32_a_session_waits_like_any_reader(node: Node) -> None:
    node.topic("t", 2)
    reader, writer = node.client(), node.client()
    session = open_session(reader, "t", 0, 0)
    reader.send_request(fetch("t", session=(session, 1), max_wait_ms=500), NAMED)
    assert reader.answers() == []
    write(writer, "t", b"a", partition=1)
    assert indexes(reader.answers()[0][1]) == [1]
    reader.send_request(fetch("t", 1, session=(session, 2), partitions=[1], max_wait_ms=500), NAMED)
    assert reader.answers() == []
    write(writer, "t", b"b")
    assert indexes(reader.answers()[0][1]) == [0]


def test_a_session_that_waits_is_answered_when_its_reader_asks_again_elsewhere(node: Node) -> None:
    node.topic("t")
    reader, again = node.client(), node.client()
    session = open_session(reader, "t", 0)
    reader.send_request(fetch("t", session=(session, 1), max_wait_ms=500), NAMED)
    again.send_request(fetch("t", session=(session, 2), max_wait_ms=500), NAMED)
    assert [answer.responses for _, answer in reader.answers()] == [[]]
    write(node.client(), "t", b"a")
    assert values(only(again.answers()[0][1]).records) == [b"a"]


def test_row_29_partitions_of_a_session_take_turns(node: Node) -> None:
    node.topic("t", 3)
    reader, writer = node.client(), node.client()
    session = open_session(reader, "t", 0, 0, 0)
    for index in range(3):
        write(writer, "t", b"x" * 100, partition=index)
    one = len(batch(b"x" * 100))
    served = [indexes(reader.ask(fetch("t", session=(session, epoch), max_bytes=one), NAMED)) for epoch in range(1, 5)]
    assert served == [[0], [1], [2], [0]]


def test_row_32_a_session_gives_way_when_it_was_not_used_for_long(tmp_path: Path) -> None:
    node = Node(str(tmp_path / "data"), KafkaSettings(fetch_sessions_max=2, fetch_session_protected_ms=1000))
    node.topic("t")
    readers = [node.client() for _ in range(4)]
    first, second = (open_session(reader, "t", 0) for reader in readers[:2])
    assert readers[2].ask(fetch("t", 0, session=(0, 0)), NAMED).session_id == 0
    node.pass_time(600)
    assert readers[0].ask(fetch("t", session=(first, 1)), NAMED).error_code == 0
    node.pass_time(600)
    assert readers[2].ask(fetch("t", 0, session=(0, 0)), NAMED).session_id > 0
    assert readers[1].ask(fetch("t", session=(second, 1)), NAMED).error_code == 70
    assert readers[0].ask(fetch("t", session=(first, 2)), NAMED).error_code == 0


def test_row_32_a_small_old_session_gives_way_to_a_larger_one(tmp_path: Path) -> None:
    node = Node(str(tmp_path / "data"), KafkaSettings(fetch_sessions_max=1, fetch_session_protected_ms=1000))
    node.topic("t", 3)
    small, large = node.client(), node.client()
    session = open_session(small, "t", 0)
    node.pass_time(600)
    assert small.ask(fetch("t", session=(session, 1)), NAMED).error_code == 0
    node.pass_time(600)
    assert large.ask(fetch("t", 0, session=(0, 0)), NAMED).session_id == 0
    assert large.ask(fetch("t", 0, 0, session=(0, 0)), NAMED).session_id > 0
    assert small.ask(fetch("t", session=(session, 2)), NAMED).error_code == 70


def test_sessions_hold_no_more_partitions_than_allowed(tmp_path: Path) -> None:
    node = Node(str(tmp_path / "data"), KafkaSettings(fetch_session_partitions_max=3))
    node.topic("t", 4)
    reader, other = node.client(), node.client()
    session = open_session(reader, "t", 0, 0)
    assert other.ask(fetch("t", 0, 0, session=(0, 0)), NAMED).session_id == 0
    answer = reader.ask(fetch("t", 0, 0, session=(session, 1), partitions=[2, 3]), NAMED)
    assert answer.error_code == 70
    assert node.broker.fetches.sessions.partition_count == 0


def test_a_session_that_nobody_reads_costs_a_partition_nothing_after_its_next_record(node: Node) -> None:
    node.topic("t")
    partition = node.broker.partitions.get("t", 0)
    assert partition is not None
    for _ in range(5):
        reader = node.client()
        session = open_session(reader, "t", 0)
        reader.ask(fetch("t", session=(session, 1)), NAMED)
        reader.gone()
    assert partition.watcher_count == 5
    write(node.client(), "t", b"a")
    assert partition.watcher_count == 0


# -- deletes


def test_row_16_deleted_records_are_out_of_range_and_offsets_go_on(node: Node) -> None:
    from twinlog.wire.kafka.messages.delete_records import (
        DeleteRecordsPartition,
        DeleteRecordsRequest,
        DeleteRecordsTopic,
    )

    node.topic("t")
    client = node.client()
    write(client, "t", b"a", b"b", b"c")
    asked = DeleteRecordsTopic(name="t", partitions=[DeleteRecordsPartition(partition_index=0, offset=2)])
    client.send_request(DeleteRecordsRequest(topics=[asked], timeout_ms=1000), 2)
    node.pass_time(1)
    ((_, answer),) = client.answers()
    assert (answer.topics[0].partitions[0].error_code, answer.topics[0].partitions[0].low_watermark) == (0, 2)
    assert only(client.ask(fetch("t", 1), NAMED)).error_code == 1
    write(client, "t", b"d")
    served = only(client.ask(fetch("t", 2), NAMED))
    assert values(served.records) == [b"c", b"d"] and served.log_start_offset == 2
