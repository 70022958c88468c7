"""Why a connection is not read at the moment."""

from __future__ import annotations


class Holds:
    """Reasons, each there or not; what counts is whether there is any."""

    __slots__ = ("_reasons", "any")

    def __init__(self) -> None:
        self._reasons: set[str] = set()
        self.any = False

    def add(self, reason: str) -> bool:
        """True if it is the first."""
        was_any, self.any = self.any, True
        self._reasons.add(reason)
        return not was_any

    def remove(self, reason: str) -> bool:
        """True if it was there and the last."""
        if reason not in self._reasons:
            return False
        self._reasons.discard(reason)
        self.any = bool(self._reasons)
        return not self.any

    def clear(self) -> bool:
        """True if there was any."""
        was_any, self.any = self.any, False
        self._reasons.clear()
        return was_any
