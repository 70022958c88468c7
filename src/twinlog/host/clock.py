"""Time, as the machine tells it."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Two clocks: the wall's, which may jump, and one that never goes back."""

    def now_ms(self) -> int:
        """Milliseconds since 1970, as people and records know them."""

    def monotonic_us(self) -> int:
        """Microseconds since some moment; only differences mean anything."""
