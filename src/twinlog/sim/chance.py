"""Seeded draws. Every component has a stream of its own, named by the path of its labels."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from random import Random
from typing import Any, TypeVar

T = TypeVar("T")


class SimChance:
    """Also a ``host.Chance``. The same seed and label give the same draws on every machine."""

    __slots__ = ("_label", "_random")

    def __init__(self, seed: int, label: str = "") -> None:
        self._label = f"{seed}/{label}"
        self._random = Random(self._label)  # seeding with text goes through SHA-512, not through hash()

    @classmethod
    def _labelled(cls, label: str) -> SimChance:
        chance = cls.__new__(cls)
        chance._label = label
        chance._random = Random(label)
        return chance

    def below(self, bound: int) -> int:
        return self._random.randrange(bound)

    def bytes(self, size: int) -> bytes:
        return self._random.randbytes(size)

    def fork(self, label: str) -> SimChance:
        return self._labelled(f"{self._label}/{label}")

    def between(self, low: int, high: int) -> int:
        """Both ends included."""
        return self._random.randint(low, high)

    def one_in(self, count: int) -> bool:
        """Never, when ``count`` is 0."""
        return count > 0 and self._random.randrange(count) == 0

    def pick(self, choices: Sequence[T]) -> T:
        return choices[self._random.randrange(len(choices))]

    def shuffle(self, items: MutableSequence[Any]) -> None:
        self._random.shuffle(items)
