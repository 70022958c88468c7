"""Damage as numbers: every place of a subject has one, so that a campaign can be split, resumed and repeated."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Literal, NamedTuple, TypeAlias

Files: TypeAlias = Mapping[str, bytes]
Kind: TypeAlias = Literal["cut", "flip"]


class Damage(NamedTuple):
    """A file that ends before byte ``at``, or whose bit ``at`` is another."""

    path: str
    kind: Kind
    at: int

    def __str__(self) -> str:
        return f"{self.path} {self.kind} {self.at}"

    def done_to(self, files: Files) -> dict[str, bytes]:
        data = files[self.path]
        if self.kind == "cut":
            return {**files, self.path: data[: self.at]}
        spoilt = bytearray(data)
        spoilt[self.at // 8] ^= 1 << self.at % 8
        return {**files, self.path: bytes(spoilt)}


class Places(NamedTuple):
    """What may happen to one file: ``first`` to ``end``, without the latter."""

    path: str
    kind: Kind
    first: int
    end: int


class Subject:
    """``judge`` starts what is damaged and says what came of it, in words to be counted; a broken promise raises."""

    def __init__(
        self, name: str, files: Files, places: list[Places], judge: Callable[[dict[str, bytes], Damage], list[str]]
    ) -> None:
        self.name = name
        self.files = files
        self._places = [each for each in places if each.end > each.first]
        self._ends = list(accumulate(each.end - each.first for each in self._places))
        self._judge = judge

    @property
    def count(self) -> int:
        return self._ends[-1]

    def damage(self, number: int) -> Damage:
        at = bisect_right(self._ends, number)
        places = self._places[at]
        return Damage(places.path, places.kind, places.end - self._ends[at] + number)

    def try_one(self, number: int) -> list[str]:
        damage = self.damage(number)
        return self._judge(damage.done_to(self.files), damage)


def everywhere(files: Files) -> list[Places]:
    """Every bit and every length of all files."""
    flips = [Places(path, "flip", 0, 8 * len(data)) for path, data in files.items()]
    return flips + [Places(path, "cut", 0, len(data)) for path, data in files.items()]
