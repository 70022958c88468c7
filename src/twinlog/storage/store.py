"""All partition logs of a node, over one or more data directories.

``open`` checks that the directories belong together and to this node, locks them, and opens the logs. After a
clean stop that reads one small file a directory, however many logs there are. A directory that fails goes offline
with its logs; the others go on. ``close`` syncs everything and leaves the marker of a clean stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from twinlog.base import HostFault
from twinlog.base.logs import Log, Silence
from twinlog.host import Host, Timer
from twinlog.storage.directory import HOUSEKEEPING_MS, ROOM_CHECK_MS, DataDirectory
from twinlog.storage.errors import Damaged, WrongDirectory
from twinlog.storage.files import FilePool
from twinlog.storage.identity import Identity
from twinlog.storage.keeper import LogKeeper
from twinlog.storage.log import PartitionLog
from twinlog.storage.metrics import StorageMetrics
from twinlog.storage.settings import LogSettings, StorageSettings
from twinlog.storage.types import DirectoryFacts, LogFacts


class LogStore:
    """See above."""

    def __init__(
        self,
        host: Host,
        directories: Sequence[str],
        settings: StorageSettings | None = None,
        *,
        node_id: int = 1,
        cluster_id: bytes | None = None,
        log_settings: LogSettings | None = None,
        log: Log | None = None,
    ) -> None:
        """``cluster_id`` None: the one found in the directories, or a new one when they are all new."""
        assert directories, "a node needs a data directory"
        self.settings = settings or StorageSettings()
        self.log_settings = log_settings or LogSettings()
        self.node_id = node_id
        self.cluster_id = cluster_id or b""
        self.incarnation = b""
        self._host = host
        self._chance = host.chance.fork("storage")
        self._log: Log = log or Silence()
        self._pool = FilePool(host.disk, host.tasks, self.settings.files_open_max)
        self.metrics = StorageMetrics()
        self.directories = [
            DataDirectory(host, path, self.settings, self._pool, self._log, self.metrics) for path in directories
        ]
        self._home_of: dict[tuple[bytes, int], DataDirectory] = {}
        self._timer: Timer | None = None
        self._room_timer: Timer | None = None
        self._idle_ms = 0
        self.keeper = LogKeeper(host, self, self.settings, self.metrics, self._log)
        self.on_offline: Callable[[DataDirectory, HostFault], None] = lambda directory, fault: None

    def open(self, progress: Callable[[int, int], None] = lambda done, total: None) -> None:
        """Raises ``WrongDirectory`` when a directory is not ours, ``HostFault`` when none can be used."""
        self.incarnation = self._chance.bytes(16)
        try:
            self._claim_all()
            for directory in self.directories:
                if directory.offline is None:
                    self._open_one(directory, progress)
            if all(directory.offline is not None for directory in self.directories):
                raise self.directories[0].offline or HostFault(self.directories[0].path)
        except HostFault:
            for directory in self.directories:
                directory.release()
            raise
        for directory in self.directories:
            directory.on_offline = self._on_offline
        self._timer = self._host.tasks.later(HOUSEKEEPING_MS, self._keep_house)
        self._look_at_room()
        self.keeper.start()

    def _claim_all(self) -> None:
        found: list[Identity] = []
        for directory in self.directories:
            try:
                identity = directory.prepare()
            except WrongDirectory:
                raise
            except HostFault as fault:
                directory.fail(fault)
                continue
            if identity is not None:
                found.append(identity)
                self._check(directory, identity, found[0])
        if not self.cluster_id:
            damaged = any(isinstance(directory.offline, Damaged) for directory in self.directories)
            if not found and damaged:
                raise HostFault(self.directories[0].path, "no identity can be read; nothing is made anew")
            self.cluster_id = found[0].cluster_id if found else self._new_cluster_id()
        for directory in self.directories:
            if directory.offline is None and directory.identity is None:
                directory.claim(Identity(self.cluster_id, self.node_id, self._chance.bytes(16)))

    def _new_cluster_id(self) -> bytes:
        # People see it as URL-safe base64; a first bit of 0 keeps that from beginning with a dash.
        drawn = self._chance.bytes(16)
        return bytes([drawn[0] & 0x7F]) + drawn[1:]

    def _check(self, directory: DataDirectory, identity: Identity, first: Identity) -> None:
        cluster_id = self.cluster_id or first.cluster_id
        if identity.cluster_id != cluster_id:
            raise WrongDirectory(
                directory.path, f"belongs to cluster {identity.cluster_id.hex()}, not {cluster_id.hex()}"
            )
        if identity.node_id != self.node_id:
            raise WrongDirectory(directory.path, f"belongs to node {identity.node_id}, this is node {self.node_id}")
        others = [d.identity.directory_id for d in self.directories if d.identity and d is not directory]
        if identity.directory_id in others:
            raise WrongDirectory(directory.path, "is a copy of another data directory")

    def _open_one(self, directory: DataDirectory, progress: Callable[[int, int], None]) -> None:
        try:
            directory.open(self.log_settings, progress)
        except WrongDirectory:
            raise
        except HostFault as fault:
            directory.fail(fault)
        for key in directory.logs:
            if key in self._home_of:
                raise WrongDirectory(
                    directory.path, f"holds log {key[0].hex()}-{key[1]}, and so does {self._home_of[key].path}"
                )
            self._home_of[key] = directory

    @property
    def clean_incarnation(self) -> bytes | None:
        """The incarnation that stopped clean before, when all directories agree on it; None after a crash."""
        found = {directory.incarnation_before for directory in self.directories}
        return found.pop() if len(found) == 1 else None

    # Logs.

    def log(self, topic_id: bytes, partition: int, *, is_new: bool = True) -> PartitionLog:
        """The log, made if it is not found: in memory only, until something is appended. One that is not new and not
        found while a directory is offline most likely lives there: it is offline as well, never made anew."""
        key = (topic_id, partition)
        home = self._home_of.get(key)
        if home is not None:
            return home.logs[key]
        online = [directory for directory in self.directories if directory.offline is None]
        offline = [directory for directory in self.directories if directory.offline is not None]
        if not online:
            raise self.directories[0].offline or HostFault(self.directories[0].path)
        if offline and not is_new:
            home = offline[0]
        else:
            home = min(online, key=lambda directory: len(directory.logs))
        self._home_of[key] = home
        return home.add(key, self.log_settings)

    def find(self, topic_id: bytes, partition: int) -> PartitionLog | None:
        home = self._home_of.get((topic_id, partition))
        return home.logs[topic_id, partition] if home is not None else None

    def all_logs(self) -> Iterator[PartitionLog]:
        for directory in self.directories:
            yield from directory.logs.values()

    def fail(self, log: PartitionLog, fault: HostFault) -> None:
        """A write for this log failed away from it: its directory can no longer be trusted."""
        home = self._home_of.get(log.key)
        if home is not None:
            home.fail(fault)

    def keys(self) -> list[tuple[bytes, int]]:
        """Every log there is, whether or not a topic names it. Nothing is deleted because a name is missing."""
        return sorted(self._home_of)

    def delete(self, topic_id: bytes, partition: int) -> None:
        """Deletes a log that somebody decided to delete. Missing ones are fine."""
        home = self._home_of.pop((topic_id, partition), None)
        if home is not None:
            delay_ms = home.logs[topic_id, partition].settings.file_delete_delay_ms
            home.remove((topic_id, partition), delay_ms)

    def describe(self) -> list[DirectoryFacts]:
        facts = []
        for directory in self.directories:
            total = usable = -1
            if directory.offline is None:
                total = self._host.disk.total_bytes(directory.path)
                usable = self._host.disk.free_bytes(directory.path)
            facts.append(
                DirectoryFacts(
                    path=directory.path,
                    directory_id=directory.identity.directory_id if directory.identity else bytes(16),
                    fault=str(directory.offline) if directory.offline is not None else None,
                    total_bytes=total,
                    usable_bytes=usable,
                    logs=[LogFacts(*key, log.size_bytes) for key, log in directory.logs.items()],
                )
            )
        return facts

    @property
    def files_open(self) -> int:
        return len(self._pool)

    def _on_offline(self, directory: DataDirectory, fault: HostFault) -> None:
        self.on_offline(directory, fault)

    def _look_at_room(self) -> None:
        for directory in self.directories:
            directory.look_at_room()
        self._room_timer = self._host.tasks.later(ROOM_CHECK_MS, self._look_at_room)

    def _keep_house(self) -> None:
        self._timer = self._host.tasks.later(HOUSEKEEPING_MS, self._keep_house)
        self._idle_ms += HOUSEKEEPING_MS
        if self._idle_ms >= self.settings.files_idle_close_ms:
            self._idle_ms = 0
            self._pool.close_idle()
        now_ms = self._host.clock.now_ms()
        for directory in self.directories:
            for log in directory.logs.values():
                log.expire_producers(now_ms)

    # Closing.

    def close(self, done: Callable[[], None]) -> None:
        """Syncs everything, leaves the marker of a clean stop, and calls ``done``. Nothing is appended any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._room_timer is not None:
            self._room_timer.cancel()
            self._room_timer = None
        self.keeper.stop()
        waiting = list(self.directories)

        def on_flushed(directory: DataDirectory, fault: HostFault | None) -> None:
            if fault is None and any(log.offset_synced < log.offset_end for log in directory.logs.values()):
                flush(directory)  # somebody appended while the round was under way
                return
            if fault is None:
                directory.close_clean(self.incarnation)
            else:
                directory.release()
            waiting.remove(directory)
            if not waiting:
                done()

        def flush(directory: DataDirectory) -> None:
            directory.flusher.flush(lambda fault: on_flushed(directory, fault))

        for directory in self.directories:
            flush(directory)
