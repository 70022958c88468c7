"""Stream queues over a log in memory: where readers begin, who gets what, what is remembered and what is read again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit.queues import Taker, World
from tests.kit.stream_log import NOW_MS, MemoryStream
from twinlog.amqp.queues.slices import Slices
from twinlog.amqp.queues.stream import StreamQueue, StreamSettings, filter_of
from twinlog.base import DiskFull, HostFault, Refused
from twinlog.wire.amqp.table import Timestamp


def world(**settings: int) -> tuple[World, StreamQueue, MemoryStream]:
    made = World(stream_settings=StreamSettings(**settings))
    return made, made.stream(), made.streams.logs["s"]


def taker(offset: Any = "first", *, room: int | None = None, **arguments: Any) -> Taker:
    return Taker(room=room, prefetch=room or 100, arguments={"x-stream-offset": offset, **arguments})


def offsets(reader: Taker) -> list[int]:
    return [number for number, _, _ in reader.got]


def test_everybody_sees_everything_from_where_they_begin() -> None:
    made, stream, log = world()
    made.publish(["0", "1", "2"], "s")
    log.write(b"3")
    readers = {offset: taker(offset) for offset in ("first", "last", "next", 2, 99, "1h")}
    readers["then"] = taker(Timestamp(NOW_MS // 1000))
    readers["later"] = taker(Timestamp(NOW_MS // 1000 + 1))
    for reader in readers.values():
        stream.consume(reader)
    made.settle()
    begun = {offset: offsets(reader) for offset, reader in readers.items()}
    everything = [0, 1, 2, 3]
    assert begun == {
        "first": everything, "last": [3], "next": [], 2: [2, 3], 99: [], "1h": [],
        "then": everything, "later": [],
    }  # fmt: skip
    log.write(b"4")
    made.settle()
    assert offsets(readers["next"]) == [4] and readers["next"].bodies == [b"4"]
    assert offsets(readers["last"]) == [3, 4] and offsets(readers[99]) == []
    assert stream.consumer_count == len(readers)


def test_credit_is_given_back_by_answers_and_nothing_else_happens() -> None:
    made, stream, log = world()
    made.publish([str(at) for at in range(10)], "s")
    reader = taker(room=3)
    stream.consume(reader)
    made.settle()
    assert offsets(reader) == [0, 1, 2]
    for answer in (stream.settle, stream.requeue, stream.reject):
        answer(0, 2)
        made.settle()
    assert offsets(reader) == [0, 1, 2]
    reader.room = 4
    stream.resume(reader)
    made.settle()
    assert offsets(reader) == list(range(7)) and log.end == 10
    assert not any(redelivered for *_, redelivered in reader.got)


def test_what_is_refused_to_consumers() -> None:
    _, stream, _ = world()
    for refused, expected in (
        (Taker(prefetch=0), 406),
        (Taker(prefetch=5, no_ack=True), 540),
        (Taker(prefetch=5, shares_limit=True), 540),
        (Taker(prefetch=5, arguments={"x-priority": 1}), 406),
        *((taker(bad), 406) for bad in ("", "soon", "5x", -1, 2**63, True, 1.0, None, [], b"first")),
    ):
        with pytest.raises(Refused) as caught:
            stream.consume(refused)
        assert caught.value.code == expected
    for call in (lambda: stream.get(no_ack=True), stream.purge):
        with pytest.raises(Refused) as caught:
            call()
        assert caught.value.code == 540
    assert stream.consumer_count == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, None),
        ({"x-stream-match-unfiltered": True}, None),
        ({"x-stream-filter": "a"}, ((b"a",), False)),
        ({"x-stream-filter": ["a", b"\xff"], "x-stream-match-unfiltered": True}, ((b"a", b"\xff"), True)),
    ],
)
def test_filters_are_texts(arguments: dict[str, Any], expected: object) -> None:
    assert filter_of(arguments, "s") == expected


@pytest.mark.parametrize(
    "arguments",
    [
        {"x-stream-filter": 5},
        {"x-stream-filter": ["a"] * 65},
        {"x-stream-match-unfiltered": 1},
        {"x-stream-filter": {}},
    ],
)
def test_other_filters_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="x-stream-"):
        filter_of(arguments, "s")


def test_readers_at_one_place_share_what_was_read() -> None:
    made, stream, log = world()
    made.publish([str(at) for at in range(100)], "s")
    readers = [taker(room=10) for _ in range(5)]
    for reader in readers:
        stream.consume(reader)
    made.settle()
    assert all(offsets(reader) == list(range(10)) for reader in readers) and log.reads == 1
    for reader in readers:
        reader.room = 90
        stream.resume(reader)
    made.settle()
    assert all(offsets(reader) == list(range(100)) for reader in readers) and log.reads == 1


def test_without_room_for_it_the_log_is_read_again_from_the_same_place() -> None:
    made, stream, log = world(stream_cache_bytes=0)
    made.publish([str(at) for at in range(20)], "s")
    reader = taker(room=3)
    stream.consume(reader)
    for _ in range(7):
        made.settle()
        reader.room = 3
        stream.resume(reader)
    made.settle()
    assert offsets(reader) == list(range(20)) and log.reads > 5 and len(made.messages.slices) == 0


def test_what_is_not_stable_is_not_shown_and_confirms_wait_for_it() -> None:
    made, stream, log = world()
    log.held = True
    reader = taker()
    stream.consume(reader)
    published = made.publish(["a", "b"], "s")
    heard: list[object] = []
    (appending,) = published.appendings
    appending.when_durable(heard.append)
    made.settle()
    assert (published.mark, published.accepted, heard, reader.got) == (0, 2, [], [])
    log.sync()
    made.settle()
    assert heard == [None] and reader.bodies == [b"a", b"b"]


def test_a_run_goes_to_queues_and_streams_alike() -> None:
    made, _, log = world(stream_cache_bytes=0)
    made.queue("q")
    log.size_max = 200
    published = made.publish(["small", "x" * 500, "small"], "q", "s")
    assert published.accepted == 1 and published.mark > 0 and len(published.appendings) == 1
    assert made.pull("q") == [b"small", b"x" * 500, b"small"], "a queue keeps what a stream cannot"
    assert made.messages.stream_figures().refused == 2
    log.full = True
    with pytest.raises(DiskFull):
        made.publish(["more"], "q", "s")
    assert made.pull("q") == [], "what may be tried again is in none of them"


def test_a_stream_that_is_not_served_refuses_publishers_and_readers() -> None:
    made, stream, _ = world()
    made.streams.logs.clear()
    with pytest.raises(HostFault):
        made.publish(["x"], "s")
    with pytest.raises(HostFault):
        stream.consume(taker())
    assert made.messages.status(made.infos["s"]).ready == 0


def test_deletion_cancels_consumers_and_forgets_what_was_read() -> None:
    made, stream, log = world()
    made.publish(["a"], "s")
    reader = taker()
    stream.consume(reader)
    made.settle()
    assert len(made.messages.slices) == 1 and log.listeners
    made.delete("s")
    assert reader.was_cancelled and not log.listeners and len(made.messages.slices) == 0
    made.settle()


def test_a_log_that_cannot_be_read_cancels_its_consumers() -> None:
    made, stream, log = world()
    made.publish(["a"], "s")
    log.batches[0] = (0, 1, log.batches[0][2][:-1] + b"?")
    reader = taker()
    stream.consume(reader)
    made.settle()
    assert reader.was_cancelled and reader.got == []


def test_only_streams_with_readers_listen() -> None:
    made, stream, log = world()
    first, second = taker(), taker()
    for reader in (first, second):
        stream.consume(reader)
    stream.cancel(first)
    assert len(log.listeners) == 1
    stream.cancel(second)
    stream.cancel(second)
    assert not log.listeners
    log.write(b"a")
    made.settle()
    assert first.got == second.got == []


def test_records_that_went_are_passed_over() -> None:
    made, stream, log = world()
    made.publish([str(at) for at in range(5)], "s")
    made.publish([str(at) for at in range(5, 10)], "s")
    reader = taker(room=2)
    stream.consume(reader)
    made.settle()
    log.start = 7
    reader.room = 9
    stream.resume(reader)
    made.settle()
    assert offsets(reader) == [0, 1, 7, 8, 9]
    assert made.messages.counts(made.infos["s"]).ready == 3


def test_a_dead_letter_leaves_its_queue_when_the_stream_has_it() -> None:
    made, _, log = world()
    made.queue("q", dead_letter_exchange="", dead_letter_routing_key="s")
    log.held = True
    made.home.durable(made.publish(["bad"], "q").mark)
    got = made.of("q").get(no_ack=False)
    assert got is not None
    made.of("q").reject(got.number, got.number)
    made.settle()
    assert log.offset_end == 1 and log.end == 0
    made.restart("cut_power")
    got = made.of("q").get(no_ack=False)
    assert got is not None, "the power was cut before the stream had it"
    log.held = False
    made.of("q").reject(got.number, got.number)
    made.settle(50)
    made.restart()
    assert made.pull("q") == [] and log.end == 2


def test_slices_stay_as_long_as_there_is_room() -> None:
    slices = Slices(5_000)
    keys: list[Any] = [(1, None, at) for at in range(6)]
    for key in keys:
        slices.put(key, [(0, 1, bytes(400))], 1)
    assert slices.get(keys[0]) is None and slices.get(keys[-1]) is not None and slices.size_bytes <= 5_000
    kept = slices.get(keys[-4])
    assert kept is not None and slices.put(keys[-4], [], 1).number != kept.number
    slices.forget(1)
    assert (len(slices), slices.size_bytes) == (0, 0)
