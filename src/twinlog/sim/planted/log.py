"""Sabotages of the log: storage, partitions, the metadata log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from twinlog.base import Refused
from twinlog.host import Buffer, File
from twinlog.kafka.partition import ACKS_ALL, AppendResult, Partition
from twinlog.kafka.ports import Waiter
from twinlog.sim.disk import SimPlatter
from twinlog.sim.planted.patch import Bug, Patch
from twinlog.storage import producers
from twinlog.storage.flusher import Flusher
from twinlog.storage.frames import FrameLog
from twinlog.storage.log import PartitionLog
from twinlog.storage.log_sync import LogSync
from twinlog.storage.marks import Mark
from twinlog.storage.producers import Duplicate, ProducerStates
from twinlog.storage.recovery import Recovery
from twinlog.storage.segment import Segment
from twinlog.storage.types import Batch


def ack_before_sync(patch: Patch) -> None:
    def append(
        self: Partition,
        buffer: bytearray,
        batch: Batch,
        null_key_at: int,
        acks: int,
        now_ms: int,
        waiter: Waiter,
        result: AppendResult,
    ) -> None:
        before(self, buffer, batch, null_key_at, 1 if acks == ACKS_ALL else acks, now_ms, waiter, result)

    before = patch.put(Partition, "append", append)


def high_watermark_before_sync(patch: Patch) -> None:
    def append(self: Partition, *arguments: Any) -> None:
        before(self, *arguments)
        self._raise_high_watermark(self.log.offset_end, self.bytes_appended)

    before = patch.put(Partition, "append", append)


def dedupe_lost_on_restart(patch: Patch) -> None:
    def take(self: Recovery, segment: Segment, position: int, batch: Batch, data: bytes, note_producers: bool) -> None:
        before(self, segment, position, batch, data, False)

    before = patch.put(Recovery, "_take_batch", take)
    patch.put(ProducerStates, "restore", lambda self, data, offset: False)


def dedupe_window_of_one(patch: Patch) -> None:
    patch.put(producers, "BATCHES_KEPT", 1)


def dedupe_off(patch: Patch) -> None:
    patch.put(ProducerStates, "check", lambda self, batch, log_is_new=False: None)


def sequence_gap_accepted(patch: Patch) -> None:
    def check(self: ProducerStates, batch: Batch, *, log_is_new: bool = False) -> Duplicate | None:
        try:
            found: Duplicate | None = before(self, batch, log_is_new=log_is_new)
        except Refused:
            return None
        return found

    before = patch.put(ProducerStates, "check", check)


def duplicate_answered_with_the_end(patch: Patch) -> None:
    def check(self: PartitionLog, batch: Batch) -> Duplicate | None:
        found: Duplicate | None = before(self, batch)
        return Duplicate(self.offset_end, found.timestamp) if found else None

    before = patch.put(PartitionLog, "check_producer", check)


def torn_tail_kept(patch: Patch) -> None:
    patch.put(Recovery, "_trim", lambda self, segment, size: None)


def index_trusted(patch: Patch) -> None:
    """The index of the last segment, and its being whole, is believed after a crash as after a clean stop."""

    def first_to_scan(self: Recovery) -> int:
        self._below_mark = lambda offset: True  # type: ignore[method-assign]
        found: int = before(self)
        return found

    before = patch.put(Recovery, "_first_to_scan", first_to_scan)


def directory_not_synced(patch: Patch) -> None:
    def sync_files(self: LogSync, files: list[File], directories: list[str]) -> int:
        position: int = before(self, files, [])
        return position

    before = patch.put(LogSync, "sync_files", sync_files)


def epochs_not_synced(patch: Patch) -> None:
    def sync_files(self: LogSync, files: list[File], directories: list[str]) -> int:
        self._files = []
        position: int = before(self, files, directories)
        return position

    before = patch.put(LogSync, "sync_files", sync_files)


def older_segment_not_synced(patch: Patch) -> None:
    def sync_files(self: LogSync, files: list[File], directories: list[str]) -> int:
        for segment in self._unsynced[:-1]:
            segment.unsynced = False
        self._unsynced = self._unsynced[-1:]
        position: int = before(self, files, directories)
        return position

    before = patch.put(LogSync, "sync_files", sync_files)


def failed_sync_ignored(patch: Patch) -> None:
    def on_done(self: Flusher, error: Exception | None) -> None:
        before(self, None)

    before = patch.put(Flusher, "_on_done", on_done)


def damage_cut(patch: Patch) -> None:
    """What cannot be read is cut, even where it was durable."""

    def cut(self: Recovery, number: int, size: int, reason: str) -> None:
        self._mark, self._mark_lost = None, False
        self._find_later = lambda *arguments: None  # type: ignore[method-assign]
        before(self, number, size, "short")

    before = patch.put(Recovery, "_cut_or_refuse", cut)


def page_cache_trusted(patch: Patch) -> None:
    """Recovery syncs what it found without writing it again."""
    from twinlog.storage import frames, log_sync

    patch.put(log_sync, "write_again", lambda file, position=0: None)
    patch.put(frames, "write_again", lambda file: None)


def mark_ahead_of_the_sync(patch: Patch) -> None:
    def mark(self: LogSync) -> Mark | None:
        found: Mark | None = before(self)
        log = self._log
        active = log.active
        if found is None or active is None or log.is_resting or self.mark_kept is not None:
            return found
        return found._replace(offset_synced=log.offset_end, segment_base=active.offset_base, segment_size=active.size)

    before = patch.put(LogSync, "mark", mark)


def metadata_answered_before_the_sync(patch: Patch) -> None:
    def append(self: FrameLog, records: Sequence[Buffer], *, soon: bool = True) -> int:
        position: int = before(self, records, soon=soon)
        self._flusher._tasks.soon(self.on_synced, position)
        return position

    before = patch.put(FrameLog, "append", append)


def round_forgotten(patch: Patch) -> None:
    """What was written while a round was under way waits for somebody else's write."""

    def on_done(self: Flusher, error: Exception | None) -> None:
        before(self, error)
        self._soon.clear()

    before = patch.put(Flusher, "_on_done", on_done)


def disk_that_lies(patch: Patch) -> None:
    """Not a bug of ours: the control. Every promise of durability has to be seen to break."""

    def make(self: SimPlatter, *arguments: Any) -> None:
        before(self, *arguments)
        self.lies_about_sync = True

    before = patch.put(SimPlatter, "__init__", make)


BUGS: Final = (
    Bug("ack-before-sync", "acks=all is answered like acks=1", ack_before_sync),
    Bug("high-watermark-before-sync", "records are shown before they are stable", high_watermark_before_sync, 600),
    Bug("dedupe-lost-on-restart", "a restart forgets what producers sent", dedupe_lost_on_restart),
    Bug("dedupe-window-of-one", "only the last batch of a producer is recognised", dedupe_window_of_one),
    Bug("dedupe-off", "repeated batches are appended again", dedupe_off),
    Bug("sequence-gap-accepted", "a batch may skip numbers", sequence_gap_accepted),
    Bug("duplicate-answered-with-end", "a repetition is told another offset", duplicate_answered_with_the_end),
    Bug("torn-tail-kept", "the rest of a broken write stays behind the log's end", torn_tail_kept, 800),
    Bug("index-trusted", "segments are not read after a crash if they have an index", index_trusted, 800),
    Bug("directory-not-synced", "names of new files are not made durable", directory_not_synced),
    Bug("epochs-not-synced", "the epoch history is not made durable", epochs_not_synced),
    Bug("older-segment-not-synced", "after a roll only the new segment is synced", older_segment_not_synced),
    Bug("failed-sync-ignored", "a failed sync counts as a sync", failed_sync_ignored),
    Bug("damage-cut", "damaged records are cut like a torn tail", damage_cut),
    Bug("page-cache-trusted", "what is cached after a failed sync counts as stored", page_cache_trusted, 600),
    Bug("mark-ahead-of-sync", "the durable mark names what is only written", mark_ahead_of_the_sync, 400),
    Bug("metadata-before-sync", "topics are confirmed before they are durable", metadata_answered_before_the_sync),
    Bug("round-forgotten", "what becomes dirty during a sync is not synced", round_forgotten),
    Bug("disk-that-lies", "the control: syncs do nothing", disk_that_lies),
)
