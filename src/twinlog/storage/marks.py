"""The durable marks of all logs of a directory, in one file that is replaced whole.

A mark says: up to here everything was on stable storage when this was written. A start after a crash takes invalid
bytes below it for damage, and above it for the torn tail of a write that nobody was promised. Each mark carries its own
checksum, so one flipped bit makes one log's mark unknown, and unknown marks make recovery stricter, never laxer.

The file is written at most every ``checkpoint_interval_ms`` while something changes, and sooner when a log start
was moved and somebody waits for that to be durable.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Final, NamedTuple, Protocol

from twinlog._kernel import crc32c
from twinlog.base import DiskFull, HostFault
from twinlog.host import Disk, File, Tasks, Timer
from twinlog.storage.files import parent, read_whole, write_whole
from twinlog.storage.flusher import Flusher, NeverSmall
from twinlog.storage.settings import StorageSettings

MAGIC: Final = b"TLMK"
VERSION: Final = 1
HEADER: Final = Struct("<4sHHI")
ENTRY: Final = Struct("<16siIqqqQQiI")
CRC: Final = Struct("<I")
HEAD_BYTES: Final = HEADER.size + CRC.size
ENTRY_BYTES: Final = ENTRY.size + CRC.size

BYTES, NAME, FULL = range(3)  # what a round makes durable: the new file's bytes, its name, or nothing

CLEAN: Final = 1  # the log was stopped clean: the mark is its end
UNDECIDED: Final = 2  # and a transaction was open then

LogKey = tuple[bytes, int]


class Mark(NamedTuple):
    """What was durable of one log. ``segment_size`` is how much of the segment at ``segment_base``."""

    topic_id: bytes
    partition: int
    flags: int
    offset_start: int
    offset_synced: int
    segment_base: int
    segment_size: int
    size_bytes: int
    leader_epoch: int

    @property
    def is_clean(self) -> bool:
        """Whether the log was stopped clean at this mark."""
        return bool(self.flags & CLEAN)

    def encode(self) -> bytes:
        entry = ENTRY.pack(*self, 0)
        return entry + CRC.pack(crc32c(entry))


class Marks(NamedTuple):
    """The file as read. ``whole``: a log without a mark was never synced; else its mark may have been lost."""

    by_log: dict[LogKey, Mark]
    whole: bool


def encode_marks(entries: list[bytes]) -> bytes:
    header = HEADER.pack(MAGIC, VERSION, 0, len(entries))
    return header + CRC.pack(crc32c(header)) + b"".join(entries)


def decode_marks(data: bytes | None) -> Marks:
    """Reads what can be read."""
    if data is None or len(data) < HEAD_BYTES:
        return Marks({}, whole=False)
    header = data[: HEADER.size]
    magic, version, _, count = HEADER.unpack(header)
    whole = (
        CRC.unpack_from(data, HEADER.size)[0] == crc32c(header)
        and (magic, version) == (MAGIC, VERSION)
        and len(data) == HEAD_BYTES + count * ENTRY_BYTES
    )
    by_log: dict[LogKey, Mark] = {}
    for position in range(HEAD_BYTES, len(data) - ENTRY_BYTES + 1, ENTRY_BYTES):
        entry = data[position : position + ENTRY.size]
        if CRC.unpack_from(data, position + ENTRY.size)[0] != crc32c(entry):
            whole = False
            continue
        mark = Mark(*ENTRY.unpack(entry)[:-1])
        by_log[mark.topic_id, mark.partition] = mark
    return Marks(by_log, whole)


class Marked(Protocol):
    """A log, as the marks see it."""

    key: LogKey

    def mark(self) -> Mark | None:
        """What is durable now; None before anything is."""

    def marked(self, mark: Mark) -> None:
        """The mark is on stable storage."""


class MarksFile(NeverSmall):
    """Collects what changed and writes the file through the flusher, in two steps: the bytes, then the name."""

    def __init__(
        self,
        disk: Disk,
        tasks: Tasks,
        flusher: Flusher,
        settings: StorageSettings,
        path: str,
        make_room: Callable[[], bool] = lambda: False,
    ) -> None:
        self._make_room = make_room  # on a full disk; whether there is some now
        self._disk = disk
        self._tasks = tasks
        self._flusher = flusher
        self._settings = settings
        self._path = path
        self._entries: dict[LogKey, bytes] = {}
        self._changed: dict[LogKey, Marked] = {}
        self._written: list[tuple[Marked, Mark]] = []
        self._file: File | None = None
        self._naming = False
        self._timer: Timer | None = None
        self._asked = False
        self._hurried = False
        self._stopped = False
        self._stale = False

    def read(self) -> Marks:
        """Reads the file at start. What was not touched since keeps its mark."""
        marks = decode_marks(read_whole(self._disk, self._path))
        self._entries = {key: mark.encode() for key, mark in marks.by_log.items()}
        return marks

    def changed(self, log: Marked, *, soon: bool = False) -> None:
        """The log's mark moved. ``soon``: somebody waits for ``log.marked``."""
        self._changed[log.key] = log
        if self._stopped:
            return
        if soon:
            self._hurried = True
            self._ask()
        elif self._timer is None and not self._asked:
            self._timer = self._tasks.later(self._settings.checkpoint_interval_ms, self._ask)

    def forget(self, key: LogKey) -> None:
        """The log was deleted."""
        self._changed.pop(key, None)
        self._entries.pop(key, None)

    def write_now(self, logs: list[Marked]) -> None:
        """Writes the file before this call returns: before a log is cut below its mark, and at the end."""
        for log in logs:
            self._changed[log.key] = log
        data, written = self._take()
        try:
            write_whole(self._disk, self._path, data)
        except DiskFull:
            if not self._make_room():
                raise
            write_whole(self._disk, self._path, data)
        # A round that is under way has collected older marks, which must not replace these.
        self._stale = self._asked
        for log, mark in written:
            log.marked(mark)

    def stop(self) -> None:
        """No round writes the file any more."""
        self._stopped = True
        self._flusher.forget(self)
        self._stop_timer()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _take(self) -> tuple[bytes, list[tuple[Marked, Mark]]]:
        written = []
        for key, log in self._changed.items():
            mark = log.mark()
            if mark is None:
                self._entries.pop(key, None)
            else:
                self._entries[key] = mark.encode()
                written.append((log, mark))
        self._changed.clear()
        return encode_marks(list(self._entries.values())), written

    def _ask(self) -> None:
        self._stop_timer()
        if not self._asked:
            self._asked = True
            self._flusher.dirty(self, True)

    # The flusher's side.

    def sync_files(self, files: list[File], directories: list[str]) -> int:
        if self._stopped:
            return FULL
        if self._naming and not self._stale:
            self._disk.rename(self._path + ".next", self._path)
            directories.append(parent(self._path))
            return NAME
        data, self._written = self._take()
        self._hurried = self._naming = self._stale = False
        try:
            self._file = self._write_next(data)
        except DiskFull:
            if not self._make_room():
                return FULL
            try:
                self._file = self._write_next(data)
            except DiskFull:
                return FULL
        files.append(self._file)
        return BYTES

    def _write_next(self, data: bytes) -> File:
        file = self._disk.open(self._path + ".next", create=True)
        try:
            file.truncate(0)
            file.append((data,))
        except DiskFull:
            file.close()
            raise
        return file

    def synced(self, position: int) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        if position == BYTES:
            self._naming = True
            self._flusher.dirty(self, True)
            return
        named = position == NAME and not self._stale
        self._naming = self._asked = self._stale = False
        written, self._written = self._written, []
        if self._stopped:
            return
        for log, mark in written:
            if named:
                log.marked(mark)
            else:
                self._changed[log.key] = log
        if self._hurried and position != FULL:
            self._ask()
        elif self._changed and self._timer is None:
            self._timer = self._tasks.later(self._settings.checkpoint_interval_ms, self._ask)

    def failed(self, fault: HostFault) -> None:
        self._stopped = True
        self._stop_timer()
