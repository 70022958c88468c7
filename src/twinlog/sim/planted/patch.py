"""How a bug is planted, and taken out again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Patch:
    """Replaces attributes of classes and modules, and puts them back in reverse order."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []

    def put(self, owner: Any, name: str, value: Any) -> Any:
        """Returns what was there."""
        before = vars(owner)[name]
        self._before.append((owner, name, before))
        setattr(owner, name, value)
        return before

    def undo(self) -> None:
        while self._before:
            owner, name, before = self._before.pop()
            setattr(owner, name, before)


class Bug(NamedTuple):
    """``seeds_max``: how many seeds may be needed until a trial of ``workload`` finds it. ``kind``: the contradiction
    that it is there to show, where others may be met first."""

    name: str
    about: str
    plant: Callable[[Patch], None]
    seeds_max: int = 200
    workload: str = "log"
    kind: str = ""

    def is_shown_by(self, kind: str) -> bool:
        return kind == self.kind if self.kind else bool(kind)
