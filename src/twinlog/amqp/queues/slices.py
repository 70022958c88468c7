"""What was read from streams a moment ago, as runs: consumers at the same place share it, and who waits for credit
finds it again. One budget for the node; what does not fit is read again."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, NamedTuple, TypeAlias

# Which stream, which filter (its values, and whether records without one are wanted), from which offset on.
Filter: TypeAlias = "tuple[tuple[bytes, ...], bool] | None"
SliceKey: TypeAlias = "tuple[int, Filter, int]"
OVERHEAD_BYTES: Final = 500  # of a slice with nothing in it


class Slice(NamedTuple):
    """``runs`` are (first offset, messages, run); ``offset_next`` is where the next slice begins. No other slice ever
    has its ``number``."""

    number: int
    runs: list[tuple[int, int, bytes]]
    offset_next: int

    @property
    def size_bytes(self) -> int:
        return OVERHEAD_BYTES + sum(len(blob) + OVERHEAD_BYTES // 4 for _, _, blob in self.runs)


class Slices:
    """The last ones used stay, up to ``bytes_max``."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._slices: OrderedDict[SliceKey, tuple[Slice, int]] = OrderedDict()
        self.size_bytes = 0
        self._number_next = 0

    def __len__(self) -> int:
        return len(self._slices)

    def get(self, key: SliceKey) -> Slice | None:
        found = self._slices.get(key)
        if found is None:
            return None
        self._slices.move_to_end(key)
        return found[0]

    def put(self, key: SliceKey, runs: list[tuple[int, int, bytes]], offset_next: int) -> Slice:
        """The caller may use it even if there is no room for it."""
        self.drop(key)
        self._number_next += 1
        value = Slice(self._number_next, runs, offset_next)
        size = value.size_bytes
        self._slices[key] = (value, size)
        self.size_bytes += size
        while self.size_bytes > self._bytes_max and self._slices:
            _, (_, gone) = self._slices.popitem(last=False)
            self.size_bytes -= gone
        return value

    def drop(self, key: SliceKey) -> None:
        found = self._slices.pop(key, None)
        if found is not None:
            self.size_bytes -= found[1]

    def forget(self, queue_id: int) -> None:
        """The stream is gone."""
        for key in [key for key in self._slices if key[0] == queue_id]:
            self.drop(key)
