"""Sabotages of transactions: what is decided, what is marked, what readers are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from twinlog.base import Refused
from twinlog.kafka.coordinator import Decision
from twinlog.kafka.groups import GroupMachine, Wish
from twinlog.kafka.groups.offsets import Offsets
from twinlog.kafka.partition import Partition
from twinlog.kafka.transactions.finishing import Finishing
from twinlog.kafka.transactions.machine import TransactionMachine
from twinlog.kafka.transactions.transaction import Transaction
from twinlog.kafka.transactions.types import EndReply, InitReply, Place, ProducerKey, TransactionState
from twinlog.sim.planted.groups import answered_before_stored
from twinlog.sim.planted.patch import Bug, Patch
from twinlog.storage.log import PartitionLog
from twinlog.storage.producers import Duplicate, ProducerStates
from twinlog.storage.recovery import Recovery
from twinlog.storage.segment import Segment
from twinlog.storage.segments import Segments
from twinlog.storage.types import Batch
from twinlog.wire.kafka.errors import ErrorCode


def undecided_shown(patch: Patch) -> None:
    patch.put(PartitionLog, "undecided_from", lambda self, offset_visible: None)


def aborted_not_listed(patch: Patch) -> None:
    patch.put(Segments, "aborted_between", lambda self, offset, offset_below: [])


def aborts_marked_as_commits(patch: Patch) -> None:
    def append(self: Finishing, partition: Partition, place: Place) -> None:
        self._commit = True
        before(self, partition, place)

    before = patch.put(Finishing, "_append", append)


def commits_marked_as_aborts(patch: Patch) -> None:
    def append(self: Finishing, partition: Partition, place: Place) -> None:
        self._commit = False
        before(self, partition, place)

    before = patch.put(Finishing, "_append", append)


def one_partition_not_marked(patch: Patch) -> None:
    def mark(self: Finishing, place: Place) -> None:
        if place[1] == 0:
            before(self, place)
        else:
            self.left.pop(place, None)

    before = patch.put(Finishing, "_mark", mark)


def one_partition_aborted(patch: Patch) -> None:
    def append(self: Finishing, partition: Partition, place: Place) -> None:
        commit = self._commit
        self._commit = commit and place[1] == 0
        before(self, partition, place)
        self._commit = commit

    before = patch.put(Finishing, "_append", append)


def coordinator_forgets(patch: Patch) -> None:
    def loaded(self: TransactionMachine, now_ms: int) -> None:
        self.transactions.clear()
        before(self, now_ms)

    before = patch.put(TransactionMachine, "loaded", loaded)


def aborted_forgotten(patch: Patch) -> None:
    def take(self: Recovery, segment: Segment, position: int, batch: Batch, data: bytes, note_producers: bool) -> None:
        before(self, segment, position, batch, data, note_producers)
        segment.aborted.clear()

    before = patch.put(Recovery, "_take_batch", take)


def undecided_forgotten(patch: Patch) -> None:
    def run(self: Recovery) -> None:
        before(self)
        self.producers.open_transactions.clear()

    before = patch.put(Recovery, "run", run)


def epoch_not_raised(patch: Patch) -> None:
    """All transactions of a producer have one epoch, as in the first version of the protocol."""

    def end(
        self: TransactionMachine, transactional_id: str, producer: ProducerKey, version: int, *others: Any, **more: Any
    ) -> Decision[EndReply]:
        decision: Decision[EndReply] = before(self, transactional_id, producer, 1, *others, **more)
        return decision

    before = patch.put(TransactionMachine, "end", end)


def zombies_served(patch: Patch) -> None:
    """Whoever has the producer id is taken for the producer: the coordinator does not look at epochs, nor do logs."""

    def of(self: TransactionMachine, transactional_id: str, producer: ProducerKey) -> Transaction:
        return self.find(transactional_id)

    def has(self: Transaction, producer_id: int, epoch: int, place: Place) -> bool:
        return self.state is TransactionState.ONGOING and place in self.partitions

    def check(self: ProducerStates, batch: Batch, *, log_is_new: bool = False) -> Duplicate | None:
        try:
            found: Duplicate | None = before(self, batch, log_is_new=log_is_new)
        except Refused as refused:
            if refused.code != ErrorCode.INVALID_PRODUCER_EPOCH:
                raise
            return None
        return found

    patch.put(TransactionMachine, "_of", of)
    patch.put(Transaction, "has", has)
    before = patch.put(ProducerStates, "check", check)


def offsets_outside(patch: Patch) -> None:
    """Offsets count at once, whatever becomes of the transaction."""

    def commit(
        self: GroupMachine, group_id: str, wishes: Iterable[Wish], producer_id: int, epoch: int, now_ms: int
    ) -> Decision[list[int]]:
        return self.commit(group_id, wishes, now_ms)

    patch.put(GroupMachine, "commit_transactional", commit)


def offsets_left_out(patch: Patch) -> None:
    """A commit leaves the offsets where they were."""

    def replay_marker(self: Offsets, producer_id: int, commit: bool) -> None:
        before(self, producer_id, False)

    before = patch.put(Offsets, "replay_marker", replay_marker)


def unstable_offsets_told(patch: Patch) -> None:
    patch.put(Offsets, "is_unstable", lambda self, group_id, place: False)


def stale_members_commit(patch: Patch) -> None:
    patch.put(GroupMachine, "check_transactional_commit", lambda self, *arguments: None)


def begin_aborts_nothing(patch: Patch) -> None:
    """A producer that takes an id goes on with the transaction that was open under it."""

    def init(
        self: TransactionMachine, transactional_id: str, timeout_ms: int, expected: Any, fresh_id: Any, now_ms: int
    ) -> Decision[InitReply]:
        found = self.transactions.get(transactional_id)
        if found is not None and found.state is TransactionState.ONGOING:
            return Decision(InitReply(found.producer_id, found.epoch))
        decision: Decision[InitReply] = before(self, transactional_id, timeout_ms, expected, fresh_id, now_ms)
        return decision

    before = patch.put(TransactionMachine, "init", init)


def _bug(name: str, about: str, plant: Callable[[Patch], None], seeds_max: int = 200, kind: str = "") -> Bug:
    return Bug(name, about, plant, seeds_max, "transactions", kind)


BUGS: Final = (
    _bug("undecided-shown", "readers of committed records see open transactions", undecided_shown),
    _bug("aborted-not-listed", "readers are not told what was aborted", aborted_not_listed),
    _bug(
        "aborts-marked-as-commits",
        "partitions are told of a commit instead",
        aborts_marked_as_commits,
        200,
        "aborted read",
    ),
    _bug(
        "commits-marked-as-aborts",
        "partitions are told of an abort instead",
        commits_marked_as_aborts,
        200,
        "lost write",
    ),
    _bug("one-partition-not-marked", "some partitions are not told", one_partition_not_marked),
    _bug(
        "one-partition-aborted",
        "some partitions are told of an abort instead",
        one_partition_aborted,
        200,
        "torn transaction",
    ),
    _bug("coordinator-forgets", "a restart forgets transactions", coordinator_forgets),
    _bug("aborted-forgotten", "a restart forgets what was aborted", aborted_forgotten),
    _bug("undecided-forgotten", "a restart forgets what is open", undecided_forgotten),
    _bug("undecided-shown-to-copiers", "transactions read from one another", undecided_shown, 400, "G1c"),
    _bug("epoch-not-raised", "late requests of a transaction reach the next one", epoch_not_raised),
    _bug("zombies-served", "producers that were replaced may write on", zombies_served),
    _bug("begin-aborts-nothing", "who takes an id goes on with what was open", begin_aborts_nothing),
    _bug("offsets-outside", "offsets count although their transaction is aborted", offsets_outside),
    _bug(
        "offsets-left-out",
        "offsets do not count although their transaction is committed",
        offsets_left_out,
        200,
        "duplicate",
    ),
    _bug("unstable-offsets-told", "offsets are told that an open transaction may change", unstable_offsets_told, 800),
    _bug(
        "stale-members-commit", "members of older generations commit offsets in transactions", stale_members_commit, 800
    ),
    _bug("end-answered-before-stored", "ends are answered before they are durable", answered_before_stored),
)
