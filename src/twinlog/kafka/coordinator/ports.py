"""What a coordinator needs from the floors below, in its own words."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol


class StoredRecord(NamedTuple):
    """One record read back while loading, or one transaction marker (``marker`` set, key and value None).

    ``said``: what the record says, where the machine that decided it still has it at hand; else it is decoded.
    """

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    producer_id: int = -1
    producer_epoch: int = -1
    marker: bool | None = None  # True: commit, False: abort
    said: object = None


class CoordinatorLog(Protocol):
    """One partition of a coordinator topic, as its leader sees it."""

    @property
    def leader_epoch(self) -> int: ...

    def append(self, records: list[tuple[bytes, bytes | None]], now_ms: int) -> int:
        """Writes them as one batch; returns the offset behind the last. Raises ``HostFault`` or ``Refused``."""

    def append_transactional(
        self, records: list[tuple[bytes, bytes | None]], producer_id: int, producer_epoch: int, now_ms: int
    ) -> int:
        """The same for records that count only once their transaction's marker says commit."""

    def when_durable(self, offset: int, done: Callable[[Exception | None], None]) -> None:
        """Calls ``done`` (perhaps at once) when all below ``offset`` is durable on every in-sync replica."""

    def read(self, offset: int, bytes_max: int) -> tuple[list[StoredRecord], int]:
        """Records from ``offset`` on and the offset to go on with; the same offset again means the end."""

    def start_offset(self) -> int: ...


class TimerPort(Protocol):
    """Time for machines: the runtime hands ``now_ms`` to them and wakes them when they asked for it."""

    @property
    def now_ms(self) -> Callable[[], int]: ...

    def soon(self, callback: Callable[[], None]) -> None: ...

    def later(self, delay_ms: int, callback: Callable[[], None]) -> Callable[[], object]:
        """Returns how to cancel."""
