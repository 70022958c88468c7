"""A small log of our own records: the metadata log, later the journal of all queues.

``append`` takes a group of records: after a crash all of them are there, or none. ``on_synced`` tells what is durable.
``snapshot`` writes a state that stands for everything before a position, and lets old files go, one generation late:
if the newest snapshot turns out damaged, the one before and the records since give the same state.

On disk, in one directory: ``<name>.<first position>.frames``, ``<name>.<position>.snapshot``, ``<name>.mark``.
Positions count records. Every group carries the position that was durable when it was written. So a group that is
good proves that an earlier one, now unreadable, had been synced: that is damage and refused, while a torn tail is
cut. For the last groups, which nothing follows, ``mark`` says how far the log was durable; it is renewed once a
second at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import Struct
from typing import Final, NamedTuple

from twinlog._kernel import crc32c, frame_build, frame_scan
from twinlog.base import DiskFull, HostFault
from twinlog.host import Buffer, Disk, File
from twinlog.storage.errors import Damaged
from twinlog.storage.files import read_whole, write_again, write_whole
from twinlog.storage.flusher import Flusher, NeverSmall

VERSION: Final = 1
FILE_HEAD: Final = Struct("<4sHHQ")  # magic, version, 0, first position
FILE_MAGIC: Final = b"TLFL"
GROUP: Final = Struct("<4sIQQ")  # magic, records, first position, durable position
GROUP_MAGIC: Final = b"TLGR"
FRAME_HEAD_BYTES: Final = 8
SNAPSHOT_HEAD: Final = Struct("<4sHHQQI")  # magic, version, 0, position, size, checksum of the state
SNAPSHOT_MAGIC: Final = b"TLSN"
CRC: Final = Struct("<I")
SLOT: Final = Struct("<4sIQ")  # magic, version, durable position
SLOT_MAGIC: Final = b"TLFM"
SLOT_BYTES: Final = 512  # a sector each, so that a torn write spoils one of the two


class Replay(NamedTuple):
    """What a start finds: the state at ``position``, or None at 0, and the records since."""

    state: bytes | None
    position: int
    records: list[bytes]


class FrameLog(NeverSmall):
    """See above. One writer; everything is called from the loop."""

    def __init__(self, disk: Disk, flusher: Flusher, directory: str, name: str) -> None:
        self._disk = disk
        self._flusher = flusher
        self._directory = directory
        self._name = name
        self._file: File | None = None
        self._bases: list[int] = []
        self._snapshots: list[int] = []
        self._unsynced: list[File] = []
        self._directory_unsynced = False
        self._mark = DurableMark(disk, flusher, f"{directory}/{name}.mark")
        self.position_end = 0
        self.position_synced = 0
        self.size_bytes = 0  # of the files since the last snapshot
        self.cut_bytes = 0  # of a torn tail, at the last start
        self.fault: HostFault | None = None
        self.on_synced: Callable[[int], None] = lambda position: None
        self.on_failed: Callable[[HostFault], None] = lambda fault: None

    # Writing.

    def append(self, records: Sequence[Buffer], *, soon: bool = True) -> int:
        """Appends records as one group; returns the position behind them. ``DiskFull``: nothing was appended."""
        if self.fault is not None:
            raise self.fault
        assert self._file is not None, "the log is not open"
        assert records, "a group without records"
        group = GROUP.pack(GROUP_MAGIC, len(records), self.position_end, self.position_synced)
        data = frame_build([group, *records])
        try:
            self._file.append((data,))
        except DiskFull:
            raise
        except HostFault as fault:
            self._flusher.fail(fault)
            self.failed(fault)
            raise
        self.position_end += len(records)
        self.size_bytes += len(data)
        if self._file not in self._unsynced:
            self._unsynced.append(self._file)
        self._flusher.dirty(self, soon)
        return self.position_end

    def sync_files(self, files: list[File], directories: list[str]) -> int:
        files += self._unsynced
        self._unsynced = []
        if self._directory_unsynced:
            directories.append(self._directory)
            self._directory_unsynced = False
        return self.position_end

    def synced(self, position: int) -> None:
        if position > self.position_synced:
            self.position_synced = position
            self._mark.moved(position)
            self.on_synced(position)

    def failed(self, fault: HostFault) -> None:
        if self.fault is None:
            self.fault = fault
            self.on_failed(fault)

    def snapshot(self, state: bytes) -> None:
        """Makes ``state``, in which every record up to the synced end was applied, stand for all of them. Blocks."""
        assert self.position_synced == self.position_end, "a snapshot of what is not durable"
        position = self.position_end
        if self._snapshots and self._snapshots[-1] == position:
            return
        head = SNAPSHOT_HEAD.pack(SNAPSHOT_MAGIC, VERSION, 0, position, len(state), crc32c(state))
        try:
            path = f"{self._directory}/{self._name}.{position:020d}.snapshot"
            write_whole(self._disk, path, head + CRC.pack(crc32c(head)) + state)
            self._snapshots.append(position)
            if position != self._bases[-1]:
                self._begin_file(position)
        except DiskFull:
            raise
        except HostFault as fault:
            self._flusher.fail(fault)
            self.failed(fault)
            raise
        self._drop_old()

    def _begin_file(self, position: int) -> None:
        file = self._disk.open(self._path(position), create=True)
        try:
            file.truncate(0)
            file.append((frame_build([FILE_HEAD.pack(FILE_MAGIC, VERSION, 0, position)]),))
        except DiskFull:
            file.close()
            self._disk.delete(self._path(position))  # the file before goes on, and must not end where this one begins
            raise
        # Durable before the first group: its name must not be missing while older files end without a trace.
        self._disk.sync_now(file)
        self._disk.sync_directory_now(self._directory)
        if self._file is not None and self._file not in self._unsynced:
            self._file.close()
        self._file = file
        self._bases.append(position)
        self.size_bytes = 0

    def _drop_old(self) -> None:
        """Keeps the newest two snapshots, and every record since the older one."""
        kept_from = self._snapshots[-2] if len(self._snapshots) > 1 else 0
        for position in [position for position in self._snapshots if position < kept_from]:
            self._disk.delete(f"{self._directory}/{self._name}.{position:020d}.snapshot")
            self._snapshots.remove(position)
        while len(self._bases) > 1 and self._bases[1] <= kept_from:
            self._disk.delete(self._path(self._bases.pop(0)))

    def close(self) -> None:
        """Syncs and lets go. Blocks."""
        if self._file is None:
            return
        if self.fault is None:
            for file in [*self._unsynced, self._file]:
                self._disk.sync_now(file)
            self.position_synced = self.position_end
            self._mark.write_now(self.position_end)
        self._flusher.forget(self)
        self._mark.close()
        self._file.close()
        self._file = None

    # Opening.

    def open(self) -> Replay:
        """Reads everything there is, cuts a torn tail, and makes the log ready. ``Damaged``: nothing was changed."""
        names = self._disk.list(self._directory)
        self._bases = positions_of(names, self._name, ".frames")
        self._snapshots = positions_of(names, self._name, ".snapshot")
        mark = self._mark.read()
        if not self._bases:
            if self._snapshots or mark:
                raise Damaged(f"{self._directory}/{self._name}", "its records are missing")
            self._mark.create()  # first: records without a mark are taken for durable ones whose mark was lost
            self._begin_file(0)
            return Replay(None, 0, [])
        replay = self._read(mark)
        for name in names:
            if name.startswith(f"{self._name}.") and name.endswith(".new"):
                self._disk.delete(f"{self._directory}/{name}")
        self._file = self._disk.open(self._path(self._bases[-1]))
        if self._file.size == 0:  # the power went between its name and its head
            self._file.append((frame_build([FILE_HEAD.pack(FILE_MAGIC, VERSION, 0, self._bases[-1])]),))
        self.position_synced = self.position_end = replay.position + len(replay.records)
        if self.position_end > (mark or 0):
            write_again(self._file)  # nobody knows whether its last sync failed
        self._disk.sync_now(self._file)
        self.size_bytes = self._file.size
        self._mark.write_now(self.position_end)
        self._disk.sync_directory_now(self._directory)
        return replay

    def _read(self, mark: int | None) -> Replay:
        state, position = self._newest_state()
        durable = max(mark or 0, position)
        groups: list[tuple[int, list[bytes]]] = []
        first = max(number for number, base in enumerate(self._bases) if base <= position)
        end = self._bases[first]
        torn: tuple[int, int] | None = None  # file number and place where reading stopped
        for number in range(first, len(self._bases)):
            found = _FileScan(read_whole(self._disk, self._path(self._bases[number])) or b"", self._bases[number])
            if torn is None and self._bases[number] != end:
                raise Damaged(self._path(self._bases[number]), f"begins after a gap from {end}")
            if torn is None:
                groups += found.groups
                end = found.end
                if not found.whole:
                    torn = number, found.valid_bytes
                    if mark is None or end < durable:
                        raise Damaged(self._path(self._bases[number]), f"record {end} cannot be read, and was durable")
            if torn is not None and found.durable_later > end:
                raise Damaged(self._path(self._bases[number]), f"record {end} cannot be read, and later ones can")
        if end < durable:
            raise Damaged(self._path(self._bases[-1]), f"ends at record {end}; up to {durable} it was durable")
        if torn is not None:
            self._cut(*torn)
        records = [record for at, group in groups for record in group[max(position - at, 0) :]]
        return Replay(state, position, records)

    def _newest_state(self) -> tuple[bytes | None, int]:
        for position in reversed(self._snapshots):
            path = f"{self._directory}/{self._name}.{position:020d}.snapshot"
            state = decode_snapshot(read_whole(self._disk, path) or b"", position)
            if state is not None and self._bases[0] <= position:
                return state, position
        if self._bases[0] != 0:
            raise Damaged(f"{self._directory}/{self._name}", "no snapshot can be read")
        return None, 0

    def _cut(self, number: int, valid_bytes: int) -> None:
        for base in self._bases[number + 1 :]:
            self._disk.delete(self._path(base))
        del self._bases[number + 1 :]
        file = self._disk.open(self._path(self._bases[number]))
        self.cut_bytes = file.size - valid_bytes
        file.truncate(valid_bytes)
        self._disk.sync_now(file)
        file.close()

    def _path(self, base: int) -> str:
        return f"{self._directory}/{self._name}.{base:020d}.frames"


class _FileScan:
    """The groups of one file."""

    def __init__(self, data: bytes, base: int) -> None:
        self.groups: list[tuple[int, list[bytes]]] = []  # (first position, records)
        self.end = base
        self.durable_later = 0  # what a good group behind the first bad one proves
        self.valid_bytes = 0
        frames, end, reason = frame_scan(data, 0, len(data))
        if frames and self._is_head(bytes(data[frames[0][0] :][: frames[0][1]]), base):
            self.valid_bytes = sum(frames[0])
            self._read_groups(data, frames)
        self.whole = not reason and self.valid_bytes == end == len(data)
        if not self.whole:
            self._look_behind(data)

    @staticmethod
    def _is_head(payload: bytes, base: int) -> bool:
        return payload == FILE_HEAD.pack(FILE_MAGIC, VERSION, 0, base)

    def _read_groups(self, data: bytes, frames: list[tuple[int, int]]) -> None:
        number = 1
        while number < len(frames):
            at, size = frames[number]
            if size != GROUP.size:
                return
            magic, count, position, _ = GROUP.unpack_from(data, at)
            if magic != GROUP_MAGIC or position != self.end or count == 0 or number + count >= len(frames):
                return
            records = [data[start : start + length] for start, length in frames[number + 1 : number + 1 + count]]
            self.groups.append((position, records))
            self.end += count
            number += 1 + count
            self.valid_bytes = sum(frames[number - 1])

    def _look_behind(self, data: bytes) -> None:
        at = data.find(GROUP_MAGIC, self.valid_bytes + 1)
        while at >= 0:
            start = at - FRAME_HEAD_BYTES
            frames, _, _ = frame_scan(data, start, min(at + GROUP.size, len(data)))
            if frames and frames[0] == (at, GROUP.size):
                self.durable_later = max(self.durable_later, GROUP.unpack_from(data, at)[3])
            at = data.find(GROUP_MAGIC, at + 1)


class DurableMark(NeverSmall):
    """How far a frame log was durable, in two slots written in turn. Renewed by the rounds nobody waits for."""

    def __init__(self, disk: Disk, flusher: Flusher, path: str) -> None:
        self._disk = disk
        self._flusher = flusher
        self._path = path
        self._file: File | None = None
        self._position = 0
        self._turn = 0

    def read(self) -> int | None:
        data = read_whole(self._disk, self._path)
        if data is None:
            return None
        found: list[int] = []
        for turn in (0, 1):
            slot = data[turn * SLOT_BYTES : turn * SLOT_BYTES + SLOT.size + CRC.size]
            if len(slot) == SLOT.size + CRC.size and CRC.unpack_from(slot, SLOT.size)[0] == crc32c(slot[: SLOT.size]):
                magic, version, position = SLOT.unpack_from(slot)
                if magic == SLOT_MAGIC and version == VERSION:
                    found.append(position)
                    # The better slot is the one to keep until the other has been written.
                    self._turn = 1 - turn if position == max(found) else turn
        return max(found) if found else None

    def create(self) -> None:
        self._write(0)
        self._write(0)
        assert self._file is not None
        self._disk.sync_now(self._file)
        self._disk.sync_directory_now(self._path.rpartition("/")[0])

    def moved(self, position: int) -> None:
        self._position = position
        self._flusher.dirty(self, False)

    def write_now(self, position: int) -> None:
        self._write(position)
        assert self._file is not None
        self._disk.sync_now(self._file)

    def _write(self, position: int) -> None:
        if self._file is None:
            self._file = self._disk.open(self._path, create=True)
            if self._file.size < 2 * SLOT_BYTES:
                self._file.append((bytes(2 * SLOT_BYTES - self._file.size),))
        slot = SLOT.pack(SLOT_MAGIC, VERSION, position)
        self._file.write_at(self._turn * SLOT_BYTES, slot + CRC.pack(crc32c(slot)))
        self._turn = 1 - self._turn
        self._position = position

    def sync_files(self, files: list[File], directories: list[str]) -> int:
        try:
            self._write(self._position)
        except DiskFull:
            return 0
        assert self._file is not None
        files.append(self._file)
        return self._position

    def synced(self, position: int) -> None:
        return None

    def failed(self, fault: HostFault) -> None:
        return None

    def close(self) -> None:
        self._flusher.forget(self)
        if self._file is not None:
            self._file.close()
            self._file = None


def positions_of(names: Sequence[str], name: str, kind: str) -> list[int]:
    """The positions in file names like ``<name>.<20 digits><kind>``, in order."""
    found = []
    for candidate in names:
        if candidate.startswith(f"{name}.") and candidate.endswith(kind):
            digits = candidate[len(name) + 1 : -len(kind)]
            if len(digits) == 20 and digits.isdecimal():
                found.append(int(digits))
    return sorted(found)


def decode_snapshot(data: bytes, position: int) -> bytes | None:
    """The state in a snapshot file; None when it is not whole."""
    head_bytes = SNAPSHOT_HEAD.size
    if len(data) < head_bytes + CRC.size or CRC.unpack_from(data, head_bytes)[0] != crc32c(data[:head_bytes]):
        return None
    magic, version, _, at_position, size, crc = SNAPSHOT_HEAD.unpack_from(data)
    state = data[head_bytes + CRC.size :]
    if (magic, version, at_position, size) != (SNAPSHOT_MAGIC, VERSION, position, len(state)):
        return None
    return state if crc32c(state) == crc else None
