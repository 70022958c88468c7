"""Records become batches that keep their order and their numbers, however often they are sent."""

from __future__ import annotations

from twinlog import _kernel
from twinlog.client.outbox import Batch, Outbox, outcomes
from twinlog.client.partitioner import murmur2, partition_for_key
from twinlog.wire.kafka.messages import PartitionProduceResponse, ProduceResponse, TopicProduceResponse


def leader_one(topic: str, partition: int) -> int:
    return 1


def filled(outbox: Outbox, count: int, partition: int = 0, size: int = 10) -> None:
    for number in range(count):
        outbox.add("t", partition, None, bytes(size), [("n", str(number).encode())], 1000 + number)


def test_a_batch_goes_when_it_is_full_or_when_all_must_go() -> None:
    outbox = Outbox(batch_bytes=100)
    filled(outbox, 1)
    assert not outbox.full
    assert outbox.take(leader_one, everything=False) == {}
    filled(outbox, 9)
    assert outbox.full
    (batches,) = outbox.take(leader_one, everything=True).values()
    assert len(batches) == 1  # at most one a partition in a request
    assert outbox.waiting_bytes > 0
    while outbox.waiting_bytes:
        batches += outbox.take(leader_one, everything=True)[1]
    assert sum(len(batch.records) for batch in batches) == 10


def test_sequence_numbers_count_records_per_partition_and_survive_a_retry() -> None:
    outbox = Outbox(batch_bytes=1_000_000, producer_id=7, producer_epoch=2)
    filled(outbox, 3)
    (first,) = outbox.take(leader_one, everything=True)[1]
    filled(outbox, 2)
    filled(outbox, 1, partition=1)
    outbox.put_back([first])
    again = outbox.take(leader_one, everything=True)[1]
    assert [(batch.partition, batch.sequence) for batch in again] == [(0, 0), (1, 0)]
    assert again[0] is first
    (behind,) = outbox.take(leader_one, everything=True)[1]
    assert behind.sequence == 3


def test_nothing_overtakes_what_has_no_leader() -> None:
    outbox = Outbox(batch_bytes=1)
    filled(outbox, 2)
    assert outbox.take(lambda topic, partition: -1, everything=False) == {}
    (batch,) = outbox.take(leader_one, everything=False)[1]
    assert batch.records[0][3] == [("n", b"0")]


def test_a_request_carries_real_batches() -> None:
    outbox = Outbox(codec="lz4", producer_id=7, producer_epoch=2)
    filled(outbox, 50)
    batches = outbox.take(leader_one, everything=True)[1]
    (topic,) = outbox.request(batches).topic_data
    records = topic.partition_data[0].records
    assert isinstance(records, bytes)
    error, _, batch = _kernel.check_batch(records, 0, len(records), 1 << 20)
    assert error == 0
    assert batch is not None
    assert (batch[4], batch[8], batch[9], batch[10]) == (50, 7, 2, 0)


def test_the_answer_is_told_apart_per_batch() -> None:
    batches = [Batch("t", 0), Batch("t", 1), Batch("u", 0)]
    said = [PartitionProduceResponse(index=0, base_offset=5), PartitionProduceResponse(index=1, error_code=6)]
    response = ProduceResponse(responses=[TopicProduceResponse(name="t", partition_responses=said)])
    found = outcomes(batches, response)
    assert [(outcome.error, outcome.base_offset) for outcome in found] == [(0, 5), (6, 0), (-1, -1)]


def test_keys_go_where_the_java_client_sends_them() -> None:
    # Known values of Kafka's own test of its murmur2.
    assert murmur2(b"21") == -973932308 & 0xFFFFFFFF
    assert murmur2(b"foobar") == -790332482 & 0xFFFFFFFF
    assert murmur2(b"a-little-bit-long-string") == -985981536 & 0xFFFFFFFF
    assert murmur2(b"a-little-bit-longer-string") == -1486304829 & 0xFFFFFFFF
    assert 0 <= partition_for_key(b"anything", 7) < 7
