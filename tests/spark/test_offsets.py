"""The arithmetic of micro-batches, and what the checkpoint holds. No Spark session is needed."""

from __future__ import annotations

import json

import pytest

from pyspark_twinlog.decisions import Decision, Part, read_decision
from pyspark_twinlog.errors import DataLoss, ForeignCheckpoint, OptionWrong, TwinlogSparkError
from pyspark_twinlog.offsets import StreamOffset, batch_start, check_topics, from_json, limited, spans, tasks, to_json
from pyspark_twinlog.options import read_options, write_options
from twinlog.client.scan import Span
from twinlog.client.transaction import Identity

SERVER = {"kafka.bootstrap.servers": "127.0.0.1:9"}


def test_an_offset_survives_the_checkpoint_in_the_same_order() -> None:
    offset = StreamOffset({("b", 1): 5, ("a", 0): 7, ("b", 0): 2}, {"b": "02", "a": "01"}, {("a", 0): 1})
    text = json.dumps(to_json(offset))
    assert json.dumps(to_json(from_json(json.loads(text)))) == text
    assert from_json(json.loads(text)) == offset


def test_a_repeated_first_batch_begins_where_it_began() -> None:
    first = StreamOffset({("a", 0): 100}, {}, fresh=True)
    end = StreamOffset({("a", 0): 300}, {}, first.positions)
    again = StreamOffset({("a", 0): 200}, {}, fresh=True)
    assert batch_start(again, end) == {("a", 0): 100}
    assert batch_start(end, StreamOffset({("a", 0): 400}, {})) == {("a", 0): 300}


def test_a_limit_is_shared_by_what_waits_and_starves_nobody() -> None:
    start = {("a", 0): 0, ("a", 1): 0, ("a", 2): 0}
    end = {("a", 0): 9_000, ("a", 1): 990, ("a", 2): 10}
    found = limited(start, end, 100)
    assert found == {("a", 0): 90, ("a", 1): 9, ("a", 2): 1}
    assert limited(start, end, 10_000) == end


def test_small_spans_go_together_and_wide_ones_alone() -> None:
    small = [Span("a", number, 0, 5_000) for number in range(5)]
    wide = Span("b", 0, 0, 1_000_000)
    assert [len(each) for each in tasks([*small, wide], least=None, most_offsets=None)] == [4, 1, 1]
    cut = tasks([wide], least=4, most_offsets=None)
    assert [(each[0].start, each[0].stop) for each in cut] == [
        (0, 250_000), (250_000, 500_000), (500_000, 750_000), (750_000, 1_000_000)
    ]  # fmt: skip


def test_lost_topics_and_offsets_are_named() -> None:
    begun = StreamOffset({("a", 0): 5}, {"a": "01"})
    assert check_topics(begun, {"a": "01"}, fail=True) == set()
    with pytest.raises(DataLoss, match="'a' has been deleted and made anew"):
        check_topics(begun, {"a": "02"}, fail=True)
    assert check_topics(begun, {}, fail=False) == {"a"}
    with pytest.raises(DataLoss, match="a-0 ends at offset 3, but has been read up to 5"):
        spans({("a", 0): 5}, {("a", 0): 3}, fail=True)


def test_a_foreign_checkpoint_is_refused() -> None:
    with pytest.raises(ForeignCheckpoint, match="new checkpointLocation"):
        from_json({"logOffset": 3})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "one of subscribe, subscribePattern and assign"),
        ({"subscribe": "a", "assign": "{}"}, "one of subscribe"),
        ({"subscribePattern": "("}, "no regular expression"),
        ({"subscribe": "a", "columns": "nothing"}, "no column 'nothing'"),
        ({"subscribe": "a", "startingOffsets": "{"}, "startingOffsets is JSON"),
        ({"subscribe": "a", "endingOffsets": "latest"}, "a stream has no end"),
        ({"subscribe": "a", "minPartitions": "0"}, "whole number from 1"),
        ({"subscribe": "a", "failOnDataLoss": "perhaps"}, "true or false"),
        ({"subscribe": "a", "maxTriggerDelay": "soon"}, "a time like 15m"),
    ],
)
def test_wrong_options_are_told(options: dict[str, str], told: str) -> None:
    with pytest.raises(OptionWrong, match=told):
        read_options({**SERVER, **options}, streaming=True)


def test_an_address_is_needed() -> None:
    with pytest.raises(OptionWrong, match=r"kafka\.bootstrap\.servers is missing"):
        write_options({}, streaming=True)


def test_a_decision_is_read_as_written_and_a_newer_one_refused() -> None:
    part = Part(Identity("s-0", 12, 3, 2), 400)
    decision = Decision("s", "q", 7, (part,), 2)
    assert read_decision(decision.to_bytes()) == decision
    newer = decision.to_bytes().replace(b'"version":1', b'"version":2')
    with pytest.raises(TwinlogSparkError, match="use the newer release"):
        read_decision(newer)
