"""Wrong passwords make the next try wait: per address, and per address and user, longer each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

FREE_TRIES: Final = 5
FREE_TRIES_ADDRESS: Final = 100
WAIT_FIRST_MS: Final = 1000
WAIT_MAX_MS: Final = 60_000
FORGET_MS: Final = 10 * 60_000
KEYS_MAX: Final = 10_000


class Lockout:
    def __init__(self, monotonic_ms: Callable[[], int]) -> None:
        self._monotonic_ms = monotonic_ms
        self._failures: dict[tuple[str, str], tuple[int, int]] = {}  # -> failures, time of the last
        self.failed_count = 0
        self.succeeded_count = 0
        self.refused_count = 0

    def wait_ms(self, address: str, user: str) -> int:
        """How long this asker still has to wait; 0: it may try."""
        waits = max(self._wait_ms((address, ""), FREE_TRIES_ADDRESS), self._wait_ms((address, user), FREE_TRIES))
        if waits:
            self.refused_count += 1
        return waits

    def failed(self, address: str, user: str) -> None:
        self.failed_count += 1
        now_ms = self._monotonic_ms()
        for key in dict.fromkeys(((address, ""), (address, user))):
            count, last_ms = self._failures.pop(key, (0, now_ms))
            if now_ms - last_ms > FORGET_MS:
                count = 0
            if len(self._failures) >= KEYS_MAX:
                del self._failures[next(iter(self._failures))]
            self._failures[key] = (count + 1, now_ms)

    def succeeded(self, address: str, user: str) -> None:
        self.succeeded_count += 1
        self._failures.pop((address, user), None)

    def _wait_ms(self, key: tuple[str, str], free: int) -> int:
        known = self._failures.get(key)
        if known is None:
            return 0
        count, last_ms = known
        if count < free:
            return 0
        wait_ms = min(WAIT_FIRST_MS << min(count - free, 16), WAIT_MAX_MS)
        return max(0, last_ms + wait_ms - self._monotonic_ms())
