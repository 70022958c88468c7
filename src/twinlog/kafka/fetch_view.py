"""What a fetch looks at: partitions, each with a reader's position, and which of them are worth a look now.

A view serves one request, or, as a session, all requests of one reader. Its rule: a partition is in ``ready`` or
it is watched, so a reader of a thousand quiet partitions costs nothing but its entries.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from twinlog.kafka.partition import Partition

if TYPE_CHECKING:
    from twinlog.kafka.fetch import Fetch
    from twinlog.kafka.partition_table import PartitionTable

NEVER_SENT: Final = -2  # differs from every offset and from "unknown"


class FetchEntry:
    """One partition in a view. ``key`` is the topic as the reader names it: text, or an id."""

    __slots__ = (
        "bytes_max",
        "current_leader_epoch",
        "fetch_offset",
        "index",
        "key",
        "last_fetched_epoch",
        "partition",
        "sent_high_watermark",
        "sent_log_start",
        "view",
        "watching",
    )

    def __init__(self, view: FetchView, key: str | bytes, index: int, partition: Partition | None) -> None:
        self.view = view
        self.key = key
        self.index = index
        self.partition = partition
        self.fetch_offset = 0
        self.bytes_max = 0
        self.current_leader_epoch = -1
        self.last_fetched_epoch = -1
        self.sent_high_watermark = NEVER_SENT
        self.sent_log_start = NEVER_SENT
        self.watching = False

    def resolve(self, partitions: PartitionTable) -> Partition | None:
        """The partition, found again if the one we knew is gone (a name may have a new topic behind it)."""
        partition = self.partition
        if partition is None or partition.closed is not None:
            self.unwatch()
            partition = self.partition = partitions.get(self.key, self.index)
        return partition

    def watch(self) -> None:
        if not self.watching and self.partition is not None:
            self.watching = True
            self.partition.watch(self)

    def unwatch(self) -> None:
        if self.watching:
            self.watching = False
            assert self.partition is not None
            self.partition.unwatch(self)

    @property
    def waits_for_committed(self) -> bool:
        fetch = self.view.parked
        return fetch is not None and fetch.committed

    def on_data(self, size_bytes: int) -> bool:
        view = self.view
        view.ready[self] = None
        fetch = view.parked
        if fetch is not None:
            fetch.missing_bytes -= size_bytes
            if fetch.missing_bytes > 0:
                return True
            fetch.wake()
        self.watching = False
        return False

    def on_change(self) -> None:
        self.watching = False
        view = self.view
        view.ready[self] = None
        if view.parked is not None:
            view.parked.wake()


class FetchView:
    """The partitions of one request without a session."""

    __slots__ = ("incremental", "parked", "ready")

    def __init__(self) -> None:
        self.incremental = False  # the answer may leave out what did not change
        self.ready: dict[FetchEntry, None] = {}
        self.parked: Fetch | None = None

    def rotate(self, served: Iterable[FetchEntry]) -> None:
        """Whoever got data stands last in the next answer."""

    def release(self) -> None:
        """The request is answered."""
        for entry in self.ready:
            entry.unwatch()


class FetchSession(FetchView):
    """The partitions of one reader over many requests (KIP-227). Between requests it changes only by ``ready``."""

    __slots__ = ("created_ms", "entries", "epoch", "session_id", "used_ms", "uses_ids")

    def __init__(self, session_id: int, uses_ids: bool, now_ms: int) -> None:
        super().__init__()
        self.session_id = session_id
        self.uses_ids = uses_ids
        self.created_ms = now_ms
        self.used_ms = now_ms
        self.epoch = 1  # what the reader's next request has to carry
        self.entries: dict[tuple[str | bytes, int], FetchEntry] = {}

    def next_epoch(self) -> None:
        self.epoch = self.epoch + 1 if self.epoch < 2**31 - 1 else 1

    def rotate(self, served: Iterable[FetchEntry]) -> None:
        ready = self.ready
        for entry in served:
            if entry in ready:
                del ready[entry]
                ready[entry] = None

    def release(self) -> None:
        return None  # its entries go on watching for the next request

    def drop(self, key: tuple[str | bytes, int]) -> None:
        entry = self.entries.pop(key, None)
        if entry is not None:
            entry.unwatch()
            self.ready.pop(entry, None)

    def close(self) -> None:
        for entry in self.entries.values():
            entry.unwatch()
        self.entries.clear()
        self.ready.clear()
