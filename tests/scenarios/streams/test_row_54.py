"""Row 54 of the checklist: what a stream queue answers, whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import confluent_kafka
import pytest

from tests.scenarios.amqp.raw import Channel, Client, refused
from tests.scenarios.streams.both import STREAM, Kafka, offsets, read
from twinlog.wire.amqp import Properties
from twinlog.wire.amqp import methods as wire
from twinlog.wire.amqp.table import ByteArray, Int16, Timestamp


def test_row_54_without_a_prefetch_limit_consuming_is_406(channel: Channel, stream: str) -> None:
    with refused(406, "prefetch"):
        channel.consume(stream)


def test_row_54_without_acknowledgements_consuming_is_540(channel: Channel, stream: str) -> None:
    channel.qos(10)
    with refused(540, "acknowledgement"):
        channel.consume(stream, no_ack=True)


def test_row_54_a_limit_for_the_whole_channel_is_540(connect: Callable[..., Client], stream: str) -> None:
    before = connect().channel()
    before.qos(10, is_global=True)
    with refused(540, "global"):
        before.consume(stream)
    after = connect().channel()
    after.qos(10)
    after.consume(stream)
    with refused(540):
        after.qos(10, is_global=True)


@pytest.mark.parametrize("method", [wire.BasicGet, wire.QueuePurge])
def test_row_54_get_and_purge_are_540(channel: Channel, stream: str, method: type[Any]) -> None:
    channel.send(method(queue=stream))
    with refused(540, "not supported"):
        channel.next_thing()


@pytest.mark.parametrize("bad", ["", "middle", "5X", -1, 1.5, True, [], {"a": 1}, ByteArray(b"first")])
def test_row_54_an_offset_that_is_none_is_406(channel: Channel, stream: str, bad: Any) -> None:
    channel.qos(10)
    with refused(406, "x-stream-offset"):
        channel.consume(stream, arguments={"x-stream-offset": bad})


@pytest.mark.parametrize(
    ("argument", "bad"),
    [("x-priority", 5), ("x-stream-filter", 5), ("x-stream-filter", [1]), ("x-stream-match-unfiltered", "yes")],
)
def test_row_54_other_arguments_of_consumers(channel: Channel, stream: str, argument: str, bad: Any) -> None:
    channel.qos(10)
    with refused(406, argument):
        channel.consume(stream, arguments={argument: bad})


def test_row_54_offsets_are_first_last_next_a_number_a_time_or_an_age(channel: Channel, stream: str) -> None:
    channel.published("", stream, b"0", b"1", b"2")
    channel.published("", stream, b"3")
    for offset, first in (("first", 0), (0, 0), (2, 2), (Int16(3), 3), (Timestamp(1), 0), ("1h", 0), ("last", 3)):
        found = read(channel, stream, 4 - first, offset)
        assert [message.body for message in found] == [str(at).encode() for at in range(first, 4)], offset
        assert offsets(found) == list(range(first, 4))
        assert all(message.properties.headers.keys() == {"x-stream-offset"} for message in found)  # type: ignore[union-attr]
    channel.qos(10)
    for offset in ("next", None, 4, Timestamp(4_000_000_000)):
        channel.consume(stream, arguments={} if offset is None else {"x-stream-offset": offset})
    channel.published("", stream, b"4")
    assert offsets(channel.deliveries(4)) == [4] * 4


def test_row_54_acknowledgements_are_credit_and_nothing_else(channel: Channel, stream: str) -> None:
    channel.published("", stream, *(str(at).encode() for at in range(10)))
    channel.qos(3)
    tag = channel.consume(stream, arguments={"x-stream-offset": "first"})
    found = channel.deliveries(3)
    with channel.beside() as other:
        assert other.count(stream) == 10
    channel.ack(found[0].tag)
    channel.nack(found[1].tag, requeue=True)
    channel.send(wire.BasicReject(delivery_tag=found[2].tag, requeue=False))
    found += channel.deliveries(3)
    assert offsets(found) == [0, 1, 2, 3, 4, 5], "what was given back does not come again"
    assert not any(message.method.redelivered for message in found)
    channel.ack(found[-1].tag, multiple=True)
    found += channel.deliveries(3)
    channel.cancel(tag)
    assert offsets(found) == list(range(9))
    assert offsets(read(channel, stream, 10)) == list(range(10)), "and everybody sees everything"


def test_row_54_a_tag_that_was_never_given_is_406(channel: Channel, stream: str) -> None:
    channel.qos(3)
    channel.consume(stream)
    channel.ack(5)
    with refused(406, "unknown delivery tag 5"):
        channel.next_thing()


def test_row_54_who_reads_it_is_told_when_a_stream_is_deleted(channel: Channel, stream: str, kafka: Kafka) -> None:
    channel.qos(3)
    tag = channel.consume(stream)
    kafka.delete(stream)
    assert channel.expect(wire.BasicCancel).consumer_tag == tag
    channel.cancel(tag)
    with refused(404):
        channel.count(stream)


def test_row_54_filters_of_consumers(channel: Channel, stream: str) -> None:
    for at, value in enumerate(["a", "b", None, "a", "c"]):
        headers = {"x-stream-filter-value": value} if value else {"other": at}
        channel.published("", stream, str(at).encode(), properties=Properties(headers=headers))
    for wanted, unfiltered, expected in (
        ("a", False, [0, 3]),
        (["a", "c"], False, [0, 3, 4]),
        ("c", True, [2, 4]),
        ("b", False, [1]),
    ):
        more = {"x-stream-filter": wanted, "x-stream-match-unfiltered": unfiltered}
        assert offsets(read(channel, stream, len(expected), **more)) == expected


@pytest.mark.parametrize("flags", [{}, {"durable": True, "exclusive": True}, {"durable": True, "auto_delete": True}])
def test_row_54_a_stream_is_durable_and_shared(channel: Channel, new_name: Any, flags: dict[str, bool]) -> None:
    with refused(406, "stream"):
        channel.queue(new_name(), arguments=STREAM, **flags)


def test_row_54_a_stream_has_a_name(channel: Channel) -> None:
    with refused(406):
        channel.queue("", durable=True, arguments=STREAM)


def test_row_54_what_limits_a_stream_is_told_and_compared(channel: Channel, new_name: Any, kafka: Kafka) -> None:
    name = new_name()
    arguments = {**STREAM, "x-max-age": "7D", "x-max-length-bytes": 5_000_000}
    channel.queue(name, durable=True, arguments=arguments)
    channel.queue(name, durable=True, arguments={**arguments, "x-max-age": "168h"})
    (future,) = kafka.admin.describe_configs(
        [confluent_kafka.admin.ConfigResource(confluent_kafka.admin.ResourceType.TOPIC, name)]
    ).values()
    configs = future.result(20)
    assert (configs["retention.ms"].value, configs["retention.bytes"].value) == (str(7 * 86_400_000), "5000000")
    with refused(406, "inequivalent arg", "x-max-age"):
        channel.queue(name, durable=True, arguments={**arguments, "x-max-age": "8D"})
