"""Randomness from the operating system."""

from __future__ import annotations

import os


class LocalChance:
    """Draws nobody can predict. It has no state, so a fork is itself."""

    def below(self, bound: int) -> int:
        assert bound > 0, bound
        bits = (bound - 1).bit_length()
        size = (bits + 7) // 8
        while True:  # drawing again, since a remainder would favour the small numbers
            drawn = int.from_bytes(os.urandom(size), "little") & ((1 << bits) - 1)
            if drawn < bound:
                return drawn

    def bytes(self, size: int) -> bytes:
        return os.urandom(size)

    def fork(self, label: str) -> LocalChance:
        return self
