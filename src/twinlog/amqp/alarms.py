"""Alarms: while one of them is on, nobody who publishes is read. Who only consumes does not notice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

MEMORY: Final = "memory"
DISK: Final = "disk"


class Alarms:
    """Which alarms are on. Listeners hear when the first comes on (with the reason) and when the last goes (None)."""

    def __init__(self) -> None:
        self._on: dict[str, str] = {}
        self._listeners: dict[Callable[[str | None], None], None] = {}

    @property
    def reason(self) -> str | None:
        """Why publishers are not read; None while all is well."""
        return f"low on {' & '.join(sorted(self._on))}" if self._on else None

    @property
    def active(self) -> dict[str, str]:
        return dict(self._on)

    def listen(self, listener: Callable[[str | None], None]) -> None:
        self._listeners[listener] = None

    def forget(self, listener: Callable[[str | None], None]) -> None:
        self._listeners.pop(listener, None)

    def raise_alarm(self, name: str, why: str) -> None:
        was_on = bool(self._on)
        self._on[name] = why
        if not was_on:
            self._tell()

    def clear(self, name: str) -> None:
        if self._on.pop(name, None) is not None and not self._on:
            self._tell()

    def _tell(self) -> None:
        reason = self.reason
        for listener in list(self._listeners):
            listener(reason)
