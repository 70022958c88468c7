"""A journal that makes small sync rounds cheap: one overwritten file instead of several that grow.

A round that covers a few kilobytes in five logs costs five syncs, and each of them also commits the new length of a
file. Here the same bytes are written a second time, one record a round, into a file whose room was written once and
for all, and that file alone is synced (measured: a third of the time and a fifth of the CPU, docs/adr/0011).
The logs' own files are synced within ``flush_interval_ms``, after which their records here are not needed.

On disk it owns ``<directory>/rounds`` (docs/formats/rounds.md), of which each generation of records uses one half.
The record of a round is written behind the last one; once every log named there is synced by itself, a new generation
begins at the front of the other half. After a crash the records of the newest generation are written once more into
the logs' files, before anything else reads those: a log's bytes are then the same as if its own file had been synced.
A record that cannot be read ends the replay; if a later one can, it had been synced, and the directory is damaged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Final, NamedTuple, TypeAlias

from twinlog._kernel import crc32c
from twinlog.base import DiskFull, HostFault
from twinlog.base.units import KIB, MIB
from twinlog.host import Disk, File, Tasks
from twinlog.storage.errors import Damaged
from twinlog.storage.files import parent, read_whole

NAME: Final = "rounds"
MAGIC: Final = b"TLRD"
VERSION: Final = 2
HEADER: Final = Struct("<4sHHQIIIQI")  # magic, version, kind, generation, number, entries, bytes, file's, checksum
HEADER_1: Final = Struct("<4sHHQIIII")  # of version 1, which does not say how long the file is
CHECKSUM_BYTES: Final = 4
ENTRY: Final = Struct("<16siIqQ")  # topic id, partition, bytes, segment base, position
ALIGNMENT: Final = 64

APPENDED: Final = 1  # bytes that a round made durable
VOID: Final = 2  # earlier bytes of these segments, from the position on, must not come back

ROUND_BYTES: Final = 32 * KIB  # larger rounds are cheaper in their own files than twice
ROUND_BYTES_A_LOG: Final = 8 * KIB  # but for those of many logs, each of which would be a sync
ROUND_BYTES_MAX: Final = 256 * KIB
VOID_SHARE: Final = 16  # a sixteenth of a half is kept free for records that may not wait for a new generation
BYTES_A_ROUND_EARNS: Final = 128 * KIB  # so many small rounds come before the file is made


class Extent(NamedTuple):
    """Bytes at the end of a log's active segment that are not durable yet."""

    topic_id: bytes
    partition: int
    segment_base: int
    position: int
    size: int
    file: File


SegmentKey: TypeAlias = tuple[bytes, int, int]  # topic id, partition, segment base


class Replayed(NamedTuple):
    """Bytes that belong into a segment file, oldest first."""

    position: int
    data: bytes


def round_bytes_max(logs: int) -> int:
    """How large a round of so many logs may be to go through the journal."""
    return min(ROUND_BYTES_MAX, max(ROUND_BYTES, ROUND_BYTES_A_LOG * logs))


class SmallRounds:
    """The journal of one data directory. ``ready`` says whether rounds may go here."""

    def __init__(self, disk: Disk, tasks: Tasks, directory: str, file_bytes: int) -> None:
        self._disk = disk
        self._tasks = tasks
        self._path = f"{directory}/{NAME}"
        self._file_bytes = file_bytes - file_bytes % (2 * ALIGNMENT)
        self._half_bytes = self._file_bytes // 2
        self._room_bytes = self._half_bytes - self._half_bytes // VOID_SHARE
        self._file: File | None = None
        self._making = False
        self._given_up = False
        self._generation = 0
        self._number = 0
        self._position = 0
        self._leftover = False  # a crash now would find records that nobody needs any more
        self._asked = 0
        self.written_rounds = 0
        self.written_bytes = 0

    # ---- in service ------------------------------------------------------------------------------------------------

    def ready(self) -> bool:
        """Whether there is a file; asking often enough makes one in the background."""
        if self._file is not None:
            return True
        if self._file_bytes and not self._making and not self._given_up:
            self._asked += 1
            if self._asked * BYTES_A_ROUND_EARNS >= self._file_bytes:
                self._making = True
                self._tasks.blocking(self._make, self._made)
        return False

    def has_room(self, entries: int, size: int) -> bool:
        return self._position + _padded(HEADER.size + entries * ENTRY.size + size) <= self._room_bytes

    def write(self, extents: Sequence[Extent]) -> File:
        """Writes one round's record; returns the file that is to be synced for it."""
        parts = []
        for topic_id, partition, segment_base, position, size, file in extents:
            parts.append(ENTRY.pack(topic_id, partition, size, segment_base, position))
            parts.append(file.read_at(position, size))
        self.written_rounds += 1
        return self._put(APPENDED, len(extents), b"".join(parts))

    def restart(self) -> None:
        """Every log named here is durable by itself: begins a new generation."""
        if self._position:
            self._leftover = True
            self._begin_generation()

    def void(self, topic_id: bytes, partition: int, segment_base: int, position: int) -> None:
        """Durably: a replay brings nothing back at or behind that place. Call it before the segment's file is replaced
        or shortened. ``DiskFull`` when there is no room for the record: nothing may be changed then."""
        if self._file is None or not (self._position or self._leftover):
            return
        if self._position + _padded(HEADER.size + ENTRY.size) > self._half_bytes:
            raise DiskFull(self._path, "has no room until the next sync")
        self._disk.sync_now(self._file)  # a round under way: were it torn behind a whole record, that would be damage
        self._put(VOID, 1, ENTRY.pack(topic_id, partition, 0, segment_base, position))
        self._disk.sync_now(self._file)

    def close_clean(self) -> None:
        """Everything is synced: leaves nothing to be replayed."""
        self._clear()
        self.close()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _put(self, kind: int, entries: int, body: bytes) -> File:
        assert self._file is not None
        record = encode_record(kind, self._generation, self._number, entries, body, self._file_bytes)
        self._file.write_at(self._generation % 2 * self._half_bytes + self._position, record)
        self._position += len(record)
        self._number += 1
        self._leftover = False  # once this is synced, the older generation is never looked at again
        self.written_bytes += len(record)
        return self._file

    def _begin_generation(self) -> None:
        self._generation += 1
        self._number = 0
        self._position = 0

    def _clear(self) -> None:
        """Durably: there is nothing to be replayed."""
        if self._file is not None and (self._position or self._leftover):
            self._begin_generation()
            self._put(VOID, 0, b"")
            self._disk.sync_now(self._file)

    # ---- the file --------------------------------------------------------------------------------------------------

    def _make(self) -> None:
        """In a thread: writes zeros, so that no later write has to find room or lengthen the file."""
        file = self._disk.open(self._path + ".new", create=True)
        try:
            file.truncate(0)
            zeros = bytes(min(self._file_bytes, MIB))
            while file.size < self._file_bytes:
                file.append((zeros[: self._file_bytes - file.size],))
            self._disk.sync_now(file)
        finally:
            file.close()
        self._disk.rename(self._path + ".new", self._path)
        self._disk.sync_directory_now(parent(self._path))

    def _made(self, result: object, error: Exception | None) -> None:
        self._making = False
        if error is None:
            try:
                self._file = self._disk.open(self._path)
            except HostFault as fault:
                error = fault
        if isinstance(error, HostFault):
            self._given_up = True  # rounds stay as they are without it; a disk that fails shows itself soon enough
        elif error is not None:
            raise error

    # ---- after a start ---------------------------------------------------------------------------------------------

    def open(self, logs_path: str, *, clean: bool) -> int:
        """Takes the file that is there; after a crash writes its records into the logs, and returns how many bytes
        those were. ``Damaged``, and nothing is changed, when something is missing that was synced."""
        data = read_whole(self._disk, self._path)
        if data is None:
            return 0
        if not clean:
            check_length(data, self._path)
        found = newest_records(data, self._path, clean=clean)
        brought_back = 0
        if found and not clean:
            plan = {path_in(logs_path, key): pieces for key, pieces in plan_replay(found).items()}
            for path, pieces in plan.items():
                self._check_end(path, pieces)
            for path, pieces in plan.items():
                brought_back += self._bring_back(path, pieces)
        if len(data) != self._file_bytes:
            self._disk.delete(self._path)  # of another size setting: made anew when it is needed
            self._disk.sync_directory_now(parent(self._path))
            return brought_back
        self._file = self._disk.open(self._path)
        if found:
            self._generation = found[0].generation
            self._leftover = True
            self._clear()
        return brought_back

    def _check_end(self, path: str, pieces: Sequence[Replayed]) -> None:
        """Before a piece nothing may be missing: it was synced by itself, or comes from an earlier piece."""
        if not pieces or not self._disk.exists(path):
            return  # deleted since, by retention or with its topic
        end = self._disk.size(path)
        for piece in pieces:
            if piece.position > end:
                raise Damaged(path, f"ends at {end}, and up to {piece.position} it was synced")
            end = max(end, piece.position + len(piece.data))

    def _bring_back(self, path: str, pieces: Sequence[Replayed]) -> int:
        if not pieces or not self._disk.exists(path):
            return 0
        file = self._disk.open(path)
        try:
            for piece in pieces:
                file.write_at(piece.position, piece.data)
            self._disk.sync_now(file)
        finally:
            file.close()
        return sum(len(piece.data) for piece in pieces)


# ---- bytes ---------------------------------------------------------------------------------------------------------


class Record(NamedTuple):
    """One record as read, and how much room it takes. ``file_bytes`` is 0 where the version does not tell."""

    kind: int
    generation: int
    number: int
    entries: int
    body: bytes
    file_bytes: int
    size_bytes: int


def encode_record(kind: int, generation: int, number: int, entries: int, body: bytes, file_bytes: int) -> bytes:
    head = HEADER.pack(MAGIC, VERSION, kind, generation, number, entries, len(body), file_bytes, 0)[:-CHECKSUM_BYTES]
    checksum = crc32c(head + body)
    record = head + checksum.to_bytes(4, "little") + body
    return record + bytes(_padded(len(record)) - len(record))


def decode_record(data: bytes, position: int) -> Record | None:
    """The record at a position, or None where there is no whole one."""
    if data[position : position + 4] != MAGIC or position + HEADER.size > len(data):
        return None
    version = int.from_bytes(data[position + 4 : position + 6], "little")
    file_bytes = 0
    if version == VERSION:
        head = HEADER
        _, _, kind, generation, number, entries, size, file_bytes, checksum = head.unpack_from(data, position)
    elif version == 1:
        head = HEADER_1
        _, _, kind, generation, number, entries, size, checksum = head.unpack_from(data, position)
    else:
        return None
    start = position + head.size
    if start + size > len(data):
        return None
    body = data[start : start + size]
    if crc32c(data[position : start - CHECKSUM_BYTES] + body) != checksum:
        return None
    return Record(kind, generation, number, entries, body, file_bytes, _padded(head.size + size))


def check_length(data: bytes, path: str) -> None:
    """``Damaged`` when the file is not as long as it was made: what its end held had been synced. The record at the
    front tells; anywhere else a producer's own bytes could look like one."""
    first = decode_record(data, 0)
    if first is None:
        size_bytes = HEADER.size
        if data[:4] == MAGIC and len(data) >= HEADER.size:
            size_bytes += HEADER.unpack_from(data)[6]
        is_whole = len(data) >= size_bytes
    else:
        is_whole = first.file_bytes in (0, len(data))
    if not is_whole:
        raise Damaged(path, f"is cut off after {len(data)} bytes")


def newest_records(data: bytes, path: str, *, clean: bool = False) -> list[Record]:
    """The records of the newest generation, in order. ``Damaged`` when one of them is missing that had been synced;
    after a clean stop nobody needs them, and that is not looked for."""
    half = len(data) // 2
    found = [_records_from(data, front, front + half) for front in (0, half)]
    newest = max(found, key=lambda records: records[0].generation if records else -1)
    generation = newest[0].generation if newest else -1
    for front, records in zip((0, half), found, strict=True):
        end = front + sum(record.size_bytes for record in records)
        for later in () if clean else _records_anywhere(data, end, front + half):
            # Rounds are synced one after the other, so one that is whole proves all those before it.
            if (later.generation, later.number) > (generation, len(newest)) and later.number:
                raise Damaged(path, f"a record in front of number {later.number} was synced and cannot be read")
    return newest


def _records_from(data: bytes, position: int, end: int) -> list[Record]:
    records: list[Record] = []
    while position < end and (record := decode_record(data, position)) is not None:
        if record.number != len(records) or (records and record.generation != records[0].generation):
            break
        records.append(record)
        position += record.size_bytes
    return records


def _records_anywhere(data: bytes, position: int, end: int) -> Iterator[Record]:
    while (position := data.find(MAGIC, position, end)) >= 0:
        if position % ALIGNMENT == 0 and (record := decode_record(data, position)) is not None:
            yield record
        position += 1


def plan_replay(records: Sequence[Record]) -> dict[SegmentKey, list[Replayed]]:
    """What goes where, in the order it was written."""
    plan: dict[SegmentKey, list[Replayed]] = {}
    for record in records:
        at = 0
        for _ in range(record.entries):
            topic_id, partition, size, segment_base, position = ENTRY.unpack_from(record.body, at)
            at += ENTRY.size
            pieces = plan.setdefault((topic_id, partition, segment_base), [])
            if record.kind == VOID:
                pieces[:] = [Replayed(start, data[: position - start]) for start, data in pieces if start < position]
            else:
                pieces.append(Replayed(position, record.body[at : at + size]))
                at += size
    return plan


def path_in(logs_path: str, key: SegmentKey) -> str:
    topic_id, partition, segment_base = key
    return f"{logs_path}/{topic_id.hex()}-{partition}/{segment_base:020d}.log"


def _padded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
