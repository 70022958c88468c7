"""Sabotages of transactions: what is decided, what is marked, what readers are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from twinlog.kafka.partition import Partition
from twinlog.kafka.transactions.finishing import Finishing
from twinlog.kafka.transactions.machine import TransactionMachine
from twinlog.kafka.transactions.types import Place
from twinlog.sim.planted.groups import answered_before_stored
from twinlog.sim.planted.patch import Bug, Patch
from twinlog.storage.log import PartitionLog
from twinlog.storage.recovery import Recovery
from twinlog.storage.segment import Segment
from twinlog.storage.segments import Segments
from twinlog.storage.types import Batch


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


def _bug(name: str, about: str, plant: Callable[[Patch], None], seeds_max: int = 200) -> Bug:
    return Bug(name, about, plant, seeds_max, "transactions")


BUGS: Final = (
    _bug("undecided-shown", "readers of committed records see open transactions", undecided_shown),
    _bug("aborted-not-listed", "readers are not told what was aborted", aborted_not_listed),
    _bug("aborts-marked-as-commits", "partitions are told of a commit instead", aborts_marked_as_commits),
    _bug("commits-marked-as-aborts", "partitions are told of an abort instead", commits_marked_as_aborts),
    _bug("one-partition-not-marked", "some partitions are not told", one_partition_not_marked),
    _bug("coordinator-forgets", "a restart forgets transactions", coordinator_forgets),
    _bug("aborted-forgotten", "a restart forgets what was aborted", aborted_forgotten),
    _bug("undecided-forgotten", "a restart forgets what is open", undecided_forgotten),
    _bug("end-answered-before-stored", "ends are answered before they are durable", answered_before_stored),
)
