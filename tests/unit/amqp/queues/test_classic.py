"""A classic queue: who gets what, in which order, and what comes back."""

from __future__ import annotations

import pytest

from tests.kit.queues import Taker, World
from twinlog.base import Refused


def letters(text: str) -> list[bytes]:
    return [letter.encode() for letter in text]


def test_messages_come_out_in_the_order_in_which_they_went_in() -> None:
    world = World()
    queue = world.queue()
    world.publish(["a", "b", "c"])
    world.publish(["d"], persistent=False)
    world.publish(["e", "f"])
    taker = Taker()
    queue.consume(taker)
    assert taker.got == []
    world.settle()
    assert taker.bodies == letters("abcdef")
    assert not any(redelivered for _, _, redelivered in taker.got)
    assert (queue.status().ready, queue.status().unacked) == (0, 6)


def test_who_waits_for_messages_comes_before_who_asks_for_one() -> None:
    world = World()
    queue = world.queue()
    taker = Taker(room=2)
    queue.consume(taker)
    world.publish(list("abcd"))
    got = queue.get(no_ack=True)
    assert taker.bodies == letters("ab")
    assert got is not None and got.number == 2
    queue.settle(taker.unacked[0], taker.unacked[1])
    taker.room = 1
    queue.resume(taker)
    assert queue.purge() == 0
    assert taker.bodies == letters("abd")


def test_what_is_counted_is_what_those_who_wait_have_left() -> None:
    world = World()
    queue = world.queue()
    queue.consume(Taker(room=1))
    world.publish(list("abc"))
    assert world.messages.counts(queue.info).ready == 2


def test_nobody_gets_more_than_he_has_credit_for() -> None:
    world = World()
    queue = world.queue()
    taker = Taker(room=3)
    queue.consume(taker)
    world.publish(list("abcdefgh"))
    world.settle()
    assert taker.bodies == letters("abc")
    queue.settle(taker.unacked[0], taker.unacked[1])
    taker.room = 2
    queue.resume(taker)
    world.settle()
    assert taker.bodies == letters("abcde")
    assert queue.status().ready == 3


def test_consumers_take_turns_and_those_without_credit_are_left_out() -> None:
    world = World()
    queue = world.queue()
    takers = [Taker("a"), Taker("b", room=1), Taker("c")]
    for taker in takers:
        queue.consume(taker)
    for body in "123456":
        world.publish([body])
        world.settle()
    assert [taker.bodies for taker in takers] == [letters("146"), letters("2"), letters("35")]


def test_a_run_is_shared_out_evenly() -> None:
    world = World()
    queue = world.queue()
    takers = [Taker(tag) for tag in "abcd"]
    for taker in takers:
        queue.consume(taker)
    world.publish([str(number) for number in range(1000)])
    world.settle(50)
    assert sum(len(taker.got) for taker in takers) == 1000
    assert all(200 <= len(taker.got) <= 300 for taker in takers)


def test_a_consumer_of_higher_priority_goes_first_as_long_as_it_has_credit() -> None:
    world = World()
    queue = world.queue()
    low, high = Taker("low"), Taker("high", room=2, priority=5)
    queue.consume(low)
    queue.consume(high)
    world.publish(list("abcd"))
    world.settle()
    assert (high.bodies, low.bodies) == (letters("ab"), letters("cd"))


def test_exclusive_use_keeps_everybody_else_out() -> None:
    world = World()
    queue = world.queue()
    alone = Taker(exclusive=True)
    queue.consume(alone)
    for other in (Taker(), Taker(exclusive=True)):
        with pytest.raises(Refused) as refused:
            queue.consume(other)
        assert refused.value.code == 403
    queue.cancel(alone)
    queue.consume(Taker())
    with pytest.raises(Refused):
        queue.consume(Taker(exclusive=True))


def test_of_a_queue_with_a_single_active_consumer_the_next_one_takes_over() -> None:
    world = World()
    queue = world.queue(single_active_consumer=True)
    first, second = Taker("first", room=1), Taker("second")
    queue.consume(first)
    queue.consume(second)
    world.publish(list("abc"))
    world.settle()
    assert (first.bodies, second.bodies) == (letters("a"), [])
    queue.cancel(first)
    world.settle()
    assert second.bodies == letters("bc")
    with pytest.raises(Refused):
        queue.consume(Taker(exclusive=True))


def test_what_is_requeued_goes_back_to_its_place_and_alone_is_marked() -> None:
    world = World()
    queue = world.queue()
    taker = Taker(room=3)
    queue.consume(taker)
    world.publish(list("abcdef"))
    world.settle()
    number = taker.unacked[1]
    queue.requeue(number, number)
    got = queue.get(no_ack=True)
    assert got is not None and got.redelivered and got.number == number
    assert world.pull() == letters("def")


def test_many_requeued_in_any_order_come_back_in_the_order_of_publishing() -> None:
    world = World()
    queue = world.queue()
    taker = Taker()
    queue.consume(taker)
    for start in range(0, 60, 6):
        world.publish([f"{number}" for number in range(start, start + 6)])
    world.settle()
    queue.cancel(taker)
    for number in (30, 4, 5, 59, 17, 0):
        queue.requeue(number, number)
    queue.settle(6, 16)
    queue.requeue(40, 58)
    assert world.pull() == [b"%d" % number for number in (0, 4, 5, 17, 30, *range(40, 60))]
    assert queue.status().unacked == 60 - 25 - 11


def test_get_counts_what_is_left_and_takes_one() -> None:
    world = World()
    queue = world.queue()
    world.publish(list("abc"))
    got = queue.get(no_ack=False)
    assert got is not None
    assert (got.ready_after, got.redelivered) == (2, False)
    queue.requeue(got.number, got.number)
    again = queue.get(no_ack=True)
    assert again is not None and again.redelivered and again.number == got.number
    assert world.pull() == letters("bc")
    assert queue.get(no_ack=True) is None


def test_purge_takes_what_is_ready_and_leaves_what_is_out() -> None:
    world = World()
    queue = world.queue()
    world.publish(list("abcd"))
    got = queue.get(no_ack=False)
    assert got is not None
    assert queue.purge() == 3
    assert (queue.status().ready, queue.status().unacked) == (0, 1)
    queue.requeue(got.number, got.number)
    assert world.pull() == letters("a")


def test_an_auto_delete_queue_goes_with_its_last_consumer() -> None:
    world = World()
    queue = world.queue(auto_delete=True, durable=False)
    first, second = Taker(), Taker()
    queue.consume(first)
    queue.consume(second)
    queue.cancel(first)
    assert "q" in world.infos
    queue.cancel(second)
    assert "q" not in world.infos


def test_consumers_hear_that_their_queue_is_gone() -> None:
    world = World()
    taker = Taker()
    world.queue().consume(taker)
    world.publish(["a"])
    world.delete("q")
    assert taker.was_cancelled
    world.settle()
    assert taker.got == []
    assert world.home.store.held_bytes == 0


def test_without_acknowledgements_nothing_stays() -> None:
    world = World()
    queue = world.queue()
    taker = Taker(no_ack=True)
    queue.consume(taker)
    world.publish(list("abc"))
    world.settle()
    assert taker.bodies == letters("abc")
    assert (queue.status().ready, queue.status().unacked, world.home.store.held_bytes) == (0, 0, 0)
    world.restart("kill")
    assert world.pull() == letters("abc") or world.pull() == []


def test_everything_that_was_held_is_given_back() -> None:
    world = World()
    queue = world.queue()
    other = world.queue("other")
    taker = Taker()
    queue.consume(taker)
    for _ in range(30):
        world.publish(["x" * 100] * 7, "q", "other")
    world.settle()
    for number in taker.unacked:
        queue.settle(number, number)
    other.purge()
    assert world.home.store.held_bytes == 0
    assert (queue.held_bytes, other.held_bytes) == (0, 0)


@pytest.mark.parametrize("how", ["stop", "kill", "cut_power"])
def test_persistent_messages_of_a_durable_queue_survive(how: str) -> None:
    world = World()
    queue = world.queue()
    world.queue("transient", durable=False)
    world.publish(list("abc"))
    world.publish(["lost"], persistent=False)
    published = world.publish(list("de"), "q", "transient")
    assert published.accepted == 2
    taker = Taker(room=2)
    queue.consume(taker)
    world.settle(50)
    queue.settle(0, 0)
    world.home.durable(published.mark)
    world.settle(300)
    world.restart(how)
    queue = world.of("q")
    got = [queue.get(no_ack=False) for _ in range(4)]
    assert [each.number for each in got if each] == [1, 2, 4, 5]
    assert queue.get(no_ack=False) is None
    assert [each.redelivered for each in got if each] == ([True, False, False, False] if how == "stop" else [True] * 4)


def test_only_persistent_messages_in_durable_queues_wait_for_the_disk() -> None:
    world = World()
    world.queue()
    world.queue("transient", durable=False)
    assert world.publish(["a"], persistent=False).mark == 0
    assert world.publish(["a"], "transient").mark == 0
    assert world.publish(["a"]).mark > 0
    assert world.publish(["a"], "transient", "q").mark > 0


@pytest.mark.parametrize("persistent", [True, False])
def test_a_deep_queue_lies_on_disk_and_is_drained_in_order(persistent: bool) -> None:
    world = World()
    queue = world.queue()
    bodies = [b"%d " % number + b"x" * 1000 for number in range(3000)]
    for start in range(0, 3000, 10):
        world.publish(bodies[start : start + 10], persistent=persistent)
        world.settle(1)
    assert queue.held_bytes <= world.home.settings.memory_bytes // 4
    assert queue.status().ready == 3000
    world.settle(2000)
    taker = Taker(room=100)
    queue.consume(taker)
    world.settle()
    for _ in range(50):
        if taker.unacked:
            queue.settle(taker.unacked[0], taker.unacked[-1])
        taker.unacked.clear()
        taker.room = 100
        queue.resume(taker)
        world.settle()
    assert taker.bodies == bodies
    assert world.home.store.held_bytes == 0


def test_what_was_taken_from_a_deep_queue_can_be_given_back() -> None:
    world = World()
    queue = world.queue()
    bodies = [b"%d " % number + b"x" * 1000 for number in range(2000)]
    for start in range(0, 2000, 10):
        world.publish(bodies[start : start + 10])
    taker = Taker()
    queue.consume(taker)
    world.settle(50)
    assert len(taker.got) == 2000
    queue.cancel(taker)
    queue.settle(100, 199)
    queue.requeue(0, 99)
    queue.requeue(200, 1999)
    assert world.pull() == bodies[:100] + bodies[200:]


def test_an_unused_queue_expires_unless_it_is_used() -> None:
    world = World()
    queue = world.queue(expires=1000)
    world.settle(900)
    queue.get(no_ack=True)
    world.settle(900)
    queue.used()
    world.settle(900)
    taker = Taker()
    queue.consume(taker)
    world.settle(3000)
    assert "q" in world.infos
    queue.cancel(taker)
    world.settle(900)
    assert "q" in world.infos
    world.settle(200)
    assert "q" not in world.infos


def test_higher_priorities_come_first_and_each_in_order() -> None:
    world = World()
    queue = world.queue(max_priority=5)
    world.publish(["a", "b"])
    world.publish(["c"], priority=5)
    world.publish(["d", "e"], priority=2)
    world.publish(["f"], priority=200)
    world.publish(["g"])
    assert world.pull() == letters("cfdeabg")
    world.publish(["h", "i"], priority=3)
    world.publish(["j"], priority=9)
    got = queue.get(no_ack=False)
    assert got is not None
    queue.requeue(got.number, got.number)
    assert world.pull() == letters("jhi")


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_priorities_survive(how: str) -> None:
    world = World()
    world.queue(max_priority=5)
    for priority in (1, 5, 3, 5, 0):
        mark = world.publish([f"{priority}a", f"{priority}b"], priority=priority).mark
    world.home.durable(mark)
    world.restart(how)
    assert world.pull() == [b"5a", b"5b", b"5a", b"5b", b"3a", b"3b", b"1a", b"1b", b"0a", b"0b"]
