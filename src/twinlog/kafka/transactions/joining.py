"""Lets what a transaction writes into its partitions: at the door of produce requests and of transactional offsets.

A producer of the older protocol has added its partitions before, and is checked against that. One of the newer protocol
just writes: its partition joins the transaction now, durably, before anything of it is in the partition's log; so no
crash leaves records in a log whose transaction nobody would end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from twinlog.base import Refused
from twinlog.base.units import MIB
from twinlog.kafka.transactions.coordinator import TransactionCoordinator
from twinlog.kafka.transactions.types import EPOCH_AT_EVERY_END, Place, ProducerKey
from twinlog.wire.kafka.errors import ErrorCode

Done: TypeAlias = Callable[[ErrorCode], None]

HELD_MAX_BYTES: Final = 256 * MIB  # of requests that wait to be let in; more are told to come again


class Joining:
    """``join`` before a write, ``TransactionCoordinator.verify`` again at the write if it had to wait."""

    def __init__(self, coordinator: TransactionCoordinator) -> None:
        self._coordinator = coordinator
        self.held_bytes = 0  # counted by those who keep a request while it waits
        self.held_max_bytes = HELD_MAX_BYTES

    @property
    def is_full(self) -> bool:
        """Whether nobody else may wait; that happens when the disk stands still."""
        return self.held_bytes >= self.held_max_bytes

    def join(
        self, transactional_id: str, producer: ProducerKey, places: Sequence[Place], done: Done, *, implicit: bool
    ) -> ErrorCode | None:
        """Whether the producer may write to all of the places now; None when ``done`` is told later.

        ``implicit``: places that are not part of the transaction join it. Those who wait are let in by the order in
        which they came, and nobody overtakes them: their sequence numbers would not fit any more.
        """
        try:
            shard = self._coordinator.shard(transactional_id)
        except Refused as refused:
            return ErrorCode(refused.code)  # type: ignore[call-arg]
        transaction = shard.machine.transactions.get(transactional_id)
        if transaction is None:
            return ErrorCode.INVALID_PRODUCER_ID_MAPPING
        if not transaction.joining:
            adding = transaction.adding
            if all(
                transaction.has(producer.producer_id, producer.epoch, place) and place not in adding for place in places
            ):
                return ErrorCode.NONE
            if not implicit:
                for place in places:
                    code = shard.machine.verify(transactional_id, producer, place)
                    if code != ErrorCode.NONE:
                        return code
        transaction.joining += 1

        def joined(_: object, fault: Exception | None) -> None:
            code = ErrorCode(fault.code) if isinstance(fault, Refused) else ErrorCode.NONE  # type: ignore[call-arg]
            try:
                done(code)
            finally:
                transaction.joining -= 1

        if implicit:
            self._coordinator.add(transactional_id, producer, places, joined, version=EPOCH_AT_EVERY_END)
        else:
            shard.read(lambda machine, now_ms: None, joined)
        return None
