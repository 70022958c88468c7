"""Carries out what was decided of one transaction: its markers, in every partition that it wrote to.

A marker that cannot be written now (a full disk, a partition without a leader) is tried again; one whose partition is
gone has nothing left to end. Markers written twice do no harm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from twinlog.base import HostFault, Refused
from twinlog.kafka.coordinator import TimerPort
from twinlog.kafka.partition import Partition
from twinlog.kafka.transactions.ports import Offsets, Places
from twinlog.kafka.transactions.transaction import Transaction
from twinlog.kafka.transactions.types import Place, TransactionState
from twinlog.wire.kafka.errors import ErrorCode

TRY_AGAIN_MS: Final = 1000
NOTHING_TO_END: Final = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_PRODUCER_EPOCH)


class Finishing:
    """``begin`` writes all markers it can; ``on_done`` is called once, when the last one is stable."""

    def __init__(
        self,
        transaction: Transaction,
        coordinator_epoch: int,
        places: Places,
        offsets: Offsets,
        timers: TimerPort,
        on_done: Callable[[], None],
    ) -> None:
        self.waiting = 0  # counted by the partitions
        self.left = dict.fromkeys(transaction.partitions)
        self._producer_id = transaction.producer_id
        self._epoch = transaction.epoch
        self._commit = transaction.state is TransactionState.PREPARE_COMMIT
        self._coordinator_epoch = coordinator_epoch
        self._places = places
        self._offsets = offsets
        self._timers = timers
        self._on_done: Callable[[], None] | None = on_done
        self._again: list[Place] = []

    def begin(self) -> None:
        for place in list(self.left):
            self._mark(place)
        self._look()

    def stop(self) -> None:
        """Somebody else carries it out."""
        self._on_done = None

    def _mark(self, place: Place) -> None:
        partition = self._places.get(*place)
        if partition is None:
            self.left.pop(place, None)
            return
        try:
            if place[0] == self._offsets.topic_name:
                self._offsets.end_transaction(
                    place[1],
                    self._producer_id,
                    self._epoch,
                    lambda: self._append(partition, place),
                    commit=self._commit,
                )
            else:
                self._append(partition, place)
        except Refused as refused:
            self._failed(place, refused.code)
        except HostFault:
            self._failed(place, ErrorCode.KAFKA_STORAGE_ERROR)

    def _append(self, partition: Partition, place: Place) -> None:
        partition.append_marker(
            self._producer_id,
            self._epoch,
            self._coordinator_epoch,
            self._timers.now_ms(),
            commit=self._commit,
            waiter=self,
            token=place,
        )

    def stored(self, token: object) -> None:
        self.waiting -= 1
        self.left.pop(token, None)  # type: ignore[call-overload]
        self._look()

    def failed(self, token: object, code: int) -> None:
        self.waiting -= 1
        self._failed(token, code)  # type: ignore[arg-type]
        self._look()

    def _failed(self, place: Place, code: int) -> None:
        if code in NOTHING_TO_END:
            self.left.pop(place, None)
            return
        if not self._again:
            self._timers.later(TRY_AGAIN_MS, self._try_again)
        self._again.append(place)

    def _try_again(self) -> None:
        again, self._again = self._again, []
        if self._on_done is None:
            return
        for place in again:
            self._mark(place)
        self._look()

    def _look(self) -> None:
        if not self.left and self._on_done is not None:
            on_done, self._on_done = self._on_done, None
            on_done()
