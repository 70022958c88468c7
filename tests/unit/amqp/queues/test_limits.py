"""Messages that live too long, and queues that become too long."""

from __future__ import annotations

import pytest

from tests.kit.queues import Taker, World


def letters(text: str) -> list[bytes]:
    return [letter.encode() for letter in text]


def test_47_the_shorter_of_the_queues_and_the_messages_time_counts() -> None:
    world = World()
    queue = world.queue(message_ttl=1000)
    world.publish(["a"], expiration="400")
    world.settle(500)
    assert queue.status().ready == 0
    world.publish(["b"], expiration="5000")
    world.settle(900)
    assert queue.status().ready == 1
    world.settle(200)
    assert queue.status().ready == 0


def test_47_a_message_behind_one_that_lives_waits_for_its_turn_to_expire() -> None:
    world = World()
    queue = world.queue()
    world.publish(["long"], expiration="1000")
    world.publish(["short"], expiration="100")
    world.settle(500)
    assert queue.status().ready == 2
    world.settle(600)
    assert queue.status().ready == 0


def test_47_a_requeued_message_keeps_its_time() -> None:
    world = World()
    queue = world.queue(message_ttl=1000)
    world.publish(["a"])
    got = queue.get(no_ack=False)
    assert got is not None
    world.settle(800)
    queue.requeue(got.number, got.number)
    world.settle(300)
    assert queue.get(no_ack=True) is None


def test_an_expired_message_is_never_delivered_and_one_that_is_out_does_not_expire() -> None:
    world = World()
    queue = world.queue(message_ttl=100)
    world.publish(["a", "b"])
    taker = Taker(room=1)
    queue.consume(taker)
    world.settle(300)
    assert taker.bodies == letters("a")
    queue.settle(taker.unacked[0], taker.unacked[0])
    taker.room = 5
    queue.resume(taker)
    world.settle()
    assert taker.bodies == letters("a")


def test_34_a_message_without_time_is_delivered_at_once_or_never() -> None:
    world = World()
    queue = world.queue()
    world.publish(["gone"], expiration="0")
    world.settle()
    taker = Taker(room=2)
    queue.consume(taker)
    world.settle()
    assert taker.got == []
    world.publish(["a", "b", "c"], expiration="0")
    world.settle()
    assert taker.bodies == letters("ab")
    assert queue.status().ready == 0
    world.publish(["d"], expiration="0")
    assert queue.get(no_ack=True) is None


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_time_goes_on_while_the_broker_is_down(how: str) -> None:
    world = World()
    world.queue(message_ttl=10_000)
    mark = world.publish(["a"]).mark
    world.home.durable(mark)
    world.publish(["b"], expiration="1000")
    world.settle(200)
    world.restart(how)
    world.settle(3000)
    assert world.of("q").status().ready == 2
    world.settle(6000)
    world.restart(how)
    world.settle(2000)
    assert world.of("q").status().ready == 0


def test_a_policy_changes_the_time_of_messages_that_are_there() -> None:
    world = World()
    queue = world.queue()
    world.publish(["a"])
    world.settle(500)
    world.policy("q", message_ttl=1000)
    world.settle(400)
    assert queue.status().ready == 1
    world.settle(200)
    assert queue.status().ready == 0


def test_49_the_oldest_make_room_and_only_ready_messages_count() -> None:
    world = World()
    queue = world.queue(max_length=3)
    taker = Taker(room=2)
    queue.consume(taker)
    world.publish(list("abcdefg"))
    world.settle()
    assert taker.bodies == letters("ab")
    assert (queue.status().ready, queue.status().unacked) == (3, 2)
    assert world.pull() == letters("efg")


def test_49_bodies_count_as_bytes() -> None:
    world = World()
    queue = world.queue(max_length_bytes=10)
    world.publish(["aaaa", "bbbb", "cccc"])
    assert queue.status().ready_bytes == 8
    world.publish(["x" * 11])
    assert queue.status().ready == 0
    world.publish(["dddd"], content_type="does not count")
    assert world.pull() == [b"dddd"]


def test_49_a_queue_that_rejects_takes_what_fits_and_others_take_all() -> None:
    world = World()
    queue = world.queue(max_length=3, overflow="reject-publish")
    other = world.queue("other")
    published = world.publish(list("abcde"), "q", "other")
    assert published.accepted == 3
    assert (queue.status().ready, other.status().ready) == (3, 5)
    assert world.publish(["f"]).accepted == 0
    assert world.pull() == letters("abc")
    assert world.publish(["g"]).accepted == 1
    world.home.durable(world.publish(["h"]).mark)
    world.restart("kill")
    assert world.pull() == letters("gh")
    assert world.pull("other") == letters("abcde")


def test_a_queue_that_rejects_by_bytes_takes_what_fits() -> None:
    world = World()
    world.queue(max_length_bytes=10, overflow="reject-publish")
    assert world.publish(["aaaa", "bbbb", "cccc"]).accepted == 2
    assert world.pull() == [b"aaaa", b"bbbb"]


def test_credit_counts_as_room() -> None:
    world = World()
    queue = world.queue(max_length=1, overflow="reject-publish")
    taker = Taker(room=2)
    queue.consume(taker)
    assert world.publish(list("abcd")).accepted == 3
    world.settle()
    assert taker.bodies == letters("ab")


def test_49_of_a_priority_queue_the_highest_make_room() -> None:
    world = World()
    world.queue(max_length=2, max_priority=9)
    world.publish(["low"], priority=1)
    world.publish(["high"], priority=9)
    world.publish(["middle"], priority=5)
    assert world.pull() == [b"middle", b"low"]


def test_a_limit_that_comes_later_is_obeyed_by_what_is_there() -> None:
    world = World()
    queue = world.queue()
    for start in range(0, 1000, 10):
        world.publish([b"%d" % number + b"x" * 500 for number in range(start, start + 10)])
    world.policy("q", max_length=5)
    world.settle(100)
    assert queue.status().ready == 5
    assert [body.rstrip(b"x") for body in world.pull()] == [b"%d" % number for number in range(995, 1000)]
    world.settle(300)
    world.restart("kill")
    assert world.of("q").status().ready == 0
