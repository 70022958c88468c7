"""A transactional producer spoken by hand: every request on its own, in any order, as late as a test wants."""

from __future__ import annotations

import time
from typing import Any

from tests.scenarios.kafka.batches import TRANSACTIONAL, Batch, Record, batch, read_batches
from tests.scenarios.kafka.raw import Connection, produce_request
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    add_offsets_to_txn,
    add_partitions_to_txn,
    describe_producers,
    describe_transactions,
    end_txn,
    find_coordinator,
    init_producer_id,
    list_transactions,
    offset_fetch,
    txn_offset_commit,
    write_txn_markers,
)

OLD, NEW = 11, 12  # the produce versions before and from which partitions join by being written to
RETRIABLE = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
)
PATIENCE_S = 30.0


def find(kafka: Connection, key: str, key_type: int = 1) -> None:
    """Waits until there is a coordinator for the key."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        request = find_coordinator.FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
        code = kafka.call(request, 4).coordinators[0].error_code
        if not code:
            return
        assert code in RETRIABLE and time.monotonic() < deadline, ErrorCode(code)


class Producer:
    """One instance of a transactional id."""

    def __init__(self, kafka: Connection, name: str, timeout_ms: int = 60_000, *, version: int = 4) -> None:
        self.kafka = kafka
        self.name = name
        self.id = self.epoch = -1
        self.sequences: dict[tuple[str, int], int] = {}
        find(kafka, name)
        answer = self.ask_init(timeout_ms, version=version)
        assert answer.error_code == 0, ErrorCode(answer.error_code)
        self.take(answer)

    def take(self, answer: Any) -> None:
        """Goes on with the id and epoch that an answer gave."""
        if (self.id, self.epoch) != (answer.producer_id, answer.producer_epoch):
            self.id, self.epoch = answer.producer_id, answer.producer_epoch
            self.sequences.clear()

    def ask_init(self, timeout_ms: int = 60_000, *, version: int = 4, producer_id: int = -1, epoch: int = -1) -> Any:
        request = init_producer_id.InitProducerIdRequest(
            transactional_id=self.name,
            transaction_timeout_ms=timeout_ms,
            producer_id=producer_id,
            producer_epoch=epoch,
        )
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = self.kafka.call(request, version)
            if answer.error_code not in RETRIABLE or time.monotonic() > deadline:
                return answer

    def add(self, topic: str, *partitions: int, version: int = 3) -> list[int]:
        request = add_partitions_to_txn.AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.name,
            v3_and_below_producer_id=self.id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[
                add_partitions_to_txn.AddPartitionsToTxnTopic(name=topic, partitions=list(partitions or (0,)))
            ],
        )
        (result,) = self.kafka.call(request, version).results_by_topic_v3_and_below
        return [each.partition_error_code for each in result.results_by_partition]

    def batch(
        self, *values: bytes, topic: str, partition: int = 0, sequence: int | None = None, **fields: Any
    ) -> bytes:
        place = (topic, partition)
        if sequence is None:
            sequence = self.sequences.get(place, 0)
            self.sequences[place] = sequence + len(values)
        fields = {"producer_id": self.id, "producer_epoch": self.epoch, "attributes": TRANSACTIONAL, **fields}
        now_ms = int(time.time() * 1000)  # older records are retention's
        return batch([Record(value, timestamp=now_ms) for value in values], base_sequence=sequence, **fields)

    def produce_request(self, topic: str, data: bytes, partition: int = 0, version: int = NEW, acks: int = -1) -> Any:
        request, _ = produce_request(topic, data, partition, version, acks)
        request.transactional_id = self.name  # type: ignore[attr-defined]
        return request

    def produce(
        self, topic: str, *values: bytes, partition: int = 0, version: int = NEW, acks: int = -1, **fields: Any
    ) -> Any:
        """The answer's part for the partition."""
        data = self.batch(*values, topic=topic, partition=partition, **fields)
        answer = self.kafka.call(self.produce_request(topic, data, partition, version, acks), version)
        return answer.responses[0].partition_responses[0]

    def end_request(self, *, commit: bool, epoch: int | None = None) -> Any:
        return end_txn.EndTxnRequest(
            transactional_id=self.name,
            producer_id=self.id,
            producer_epoch=self.epoch if epoch is None else epoch,
            committed=commit,
        )

    def end(self, *, commit: bool, version: int = 5, epoch: int | None = None) -> Any:
        answer = self.kafka.call(self.end_request(commit=commit, epoch=epoch), version)
        if not answer.error_code and version >= 5:
            self.take(answer)
        return answer

    def commit(self, version: int = 5) -> None:
        code = self.end(commit=True, version=version).error_code
        assert code == 0, ErrorCode(code)

    def abort(self, version: int = 5) -> None:
        code = self.end(commit=False, version=version).error_code
        assert code == 0, ErrorCode(code)

    def add_offsets(self, group: str, version: int = 3) -> int:
        find(self.kafka, group, 0)
        request = add_offsets_to_txn.AddOffsetsToTxnRequest(
            transactional_id=self.name, producer_id=self.id, producer_epoch=self.epoch, group_id=group
        )
        return int(self.kafka.call(request, version).error_code)

    def commit_offset(
        self, group: str, topic: str, offset: int, *, version: int = 5, generation: int = -1, member: str = ""
    ) -> int:
        find(self.kafka, group, 0)
        request = txn_offset_commit.TxnOffsetCommitRequest(
            transactional_id=self.name,
            group_id=group,
            producer_id=self.id,
            producer_epoch=self.epoch,
            generation_id=generation,
            member_id=member,
            topics=[
                txn_offset_commit.TxnOffsetCommitRequestTopic(
                    name=topic,
                    partitions=[
                        txn_offset_commit.TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
                    ],
                )
            ],
        )
        return int(self.kafka.call(request, version).topics[0].partitions[0].error_code)


def verify_only(kafka: Connection, producer: Producer, topic: str, version: int = 5) -> int:
    """What one broker asks another before it writes."""
    request = add_partitions_to_txn.AddPartitionsToTxnRequest(
        transactions=[
            add_partitions_to_txn.AddPartitionsToTxnTransaction(
                transactional_id=producer.name,
                producer_id=producer.id,
                producer_epoch=producer.epoch,
                verify_only=True,
                topics=[add_partitions_to_txn.AddPartitionsToTxnTopic(name=topic, partitions=[0])],
            )
        ]
    )
    result = kafka.call(request, version).results_by_transaction[0]
    return int(result.topic_results[0].results_by_partition[0].partition_error_code)


def committed_offset(kafka: Connection, group: str, topic: str, *, stable: bool = True) -> tuple[int, int]:
    """(error code, offset) of partition 0."""
    find(kafka, group, 0)
    request = offset_fetch.OffsetFetchRequest(
        group_id=group,
        topics=[offset_fetch.OffsetFetchRequestTopic(name=topic, partition_indexes=[0])],
        require_stable=stable,
    )
    found = kafka.call(request, 7).topics[0].partitions[0]
    return found.error_code, found.committed_offset


def committed_values(kafka: Connection, topic: str, offset: int = 0, partition: int = 0) -> list[bytes | None]:
    """What a reader of committed data makes of one fetch, as the clients do it."""
    found = kafka.fetch(topic, offset, partition=partition, isolation_level=1)
    assert found.error_code == 0, ErrorCode(found.error_code)
    aborted = sorted((each.first_offset, each.producer_id) for each in found.aborted_transactions)
    gone: set[int] = set()
    values: list[bytes | None] = []
    for each in read_batches(found.records):
        last_offset = each.base_offset + each.last_offset_delta
        while aborted and aborted[0][0] <= last_offset:
            gone.add(aborted.pop(0)[1])
        if is_marker(each):
            if not is_commit(each):
                gone.discard(each.producer_id)
        elif not (each.attributes & TRANSACTIONAL and each.producer_id in gone):
            values += [record.value for record in each.records if record.offset >= offset]
    return values


def until_stable(kafka: Connection, topic: str, offset: int, partition: int = 0) -> None:
    """Markers may become visible a moment after their end was answered."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        stable = kafka.offset(topic, -1, partition, isolation_level=1).offset
        if stable >= offset:
            return
        assert time.monotonic() < deadline, f"the stable offset stays at {stable}"


def is_marker(each: Batch) -> bool:
    return bool(each.attributes & 0x20)


def is_commit(each: Batch) -> bool:
    return (each.records[0].key or b"")[2:4] == b"\x00\x01"


def described(kafka: Connection, name: str) -> Any:
    request = describe_transactions.DescribeTransactionsRequest(transactional_ids=[name])
    return kafka.call(request, 0).transaction_states[0]


def listed(kafka: Connection, version: int = 2, **filters: Any) -> Any:
    return kafka.call(list_transactions.ListTransactionsRequest(**filters), version)


def producers_of(kafka: Connection, topic: str, partition: int = 0) -> Any:
    request = describe_producers.DescribeProducersRequest(
        topics=[describe_producers.DescribeProducersRequestTopic(name=topic, partition_indexes=[partition])]
    )
    return kafka.call(request, 0).topics[0].partitions[0]


def write_marker(
    kafka: Connection, topic: str, producer_id: int, epoch: int, *, commit: bool = False, coordinator_epoch: int = 0
) -> int:
    marker = write_txn_markers.WritableTxnMarker(
        producer_id=producer_id,
        producer_epoch=epoch,
        transaction_result=commit,
        coordinator_epoch=coordinator_epoch,
        topics=[write_txn_markers.WritableTxnMarkerTopic(name=topic, partition_indexes=[0])],
    )
    answer = kafka.call(write_txn_markers.WriteTxnMarkersRequest(markers=[marker]), 1)
    return int(answer.markers[0].topics[0].partitions[0].error_code)
