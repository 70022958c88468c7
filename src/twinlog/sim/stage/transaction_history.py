"""What was written and read in transactions, and every contradiction in it.

Each value is written once and by one transaction. Some transactions copy: each of their values stands for one that
they read, and the same value is never to be consumed by two transactions that count. The names of contradictions are
Jepsen's where it has one. Kafka isolates reads alone: that two transactions write into each other (G0) is no fault.
"""

from __future__ import annotations

import enum
from typing import Final

from twinlog.sim.stage.history import Broken

FILLING: Final = "filling"


class Fate(enum.Enum):
    """What its writer knows. ``ABORTED`` as soon as nobody can have asked for its commit."""

    OPEN = "open"
    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


class Transaction:
    """One transaction of one life of a client."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: list[bytes] = []
        self.consumed: list[bytes] = []
        self.fate = Fate.OPEN

    def __str__(self) -> str:
        return f"{self.name} ({self.fate.value}, {len(self.values)} values)"


class TransactionHistory:
    """Shared by all writers, copiers and readers of a trial."""

    def __init__(self) -> None:
        self.begun: list[Transaction] = []
        self.seen: dict[bytes, None] = {}  # by readers of what is committed
        self._writers: dict[bytes, Transaction] = {}

    @property
    def commits(self) -> int:
        return sum(each.fate is Fate.COMMITTED for each in self.begun)

    def begin(self, client: str) -> Transaction:
        transaction = Transaction(client)
        self.begun.append(transaction)
        return transaction

    def fill(self, values: list[bytes]) -> None:
        """Values that are there before anything else happens."""
        filling = self.begin(FILLING)
        filling.fate = Fate.COMMITTED
        for value in values:
            self.note_written(filling, value)

    def note_written(self, transaction: Transaction, value: bytes) -> None:
        """It is on its way."""
        assert value not in self._writers, f"{value!r} is not unique"
        transaction.values.append(value)
        self._writers[value] = transaction

    def abandon(self, client: str) -> None:
        """Every earlier life of the client is over: what it left open nobody will commit."""
        for transaction in self.begun:
            if transaction.fate is Fate.OPEN and transaction.name.rpartition(".")[0] == client:
                transaction.fate = Fate.ABORTED

    # Reading.

    def note_read(self, reader: str, value: bytes) -> None:
        """A reader of what is committed was shown the value."""
        writer = self._writer_of(reader, value)
        if writer.fate in (Fate.OPEN, Fate.ABORTED):
            raise Broken("aborted read", f"{reader}: {value!r} of {writer}")
        self.seen[value] = None

    def note_consumed(self, transaction: Transaction, value: bytes) -> None:
        """A transaction was shown the value, and will write one that stands for it."""
        writer = self._writer_of(transaction.name, value)
        if writer is transaction:
            raise Broken("precommitted read", f"{transaction} read its own {value!r}")
        transaction.consumed.append(value)

    def _writer_of(self, reader: str, value: bytes) -> Transaction:
        writer = self._writers.get(value)
        if writer is None:
            raise Broken("garbage", f"{reader}: {value!r} was written by nobody")
        return writer

    def note_committed(self, transaction: Transaction) -> None:
        transaction.fate = Fate.COMMITTED
        if transaction.consumed:
            self._check_flow([each for each in self.begun if each.fate is Fate.COMMITTED])

    # Judging the whole.

    def judge(self, found: dict[bytes, int]) -> None:
        """``found``: how often each value is there for readers of what is committed, with nothing open any more."""
        for value, count in found.items():
            if count > 1:
                raise Broken("duplicate", f"{value!r} is there {count} times")
        for value in self.seen:
            if value not in found:
                raise Broken("read and gone", f"{value!r} was committed when it was read")
        for transaction in self.begun:
            _judge_transaction(transaction, [value for value in transaction.values if value in found])
        visible = [each for each in self.begun if any(value in found for value in each.values)]
        self._judge_copies(visible)
        self._check_flow(visible)

    def _judge_copies(self, visible: list[Transaction]) -> None:
        consumers: dict[bytes, Transaction] = {}
        for transaction in visible:
            for value in transaction.consumed:
                other = consumers.setdefault(value, transaction)
                if other is not transaction:
                    raise Broken("duplicate", f"{value!r} was consumed by {other} and by {transaction}")

    def _check_flow(self, visible: list[Transaction]) -> None:
        """Whoever read what another one wrote came later: that cannot go round in a circle."""
        sources = {each: list(dict.fromkeys(self._writers[value] for value in each.consumed)) for each in visible}
        left = dict.fromkeys(visible)
        while left:
            first = [each for each in left if not any(source in left for source in sources[each])]
            if not first:
                raise Broken("G1c", f"each of these read from another one of them: {', '.join(map(str, left))}")
            for each in first:
                del left[each]


def _judge_transaction(transaction: Transaction, present: list[bytes]) -> None:
    if transaction.fate is Fate.COMMITTED and not present and transaction.values:
        raise Broken("lost write", f"{transaction}: nothing of it is there")
    if transaction.fate in (Fate.ABORTED, Fate.OPEN) and present:
        raise Broken("aborted read", f"{transaction}: {present} are there")
    if present and len(present) < len(transaction.values):
        raise Broken("torn transaction", f"{transaction}: only {present} are there")
