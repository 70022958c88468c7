"""The journal of all queues: files of frames, written once a round and synced together.

Places in it are counted in bytes from its first beginning, over all files. What is appended waits in memory for
the next round, or until there is a lot of it, or until somebody wants to read it; a full disk keeps it waiting.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from twinlog.amqp.store.records import JOURNAL_HEAD_BYTES, journal_head
from twinlog.amqp.store.settings import QueueStoreSettings
from twinlog.base import DiskFull, HostFault
from twinlog.base.units import MIB
from twinlog.host import Disk, File
from twinlog.storage import Flusher, NeverSmall
from twinlog.storage.frames import DurableMark

UNWRITTEN_BYTES_MAX: Final = 1 * MIB
RESERVE_BYTES_MIN: Final = MIB


class JournalFile:
    """One file: the places from ``base`` to ``end``."""

    __slots__ = ("base", "end", "file", "path")

    def __init__(self, base: int, path: str, file: File) -> None:
        self.base = base
        self.path = path
        self.file = file
        self.end = base + max(file.size - JOURNAL_HEAD_BYTES, 0)


class Journal(NeverSmall):
    """See above. ``before_write`` may append what has gathered elsewhere; it is called once a round."""

    joins_small = True

    def __init__(self, disk: Disk, flusher: Flusher, directory: str, settings: QueueStoreSettings) -> None:
        self._disk = disk
        self._flusher = flusher
        self._directory = directory
        self._settings = settings
        self.mark = DurableMark(disk, flusher, f"{directory}/journal.mark")
        self.files: list[JournalFile] = []
        self.end = 0  # with what waits
        self.end_written = 0
        self.end_synced = 0
        self.is_full = False
        self.fault: HostFault | None = None
        self._unwritten: list[bytes] = []
        self._unwritten_bytes = 0
        self._unsynced: list[File] = []
        self._names_unsynced = False
        self._announced = False
        self.before_write: Callable[[], None] = lambda: None
        self.on_synced: Callable[[int], None] = lambda position: None
        self.on_failed: Callable[[HostFault], None] = lambda fault: None
        self.on_rolled: Callable[[], None] = lambda: None

    def path_of(self, base: int) -> str:
        return f"{self._directory}/{base:020d}.journal"

    # ---- writing ----------------------------------------------------------------------------------------------

    def append(self, *frames: bytes) -> int:
        """Returns the place of the first. ``DiskFull``: nothing was appended."""
        position = self.end
        size = 0
        for frame in frames:
            size += len(frame)
        self._unwritten += frames
        self._unwritten_bytes += size
        self.end = position + size
        if self._unwritten_bytes >= UNWRITTEN_BYTES_MAX:
            try:
                self.write()
            except DiskFull:
                # What was taken before keeps waiting; this one is not taken.
                del self._unwritten[-len(frames) :]
                self._unwritten_bytes -= size
                self.end = position
                raise
        if not self._announced:
            self._announced = True
            self._flusher.dirty(self, False)
        return position

    def announce(self) -> None:
        """Something waits for ``before_write``."""
        if not self._announced:
            self._announced = True
            self._flusher.dirty(self, False)

    def hurry(self) -> None:
        """Somebody waits for what was appended."""
        self._announced = True
        self._flusher.dirty(self, True)
        if self._flusher.fault is not None:
            self.failed(self._flusher.fault)

    def write(self) -> None:
        """Brings what waits into the files. ``DiskFull``: it goes on waiting."""
        if self.fault is not None:
            raise self.fault
        if not self._unwritten:
            return
        try:
            if self.files[-1].file.size >= self._settings.journal_file_bytes:
                self.begin_file()
            file = self.files[-1].file
            file.append((b"".join(self._unwritten),) if len(self._unwritten) > 64 else self._unwritten)
        except DiskFull:
            self.is_full = True
            raise
        except HostFault as fault:
            self.failed(fault)
            self._flusher.fail(fault)
            raise
        self.is_full = False
        self._unwritten = []
        self._unwritten_bytes = 0
        self.files[-1].end = self.end_written = self.end
        if not self._unsynced or self._unsynced[-1] is not file:
            self._unsynced.append(file)

    def begin_file(self) -> None:
        base = self.end_written
        path = self.path_of(base)
        file = self._disk.open(path, create=True)
        try:
            file.truncate(0)
            file.append((journal_head(base),))
        except DiskFull:
            file.close()
            self._disk.delete(path)
            raise
        if self._settings.journal_file_bytes >= RESERVE_BYTES_MIN:
            file.reserve(self._settings.journal_file_bytes)
        # The head takes no room in the count of places: it would move what already waits.
        self.files.append(JournalFile(base, path, file))
        self._unsynced.append(file)
        self._names_unsynced = True
        self.on_rolled()

    @property
    def unsynced_files(self) -> list[File]:
        return list(self._unsynced)

    def delete_first(self) -> None:
        entry = self.files.pop(0)
        entry.file.close()
        self._disk.delete(entry.path)

    # ---- reading ----------------------------------------------------------------------------------------------

    def read(self, position: int, size: int) -> bytes:
        """What lies there; fewer bytes only at the end."""
        end = min(position + size, self.end)
        if end > self.end_written:
            try:
                self.write()
            except DiskFull:
                waiting = b"".join(self._unwritten)
                if position >= self.end_written:
                    return waiting[position - self.end_written : end - self.end_written]
                return self._read_written(position, self.end_written) + waiting[: end - self.end_written]
        return self._read_written(position, end)

    def _read_written(self, position: int, end: int) -> bytes:
        at = len(self.files) - 1
        while self.files[at].base > position:
            at -= 1
        parts = []
        while position < end:
            entry = self.files[at]
            size = min(end, entry.end) - position
            parts.append(entry.file.read_at(position - entry.base + JOURNAL_HEAD_BYTES, size))
            position += size
            at += 1
        return parts[0] if len(parts) == 1 else b"".join(parts)

    # ---- Syncable ---------------------------------------------------------------------------------------------

    def sync_files(self, files: list[File], directories: list[str]) -> int:
        self._announced = False
        self.before_write()
        try:
            self.write()
        except DiskFull:
            self.announce()  # tried again in a while, as long as something waits
        files += self._unsynced
        self._unsynced = []
        if self._names_unsynced:
            directories.append(self._directory)
            self._names_unsynced = False
        return self.end_written

    def synced(self, position: int) -> None:
        if position > self.end_synced:
            self.end_synced = position
            self.mark.moved(position)
        self.on_synced(position)

    def failed(self, fault: HostFault) -> None:
        if self.fault is None:
            self.fault = fault
            self.on_failed(fault)

    def close(self) -> None:
        """Syncs everything and lets go. Blocks."""
        if self.fault is None and self.files:
            self.before_write()
            self.write()
            for file in self._unsynced:
                self._disk.sync_now(file)
            self._disk.sync_directory_now(self._directory)
            self.end_synced = self.end_written
            self.mark.write_now(self.end_synced)
        self._flusher.forget(self)
        self.mark.close()
        for entry in self.files:
            entry.file.close()
        self.files = []
