"""Rows 37 to 46 of the list of AMQP behaviours: acknowledging, prefetch, consumers, requeueing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.scenarios.amqp.raw import Channel, Client, Message, eventually, publish_frames, refused
from twinlog.wire.amqp import encode_method
from twinlog.wire.amqp import methods as wire

Connect = Callable[..., Client]
NewName = Callable[[], str]
NUMBERS = [b"%d" % number for number in range(1, 11)]


def test_row_37_an_unknown_tag_is_406(channel: Channel) -> None:
    channel.ack(5)
    with refused(406, "unknown delivery tag 5"):
        channel.next_thing()


def test_row_37_a_tag_settles_once(channel: Channel, queue: str) -> None:
    channel.published("", queue, b"m")
    tag = channel.got(queue, no_ack=False).tag
    channel.ack(tag)
    channel.ack(tag)
    with refused(406, f"unknown delivery tag {tag}"):
        channel.next_thing()


def test_row_37_what_needs_no_ack_takes_none(channel: Channel, queue: str) -> None:
    channel.published("", queue, b"m")
    channel.ack(channel.got(queue).tag)
    with refused(406, "unknown delivery tag"):
        channel.next_thing()


def test_row_37_tags_belong_to_their_channel(client: Client, channel: Channel, queue: str) -> None:
    channel.published("", queue, b"m")
    tag = channel.got(queue, no_ack=False).tag
    other = client.channel(2)
    other.ack(tag)
    with refused(406):
        other.next_thing()
    channel.ack(tag)
    channel.quiet()


@pytest.mark.parametrize("multiple", [0, 4])
def test_row_37_multiple_covers_what_was_got_and_what_was_delivered(
    client: Client, channel: Channel, queue: str, multiple: int
) -> None:
    channel.published("", queue, *NUMBERS[:4])
    channel.got(queue, no_ack=False)
    channel.consume(queue)
    channel.deliveries(3)
    channel.ack(multiple, multiple=True)
    channel.close()
    assert client.channel(2).get(queue) is None


def test_row_37_nack_of_all(client: Client, channel: Channel, queue: str) -> None:
    channel.published("", queue, *NUMBERS[:3])
    for _ in range(3):
        channel.got(queue, no_ack=False)
    channel.nack(0, multiple=True)
    channel.quiet()
    assert client.channel(2).bodies(queue) == NUMBERS[:3]


def test_row_38_a_prefetch_count_is_for_the_consumers_to_come(channel: Channel, queue: str, new_name: NewName) -> None:
    other = new_name()
    channel.queue(other, exclusive=True)
    channel.published("", queue, *NUMBERS)
    channel.published("", other, *NUMBERS)
    channel.qos(2)
    channel.consume(queue, "two")
    channel.qos(3)
    channel.consume(other, "three")
    found = channel.deliveries(5)
    channel.quiet()
    assert sorted(each.method.consumer_tag for each in found) == ["three"] * 3 + ["two"] * 2


def test_row_38_a_channels_count_is_shared_and_changes_at_once(channel: Channel, queue: str) -> None:
    channel.published("", queue, *NUMBERS)
    channel.qos(3, is_global=True)
    channel.consume(queue, "a")
    channel.consume(queue, "b")
    channel.deliveries(3)
    channel.quiet()
    channel.qos(5, is_global=True)
    assert [each.body for each in channel.deliveries(2)] == NUMBERS[3:5]
    channel.quiet()
    channel.qos(0, is_global=True)
    assert [each.body for each in channel.deliveries(5)] == NUMBERS[5:]


def test_row_38_both_limits_hold(channel: Channel, queue: str) -> None:
    channel.published("", queue, *NUMBERS)
    channel.qos(4)
    channel.qos(2, is_global=True)
    channel.consume(queue)
    first, _ = channel.deliveries(2)
    channel.quiet()
    channel.ack(first.tag)
    assert channel.delivered().body == NUMBERS[2]
    channel.qos(9, is_global=True)
    channel.deliveries(2)
    assert channel.get(queue, no_ack=True) is not None, "basic.get knows no limit"
    channel.quiet()


def test_row_38_a_shared_count_goes_round_the_consumers(channel: Channel, new_name: NewName) -> None:
    channel.qos(1, is_global=True)
    for tag in "abc":
        name = new_name()
        channel.queue(name, exclusive=True)
        channel.published("", name, *NUMBERS)
        channel.consume(name, tag)
    tags = []
    for _ in range(9):
        delivery = channel.delivered()
        tags.append(delivery.method.consumer_tag)
        channel.ack(delivery.tag)
    assert sorted(tags) == ["a"] * 3 + ["b"] * 3 + ["c"] * 3


def test_row_38_a_full_channel_is_full_for_who_acknowledges_nothing_too(
    channel: Channel, queue: str, new_name: NewName
) -> None:
    other = new_name()
    channel.queue(other, exclusive=True)
    channel.published("", queue, *NUMBERS[:1])
    channel.qos(1, is_global=True)
    channel.consume(queue, "one")
    held = channel.delivered()
    channel.published("", other, *NUMBERS[:2])
    channel.consume(other, "other", no_ack=True)
    channel.quiet()
    channel.ack(held.tag)
    assert [each.body for each in channel.deliveries(2)] == NUMBERS[:2]


def test_row_39_equal_consumers_share_alike_and_the_full_are_passed_over(
    client: Client, channel: Channel, queue: str
) -> None:
    slow, quick = client.channel(2), client.channel(3)
    slow.qos(1)
    slow.consume(queue)
    quick.consume(queue)
    channel.published("", queue, *NUMBERS)
    slow.deliveries(1)
    quick.deliveries(9)
    slow.quiet()
    quick.quiet()


def test_row_39_the_highest_priority_first(client: Client, channel: Channel, queue: str) -> None:
    low, high = client.channel(2), client.channel(3)
    low.consume(queue)
    high.qos(2)
    high.consume(queue, arguments={"x-priority": 10})
    channel.published("", queue, *NUMBERS[:5])
    assert [each.body for each in high.deliveries(2)] == NUMBERS[:2]
    assert [each.body for each in low.deliveries(3)] == NUMBERS[2:5]


def test_row_39_who_comes_later_gets_a_share(client: Client, channel: Channel, queue: str) -> None:
    first, later = client.channel(2), client.channel(3)
    first.consume(queue, no_ack=True)
    channel.published("", queue, *NUMBERS[:4])
    first.deliveries(4)
    later.consume(queue, no_ack=True)
    for body in NUMBERS:
        channel.published("", queue, body)
    assert len(later.deliveries(4)) == 4


def test_row_40_get_counts_what_is_left(client: Client, channel: Channel, queue: str) -> None:
    channel.published("", queue, *NUMBERS[:3])
    message = channel.got(queue, no_ack=False)
    assert (message.method.message_count, message.method.redelivered) == (2, False)
    channel.close()
    other = client.channel(2)
    message = other.got(queue)
    assert (message.body, message.method.redelivered) == (NUMBERS[0], True)
    other.bodies(queue)
    assert other.get(queue) is None


def test_row_40_get_and_counts_come_after_the_consumers_that_wait(client: Client, channel: Channel, queue: str) -> None:
    channel.consume(queue, no_ack=True)
    publish = publish_frames(1, "", queue, b"m")
    client.send_bytes(publish + encode_method(1, wire.BasicGet(queue=queue)))
    assert channel.delivered().body == b"m"
    channel.expect(wire.BasicGetEmpty)
    client.send_bytes(publish + encode_method(1, wire.QueueDeclare(queue=queue, passive=True)))
    assert channel.delivered().body == b"m"
    assert channel.expect(wire.QueueDeclareOk).message_count == 0


def test_row_41_after_a_cancel_nothing_comes_and_what_came_can_be_acked(
    client: Client, channel: Channel, queue: str
) -> None:
    channel.published("", queue, *NUMBERS[:2])
    channel.qos(1)
    channel.consume(queue, "tag")
    first = channel.delivered()
    channel.cancel("tag")
    channel.ack(first.tag)
    channel.quiet()
    assert channel.cancel("never heard of") == []
    channel.consume(queue, "tag")
    assert channel.delivered().body == NUMBERS[1]


def test_row_41_what_was_published_before_a_cancel_is_for_the_consumer_that_leaves(
    client: Client, channel: Channel, queue: str
) -> None:
    channel.consume(queue, "first", no_ack=True, arguments={"x-priority": 1})
    channel.consume(queue, "second", no_ack=True)
    publish = publish_frames(1, "", queue, b"m")
    client.send_bytes(publish + encode_method(1, wire.BasicCancel(consumer_tag="first")) + publish)
    assert channel.delivered().method.consumer_tag == "first"
    channel.expect(wire.BasicCancelOk)
    assert channel.delivered().method.consumer_tag == "second"


def test_row_42_who_can_hear_it_is_told_that_its_queue_is_gone(connect: Connect, new_name: NewName) -> None:
    name = new_name()
    one, two = connect().channel(), connect(capabilities=()).channel()
    one.queue(name)
    one.consume(name, "mine")
    two.consume(name, "other")
    two.delete_queue(name)
    assert one.expect(wire.BasicCancel).consumer_tag == "mine"
    one.cancel("mine")
    two.quiet()
    two.cancel("other")


def test_row_43_consume_is_answered_before_the_first_delivery(channel: Channel, queue: str) -> None:
    channel.published("", queue, b"m")
    channel.consume(queue)
    channel.delivered()


def test_row_43_exclusive_consumers_stay_alone(client: Client, channel: Channel, queue: str) -> None:
    channel.consume(queue, "only", exclusive=True)
    with refused(403, "exclusive"):
        client.channel(2).consume(queue)
    channel.cancel("only")
    channel.consume(queue, "any")
    with refused(403, "exclusive"):
        client.channel(3).consume(queue, exclusive=True)


def test_row_43_a_single_active_consumer_is_followed_by_the_next(client: Client, new_name: NewName) -> None:
    name = new_name()
    channel, second, third = client.channel(1), client.channel(2), client.channel(3)
    channel.queue(name, exclusive=True, arguments={"x-single-active-consumer": True})
    tag = channel.consume(name, no_ack=True)
    second.consume(name, no_ack=True)
    third.consume(name, no_ack=True)
    channel.published("", name, *NUMBERS[:3])
    channel.deliveries(3)
    channel.cancel(tag)
    channel.published("", name, b"next")
    assert second.delivered().body == b"next"
    second.close()
    channel.published("", name, b"last")
    assert third.delivered().body == b"last"


def test_row_43_no_local_means_nothing(channel: Channel, queue: str) -> None:
    channel.consume(queue, no_local=True)
    channel.publish("", queue, b"own")
    assert channel.delivered().body == b"own"


def test_row_44_what_is_given_back_takes_its_old_place(channel: Channel, queue: str) -> None:
    channel.published("", queue, *NUMBERS[:4])
    tags = [channel.got(queue, no_ack=False).tag for _ in range(3)]
    channel.nack(tags[1])
    found = channel.got(queue)
    assert (found.body, found.method.redelivered) == (NUMBERS[1], True)
    found = channel.got(queue)
    assert (found.body, found.method.redelivered) == (NUMBERS[3], False)


def test_row_45_recover_sends_everything_again(channel: Channel, queue: str) -> None:
    channel.published("", queue, *NUMBERS[:2])
    channel.got(queue, no_ack=False)
    channel.consume(queue)
    channel.delivered()
    channel.send(wire.BasicRecover(requeue=True))
    things = [channel.next_thing() for _ in range(3)]
    again = [each for each in things if isinstance(each, Message)]
    assert [each.body for each in again] == NUMBERS[:2]
    assert all(each.method.redelivered for each in again)


def test_row_45_recover_without_requeueing_is_540(client: Client, channel: Channel) -> None:
    channel.send(wire.BasicRecover(requeue=False))
    client.expect_close(540)


def test_row_46_what_a_connection_held_goes_back_in_order(
    connect: Connect, channel: Channel, new_name: NewName
) -> None:
    name = new_name()
    channel.queue(name)
    channel.published("", name, *NUMBERS)
    other = connect()
    holder = other.channel()
    holder.qos(6)
    holder.consume(name)
    holder.deliveries(6)
    other.drop()
    eventually(lambda: channel.count(name) == len(NUMBERS))
    found = [channel.got(name) for _ in NUMBERS]
    assert [each.body for each in found] == NUMBERS
    assert [each.method.redelivered for each in found] == [True] * 6 + [False] * 4
    channel.delete_queue(name)
