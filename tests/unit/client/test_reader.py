"""Records come out in order, once, from whatever part of a log a broker sends."""

from __future__ import annotations

import pytest

from twinlog import _kernel
from twinlog.client import BrokerError, Reader
from twinlog.wire.kafka.messages import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchResponse,
    FetchResponsePartitionData,
)


def batch(base_offset: int, values: list[bytes], *, producer_id: int = -1, attributes: int = 0) -> bytes:
    records = [(1000, b"k", value, [("h", b"1")]) for value in values]
    return _kernel.build_batch(
        records, base_offset=base_offset, producer_id=producer_id, producer_epoch=0, attributes=attributes
    )


def answer(buffer: bytes, *, error: int = 0, aborted: list[AbortedTransaction] | None = None) -> FetchResponse:
    data = FetchResponsePartitionData(
        partition_index=0,
        error_code=error,
        high_watermark=99,
        records=(0, len(buffer)),
        aborted_transactions=aborted or [],
    )
    return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[data])])


def reader_at(offset: int, *, committed_only: bool = False) -> Reader:
    reader = Reader(committed_only=committed_only)
    reader.seek("t", 0, offset)
    return reader


def test_reading_starts_inside_a_batch_and_goes_on_behind_the_last_whole_one() -> None:
    buffer = batch(10, [b"a", b"b", b"c"]) + batch(13, [b"d"]) + batch(14, [b"e"])[:-3]
    reader = reader_at(11)
    records, wrong = reader.answer(answer(buffer), buffer)
    assert [(record.offset, record.value) for record in records] == [(11, b"b"), (12, b"c"), (13, b"d")]
    assert records[0].headers == [("h", b"1")]
    assert wrong == []
    assert reader.positions["t", 0] == 14
    assert reader.ends["t", 0] == 99
    assert reader.request([("t", 0)]).topics[0].partitions[0].fetch_offset == 14


def test_damage_is_not_read_over() -> None:
    buffer = bytearray(batch(0, [b"a"]))
    buffer[-1] ^= 1
    with pytest.raises(BrokerError, match="damaged batch"):
        reader_at(0).answer(answer(bytes(buffer)), bytes(buffer))


def test_an_error_of_one_partition_is_told_and_moves_nothing() -> None:
    reader = reader_at(5)
    records, (wrong,) = reader.answer(answer(b"", error=1), b"")
    assert records == []
    assert wrong.code == 1
    assert not wrong.retriable
    assert reader.positions["t", 0] == 5


def test_committed_readers_see_no_aborted_transaction_and_nobody_sees_markers() -> None:
    transactional, control = 1 << 4, 1 << 4 | 1 << 5
    buffer = (
        batch(0, [b"gone"], producer_id=5, attributes=transactional)
        + batch(1, [b"kept"], producer_id=6, attributes=transactional)
        + batch(2, [b"plain"], producer_id=5)
        + batch(3, [b"marker"], producer_id=5, attributes=control)
        + batch(4, [b"later"], producer_id=5, attributes=transactional)
    )
    aborted = [AbortedTransaction(producer_id=5, first_offset=0)]
    records, _ = reader_at(0, committed_only=True).answer(answer(buffer, aborted=aborted), buffer)
    assert [record.value for record in records] == [b"kept", b"plain", b"later"]
    everything = reader_at(0)
    records, _ = everything.answer(answer(buffer), buffer)
    assert [record.value for record in records] == [b"gone", b"kept", b"plain", b"later"]
    assert everything.positions["t", 0] == 5


def test_an_answer_that_begins_with_the_marker_of_an_abort_hides_nothing_behind_it() -> None:
    transactional, control = 1 << 4, 1 << 4 | 1 << 5
    buffer = batch(3, [b"marker"], producer_id=5, attributes=control) + batch(
        4, [b"the next transaction"], producer_id=5, attributes=transactional
    )
    aborted = [AbortedTransaction(producer_id=5, first_offset=0)]
    records, _ = reader_at(3, committed_only=True).answer(answer(buffer, aborted=aborted), buffer)
    assert [record.value for record in records] == [b"the next transaction"]


def test_what_was_not_asked_for_is_left_alone() -> None:
    reader = reader_at(0)
    reader.forget("t", 0)
    buffer = batch(0, [b"a"])
    assert reader.answer(answer(buffer), buffer) == ([], [])
