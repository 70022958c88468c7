"""One data directory: whose it is, what it holds, and whether it can still be trusted.

It owns, below its path: ``identity``, ``lock``, ``clean`` (see ``identity.py``), ``marks`` (see ``marks.py``),
``rounds`` (see ``small_rounds.py``), ``logs/<topic id>-<partition>/`` and ``deleted/``, where deleted logs wait for
their bytes to be freed.
The first failed write or sync takes all of it offline, until a restart has looked at everything again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from twinlog.base import DiskFull, HostFault
from twinlog.base.logs import Log
from twinlog.base.units import MIB
from twinlog.host import Host, Lock
from twinlog.storage.ballast import Ballast
from twinlog.storage.errors import WrongDirectory
from twinlog.storage.files import FilePool, parent, write_whole
from twinlog.storage.flusher import Flusher
from twinlog.storage.identity import Identity, read_identity, take_clean, write_clean, write_identity
from twinlog.storage.log import PartitionLog
from twinlog.storage.marks import LogKey, Marks, MarksFile, encode_marks
from twinlog.storage.metrics import StorageMetrics
from twinlog.storage.settings import LogSettings, StorageSettings
from twinlog.storage.small_rounds import SmallRounds

NAMES_WITHOUT_IDENTITY: Final = {
    "lock",
    "lost+found",
    "logs",
    "deleted",
    "marks",
    "marks.new",
    "identity.new",
    "ballast",
}
HOUSEKEEPING_MS: Final = 30_000
ROOM_CHECK_MS: Final = 250
ROOM_SLACK: Final = 16  # a sixteenth above the mark has to be free before records are taken again
FULL_ENDS_BYTES: Final = 16 * MIB


class DataDirectory:
    """The home of some of a node's logs."""

    def __init__(
        self,
        host: Host,
        path: str,
        settings: StorageSettings,
        pool: FilePool,
        log: Log,
        metrics: StorageMetrics | None = None,
    ) -> None:
        self.metrics = metrics or StorageMetrics()
        self.path = path.rstrip("/") or "/"
        self.logs_path = f"{self.path}/logs"
        self.disk = host.disk
        self.settings = settings
        self.pool = pool
        self.small_rounds = SmallRounds(host.disk, host.tasks, self.path, settings.rounds_bytes)
        self.flusher = Flusher(host.disk, host.tasks, settings, self.small_rounds)
        self.flusher.on_fault = self.fail
        self.flusher.monotonic_us = host.clock.monotonic_us
        self.ballast = Ballast(host.disk, f"{self.path}/ballast", settings.ballast_bytes)
        self.marks = MarksFile(
            host.disk, host.tasks, self.flusher, settings, f"{self.path}/marks", make_room=self._drop_ballast
        )
        self.offline: HostFault | None = None
        self.identity: Identity | None = None
        self.incarnation_before: bytes | None = None  # of the run that stopped clean here
        self.logs: dict[LogKey, PartitionLog] = {}
        self.is_full = False
        self.is_low = False  # too little room is left for records of clients
        self.on_offline: Callable[[DataDirectory, HostFault], None] = lambda directory, fault: None
        self._host = host
        self._log = log
        self._lock: Lock | None = None
        self._trash = 0
        self._wants_ballast = True

    # LogHome.

    def path_of(self, key: LogKey) -> str:
        return f"{self.logs_path}/{key[0].hex()}-{key[1]}"

    def now_ms(self) -> int:
        return self._host.clock.now_ms()

    def soon(self, callback: Callable[[], None]) -> None:
        self._host.tasks.soon(callback)

    def fail(self, fault: HostFault) -> None:
        if self.offline is not None:
            return
        self.offline = fault
        self._log.error("data directory is offline", directory=self.path, fault=str(fault))
        self.marks.stop()
        self.flusher.fail(fault)
        for log in list(self.logs.values()):
            log.failed(fault)
        self.on_offline(self, fault)

    def on_full(self) -> None:
        if not self.is_full:
            self.is_full = True
            self._log.error("disk is full, writes are refused", directory=self.path)

    def look_at_room(self) -> None:
        """Says whether there is room for more, and for whom."""
        if self.offline is not None:
            return
        try:
            free, total = self.disk.free_bytes(self.path), self.disk.total_bytes(self.path)
        except HostFault:
            return  # the next write will tell
        low_mark = room_to_keep(total, self.settings)
        if free < low_mark and not self.is_low:
            self.is_low = True
            self._log.error("disk is low, records are refused", directory=self.path, free=free, wanted=low_mark)
        elif self.is_low and free >= low_mark + low_mark // ROOM_SLACK:
            self.is_low = self.is_full = False
            self._log.info("there is room again, records are taken", directory=self.path, free=free)
        elif self.is_full and free > FULL_ENDS_BYTES:
            self.is_full = False
            self._log.info("the disk is not full any more", directory=self.path, free=free)
        if self._wants_ballast and not (self.is_low or self.is_full):
            self._wants_ballast = False
            self.ballast.take()

    def _drop_ballast(self) -> bool:
        self.on_full()
        self._wants_ballast = True
        return self.ballast.drop()

    def quietly(self, work: Callable[..., object], *args: object) -> None:
        try:
            work(*args)
        except DiskFull:
            self.on_full()
        except HostFault as fault:
            self.fail(fault)

    def discard(self, paths: list[str], delay_ms: int) -> None:
        gone = []
        for path in paths:
            if self.disk.exists(path):
                self.quietly(self.disk.rename, path, path + ".deleted")
                gone.append(path + ".deleted")

        def free() -> None:  # away from the loop: a large file takes the file system a while
            for path in gone:
                if self.offline is None and self.disk.exists(path):
                    self.disk.delete(path)

        if gone:
            self._host.tasks.later(delay_ms, self._host.tasks.blocking, free, self._on_freed)

    # Opening.

    def prepare(self) -> Identity | None:
        """Locks the directory and reads whose it is; None when it is new. Changes nothing that was there."""
        self.disk.make_directory(self.path)
        try:
            self._lock = self.disk.lock(f"{self.path}/lock")
        except HostFault as fault:
            raise WrongDirectory(self.path, f"cannot be locked: {fault}") from fault
        self.identity = read_identity(self.disk, self.path)
        if self.identity is None:
            # A first start that was cut short leaves some of our own names behind, but never a log.
            others = [name for name in self.disk.list(self.path) if name not in NAMES_WITHOUT_IDENTITY]
            if not others and self.disk.exists(self.logs_path):
                others = self.disk.list(self.logs_path)
            if others:
                raise WrongDirectory(self.path, f"holds {others[0]!r} but no identity file")
        return self.identity

    def claim(self, identity: Identity) -> None:
        """Makes a new directory ours."""
        self.disk.make_directory(self.logs_path)
        self.disk.make_directory(f"{self.path}/deleted")
        self.disk.sync_directory_now(parent(self.path) or ("/" if self.path.startswith("/") else "."))
        write_whole(self.disk, f"{self.path}/marks", encode_marks([]))
        write_identity(self.disk, self.path, identity)
        self.identity = identity

    def open(self, settings: LogSettings, progress: Callable[[int, int], None]) -> None:
        """Opens all logs; after a crash that means reading their tails."""
        self.incarnation_before = take_clean(self.disk, self.path)
        brought_back = self.small_rounds.open(self.logs_path, clean=self.incarnation_before is not None)
        if brought_back:
            self._log.info("wrote again what only a small sync round had saved", directory=self.path, size=brought_back)
        marks = self.marks.read()
        self.disk.sync_directory_now(self.path)  # what we read must not be gone after the next crash
        if not marks.whole:
            self._log.error("marks are damaged: what cannot be proven is refused", directory=self.path)
        keys = self._found_keys(marks)
        for number, key in enumerate(keys):
            self._open_log(key, marks, settings)
            progress(number + 1, len(keys))
        self._empty_trash()

    def _found_keys(self, marks: Marks) -> list[LogKey]:
        keys = dict.fromkeys(marks.by_log)
        for name in self.disk.list(self.logs_path):
            key = key_of(name)
            if key is None:
                self._log.warning("unknown name among the logs is left alone", directory=self.path, name=name)
            else:
                keys[key] = None
        return sorted(keys)

    def _open_log(self, key: LogKey, marks: Marks, settings: LogSettings) -> None:
        mark = marks.by_log.get(key)
        log = PartitionLog(self, key, settings)
        self.logs[key] = log
        if self.incarnation_before is not None and mark is not None and mark.is_clean and self.settings.verify != "all":
            log.rest(mark)
            return
        log.recover(mark, mark_lost=mark is None and not marks.whole, verify_all=self.settings.verify == "all")
        if log.offline is not None:
            self._log.error("log is damaged and stays offline", log=log.path, fault=str(log.offline))

    def add(self, key: LogKey, settings: LogSettings) -> PartitionLog:
        log = self.logs[key] = PartitionLog(self, key, settings)
        return log

    def remove(self, key: LogKey, delay_ms: int) -> None:
        """Deletes a log: its name now, its bytes after the delay."""
        log = self.logs.pop(key)
        self.flusher.forget(log.sync)
        self.marks.forget(key)
        log.close_files()
        log.offline = HostFault(log.path, "deleted")
        if self.offline is not None or not self.disk.exists(log.path):
            return
        self._trash += 1
        place = f"{self.path}/deleted/{log.path.rpartition('/')[2]}.{self._trash}"
        while self.disk.exists(place):
            self._trash += 1
            place = f"{self.path}/deleted/{log.path.rpartition('/')[2]}.{self._trash}"
        self.quietly(self.disk.rename, log.path, place)
        self._host.tasks.later(delay_ms, self._free, place)

    def _free(self, place: str) -> None:
        if self.offline is None:
            self._host.tasks.blocking(lambda: self.disk.delete_tree(place), self._on_freed)

    def _on_freed(self, result: object, error: Exception | None) -> None:
        if isinstance(error, HostFault):
            self._log.warning("deleted files could not be freed", directory=self.path, fault=str(error))
        elif error is not None:
            raise error

    def _empty_trash(self) -> None:
        if self.disk.exists(f"{self.path}/deleted"):
            for name in self.disk.list(f"{self.path}/deleted"):
                self._free(f"{self.path}/deleted/{name}")

    # Closing.

    def close_clean(self, incarnation: bytes) -> None:
        """Everything is synced: writes the marks and the marker, and lets go of the directory."""
        try:
            self.marks.stop()
            if self.offline is None:
                for log in self.logs.values():
                    log.close_clean()
            if self.offline is None:
                self.marks.write_now([log.sync for log in self.logs.values()])
                self.small_rounds.close_clean()
                write_clean(self.disk, self.path, incarnation)
        except HostFault as fault:
            self.fail(fault)  # a full disk, most likely: the next start will look at the logs again
        self.release()

    def release(self) -> None:
        for log in self.logs.values():
            log.close_files()
        self.small_rounds.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def room_to_keep(total_bytes: int, settings: StorageSettings) -> int:
    """With less room than this clients' records are refused."""
    share = total_bytes * settings.disk_low_percent // 100
    return min(max(settings.disk_low_bytes, share), total_bytes // 2)


def key_of(name: str) -> LogKey | None:
    """``<32 hex digits>-<partition>`` as a key."""
    topic, dash, partition = name.partition("-")
    if not dash or len(topic) != 32 or not partition.isdecimal() or str(int(partition)) != partition:
        return None
    try:
        key = bytes.fromhex(topic), int(partition)
    except ValueError:
        return None
    return key if f"{key[0].hex()}-{partition}" == name else None
