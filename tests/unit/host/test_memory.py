"""What connections hold: counted for each and for all, with marks that tell once when they are crossed."""

from __future__ import annotations

import pytest

from twinlog.host.memory import Memory, MemoryAccount


class Book:
    """A memory with marks at 600, 800 and 1000 bytes, and what it said."""

    def __init__(self, one_max_bytes: int = 0) -> None:
        self.memory = Memory()
        self.levels: list[int] = []
        self.ended: list[str] = []
        self.memory.on_level = self.levels.append
        self.memory.limit([600, 800, 1000], one_max_bytes)

    def account(self, name: str, held_bytes: int = 0) -> MemoryAccount:
        account = MemoryAccount(self.memory, lambda: self.ended.append(name))
        account.change(held_bytes)
        return account


def test_all_is_the_sum_of_what_is_open() -> None:
    book = Book()
    first, second = book.account("first", 100), book.account("second", 200)
    first.change(50)
    assert (first.held_bytes, second.held_bytes, book.memory.held_bytes) == (150, 200, 350)
    first.close()
    first.close()
    assert (book.memory.held_bytes, list(book.memory.accounts)) == (200, [second])


def test_a_mark_is_told_when_it_is_crossed_and_when_there_is_clearly_less() -> None:
    book = Book()
    account = book.account("only", 600)
    assert book.levels == []
    account.change(1)
    account.change(100)
    assert book.levels == [1]
    account.change(-120)
    assert book.levels == [1], "not at every byte around the mark"
    account.change(-40)
    assert (book.levels, account.held_bytes) == ([1, 0], 541)
    account.change(-541)
    account.change(2000)
    assert book.levels == [1, 0, 3], "from nothing to all at once"
    account.close()
    assert book.levels == [1, 0, 3, 0]


@pytest.mark.parametrize(("down_to", "ended"), [(1000, []), (999, ["large"]), (300, ["large", "middle"])])
def test_those_that_hold_most_have_to_go(down_to: int, ended: list[str]) -> None:
    book = Book()
    for name, size in (("small", 100), ("large", 600), ("middle", 300)):
        book.account(name, size)
    book.memory.shed(down_to)
    assert book.ended == ended
    assert book.memory.closed_count == len(ended)
    book.memory.shed(down_to)
    assert book.ended == ended, "nobody is told twice"


def test_one_that_holds_more_than_one_may_has_to_go() -> None:
    book = Book(one_max_bytes=500)
    account = book.account("greedy", 500)
    assert book.ended == []
    account.change(1)
    account.change(1)
    assert book.ended == ["greedy"]


def test_without_limits_nothing_happens() -> None:
    memory = Memory()
    memory.on_level = lambda level: pytest.fail("there are no marks")
    account = MemoryAccount(memory, lambda: pytest.fail("there is no limit"))
    account.change(1 << 50)
    assert memory.held_bytes == 1 << 50
