"""A coordinator without a disk: time that moves when told, a partition whose records are durable when told."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from itertools import count

from twinlog.kafka.coordinator import StoredRecord

START_MS = 1_700_000_000_000


class Timers:
    """A ``TimerPort``. Callbacks run in ``run``, alarms when ``pass_ms`` reaches them."""

    def __init__(self, start_ms: int = START_MS) -> None:
        self.ms = start_ms
        self._queue: deque[Callable[[], None]] = deque()
        self._alarms: list[tuple[int, int, Callable[[], None]]] = []
        self._number = count()
        self._cancelled: set[int] = set()

    def now_ms(self) -> int:
        return self.ms

    def soon(self, callback: Callable[[], None]) -> None:
        self._queue.append(callback)

    def later(self, delay_ms: int, callback: Callable[[], None]) -> Callable[[], None]:
        number = next(self._number)
        heapq.heappush(self._alarms, (self.ms + delay_ms, number, callback))
        return lambda: self._cancelled.add(number)

    def run(self) -> None:
        while self._queue:
            self._queue.popleft()()

    def pass_ms(self, ms: int) -> None:
        """Every alarm rings at its own moment, one after the other."""
        self.run()
        end_ms = self.ms + ms
        while self._alarms and self._alarms[0][0] <= end_ms:
            at_ms, number, callback = heapq.heappop(self._alarms)
            self.ms = max(self.ms, at_ms)
            if number not in self._cancelled:
                callback()
            self._cancelled.discard(number)
            self.run()
        self.ms = end_ms


class MemoryLog:
    """A ``CoordinatorLog``. ``held`` keeps syncs from ending by themselves; ``lose`` is a power cut."""

    leader_epoch = 0

    def __init__(self, *, held: bool = True) -> None:
        self.batches: list[list[StoredRecord]] = []
        self.held = held
        self.waiting: list[tuple[int, Callable[[Exception | None], None]]] = []
        self.durable_end = 0
        self.fault: Exception | None = None  # what the next append meets

    def end(self) -> int:
        return self.batches[-1][-1].offset + 1 if self.batches else 0

    def start_offset(self) -> int:
        return 0

    def append(self, records: list[tuple[bytes, bytes | None]], now_ms: int) -> int:
        return self.append_transactional(records, -1, -1, now_ms)

    def append_transactional(
        self, records: list[tuple[bytes, bytes | None]], producer_id: int, producer_epoch: int, now_ms: int
    ) -> int:
        if self.fault is not None:
            raise self.fault
        base = self.end()
        self.batches.append(
            [
                StoredRecord(base + i, now_ms, key, value, producer_id, producer_epoch)
                for i, (key, value) in enumerate(records)
            ]
        )
        return self.end()

    def append_marker(self, producer_id: int, producer_epoch: int, *, commit: bool) -> None:
        """What ends a transaction; the coordinator of transactions writes it."""
        self.batches.append([StoredRecord(self.end(), 0, None, None, producer_id, producer_epoch, commit)])

    def when_durable(self, offset: int, done: Callable[[Exception | None], None]) -> None:
        if not self.held or offset <= self.durable_end:
            self.durable_end = max(self.durable_end, offset)
            done(None)
        else:
            self.waiting.append((offset, done))

    def sync(self, fault: Exception | None = None) -> None:
        """One round ends: everybody who waits hears of it."""
        waiting, self.waiting = self.waiting, []
        if fault is None:
            self.durable_end = self.end()
        for _, done in waiting:
            done(fault)

    def lose(self) -> None:
        """The power went: what was not synced is gone, and nobody is told."""
        self.waiting.clear()
        self.batches = [batch for batch in self.batches if batch[-1].offset < self.durable_end]

    def compact(self) -> None:
        """Keeps the newest record of each key, as a cleaner may at any time."""
        newest = {record.key: record.offset for batch in self.batches for record in batch}
        kept = [[r for r in batch if r.key is None or newest[r.key] == r.offset] for batch in self.batches]
        self.batches = [batch for batch in kept if batch]

    def read(self, offset: int, bytes_max: int) -> tuple[list[StoredRecord], int]:
        for batch in self.batches:
            if batch[-1].offset >= offset:
                return [record for record in batch if record.offset >= offset], batch[-1].offset + 1
        return [], offset
