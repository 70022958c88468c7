"""What a partition does with transactions, with syncs that end when told: nothing is seen before it is stable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.servers.harness import Client, Node, batch, fetch, produce, values
from twinlog.kafka.transactions import TransactionSettings
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import EndTxnRequest, FindCoordinatorRequest, InitProducerIdRequest
from twinlog.wire.kafka.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic

TRANSACTIONAL = 0x10
NEW = 12


@pytest.fixture
def node(tmp_path: Path) -> Node:
    made = Node(str(tmp_path / "data"))
    made.topic("t")
    return made


class Producer:
    """A transactional producer of the newer protocol."""

    def __init__(self, node: Node, name: str = "x") -> None:
        self.client = node.client()
        self.name = name
        for _ in range(2):  # the first one makes the topic
            self.client.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=[name]), 4)
        answer = self.client.ask(InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=60_000), 4)
        assert answer.error_code == 0
        self.id, self.epoch, self.sequence = answer.producer_id, answer.producer_epoch, 0

    def request(self, value: bytes) -> Any:
        data = batch(
            value,
            producer_id=self.id,
            producer_epoch=self.epoch,
            base_sequence=self.sequence,
            attributes=TRANSACTIONAL,
        )
        self.sequence += 1
        request = produce("t", data)
        request.transactional_id = self.name
        return request

    def write(self, value: bytes) -> int:
        answer = self.client.ask(self.request(value), NEW)
        return int(answer.responses[0].partition_responses[0].error_code)

    def end_request(self, *, commit: bool) -> Any:
        return EndTxnRequest(
            transactional_id=self.name, producer_id=self.id, producer_epoch=self.epoch, committed=commit
        )

    def end(self, *, commit: bool) -> None:
        answer = self.client.ask(self.end_request(commit=commit), 5)
        assert answer.error_code == 0
        self.epoch, self.sequence = answer.producer_epoch, 0


def stable(client: Client) -> int:
    part = ListOffsetsPartition(partition_index=0, timestamp=-1)
    request = ListOffsetsRequest(
        replica_id=-1, isolation_level=1, topics=[ListOffsetsTopic(name="t", partitions=[part])]
    )
    return int(client.ask(request, 7).topics[0].partitions[0].offset)


def reopened(node: Node, path: Path) -> Node:
    node.store.close(lambda: None)
    node.settle()
    return Node(str(path / "data"), journal=node.journal)


def test_an_end_is_answered_when_its_decision_is_stable_and_seen_when_its_marker_is(node: Node) -> None:
    producer, reader = Producer(node), node.client()
    assert producer.write(b"v") == 0
    node.hold_syncs()
    producer.client.send_request(producer.end_request(commit=True), 5)
    assert producer.client.answers() == []
    node.sync()  # the decision
    ((_, answer),) = producer.client.answers()
    assert answer.error_code == 0
    partition = node.broker.partitions.get("t", 0)
    assert partition is not None and partition.log.offset_end == 2, "the marker is there before the answer"
    assert stable(reader) == 0, "and not yet stable"
    node.sync()  # the marker
    assert stable(reader) == 2


def test_what_follows_an_end_waits_for_it_and_is_not_sent_away(node: Node) -> None:
    producer = Producer(node)
    producer.write(b"first")
    node.hold_syncs()
    producer.client.send_request(producer.end_request(commit=True), 5)
    node.sync()
    ((_, answer),) = producer.client.answers()
    producer.epoch, producer.sequence = answer.producer_epoch, 0
    producer.client.send_request(producer.request(b"second"), NEW)
    assert producer.client.answers() == [], "the marker is not stable yet"
    while node.disk.waiting:
        node.sync()
    ((_, answer),) = producer.client.answers()
    assert answer.responses[0].partition_responses[0].error_code == 0


def test_nothing_is_in_the_log_before_its_partition_is_in_the_transaction(node: Node) -> None:
    producer = Producer(node)
    node.hold_syncs()
    producer.client.send_request(producer.request(b"v"), NEW)
    partition = node.broker.partitions.get("t", 0)
    assert partition is not None and partition.log.offset_end == 0
    node.sync()  # the record that adds it
    assert partition.log.offset_end == 1
    node.sync()
    assert len(producer.client.answers()) == 1


def test_a_write_that_waits_is_refused_when_its_transaction_ends_meanwhile(node: Node) -> None:
    producer, other = Producer(node), node.client()
    node.hold_syncs()
    producer.client.send_request(producer.request(b"v"), NEW)
    other.send_request(producer.end_request(commit=False), 5)
    while node.disk.waiting:
        node.sync()
    ((_, answer),) = producer.client.answers()
    assert answer.responses[0].partition_responses[0].error_code == ErrorCode.INVALID_PRODUCER_EPOCH
    partition = node.broker.partitions.get("t", 0)
    assert partition is not None and not partition.log.producers.open_transactions, "nothing hangs"


def test_what_waits_to_be_let_in_is_bounded(node: Node) -> None:
    first, second, third = Producer(node, "a"), Producer(node, "b"), Producer(node, "c")
    node.broker.joining.held_max_bytes = 1
    node.hold_syncs()
    first.client.send_request(first.request(b"waits"), NEW)
    assert node.broker.joining.held_bytes > 0
    assert second.write(b"too many") == ErrorCode.NOT_ENOUGH_REPLICAS
    first.client.gone()
    assert node.broker.joining.held_bytes == 0
    third.client.send_request(third.request(b"v"), NEW)
    while node.disk.waiting:
        node.sync()
    ((_, answer),) = third.client.answers()
    assert answer.responses[0].partition_responses[0].error_code == 0
    assert node.broker.joining.held_bytes == 0


def test_a_long_poll_for_committed_data_wakes_by_the_end_and_not_by_writes(node: Node) -> None:
    producer, reader = Producer(node), node.client()
    reader.send_request(fetch("t", 0, max_wait_ms=10_000, isolation_level=1), 11)
    producer.write(b"v")
    producer.write(b"w")
    assert reader.answers() == []
    producer.end(commit=True)
    ((_, answer),) = reader.answers()
    assert values(answer.responses[0].partitions[0].records)[:2] == [b"v", b"w"]


def test_ids_are_bounded_and_those_long_unused_make_room(tmp_path: Path) -> None:
    settings = TransactionSettings(ids_max=2, id_expiration_ms=10_000, id_expiry_check_ms=1_000)
    node = Node(str(tmp_path / "data"), transactions=settings)
    node.topic("t")
    first, second = Producer(node, "first"), Producer(node, "second")
    newcomer = InitProducerIdRequest(transactional_id="third", transaction_timeout_ms=60_000)
    assert first.client.ask(newcomer, 4).error_code == ErrorCode.POLICY_VIOLATION
    assert node.broker.transactions.id_count == 2
    assert node.broker.metrics.transactional_ids_refused == 1
    again = InitProducerIdRequest(transactional_id="second", transaction_timeout_ms=60_000)
    assert second.client.ask(again, 4).error_code == 0, "who is known goes on"
    assert first.write(b"v") == 0
    node.pass_time(settings.id_expiration_ms + settings.id_expiry_check_ms)
    assert first.client.ask(newcomer, 4).error_code == 0, "the second one was unused for long"
    assert first.write(b"w") == 0, "the first one has a transaction open: it is not forgotten"
    assert Producer(node, "third").epoch == 1


def test_transactional_writes_need_acks_from_all(node: Node) -> None:
    producer = Producer(node)
    request = producer.request(b"v")
    request.acks = 1
    answer = producer.client.ask(request, NEW)
    assert answer.responses[0].partition_responses[0].error_code == ErrorCode.INVALID_REQUIRED_ACKS


def test_an_open_transaction_is_known_after_a_clean_stop(node: Node, tmp_path: Path) -> None:
    Producer(node).write(b"open")
    again = reopened(node, tmp_path)
    reader = again.client()
    assert stable(reader) == 0
    answer = reader.ask(fetch("t", 0, isolation_level=1), 11).responses[0].partitions[0]
    assert (answer.high_watermark, answer.last_stable_offset) == (1, 0)
    Producer(again)  # a new instance ends it
    again.settle()
    assert stable(reader) == 2


@pytest.mark.parametrize("lost", ["", "index", "producers", "index producers"])
def test_what_was_aborted_stays_so_whatever_is_lost_beside_the_log(tmp_path: Path, lost: str) -> None:
    node = Node(str(tmp_path / "data"))
    node.topic("t")
    partition = node.broker.partitions.get("t", 0)
    assert partition is not None
    producer, long_one = Producer(node), Producer(node, "y")
    long_one.write(b"begun early")
    for number in range(12):
        producer.write(b"%d" % number)
        producer.end(commit=number % 3 > 0)
        if number % 4 == 1:
            partition.log.roll(node.tasks.now_ms())
    long_one.end(commit=False)
    partition.log.roll(node.tasks.now_ms())
    node.client().ask(produce("t", batch(b"plain")), 9)
    reader = node.client()

    def aborted(client: Client) -> list[list[tuple[int, int]]]:
        found = []
        for offset in range(stable(client)):
            answer = client.ask(fetch("t", offset, isolation_level=1), 11).responses[0].partitions[0]
            found.append([(each.producer_id, each.first_offset) for each in answer.aborted_transactions])
        return found

    before = aborted(reader)
    assert any(before) and not all(before)
    node.store.close(lambda: None)
    node.settle()
    files = [path for path in (tmp_path / "data").rglob("*") if path.suffix.lstrip(".") in lost.split()]
    assert bool(files) == bool(lost)
    for path in files:
        path.unlink()
    assert aborted(Node(str(tmp_path / "data"), journal=node.journal).client()) == before
