"""Which call of a disk fails, and how."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from twinlog.base.errors import HostFault
from twinlog.sim.chance import SimChance

DiskCall: TypeAlias = Literal["open", "read", "write", "truncate", "sync", "sync_directory", "rename", "delete", "list"]
"""What can fail. ``write`` covers append and write_at, ``sync`` every file synced in any way."""

DISK_CALLS: Final[tuple[DiskCall, ...]] = (
    "open",
    "read",
    "write",
    "truncate",
    "sync",
    "sync_directory",
    "rename",
    "delete",
    "list",
)


@dataclass(slots=True)
class _Armed:
    call: DiskCall
    path_part: str
    calls_until: int
    times_left: int
    full: bool


class DiskFaults:
    """Counts calls by kind, so that a test can let the first, the second, the third ... fail, for all n."""

    def __init__(self, chance: SimChance) -> None:
        self._chance = chance
        self._armed: list[_Armed] = []
        self.calls: Counter[DiskCall] = Counter()
        self.one_in: dict[DiskCall, int] = {}  # chance of an input/output error: one in so many calls

    def fail(self, call: DiskCall, *, nth: int = 1, times: int = 1, path_part: str = "", full: bool = False) -> None:
        """The ``nth`` such call from now on (and ``times - 1`` more) fails, if its path has ``path_part``.
        ``full`` makes a write meet the end of the disk, half done, instead of an input/output error."""
        self._armed.append(_Armed(call, path_part, nth, times, full))

    @property
    def is_armed(self) -> bool:
        """Something is still to fail."""
        return bool(self._armed)

    def clear(self) -> None:
        self._armed.clear()
        self.one_in.clear()

    def meets_full(self, call: DiskCall, path: str) -> bool:
        """Counts the call. Raises if it fails; true if it must run out of room."""
        self.calls[call] += 1
        full = False
        for armed in list(self._armed):
            if armed.call == call and armed.path_part in path:
                armed.calls_until -= 1
                if armed.calls_until <= 0:
                    armed.times_left -= 1
                    if armed.times_left <= 0:
                        self._armed.remove(armed)
                    if not armed.full:
                        raise HostFault(path, f"{call}: input/output error")
                    full = True
        if self._chance.one_in(self.one_in.get(call, 0)):
            raise HostFault(path, f"{call}: input/output error")
        return full
