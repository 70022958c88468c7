"""A coordinator's time, on the node's own clock and loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from twinlog.host import Timer
from twinlog.kafka.ports import Soon

Later: TypeAlias = Callable[..., Timer]  # host.Tasks.later


class Timers:
    """``TimerPort`` from the parts of a host."""

    def __init__(self, now_ms: Callable[[], int], soon: Soon, later: Later) -> None:
        self.now_ms = now_ms
        self._soon = soon
        self._later = later

    def soon(self, callback: Callable[[], None]) -> None:
        self._soon(callback)

    def later(self, delay_ms: int, callback: Callable[[], None]) -> Callable[[], object]:
        return self._later(delay_ms, callback).cancel
