"""The vocabulary of a coordinator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from twinlog.kafka.coordinator.ports import StoredRecord

R = TypeVar("R")


@dataclass(slots=True)
class Decision(Generic[R]):
    """What a request comes to: records to keep, and the reply once they are kept.

    With a ``producer_id`` the records count only when its transaction's marker commits them. ``after`` runs as soon
    as the records were replayed, for what is not kept: sessions, alarms, answers to others that wait. ``said`` may
    hold what each record says, so that replaying them now need not decode what was encoded just before.
    """

    reply: R
    records: list[tuple[bytes, bytes | None]] = field(default_factory=list)
    producer_id: int = -1
    producer_epoch: int = -1
    after: Callable[[], None] | None = None
    said: Sequence[object] | None = None


class Machine(Protocol):
    """The state on one partition. ``replay`` alone changes what is stored; everything else decides."""

    def replay(self, record: StoredRecord) -> None: ...

    def loaded(self, now_ms: int) -> None:
        """All records were replayed: start sessions and timers."""

    def next_wake_ms(self) -> int | None:
        """When ``wake`` should be called, or None."""

    def wake(self, now_ms: int) -> list[Decision[None]]:
        """Timeouts that became due, as decisions of their own."""

    def ended(self, code: int) -> None:
        """The shard serves no longer: whoever waits inside of the machine is answered with ``code``, now."""
