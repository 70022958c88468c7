"""Outstanding deliveries against a plain dictionary of tags."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from twinlog.amqp.channel.outstanding import Outstanding, Taken

QUEUES: Any = ("queue a", "queue b")


class Model:
    """Every delivered message on its own."""

    def __init__(self) -> None:
        self.tag_next = 1
        self.held: dict[int, tuple[Any, int]] = {}

    def take(self, low: int, high: int) -> tuple[list[tuple[Any, int]], int | None]:
        taken = []
        for tag in range(low, high + 1):
            if tag not in self.held:
                return taken, tag
            taken.append(self.held.pop(tag))
        return taken, None

    def take_up_to(self, tag: int) -> tuple[list[tuple[Any, int]], int | None]:
        if tag and tag not in self.held:
            return [], tag
        tags = [each for each in sorted(self.held) if tag == 0 or each <= tag]
        return [self.held.pop(each) for each in tags], None


def flat(taken: list[Taken]) -> list[tuple[Any, int]]:
    return [(each.queue, number) for each in taken for number in range(each.low, each.high + 1)]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("deliver"), st.integers(0, 1), st.integers(1, 6)),
        st.tuples(st.just("ack"), st.integers(1, 40), st.integers(0, 4)),
        st.tuples(st.just("multiple"), st.integers(0, 40), st.just(0)),
        st.tuples(st.just("undo"), st.integers(1, 40), st.integers(0, 4)),
    ),
    max_size=30,
)


@given(STEPS)
def test_acknowledging_takes_just_what_was_delivered(steps: list[tuple[str, int, int]]) -> None:
    real, model = Outstanding(), Model()
    numbers = [100, 500]
    for kind, one, two in steps:
        if kind == "deliver":
            queue = QUEUES[one]
            real.add(queue, None, model.tag_next, numbers[one], two, 0)
            for _ in range(two):
                model.held[model.tag_next] = (queue, numbers[one])
                model.tag_next += 1
                numbers[one] += 1
        elif kind == "ack":
            taken, missing = real.take(one, one + two)
            assert (flat(taken), missing) == model.take(one, one + two)
        elif kind == "multiple":
            taken, missing = real.take_up_to(one)
            assert (flat(taken), missing) == model.take_up_to(one)
        else:
            real.give_back(real.take(one, one + two)[0])
        assert real.count == len(model.held)
    assert flat(real.take_all()) == [model.held[tag] for tag in sorted(model.held)]
    assert real.count == 0


def test_acknowledging_in_order_keeps_one_range_however_much_is_delivered() -> None:
    real = Outstanding()
    for tag in range(1, 20_001):
        real.add(QUEUES[0], None, tag, tag, 1, 0)
        if tag > 100:
            taken, missing = real.take(tag - 100, tag - 100)
            assert flat(taken) == [(QUEUES[0], tag - 100)]
            assert missing is None
    assert real.count == 100
    assert len(real._ranges) < 10


def test_the_oldest_delivery_is_known_by_its_time() -> None:
    real = Outstanding()
    assert real.oldest_ms() is None
    real.add(QUEUES[0], None, 1, 1, 2, 1000)
    real.add(QUEUES[1], None, 3, 1, 1, 2000)
    assert real.oldest_ms() == 1000
    real.take_up_to(2)
    assert real.oldest_ms() == 2000
