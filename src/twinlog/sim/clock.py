"""A host's two clocks, driven by the world's time."""

from __future__ import annotations

from typing import Final

from twinlog.sim.loop import SimLoop

WORLD_BEGINS_MS: Final = 1_750_000_000_000  # some day in June 2025


class SimClock:
    """The wall clock may be set forward and back, and may run fast or slow; the other one never lies."""

    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop
        self._offset_us = 0
        self._drift_ppm = 0
        self._drift_since_us = 0

    def now_ms(self) -> int:
        return WORLD_BEGINS_MS + (self._loop.now_us + self._wrong_by_us()) // 1000

    def monotonic_us(self) -> int:
        return self._loop.now_us

    def jump_wall(self, delta_ms: int) -> None:
        self._offset_us += delta_ms * 1000

    def drift_wall(self, parts_per_million: int) -> None:
        self._offset_us = self._wrong_by_us()
        self._drift_ppm, self._drift_since_us = parts_per_million, self._loop.now_us

    def _wrong_by_us(self) -> int:
        return self._offset_us + (self._loop.now_us - self._drift_since_us) * self._drift_ppm // 1_000_000
