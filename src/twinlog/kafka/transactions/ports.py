"""What transactions need from their neighbours, in their own words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from twinlog.base import Refused
from twinlog.kafka.partition import Partition


class Places(Protocol):
    """The partitions of this node."""

    def get(self, name: str, index: int) -> Partition | None: ...


class FreshIds(Protocol):
    """Producer ids that nobody has had."""

    def take(self, done: Callable[[int | Refused], None]) -> None: ...


class Offsets(Protocol):
    """The group coordinator: what is committed within a transaction counts from its marker on."""

    @property
    def topic_name(self) -> str: ...

    def end_transaction(
        self, index: int, producer_id: int, producer_epoch: int, append: Callable[[], None], *, commit: bool
    ) -> None:
        """Calls ``append``, which writes the marker into partition ``index``, in its place among the records there."""
