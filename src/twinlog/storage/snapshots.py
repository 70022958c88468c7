"""What a log knew of its producers at some offsets, so that recovery need not read everything.

Files ``<offset>.producers`` in the log's directory, the newest two of those that lie below its durable mark and all
behind it. Losing one costs time: recovery takes an older one and reads more.
"""

from __future__ import annotations

from typing import Final

from twinlog.host import File
from twinlog.storage.ports import LogHome

KEPT_BELOW_MARK: Final = 2


class Snapshots:
    """The files of one log, oldest first."""

    __slots__ = ("_home", "_offsets", "_path")

    def __init__(self, home: LogHome, path: str, offsets: list[int]) -> None:
        self._home = home
        self._path = path
        self._offsets = offsets

    def path_of(self, offset: int) -> str:
        return f"{self._path}/{offset:020d}.producers"

    @property
    def paths(self) -> list[str]:
        return [self.path_of(offset) for offset in self._offsets]

    def save(self, offset: int, encoded: bytes) -> File:
        """Returns the file, which is to be synced and closed."""
        file = self._home.disk.open(self.path_of(offset), create=True)
        try:
            file.truncate(0)
            file.append((encoded,))
        except BaseException:
            file.close()
            raise
        if not self._offsets or self._offsets[-1] != offset:
            self._offsets.append(offset)
        return file

    def needed_from(self, offset_marked: int) -> None:
        """All below is durable in the segments: what no recovery will read goes."""
        while len(self._offsets) > KEPT_BELOW_MARK and self._offsets[KEPT_BELOW_MARK] <= offset_marked:
            self._delete(self._offsets[0])

    def drop_below(self, offset: int) -> None:
        """The segments below went. The newest snapshot stays."""
        for dropped in [each for each in self._offsets[:-1] if each < offset]:
            self._delete(dropped)

    def _delete(self, offset: int) -> None:
        self._offsets.remove(offset)
        self._home.quietly(self._home.disk.delete, self.path_of(offset))
