"""A simulated disk: the platter that outlives its host, and the door one life of the host has to it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from posixpath import normpath
from typing import Final, cast
from zlib import crc32

from twinlog.base.errors import DiskFull, HostFault
from twinlog.base.units import GIB
from twinlog.host.disk import Buffer, File, SyncDone
from twinlog.sim.chance import SimChance
from twinlog.sim.faults import DiskCall, DiskFaults
from twinlog.sim.loop import Owner, SimLoop
from twinlog.sim.platter import Directory, Inode, Link, Rename, Truncate, Unlink, Write, apply, cut_power
from twinlog.sim.trace import Trace

SYNC_US: Final = (50, 2_000)


class SimPlatter:
    """What a test holds: the stored bytes, the faults, the knobs. It survives crashes."""

    def __init__(self, name: str, loop: SimLoop, chance: SimChance, trace: Trace) -> None:
        self.name = name
        self.loop = loop
        self.chance = chance.fork("platter")
        self.haste = chance.fork("haste")
        self.trace = trace
        self.faults = DiskFaults(chance.fork("faults"))
        self.root = Directory()
        self.capacity_bytes = 64 * GIB
        self.used_bytes = 0
        self.sync_us = SYNC_US  # least and most
        self.stalled_until_us = 0
        self.losses = 0  # how often something that was not synced may have been lost
        self.lies_about_sync = False  # a control: with it, every promise of durability must be seen to break
        self.serial = 0

    def stall(self, span_ms: int) -> None:
        """Syncs that have not ended yet will not end before that."""
        self.stalled_until_us = self.loop.now_us + span_ms * 1000

    def flip_bit(self, path: str, position: int, bit: int = 0) -> None:
        """Damage at rest: nobody is told."""
        inode = self.file(path)
        for content in (inode.content, inode.durable):
            if position < len(content):
                content[position] ^= 1 << bit
        self.trace.note(self.name, "flip", path, position, bit)

    def cut_power(self) -> None:
        self.losses += 1
        style = cut_power(self.root, self.chance, self.serial + 1)
        inodes = {id(node): node for node in self.root.walk() if isinstance(node, Inode)}
        self.used_bytes = 0
        for inode in inodes.values():
            inode.linked = True
            self.used_bytes += len(inode.content)
        self.trace.note(self.name, "power cut", style, self.used_bytes)

    def file(self, path: str) -> Inode:
        node = self.find(path)
        if not isinstance(node, Inode):
            raise HostFault(path, "no such file")
        return node

    def directory(self, path: str) -> Directory:
        node = self.find(path)
        if not isinstance(node, Directory):
            raise HostFault(path, "no such directory")
        return node

    def find(self, path: str) -> Inode | Directory | None:
        node: Inode | Directory | None = self.root
        for name in split(path):
            node = node.entries.get(name) if isinstance(node, Directory) else None
        return node

    def next_serial(self) -> int:
        self.serial += 1
        return self.serial


def split(path: str) -> list[str]:
    """Absolute and relative paths begin at the same root."""
    return [name for name in normpath(path).split("/") if name not in ("", ".")]


class SimFile:
    """An open file of one life of the host."""

    def __init__(self, disk: SimDisk, path: str, inode: Inode) -> None:
        self.path = path
        self.inode = inode
        self.is_open = True
        self._disk = disk
        self._platter = disk.platter

    @property
    def size(self) -> int:
        return len(self.inode.content)

    def append(self, parts: Sequence[Buffer]) -> int:
        position = self.size
        self._write(position, b"".join(parts))
        return position

    def write_at(self, position: int, data: Buffer) -> None:
        assert 0 <= position <= self.size, (position, self.size)
        self._write(position, bytes(data))

    def read_at(self, position: int, size: int) -> bytes:
        self._disk.meets("read", self)
        return bytes(self.inode.content[position : position + size])

    def read_held(self, position: int, size: int) -> bytes:
        """For a send that began before the file was closed."""
        return bytes(self.inode.content[position : position + size])

    def truncate(self, size: int) -> None:
        self._disk.meets("truncate", self)
        self._truncate(size)

    def reserve(self, size: int) -> None:
        pass

    def close(self) -> None:
        self.is_open = False

    def _write(self, position: int, data: bytes) -> None:
        platter, size_before = self._platter, self.size
        full = self._disk.meets("write", self)
        growth = max(0, position + len(data) - size_before)
        room = platter.capacity_bytes - platter.used_bytes if self.inode.linked else growth
        if growth and (full or growth > room):
            # The kernel writes what fits, and the host cuts it off again: both may be on the platter.
            fits = len(data) - growth + (growth // 2 if full else max(0, room))
            self._do(Write(platter.next_serial(), position, data[:fits]))
            if self.size > size_before:
                self._truncate(size_before)
            raise DiskFull(self.path, "no space left")
        self._do(Write(platter.next_serial(), position, data))

    def _truncate(self, size: int) -> None:
        self._do(Truncate(self._platter.next_serial(), size))

    def _do(self, operation: Write | Truncate) -> None:
        inode, before = self.inode, self.size
        apply(inode.content, operation)
        inode.pending.append(operation)
        if inode.linked:
            self._platter.used_bytes += self.size - before
        where, much = (
            (operation.position, crc32(operation.data)) if isinstance(operation, Write) else (operation.size, 0)
        )
        self._platter.trace.note(self._platter.name, type(operation).__name__, self.path, where, much)


class SimDisk:
    """The ``Disk`` of one life. When that life is over, every call is refused."""

    def __init__(self, platter: SimPlatter, owner: Owner) -> None:
        self.platter = platter
        self._owner = owner
        self._context = owner.context()
        self._failed: set[int] = set()  # inodes (by id, never walked) whose sync failed in this life
        self._kept: list[Inode] = []  # so that those ids stay theirs
        self._locks: dict[str, SimLock] = {}
        self._rounds: deque[tuple[list[SimFile], list[str], SyncDone]] = deque()

    def open(self, path: str, *, create: bool = False) -> SimFile:
        self._meets("open", path)
        node = self.platter.find(path)
        if node is None and create:
            node = Inode()
            directory, name = self._place(path)
            self._link(directory, name, node)
        if not isinstance(node, Inode):
            raise HostFault(path, "no such file")
        return SimFile(self, path, node)

    def exists(self, path: str) -> bool:
        return self.platter.find(path) is not None

    def size(self, path: str) -> int:
        self._meets("open", path)
        return len(self.platter.file(path).content)

    def list(self, path: str) -> list[str]:
        self._meets("list", path)
        return sorted(self.platter.directory(path).entries)

    def make_directory(self, path: str) -> None:
        self._meets("open", path)
        node: Directory = self.platter.root
        for name in split(path):
            child = node.entries.get(name)
            if child is None:
                child = Directory()
                self._link(node, name, child)
            if not isinstance(child, Directory):
                raise HostFault(path, "a file is in the way")
            node = child

    def rename(self, old: str, new: str) -> None:
        self._meets("rename", old)
        directory, name = self._place(old)
        directory_new, name_new = self._place(new)
        node = directory.entries.get(name)
        if node is None:
            raise HostFault(old, "no such file")
        replaced = directory_new.entries.get(name_new)
        if replaced is node:
            return
        if isinstance(replaced, Directory) and (replaced.entries or isinstance(node, Inode)):
            raise HostFault(new, "a directory is in the way")
        if isinstance(node, Directory) and isinstance(replaced, Inode):
            raise HostFault(new, "a file is in the way")
        self._forget(replaced)
        del directory.entries[name]
        directory_new.entries[name_new] = node
        operation = Rename(self.platter.next_serial(), directory, name, directory_new, name_new, node)
        directory.pending.append(operation)
        if directory_new is not directory:
            directory_new.pending.append(operation)
        self.platter.trace.note(self.platter.name, "rename", old, new)

    def delete(self, path: str) -> None:
        self._meets("delete", path)
        self.platter.file(path)
        self._unlink(*self._place(path))

    def delete_tree(self, path: str) -> None:
        self._meets("delete", path)
        node = self.platter.find(path)
        if node is None:
            return
        if not isinstance(node, Directory):
            raise HostFault(path, "not a directory")
        for name, child in sorted(node.entries.items()):
            if isinstance(child, Directory):
                self.delete_tree(f"{path}/{name}")
            else:
                self._unlink(node, name)
        if split(path):
            self._unlink(*self._place(path))

    def free_bytes(self, path: str) -> int:
        self._meets("list", path)
        return max(0, self.platter.capacity_bytes - self.platter.used_bytes)

    def total_bytes(self, path: str) -> int:
        return self.platter.capacity_bytes

    def lock(self, path: str) -> SimLock:
        self.open(path, create=True)
        where = "/".join(split(path))
        if where in self._locks:
            raise HostFault(path, "another process holds it")
        lock = self._locks[where] = SimLock(self._locks, where)
        return lock

    def sync_now(self, file: File) -> None:
        self._sync_file(cast(SimFile, file), self.platter.serial)

    def sync_directory_now(self, path: str) -> None:
        self._sync_directory(path, self.platter.serial)

    def start_sync(
        self, files: Sequence[File], directories: Sequence[str], done: SyncDone, *, small: bool = False
    ) -> None:
        held = [cast(SimFile, file) for file in files]
        for file in held:
            self._check_open(file)
        stalled = self.platter.loop.now_us < self.platter.stalled_until_us
        if small and not self._rounds and not stalled and self.platter.haste.one_in(2):
            done(self._fault_of(held, [], self.platter.serial))
            return
        self._rounds.append((held, list(directories), done))
        if len(self._rounds) == 1:
            self._begin_round()

    # For the files of this disk.

    def meets(self, call: DiskCall, file: SimFile) -> bool:
        self._check_open(file)
        return self._meets(call, file.path)

    # Inside.

    def _begin_round(self) -> None:
        # What is written from now on is not covered, however long it takes.
        platter = self.platter
        ends_us = max(platter.loop.now_us + platter.chance.between(*platter.sync_us), platter.stalled_until_us)
        platter.loop.call_at_us(ends_us, self._end_round, platter.serial, context=self._context)

    def _end_round(self, serial_last: int) -> None:
        if self.platter.loop.now_us < self.platter.stalled_until_us:
            until_us = self.platter.stalled_until_us
            self.platter.loop.call_at_us(until_us, self._end_round, serial_last, context=self._context)
            return
        files, directories, done = self._rounds.popleft()
        fault = self._fault_of(files, directories, serial_last)
        if self._rounds:
            self._begin_round()
        done(fault)

    def _fault_of(self, files: Sequence[SimFile], directories: Sequence[str], serial_last: int) -> HostFault | None:
        """Syncs; what failed, or None."""
        try:
            for file in files:
                self._sync_file(file, serial_last)
            for path in directories:
                self._sync_directory(path, serial_last)
        except HostFault as raised:
            return raised
        return None

    def _sync_file(self, file: SimFile, serial_last: int) -> None:
        platter, inode = self.platter, file.inode
        if id(inode) in self._failed:
            raise HostFault(file.path, "an earlier sync failed")
        try:
            self._meets("sync", file.path)
        except HostFault:
            platter.losses += 1
            before = len(inode.content)
            inode.fail_sync(serial_last, platter.chance)
            if inode.linked:
                platter.used_bytes += len(inode.content) - before
            self._failed.add(id(inode))
            self._kept.append(inode)
            platter.trace.note(platter.name, "sync failed", file.path)
            raise
        if not platter.lies_about_sync:
            inode.sync(serial_last)
        platter.trace.note(platter.name, "sync", file.path, len(inode.durable))

    def _sync_directory(self, path: str, serial_last: int) -> None:
        self._meets("sync_directory", path)
        directory = self.platter.directory(path)
        if not self.platter.lies_about_sync:
            directory.sync(serial_last)
        self.platter.trace.note(self.platter.name, "sync directory", path)

    def _meets(self, call: DiskCall, path: str) -> bool:
        if not self._owner.alive:
            raise HostFault(path, "this host is gone")
        return self.platter.faults.meets_full(call, path)

    def _check_open(self, file: SimFile) -> None:
        if not file.is_open:
            raise HostFault(file.path, "closed")

    def _place(self, path: str) -> tuple[Directory, str]:
        names = split(path)
        assert names, "the root has no name"
        return self.platter.directory("/".join(names[:-1])), names[-1]

    def _link(self, directory: Directory, name: str, node: Inode | Directory) -> None:
        directory.entries[name] = node
        directory.pending.append(Link(self.platter.next_serial(), directory, name, node))

    def _unlink(self, directory: Directory, name: str) -> None:
        node = directory.entries.pop(name)
        self._forget(node)
        directory.pending.append(Unlink(self.platter.next_serial(), directory, name, node))

    def _forget(self, node: Inode | Directory | None) -> None:
        if isinstance(node, Inode):
            node.linked = False
            self.platter.used_bytes -= len(node.content)


class SimLock:
    def __init__(self, locks: dict[str, SimLock], where: str) -> None:
        self._locks = locks
        self._where = where

    def release(self) -> None:
        if self._locks.get(self._where) is self:
            del self._locks[self._where]
