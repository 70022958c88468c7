"""What the blocking client needs from the machine, in its own words."""

from __future__ import annotations

from typing import Protocol

from twinlog.base.address import Address


class Transport(Protocol):
    """One connection's bytes. A broken connection is ``ConnectionLost``, whichever call meets it."""

    def send(self, data: bytes) -> None:
        """All of it, waiting as long as it takes."""

    def receive_into(self, room: memoryview, timeout_ms: int) -> int:
        """Puts there what has arrived and returns its size, at least 1; ``NoAnswer`` when nothing comes in time."""

    def close(self) -> None: ...


class Door(Protocol):
    """The way out to brokers, and the time."""

    def connect(self, address: Address, timeout_ms: int) -> Transport:
        """``ConnectionLost`` when it cannot be reached."""

    def pause(self, delay_ms: int) -> None: ...
    def now_ms(self) -> int: ...
    def monotonic_ms(self) -> int: ...
