"""The port through which shells speak to the operator. Cores do not log: they return what happened.

An event is a short, fixed English phrase; everything that varies is a field, so that texts from peers can
never pose as the phrase. The real log (``app.logs``) escapes and shortens fields and limits lines per peer.
"""

from __future__ import annotations

from typing import Protocol


class Log(Protocol):
    """Where lines go. ``peer`` (in any field list) is what a flood of lines is limited by."""

    def debug(self, event: str, /, **fields: object) -> None: ...
    def info(self, event: str, /, **fields: object) -> None: ...
    def warning(self, event: str, /, **fields: object) -> None: ...
    def error(self, event: str, /, **fields: object) -> None: ...


class Silence:
    """A log that keeps nothing, for tests and tools."""

    def debug(self, event: str, /, **fields: object) -> None:
        return None

    info = warning = error = debug
