"""The machine's clocks."""

from __future__ import annotations

import time


class LocalClock:
    """Wall time and monotonic time of the operating system."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_us(self) -> int:
        return time.monotonic_ns() // 1_000
