"""Making files durable, on the loop's thread or away from it.

Rounds run one after the other in one thread. A round of few files syncs them side by side, with helper
threads; a larger one syncs their file system once, and pays for whatever else is unwritten there. A small
round is synced on the loop's own thread as long as the disk needs less for it than the way to another thread and back
costs the loop. Whatever failed stays failed: see ``host.disk``.
"""

from __future__ import annotations

import os
from asyncio import AbstractEventLoop
from collections.abc import Sequence
from queue import SimpleQueue
from threading import Thread
from time import perf_counter_ns
from typing import Final, NamedTuple

from twinlog.base.errors import HostFault
from twinlog.host.disk import SyncDone
from twinlog.host.local import system_calls
from twinlog.host.local.file import LocalFile

SYNCFS_FROM_FILES: Final = 5  # measured: docs/adr/0003-host.md

QUICK_NS: Final = 200_000  # a small sync that takes less is done on the loop
NS_WEIGHT: Final = 8  # one of so many counts in the running mean


class SyncRound(NamedTuple):
    files: Sequence[LocalFile]
    directories: Sequence[str]
    done: SyncDone
    small: bool = False


class SyncThread:
    """Takes rounds from the loop and answers on it. Starts with the first round."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._rounds: SimpleQueue[SyncRound | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._helpers: list[Thread] = []
        self._helpers_files: SimpleQueue[LocalFile | None] = SimpleQueue()
        self._helpers_faults: SimpleQueue[HostFault | None] = SimpleQueue()
        self._file_systems = _FileSystems()
        self._small_sync_ns = QUICK_NS  # a running mean; the first one goes to the thread
        self._waiting = 0  # rounds that the thread has not answered yet

    def watch(self, file: LocalFile) -> None:
        """Every file is shown here when it is opened, before anything is written to it."""
        self._file_systems.watch(file)

    def start(self, round_: SyncRound) -> None:
        if round_.small and self._small_sync_ns < QUICK_NS and not self._waiting:
            round_.done(self._fault_of(round_))
            return
        for file in round_.files:
            file.hold()
        self._waiting += 1
        if self._thread is None:
            self._thread = Thread(target=self._run, name="twinlog-sync", daemon=True)
            self._thread.start()
        self._rounds.put(round_)

    def sync_now(self, file: LocalFile) -> None:
        fault = file.fault or self._file_systems.faults.get(file.device)
        if fault is not None:
            raise fault
        try:
            os.fdatasync(file.fd)
        except OSError as error:
            file.fault = _sync_fault(file.path, error)
            raise file.fault from error

    def close(self) -> None:
        """Ends after the rounds already asked for."""
        if self._thread is not None:
            self._rounds.put(None)
            self._thread.join()
            self._thread = None
        for _ in self._helpers:
            self._helpers_files.put(None)
        for helper in self._helpers:
            helper.join()
        self._helpers.clear()
        self._file_systems.close()

    def _run(self) -> None:
        while (round_ := self._rounds.get()) is not None:
            fault = self._fault_of(round_)
            try:
                self._loop.call_soon_threadsafe(self._answered, round_, fault)
            except RuntimeError:  # the loop is closed: nobody waits any more
                return

    def _answered(self, round_: SyncRound, fault: HostFault | None) -> None:
        self._waiting -= 1
        for file in round_.files:
            file.release()
        round_.done(fault)

    def _fault_of(self, round_: SyncRound) -> HostFault | None:
        """Syncs; what failed, or None."""
        begun_ns = perf_counter_ns()
        try:
            self._sync(round_.files, round_.directories)
        except HostFault as raised:
            return raised
        except BaseException as raised:  # a bug; but nobody may wait for ever, nor be told "synced"
            return HostFault("sync thread", repr(raised))
        if round_.small:
            self._small_sync_ns += (perf_counter_ns() - begun_ns - self._small_sync_ns) // NS_WEIGHT
        return None

    def _sync(self, files: Sequence[LocalFile], directories: Sequence[str]) -> None:
        synced: set[int] = set()
        if len(files) >= SYNCFS_FROM_FILES and self._file_systems.can_sync:
            for file in files:
                if file.fault is not None:
                    raise file.fault
                if file.device not in synced:
                    self._file_systems.sync(file)
                    synced.add(file.device)
        elif files:
            self._sync_side_by_side(files)
        for path in directories:
            sync_directory(path, but_not_on=synced)

    def _sync_side_by_side(self, files: Sequence[LocalFile]) -> None:
        others = files[1:]
        while len(self._helpers) < min(len(others), SYNCFS_FROM_FILES - 2):
            helper = Thread(target=self._help, name=f"twinlog-sync-{len(self._helpers)}", daemon=True)
            self._helpers.append(helper)
            helper.start()
        for file in others:
            self._helpers_files.put(file)
        faults = [self._fault_of_sync(files[0])] + [self._helpers_faults.get() for _ in others]
        for fault in faults:
            if fault is not None:
                raise fault

    def _help(self) -> None:
        while (file := self._helpers_files.get()) is not None:
            self._helpers_faults.put(self._fault_of_sync(file))

    def _fault_of_sync(self, file: LocalFile) -> HostFault | None:
        try:
            self.sync_now(file)
        except HostFault as fault:
            return fault
        except BaseException as raised:
            return HostFault("sync thread", repr(raised))
        return None


class _FileSystems:
    """Syncs whole file systems, through one descriptor each that stays open.

    The kernel reports a write-back error once to every descriptor that was open when it happened. With a
    descriptor of the moment, an error from just before its opening could pass unseen. And the report does
    not say whose bytes were lost, so it counts for every file there.
    """

    def __init__(self) -> None:
        self.can_sync = system_calls.syncfs_reports_errors()
        self.faults: dict[int, HostFault] = {}
        self._fds: dict[int, int] = {}

    def watch(self, file: LocalFile) -> None:
        if file.device not in self._fds:
            directory = os.path.dirname(file.path) or "."
            self._fds[file.device] = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def sync(self, file: LocalFile) -> None:
        if file.device in self.faults:
            raise self.faults[file.device]
        try:
            system_calls.syncfs(self._fds[file.device])
        except OSError as error:
            fault = self.faults[file.device] = _sync_fault(file.path, error)
            raise fault from error

    def close(self) -> None:
        for fd in self._fds.values():
            os.close(fd)
        self._fds.clear()


def sync_directory(path: str, but_not_on: set[int] | frozenset[int] = frozenset()) -> None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if os.fstat(fd).st_dev not in but_not_on:
                os.fsync(fd)
        finally:
            os.close(fd)
    except OSError as error:
        raise _sync_fault(path, error) from error


def _sync_fault(path: str, error: OSError) -> HostFault:
    # Never DiskFull, not even for ENOSPC: that one promises that the file is as it was.
    return HostFault(path, f"sync failed: {error.strerror}")
