"""A stream's log in memory: what it is given counts when a test says so."""

from __future__ import annotations

from collections.abc import Callable

from twinlog._kernel import build_batch, place_batch, run_to_batches
from twinlog.amqp.ports import Appended, QueueInfo, StreamRead
from twinlog.base import DiskFull, HostFault

NOW_MS = 1_700_000_000_000


class Pending:
    """Somebody's append, until it is durable."""

    def __init__(self) -> None:
        self.done: Callable[[HostFault | None], None] | None = None
        self.outcome: tuple[HostFault | None] | None = None

    def when_durable(self, done: Callable[[HostFault | None], None]) -> None:
        if self.outcome is not None:
            done(*self.outcome)
        else:
            self.done = done

    def end(self, fault: HostFault | None) -> None:
        self.outcome = (fault,)
        if self.done is not None:
            self.done(fault)


class MemoryStream:
    """``held``: appends wait for ``sync``."""

    def __init__(self, name: str = "s", size_max: int = 1 << 20) -> None:
        self.name = name
        self.size_max = size_max
        self.start = self.end = 0
        self.held = False
        self.full = False
        self.batches: list[tuple[int, int, bytes]] = []  # first offset, offset behind, bytes
        self.listeners: dict[Callable[[], None], None] = {}
        self.pending: list[Pending] = []
        self.reads = 0

    @property
    def size_bytes(self) -> int:
        return sum(len(data) for _, _, data in self.batches)

    @property
    def offset_end(self) -> int:
        return self.batches[-1][1] if self.batches else 0

    def check_room(self) -> None:
        if self.full:
            raise DiskFull("stream", "full")

    def append(self, blob: bytes, count: int) -> Appended:
        batches, accepted = run_to_batches(blob, self.name, NOW_MS, self.size_max)
        for buffer, batch, _ in batches:
            self._put(buffer, batch[3] + 1)
        pending = Pending()
        self.pending.append(pending)
        if not self.held:
            self.sync()
        return Appended(accepted, pending if accepted else None, "" if accepted == count else "too large")

    def write(self, *values: bytes | None) -> None:
        """As Kafka's producers do."""
        self._put(bytearray(build_batch([(NOW_MS, None, value, []) for value in values])), len(values))
        if not self.held:
            self.sync()

    def _put(self, buffer: bytearray, count: int) -> None:
        first = self.offset_end
        place_batch(buffer, 0, first, 0, -1)
        self.batches.append((first, first + count, bytes(buffer)))

    def sync(self, fault: HostFault | None = None) -> None:
        if fault is None:
            self.end = self.offset_end
        pending, self.pending = self.pending, []
        for each in pending:
            each.end(fault)
        for listener in list(self.listeners):
            listener()

    def read(self, offset: int, bytes_max: int) -> StreamRead:
        assert self.start <= offset < self.end
        self.reads += 1
        found, size = [], 0
        for first, behind, data in self.batches:
            if behind > offset and first < self.end and (not found or size + len(data) <= bytes_max):
                found.append(data)
                size += len(data)
        return StreamRead(b"".join(found), self.end, [])

    def batch_start(self, offset: int) -> int:
        return next(first for first, behind, _ in self.batches if behind > offset)

    def offset_for_time(self, timestamp_ms: int) -> int | None:
        return self.start if timestamp_ms <= NOW_MS and self.end else None

    def watch(self, on_more: Callable[[], None]) -> Callable[[], None]:
        self.listeners[on_more] = None
        return lambda: self.listeners.pop(on_more, None)


class MemoryStreams:
    """``amqp.ports.Streams`` by name."""

    def __init__(self) -> None:
        self.logs: dict[str, MemoryStream] = {}

    def log(self, info: QueueInfo) -> MemoryStream | None:
        return self.logs.get(info.name)

    def charge(self, user: str, size_bytes: int) -> int:
        return 0
