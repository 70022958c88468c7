"""Producer ids: never twice, in blocks, waiting while a block is on its way."""

from __future__ import annotations

from collections.abc import Callable

from twinlog.base import Refused
from twinlog.cluster import Outcome, ProducerIdBlock
from twinlog.kafka.producer_ids import WAITING_MAX, ProducerIds


class Blocks:
    """A controller that answers when it is told to."""

    def __init__(self) -> None:
        self.asked: list[Callable[[Outcome[ProducerIdBlock]], None]] = []

    def __call__(self, done: Callable[[Outcome[ProducerIdBlock]], None]) -> None:
        self.asked.append(done)

    def give(self, start: int, size: int) -> None:
        self.asked.pop(0)(ProducerIdBlock(start, size))


def test_who_asks_while_a_block_is_on_its_way_waits_in_line() -> None:
    blocks, taken = Blocks(), list[int | Refused]()
    ids = ProducerIds(blocks)
    for _ in range(3):
        ids.take(taken.append)
    assert taken == [] and len(blocks.asked) == 1
    blocks.give(1000, 2)
    assert taken == [1000, 1001] and len(blocks.asked) == 1
    blocks.give(5000, 2)
    ids.take(taken.append)
    assert taken == [1000, 1001, 5000, 5001]


def test_a_refusal_reaches_all_who_wait_and_the_next_one_asks_again() -> None:
    blocks, taken = Blocks(), list[int | Refused]()
    ids = ProducerIds(blocks)
    ids.take(taken.append)
    ids.take(taken.append)
    blocks.asked.pop(0)(Refused(56))
    assert [each.code for each in taken if isinstance(each, Refused)] == [56, 56]
    ids.take(taken.append)
    blocks.give(0, 1)
    assert taken[2:] == [0]


def test_the_line_has_an_end() -> None:
    ids, taken = ProducerIds(Blocks()), list[int | Refused]()
    for _ in range(WAITING_MAX + 1):
        ids.take(taken.append)
    assert len(taken) == 1 and isinstance(taken[0], Refused)
