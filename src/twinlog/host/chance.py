"""Randomness, so that the simulator can deal the cards."""

from __future__ import annotations

from typing import Protocol


class Chance(Protocol):
    """A stream of random draws. ``fork`` gives a component a stream of its own, so that one
    component's draws never shift another's."""

    def below(self, bound: int) -> int:
        """An integer from 0 to ``bound - 1``."""

    def bytes(self, size: int) -> bytes:
        """Bytes fit for ids, nonces and salts (real hosts take them from the operating system)."""

    def fork(self, label: str) -> Chance: ...
