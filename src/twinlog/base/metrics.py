"""Plain counters that rooms keep while they work; the HTTP side turns them into what Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

BUCKETS: Final = 24
"""Powers of two of a microsecond: the last closed bucket ends at 8.4 s."""


class Histogram:
    """Durations in microseconds. ``observe`` costs a few additions; a bucket is the number of bits of the value."""

    __slots__ = ("count", "counts", "sum_us")

    def __init__(self) -> None:
        self.counts = [0] * (BUCKETS + 1)
        self.count = 0
        self.sum_us = 0

    def observe(self, duration_us: int) -> None:
        self.count += 1
        self.sum_us += duration_us
        bits = duration_us.bit_length()
        self.counts[bits if bits < BUCKETS else BUCKETS] += 1

    def add(self, other: Histogram) -> None:
        self.count += other.count
        self.sum_us += other.sum_us
        self.counts = [mine + others for mine, others in zip(self.counts, other.counts, strict=True)]

    def cumulated(self) -> Iterator[tuple[float | None, int]]:
        """(upper bound in seconds, how many were at or below it), the last bound None for all."""
        below = 0
        for bits in range(BUCKETS):
            below += self.counts[bits]
            yield ((1 << bits) - 1) / 1_000_000, below
        yield None, self.count
