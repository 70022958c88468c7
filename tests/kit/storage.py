"""A simulated machine for storage tests: one disk that outlives crashes, and a log store on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from twinlog import _kernel
from twinlog.host import Host, Network
from twinlog.sim.chance import SimChance
from twinlog.sim.clock import SimClock
from twinlog.sim.disk import SimDisk, SimPlatter
from twinlog.sim.loop import Owner, SimLoop
from twinlog.sim.tasks import SimTasks
from twinlog.sim.trace import Trace
from twinlog.storage import FrameLog, LogSettings, LogStore, PartitionLog, StorageSettings
from twinlog.storage.types import Batch

TOPIC = bytes(range(16))
INFLATED_MAX = 1 << 24
SMALL = LogSettings(segment_bytes=2048, index_interval_bytes=256, file_delete_delay_ms=1000)
QUICK = StorageSettings(flush_interval_ms=100, checkpoint_interval_ms=300, reserve_bytes=0, rounds_bytes=32 * 1024)


class Machine:
    """Boots, runs, crashes. The platter and the time go on, everything else begins anew with each boot."""

    def __init__(self, seed: int = 0) -> None:
        self.chance = SimChance(seed, "storage test")
        self.loop = SimLoop(self.chance.fork("loop"))
        self.clock = SimClock(self.loop)
        self.platter = SimPlatter("disk", self.loop, self.chance, Trace(self.loop))
        self.errors: list[BaseException] = []
        self.boots = 0
        self.boot()

    def boot(self) -> Host:
        self.boots += 1
        self._owner = Owner(f"boot {self.boots}", self.errors.append)
        self.tasks = SimTasks(self.loop, self._owner, self.chance.fork(f"tasks {self.boots}"))
        self.disk = SimDisk(self.platter, self._owner)
        chance = self.chance.fork(f"host {self.boots}")
        self.host = Host(self.clock, chance, self.disk, cast(Network, None), self.tasks)
        return self.host

    def settle(self, span_ms: int = 20) -> None:
        """Long enough for a round of syncs, unless told otherwise; raises what a callback raised."""
        self.loop.run_for_us(span_ms * 1000)
        if self.errors:
            raise self.errors[0]

    def kill(self) -> None:
        """The process is gone, the page cache is not."""
        self.loop.bury(self._owner)
        self.boot()

    def cut_power(self) -> None:
        """What was not synced may be there, in part, in any order, or not."""
        self.loop.bury(self._owner)
        self.platter.cut_power()
        self.boot()

    def store(
        self,
        directories: Sequence[str] = ("data",),
        settings: StorageSettings = QUICK,
        log_settings: LogSettings = SMALL,
        **options: Any,
    ) -> LogStore:
        store = LogStore(self.host, directories, settings, log_settings=log_settings, **options)
        store.open()
        return store

    def close(self, store: LogStore) -> None:
        """Stops clean."""
        ended: list[bool] = []
        store.close(lambda: ended.append(True))
        self.settle(200)
        assert ended, "the store did not close"

    def frame_log(self, store: LogStore, name: str = "metadata") -> FrameLog:
        directory = store.directories[0]
        return FrameLog(self.disk, directory.flusher, directory.path, name)

    def copy_tree(self, path: str) -> dict[str, bytes]:
        """All files below a path, with their bytes."""
        files: dict[str, bytes] = {}
        for name, node in sorted(self.platter.directory(path).entries.items()):
            below = f"{path}/{name}"
            if hasattr(node, "content"):
                files[below] = bytes(node.content)
            else:
                files.update(self.copy_tree(below))
        return files


def restore(files: dict[str, bytes], seed: int = 0) -> Machine:
    """A fresh machine whose disk durably holds these files."""
    machine = Machine(seed)
    for path, data in files.items():
        machine.disk.make_directory(path.rpartition("/")[0])
        file = machine.disk.open(path, create=True)
        file.append((data,))
        machine.disk.sync_now(file)
    _sync_names(machine, "")
    return machine


def _sync_names(machine: Machine, path: str) -> None:
    machine.disk.sync_directory_now(path)
    for name, node in machine.platter.directory(path).entries.items():
        if not hasattr(node, "content"):
            _sync_names(machine, f"{path}/{name}")


class Made(NamedTuple):
    """A batch as a client would send it, checked as the produce path would."""

    buffer: bytearray
    batch: Batch


def made(values: Sequence[bytes], timestamp: int = 1000, **options: Any) -> Made:
    """``timestamp`` is the first record's, each later record is a millisecond younger."""
    records = [(timestamp + number, None, value, None) for number, value in enumerate(values)]
    buffer = bytearray(_kernel.build_batch(records, **options))
    error, _, batch = _kernel.check_batch(buffer, 0, len(buffer), INFLATED_MAX)
    assert error == 0 and batch is not None, error
    return Made(buffer, batch)


def produced(values: Sequence[bytes], producer_id: int, sequence: int, epoch: int = 0, **options: Any) -> Made:
    """By an idempotent producer."""
    return made(values, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence, **options)


def append(
    log: PartitionLog, values: Sequence[bytes], *, leader_epoch: int = 0, now_ms: int = 5000, **options: Any
) -> int:
    """Appends one batch; returns its first offset."""
    keywords = {name: options.pop(name) for name in ("soon", "log_append_time") if name in options}
    buffer, batch = made(values, **options)
    return log.append(buffer, batch, leader_epoch, now_ms, **keywords)


def marker(producer_id: int, *, commit: bool, epoch: int = 0, coordinator_epoch: int = 3) -> bytes:
    """A transaction marker."""
    key = (0).to_bytes(2, "big") + int(commit).to_bytes(2, "big")
    value = (0).to_bytes(2, "big") + coordinator_epoch.to_bytes(4, "big")
    return _kernel.build_batch(
        [(1000, key, value, None)], producer_id=producer_id, producer_epoch=epoch, attributes=0x30
    )


def records(data: bytes) -> list[tuple[int, bytes | None]]:
    """(offset, value) of every record in whole batches, as a client that checks checksums reads them."""
    batches, end, reason = _kernel.scan_batches(data, 0, len(data))
    assert end == len(data), f"a reader got broken bytes: {reason} at {end} of {len(data)}"
    return [
        (offset, value)
        for batch in batches
        for offset, _, _, value, _ in _kernel.decode_records(data, batch[0], len(data), INFLATED_MAX)
    ]


def everything(log: PartitionLog, offset: int | None = None, bytes_max: int = 1500) -> list[tuple[int, bytes | None]]:
    """Reads the log to its end as a consumer would; no record twice, none left out."""
    offset = log.offset_start if offset is None else offset
    found: list[tuple[int, bytes | None]] = []
    position = offset
    while position < log.offset_end:
        read = log.read(position, bytes_max)
        data = b"".join(part.file.read_at(part.position, part.size) for part in read.parts)
        assert read.offset_first <= position < read.offset_next, (read.offset_first, position, read.offset_next)
        found += [record for record in records(data) if record[0] >= position]
        position = read.offset_next
    assert [number for number, _ in found] == list(range(offset, log.offset_end))
    return found
