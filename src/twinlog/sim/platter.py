"""What a simulated disk really holds: what is durable, and what is still on its way there.

Every write, truncation and change of a name is kept as a pending operation until a sync makes it durable:
those of a file by a sync of the file, those of names by a sync of their directory. A power cut deals with
what is pending as a disk may: any of it may be there or not, whatever the order, in part as well, and a
file may have become longer without its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from twinlog.sim.chance import SimChance

SECTOR_BYTES: Final = 512

CutStyle: TypeAlias = Literal["lose all", "keep all", "cut", "scatter"]
CUT_STYLES: Final[tuple[CutStyle, ...]] = ("lose all", "keep all", "cut", "scatter", "scatter")


class Write(NamedTuple):
    serial: int
    position: int
    data: bytes


class Truncate(NamedTuple):
    serial: int
    size: int


FileOperation: TypeAlias = Write | Truncate


class Inode:
    """A file's bytes, whatever it is called."""

    __slots__ = ("content", "durable", "linked", "pending")

    def __init__(self) -> None:
        self.content = bytearray()  # what a reader sees
        self.durable = bytearray()
        self.pending: list[FileOperation] = []
        self.linked = True  # it has a name, so its bytes count against the disk's room

    def sync(self, serial_last: int) -> None:
        """Everything up to that operation is durable."""
        kept = 0
        for operation in self.pending:
            if operation.serial > serial_last:
                break
            apply(self.durable, operation)
            kept += 1
        del self.pending[:kept]

    def fail_sync(self, serial_last: int, chance: SimChance) -> None:
        """The kernel tried, lost some of it, and forgot. Readers may still see it, or not."""
        failed = [operation for operation in self.pending if operation.serial <= serial_last]
        del self.pending[: len(failed)]
        for operation in failed:
            if chance.one_in(2):
                apply(self.durable, operation)
        if chance.one_in(2):
            self.content[:] = self.durable
            for operation in self.pending:
                apply(self.content, operation)

    def cut_power(self, chance: SimChance, style: CutStyle, serial_cut: int) -> None:
        if style == "scatter":
            self._scatter(chance)
        else:
            for operation in self.pending:
                fate = _fate(operation.serial, chance, style, serial_cut)
                if fate == "kept":
                    apply(self.durable, operation)
                elif isinstance(operation, Write) and fate == "torn":
                    _apply_torn(self.durable, operation, chance)
        self.pending.clear()
        self.content[:] = self.durable

    def _scatter(self, chance: SimChance) -> None:
        """Each sector is as it was at some moment since the last sync, whatever the others are, and so is the length.
        Within a sector nothing overtakes: a disk writes it whole, as it was in memory then."""
        moments = [0, *(operation.serial for operation in self.pending)]
        touched = {
            sector
            for operation in self.pending
            if isinstance(operation, Write) and operation.data
            for sector in range(
                operation.position // SECTOR_BYTES,
                (operation.position + len(operation.data) - 1) // SECTOR_BYTES + 1,
            )
        }
        length = self._at(chance.pick(moments))
        if chance.one_in(4):
            moments = [0]  # only the length got through
        picked = [(chance.pick(moments), sector * SECTOR_BYTES) for sector in sorted(touched)]
        content = bytearray(self.durable)
        shares = []
        done = 0
        for serial_last, start in sorted(picked):  # once through the operations, however many sectors there are
            while done < len(self.pending) and self.pending[done].serial <= serial_last:
                apply(content, self.pending[done])
                done += 1
            shares.append((start, content[start : start + SECTOR_BYTES]))
        self.durable = length
        for start, share in shares:
            end = min(start + SECTOR_BYTES, len(length))
            if start < end:
                length[start:end] = share[: end - start].ljust(end - start, b"\0")

    def _at(self, serial_last: int) -> bytearray:
        """The content as of that operation."""
        content = bytearray(self.durable)
        for operation in self.pending:
            if operation.serial <= serial_last:
                apply(content, operation)
        return content


class Link(NamedTuple):
    serial: int
    directory: Directory
    name: str
    node: Inode | Directory

    def apply(self) -> None:
        self.directory.durable[self.name] = self.node


class Unlink(NamedTuple):
    serial: int
    directory: Directory
    name: str
    node: Inode | Directory

    def apply(self) -> None:
        if self.directory.durable.get(self.name) is self.node:
            del self.directory.durable[self.name]


class Rename(NamedTuple):
    """Both names change at once or not at all, also between directories."""

    serial: int
    directory: Directory
    name: str
    directory_new: Directory
    name_new: str
    node: Inode | Directory

    def apply(self) -> None:
        if self.directory.durable.get(self.name) is self.node:
            del self.directory.durable[self.name]
        self.directory_new.durable[self.name_new] = self.node


NameOperation: TypeAlias = Link | Unlink | Rename


class Directory:
    """Names, as readers see them and as they would be after a power cut."""

    __slots__ = ("durable", "entries", "pending")

    def __init__(self) -> None:
        self.entries: dict[str, Inode | Directory] = {}
        self.durable: dict[str, Inode | Directory] = {}
        self.pending: list[NameOperation] = []

    def sync(self, serial_last: int) -> None:
        done = [operation for operation in self.pending if operation.serial <= serial_last]
        del self.pending[: len(done)]
        for operation in done:
            operation.apply()
            if isinstance(operation, Rename):
                for other in (operation.directory, operation.directory_new):
                    if operation in other.pending:
                        other.pending.remove(operation)

    def walk(self) -> Iterator[Inode | Directory]:
        """Everything below that has a name, had one, or may get one again; may give a node twice."""
        pending = [operation.node for operation in self.pending]
        for node in [*self.entries.values(), *self.durable.values(), *pending]:
            yield node
            if isinstance(node, Directory):
                yield from node.walk()


def cut_power(root: Directory, chance: SimChance, serial_next: int) -> CutStyle:
    """Decides what survives, and makes it what there is."""
    style = chance.pick(CUT_STYLES)
    nodes: dict[int, Inode | Directory] = {id(root): root}
    for node in root.walk():
        nodes.setdefault(id(node), node)  # found in an order of names and time; ids only tell them apart
    serials = [operation.serial for node in nodes.values() for operation in node.pending]
    serial_cut = chance.between(min(serials), serial_next) if serials else serial_next

    # Names in the order of their making: a rename may build on an older link.
    directories = [node for node in nodes.values() if isinstance(node, Directory)]
    names = {operation.serial: operation for directory in directories for operation in directory.pending}
    for serial in sorted(names):
        if _fate(serial, chance, style, serial_cut) == "kept":
            names[serial].apply()
    for node in nodes.values():
        if isinstance(node, Inode):
            node.cut_power(chance, style, serial_cut)
        else:
            node.pending.clear()
            node.entries = dict(sorted(node.durable.items()))
            node.durable = dict(node.entries)
    return style


def apply(content: bytearray, operation: FileOperation) -> None:
    if isinstance(operation, Write):
        _grow(content, operation.position)
        content[operation.position : operation.position + len(operation.data)] = operation.data
    elif operation.size < len(content):
        del content[operation.size :]
    else:
        _grow(content, operation.size)


def _fate(serial: int, chance: SimChance, style: CutStyle, serial_cut: int) -> Literal["kept", "torn", "lost"]:
    if style == "keep all":
        return "kept"
    if style == "lose all":
        return "lost"
    if style == "cut":
        return "kept" if serial < serial_cut else "torn" if serial == serial_cut else "lost"
    return chance.pick(("kept", "torn", "lost"))


def _apply_torn(content: bytearray, write: Write, chance: SimChance) -> None:
    """Each sector arrived or did not; the length may tell of bytes that never came."""
    end = write.position + len(write.data)
    place = write.position
    while place < end:
        place_next = min((place // SECTOR_BYTES + 1) * SECTOR_BYTES, end)
        if chance.one_in(2):
            _grow(content, place)
            content[place:place_next] = write.data[place - write.position : place_next - write.position]
        place = place_next
    if chance.one_in(2):
        _grow(content, end)


def _grow(content: bytearray, size: int) -> None:
    if size > len(content):
        content.extend(bytes(size - len(content)))
