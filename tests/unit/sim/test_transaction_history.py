"""What may be seen of transactions, and what each contradiction is called."""

from __future__ import annotations

import pytest

from twinlog.sim.stage.history import Broken
from twinlog.sim.stage.transaction_history import Fate, Transaction, TransactionHistory


class Story:
    """A history in which each transaction wrote the values of its name."""

    def __init__(self) -> None:
        self.history = TransactionHistory()

    def writes(
        self, name: str, *values: bytes, fate: Fate = Fate.COMMITTED, reads: tuple[bytes, ...] = ()
    ) -> Transaction:
        transaction = self.history.begin(f"{name}.1")
        for value in reads:
            self.history.note_consumed(transaction, value)
        for value in values:
            self.history.note_written(transaction, value)
        transaction.fate = fate
        return transaction

    def judge(self, *found: bytes) -> None:
        self.history.judge({value: found.count(value) for value in found})


@pytest.fixture
def story() -> Story:
    return Story()


def breaks(kind: str) -> pytest.RaisesExc[Broken]:
    return pytest.raises(Broken, check=lambda broken: broken.kind == kind)


def test_a_committed_transaction_is_there_as_a_whole_and_an_aborted_one_is_not(story: Story) -> None:
    story.writes("first", b"a", b"b")
    story.writes("second", b"c", fate=Fate.ABORTED)
    story.history.note_read("reader", b"a")
    story.judge(b"a", b"b")


@pytest.mark.parametrize("found", [(), (b"a", b"b")])
def test_a_transaction_of_unknown_fate_counts_or_not(story: Story, found: tuple[bytes, ...]) -> None:
    story.writes("first", b"a", b"b", fate=Fate.UNKNOWN)
    story.judge(*found)


@pytest.mark.parametrize("fate", [Fate.UNKNOWN, Fate.COMMITTED])
def test_half_a_transaction_is_torn(story: Story, fate: Fate) -> None:
    story.writes("first", b"a", b"b", fate=fate)
    with breaks("torn transaction"):
        story.judge(b"a")


def test_a_committed_transaction_of_which_nothing_is_left_is_lost(story: Story) -> None:
    story.writes("first", b"a")
    with breaks("lost write"):
        story.judge()


@pytest.mark.parametrize("fate", [Fate.OPEN, Fate.ABORTED])
def test_what_nobody_committed_must_not_be_read(story: Story, fate: Fate) -> None:
    story.writes("first", b"a", fate=fate)
    with breaks("aborted read"):
        story.history.note_read("reader", b"a")
    with breaks("aborted read"):
        story.judge(b"a")


def test_the_open_transaction_of_a_life_that_is_over_is_aborted(story: Story) -> None:
    transaction = story.writes("first", b"a", fate=Fate.OPEN)
    story.history.abandon("another")
    assert transaction.fate is Fate.OPEN
    story.history.abandon("first")
    assert transaction.fate is Fate.ABORTED


def test_what_was_read_stays_and_is_there_once(story: Story) -> None:
    story.writes("first", b"a", fate=Fate.UNKNOWN)
    story.history.note_read("reader", b"a")
    with breaks("read and gone"):
        story.judge()
    with breaks("duplicate"):
        story.judge(b"a", b"a")
    with breaks("garbage"):
        story.history.note_read("reader", b"nobody wrote this")


def test_a_value_is_consumed_by_one_transaction_that_counts(story: Story) -> None:
    story.history.fill([b"source"])
    story.writes("first", b"a", reads=(b"source",), fate=Fate.ABORTED)
    story.writes("second", b"b", reads=(b"source",))
    story.judge(b"source", b"b")
    story.writes("third", b"c", reads=(b"source",))
    with breaks("duplicate"):
        story.judge(b"source", b"b", b"c")


def test_nobody_reads_what_it_wrote_itself(story: Story) -> None:
    transaction = story.writes("first", b"a", fate=Fate.OPEN)
    with breaks("precommitted read"):
        story.history.note_consumed(transaction, b"a")


def test_transactions_do_not_read_from_one_another_in_a_circle(story: Story) -> None:
    first = story.writes("first", b"a", fate=Fate.OPEN)
    second = story.writes("second", b"b", reads=(b"a",), fate=Fate.OPEN)
    third = story.writes("third", b"c", reads=(b"b",), fate=Fate.OPEN)
    story.history.note_consumed(first, b"c")
    story.history.note_committed(first)
    story.history.note_committed(second)
    with breaks("G1c"):
        story.history.note_committed(third)


def test_a_circle_through_a_transaction_that_does_not_count_is_none(story: Story) -> None:
    first = story.writes("first", b"a")
    second = story.writes("second", b"b", reads=(b"a",), fate=Fate.UNKNOWN)
    story.history.note_consumed(first, b"b")
    story.judge(b"a")
    with breaks("G1c"):
        story.judge(b"a", b"b")
    assert second.fate is Fate.UNKNOWN
