"""A partition log: record batches in offset order, in segment files, and what is known about them.

The log promises:

- what ``append`` was given lies behind what was there before, at the offsets it returned, and nothing else changes;
- ``offset_synced`` only passes what is on stable storage, and ``on_synced`` tells once per group commit;
- reads see whole batches and never pass the offset they are told to stay below;
- after any stop it opens with everything synced, or refuses to open (``offline`` says why); it never shortens itself
  below what was durable.

On disk it owns ``<directory>/logs/<topic id>-<partition>/``, which appears with the first append. A log that rests
(after a clean start, until somebody reads or writes) has no open file and nothing in memory but its mark.
One writer: everything here is called from the loop, and nothing waits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from twinlog._kernel import place_batch, scan_batches
from twinlog.base import DiskFull, HostFault, Refused
from twinlog.base.units import KIB, MIB
from twinlog.host import File
from twinlog.storage.compacted import NEVER_COMPACTED, read_compacted
from twinlog.storage.cutting import cut_files
from twinlog.storage.epochs import EpochHistory
from twinlog.storage.errors import OFFSET_OUT_OF_RANGE, Damaged
from twinlog.storage.files import write_whole
from twinlog.storage.log_sync import LogSync
from twinlog.storage.marks import UNDECIDED, LogKey, Mark
from twinlog.storage.ports import LogHome
from twinlog.storage.producers import Duplicate, ProducerStates
from twinlog.storage.recovery import Recovery, note_marker
from twinlog.storage.segment import OFFSET_SPAN_MAX, Segment
from twinlog.storage.segments import Segments
from twinlog.storage.settings import LogSettings
from twinlog.storage.snapshots import Snapshots
from twinlog.storage.types import (
    CONTROL,
    AbortedTransaction,
    Batch,
    EpochEnd,
    LogRead,
    SegmentFacts,
    TimestampFound,
)

RESERVE_FROM_BYTES: Final = 4 * MIB  # a log this large within one segment is busy enough to ask for room ahead
SAVE_FROM_BYTES: Final = MIB  # below it, reading the segment again is as cheap as an index file
COPIED_BYTES: Final = 4 * KIB  # up to here a copy is cheaper than a view
NEVER_MS: Final = 1 << 62
NEVER_RESERVED: Final = 1 << 62


def nobody(offset: int) -> None:
    """Nobody waits for this log's syncs."""


class PartitionLog:
    """See above. ``on_synced`` and ``on_offline`` belong to the partition that leads this log."""

    __slots__ = (
        "_changes",
        "_epoch_written",
        "_home",
        "_producers",
        "_resting",
        "_roll_at_ms",
        "_settings",
        "active",
        "compacted",
        "epochs",
        "key",
        "offline",
        "offset_end",
        "offset_start",
        "offset_synced",
        "on_offline",
        "on_synced",
        "path",
        "segments",
        "size_bytes",
        "snapshots",
        "sync",
    )

    def __init__(self, home: LogHome, key: LogKey, settings: LogSettings) -> None:
        self._home = home
        self._settings = settings
        self.key = key
        self.path = home.path_of(key)
        self.offset_start = 0
        self.offset_end = 0
        self.offset_synced = 0
        self.size_bytes = 0
        self.offline: HostFault | None = home.offline
        self.on_synced: Callable[[int], None] = nobody
        self.on_offline: Callable[[HostFault], None] | None = None
        self.epochs = EpochHistory()
        self._producers = ProducerStates(home.settings.producer_ids_max)
        self.segments = Segments(home.disk, home.pool, [])
        self.active: Segment | None = None
        self.snapshots = Snapshots(home, self.path, [])
        self.sync = LogSync(self, home)
        self._roll_at_ms = NEVER_MS
        self._epoch_written = -1  # of the last batch in the active segment
        self._changes = 0  # grows whenever segments go other than by being replaced
        self.compacted = NEVER_COMPACTED
        self._resting: Mark | None = None

    # What it is.

    @property
    def topic_id(self) -> bytes:
        return self.key[0]

    @property
    def partition(self) -> int:
        return self.key[1]

    @property
    def directory(self) -> str:
        """The data directory it lives in."""
        return self._home.path

    @property
    def is_short_of_room(self) -> bool:
        """The disk is nearly full: what is left is for our own records, and for what frees more."""
        return self._home.is_low

    def refused_for_room(self) -> None:
        """A batch was declined for that."""
        self._home.metrics.writes_refused += 1

    @property
    def epoch_latest(self) -> int:
        if self._resting is not None:
            return self._resting.leader_epoch
        return self.epochs.latest

    @property
    def is_new(self) -> bool:
        """Whether no record was ever here."""
        return self.offset_end == 0

    @property
    def has_open_transactions(self) -> bool:
        return bool(self._producers.open_transactions)

    @property
    def producers(self) -> ProducerStates:
        if self.offline is not None or self._resting is not None:
            self._ready()
        return self._producers

    @property
    def producer_count(self) -> int:
        """Those in memory; a log that rests has none there."""
        return len(self._producers) if self._resting is None else 0

    def expire_producers(self, now_ms: int) -> None:
        """Forgets who was silent for too long. A log that rests is not woken for that."""
        if self.offline is None and self._resting is None and self._producers.by_id:
            self._producers.expire(now_ms, self._home.settings.producer_id_expiration_ms)

    @property
    def settings(self) -> LogSettings:
        return self._settings

    @settings.setter
    def settings(self, settings: LogSettings) -> None:
        self._settings = settings
        if self.active is not None and self.active.size:
            self._roll_at_ms = self.active.first_ms + settings.segment_ms

    @property
    def is_resting(self) -> bool:
        """Nothing of it is in memory; asking for more than its ends wakes it."""
        return self._resting is not None

    def segment_facts(self) -> list[SegmentFacts]:
        """All segments, oldest first; only the last one is not sealed."""
        self._ready()
        return [segment.facts() for segment in self.segments.all]

    # Appending.

    def append(
        self,
        buffer: bytearray,
        batch: Batch,
        leader_epoch: int,
        now_ms: int,
        *,
        log_append_time: bool = False,
        soon: bool = True,
    ) -> int:
        """Places a checked batch at the end and returns its first offset. ``buffer`` is changed in place.

        ``soon``: somebody waits for the sync. ``DiskFull``: nothing was appended, and reads go on. Any other
        ``HostFault``: the directory is offline.
        """
        if self.offline is not None or self._resting is not None:
            self._ready()
        off, size, _, delta, _, attributes, _, max_timestamp, producer_id, _, _, _ = batch
        base_offset = self.offset_end
        try:
            segment = self.active
            if (
                segment is None
                or now_ms >= self._roll_at_ms
                or segment.size + size > self._settings.segment_bytes
                or base_offset + delta - segment.offset_base > OFFSET_SPAN_MAX
            ):
                segment = self._segment_for(now_ms)
            if leader_epoch != self._epoch_written:
                self._write_epoch(segment, leader_epoch)
            if log_append_time:
                max_timestamp = now_ms
                place_batch(buffer, off, base_offset, leader_epoch, now_ms)
            else:
                place_batch(buffer, off, base_offset, leader_epoch, -1, max_timestamp)
            file = segment.file or self._home.pool.open(segment)
            position = segment.size
            if position + size > segment.reserved and position >= RESERVE_FROM_BYTES:
                self._reserve(segment, file, position + size)
            if size <= COPIED_BYTES:
                file.append((buffer[off : off + size],))
            else:
                with memoryview(buffer) as view, view[off : off + size] as part:
                    file.append((part,))
        except DiskFull:
            self._home.on_full()
            if self.active is not None and self.active.file is not None:
                # What was written of the batch was cut off again. That has to be durable before later segments are.
                self.sync.wrote(self.active, soon=False)
            raise
        except HostFault as fault:
            self._home.fail(fault)
            raise
        if position == 0:
            segment.first_ms = now_ms
            self._roll_at_ms = now_ms + self._settings.segment_ms
        self.offset_end = offset_end = base_offset + delta + 1
        segment.note(base_offset, position, size, offset_end, max_timestamp, self._settings.index_interval_bytes)
        segment.touched = True
        self.size_bytes += size
        if producer_id >= 0:
            if attributes & CONTROL:
                note_marker(self._producers, segment, batch, base_offset, bytes(buffer[off : off + size]), now_ms)
            else:
                self._producers.note(batch, base_offset, max_timestamp, now_ms)
        self.sync.wrote(segment, soon)
        return base_offset

    def check_producer(self, batch: Batch) -> Duplicate | None:
        """What an idempotent producer's batch is to this log: the next one (None), a duplicate, or refused."""
        if self._resting is not None:
            self._ready()
        return self._producers.check(batch, log_is_new=self.offset_end == 0)

    def append_built(self, batch: bytes, leader_epoch: int, now_ms: int, *, soon: bool = True) -> int:
        """Appends a batch of our own making: coordinator records, transaction markers."""
        batches, end, reason = scan_batches(batch, 0, len(batch))
        assert len(batches) == 1 and end == len(batch), f"a batch of our own is not whole: {reason}"
        return self.append(bytearray(batch), batches[0], leader_epoch, now_ms, soon=soon)

    def _segment_for(self, now_ms: int) -> Segment:
        """A segment with room; an empty one takes any batch."""
        if self.active is None:
            return self._add_segment()
        self.roll(now_ms)
        if self.offline is not None:
            raise self.offline  # it failed over something that is not worth an exception by itself
        return self.active

    def _add_segment(self) -> Segment:
        home = self._home
        if not self.segments.all:
            home.disk.make_directory(self.path)
            self.sync.named(home.logs_path)
        segment = Segment(self.path, self.offset_end)
        file = home.pool.open(segment, create=True)
        if file.size:
            file.truncate(0)  # left by a failed attempt; the name is ours and no record was ever promised there
        self.sync.named(self.path)
        self.segments.add(segment)
        self.active = segment
        self._epoch_written = -1
        self._roll_at_ms = NEVER_MS
        return segment

    def roll(self, now_ms: int) -> None:
        """Seals the active segment and begins the next one. An empty segment stays active."""
        self._ready()
        sealed = self.active
        if sealed is None or not sealed.size:
            return
        self._add_segment()  # first, so that a full disk leaves everything as it was
        self._trim(sealed)
        sealed.sealed = True
        self._home.quietly(sealed.save_index, self._home.disk)
        self._home.quietly(self._save_snapshot)
        self._producers.expire(now_ms, self._home.settings.producer_id_expiration_ms)
        self.sync.ask(soon=False)  # the new name, even if nothing is written to it

    def _save_snapshot(self) -> None:
        self.sync.wrote_file(self.snapshots.save(self.offset_end, self._producers.encode(self.offset_end)))

    def _reserve(self, segment: Segment, file: File, needed: int) -> None:
        step = self._home.settings.reserve_bytes
        segment.reserved = min(needed + step, max(self._settings.segment_bytes, needed)) if step else NEVER_RESERVED
        if step:
            file.reserve(segment.reserved)

    def _trim(self, segment: Segment) -> None:
        """Gives back the room that was asked for ahead."""
        if segment.reserved > segment.size and segment.file is not None and self._home.settings.reserve_bytes:
            self._home.quietly(segment.file.truncate, segment.size)
        segment.reserved = 0

    # Leader epochs.

    def begin_epoch(self, epoch: int) -> None:
        """This log is led in ``epoch`` from here on, even if nothing is written in it."""
        self._ready()
        if epoch > self.epochs.latest:
            self.epochs.assign(epoch, self.offset_end)

    def epoch_end(self, epoch: int) -> EpochEnd:
        """The greatest known epoch up to ``epoch`` and where it ended."""
        self._ready()
        return self.epochs.end_of(epoch, self.offset_end)

    def epoch_at(self, offset: int) -> int:
        """The epoch that wrote ``offset``; -1 when it is older than the history."""
        self._ready()
        return self.epochs.epoch_at(offset)

    def _write_epoch(self, segment: Segment, epoch: int) -> None:
        """The first batch of an epoch, or of a segment, is about to be written."""
        assert epoch >= self.epochs.latest, f"leader epoch {epoch} after {self.epochs.latest}"
        if epoch > self.epochs.latest:
            self.epochs.assign(epoch, self.offset_end)
        if not segment.epochs or segment.epochs[-1][0] != epoch:
            if self.epochs.starts[-1] == self.offset_end:
                self._save_epoch()
            segment.epochs.append((epoch, self.offset_end))
        self._epoch_written = epoch

    def _save_epoch(self) -> None:
        # In front of the batch, and synced in the same round: a batch whose epoch the file does not name was never
        # promised to anybody, and recovery may rely on that.
        path = f"{self.path}/epochs"
        file = self._home.disk.open(path, create=True)
        if file.size:
            file.append((self.epochs.encode_pair(self.epochs.epochs[-1], self.epochs.starts[-1]),))
        else:
            file.append((self.epochs.encode(),))
            self.sync.named(self.path)
        self.sync.wrote_file(file)

    def failed(self, fault: HostFault) -> None:
        """The directory went offline, or this log is damaged."""
        if self.offline is None:
            self.offline = fault
            if self.on_offline is not None:
                self.on_offline(fault)

    # Reading.

    def read(
        self, offset: int, bytes_max: int, offset_below: int | None = None, *, whole_first: bool = True
    ) -> LogRead:
        """Whole batches from the one that holds ``offset``, up to ``bytes_max`` (but at least one batch, if
        ``whole_first``), none of them at or beyond ``offset_below``."""
        if self.offline is not None or self._resting is not None:
            self._ready()
        if not self.offset_start <= offset <= self.offset_end:
            raise Refused(OFFSET_OUT_OF_RANGE, f"{offset} is not in {self.offset_start}..{self.offset_end}")
        below = self.offset_end if offset_below is None or offset_below > self.offset_end else offset_below
        if offset >= below:
            return LogRead([], 0, offset, offset)
        return self.segments.read(offset, bytes_max, below, whole_first)

    def read_bytes(
        self, offset: int, bytes_max: int, offset_below: int | None = None, *, whole_first: bool = True
    ) -> bytes:
        """As ``read``, as bytes."""
        found = self.read(offset, bytes_max, offset_below, whole_first=whole_first)
        return b"".join([part.file.read_at(part.position, part.size) for part in found.parts])

    def offset_for_time(self, timestamp: int) -> TimestampFound | None:
        """The first record at or after ``timestamp``."""
        self._ready()
        return self.segments.offset_for_time(timestamp, self.offset_start, self._settings.inflated_bytes_max)

    def max_timestamp(self) -> TimestampFound | None:
        """The first record with the greatest timestamp; None when no record has one."""
        self._ready()
        return self.segments.max_timestamp(self.offset_start, self._settings.inflated_bytes_max)

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the oldest undecided transaction begins; None when all are decided."""
        return self.producers.first_open_offset

    def undecided_from(self, offset_visible: int) -> int | None:
        """Where the oldest transaction begins that is open, or whose marker does not lie below ``offset_visible``;
        None when there is none."""
        mark = self._resting
        if mark is not None:
            if not mark.flags & UNDECIDED:
                return None
            self._ready()
        producers = self._producers
        if not producers.open_transactions and not producers.ended:
            return None
        return producers.undecided_from(offset_visible)

    def check_marker(self, producer_id: int, epoch: int, coordinator_epoch: int) -> None:
        """Refuses a marker that is older than what the producer or its coordinator wrote here."""
        self.producers.check_marker(producer_id, epoch, coordinator_epoch)

    def aborted_between(self, offset: int, offset_below: int) -> list[AbortedTransaction]:
        """Aborted transactions with records in the range, in the order of their markers."""
        self._ready()
        return self.segments.aborted_between(offset, offset_below)

    # Shortening.

    def delete_to(self, offset: int, done: Callable[[], None] | None = None) -> None:
        """Moves the log start. Nothing below it is read any more; whole segments below it go once the new start is
        durable, and then ``done`` is called."""
        self._ready()
        if not 0 <= offset <= self.offset_end:
            raise Refused(OFFSET_OUT_OF_RANGE, f"{offset} is not in {self.offset_start}..{self.offset_end}")
        if offset > self.offset_start:
            self.offset_start = offset
            self.epochs.delete_to(offset)

        if offset <= self.sync.start_marked or not self.segments.all:
            if done is not None:
                done()
            return
        if done is not None:
            self.sync.when_started(offset, done)
        if offset > self.offset_synced:
            self.sync.ask(soon=True)  # the mark cannot name a start behind what is durable
        else:
            self._home.marks.changed(self.sync, soon=True)

    def drop_segments(self, offset_start: int) -> None:
        """Lets go of whole segments below the durable log start."""
        gone = self.segments.take_below(offset_start)
        self._changes += len(gone)
        for segment in gone:
            self.sync.dropped(segment)
            self.size_bytes -= segment.size
            self._home.pool.close(segment)
            self._home.discard([segment.path, segment.index_path], self._settings.file_delete_delay_ms)
        if not gone:
            return
        self.snapshots.drop_below(self.segments.all[0].offset_base)

    # Compaction: see compaction.py, which does the work away from the loop.

    @property
    def compactable_to(self) -> int:
        """Segments below it are sealed and durable, and everything in them is decided."""
        if self.sync.closed_clean:
            return 0
        undecided = self.first_unstable_offset
        durable = self.sync.mark_base
        return durable if undecided is None else min(durable, undecided)

    @property
    def changes(self) -> int:
        """Another number than before: what was planned for the segments is void."""
        return self._changes

    def segments_below(self, offset: int) -> list[Segment]:
        """The sealed segments that lie wholly below ``offset``."""
        self._ready()
        return [segment for segment in self.segments.all[:-1] if segment.offset_end <= offset]

    def replace_segments(self, old: list[Segment], new: Segment, written_path: str) -> None:
        """Puts a compacted segment, whose bytes are durable under another name, in the place of ``old``. The old files
        go once the new name is durable; until then a crash finds either, or both."""
        self._home.disk.rename(written_path, new.path)
        self.segments.replace(old, new)
        self.size_bytes += new.size - sum(segment.size for segment in old)
        for segment in old:
            self._home.pool.close(segment)
        self.sync.replaced(old)

    def truncate_to(self, offset: int) -> int:
        """Drops every batch that holds ``offset`` or lies behind it; returns the end, at or below ``offset``."""
        self._ready()
        if offset >= self.offset_end:
            return self.offset_end
        segment = self.segments.all[self.segments.slot(offset)]
        position, end = self.segments.end_below(segment, max(offset, segment.offset_base))
        # The mark goes down first: were the log cut before it, a crash would make the missing part look like damage.
        offset_start = self.offset_start = min(self.offset_start, end)
        synced_at = None
        if end < self.offset_synced:
            self.offset_synced = end
            synced_at = segment.offset_base, position
        self.sync.cut(synced_at)
        self._home.marks.write_now([self.sync])
        cut_files(self._home, self.key, self.segments, segment, position, end)
        self._reload(self.sync.mark())
        self.offset_start = offset_start  # it may be ahead of the mark
        self.epochs.delete_to(offset_start)
        return self.offset_end

    # Opening and closing.

    def rest(self, mark: Mark) -> None:
        """Takes the log as a clean stop left it; files are opened when somebody asks for it."""
        self._resting = self.sync.mark_kept = mark
        self.offset_start = mark.offset_start
        self.offset_end = self.offset_synced = mark.offset_synced
        self.size_bytes = mark.size_bytes

    def recover(self, mark: Mark | None, *, mark_lost: bool, verify_all: bool = False) -> None:
        """Reads the log after a crash. Damage takes this log offline and leaves its files alone."""
        try:
            self._load(mark, mark_lost=mark_lost, clean=False, verify_all=verify_all)
        except Damaged as fault:
            self.sync.mark_kept = mark
            self.offline = fault

    def _ready(self) -> None:
        """Wakes a resting log; refuses when it is offline."""
        if self.offline is not None:
            raise self.offline
        mark = self._resting
        if mark is None:
            return
        self._resting = None
        try:
            self._load(mark, mark_lost=False, clean=True, verify_all=False)
        except Damaged as fault:
            self.failed(fault)
            raise
        except HostFault:
            self._resting = self.sync.mark_kept = mark  # half awake it would look empty: whoever asks next tries again
            raise

    def _reload(self, mark: Mark | None) -> None:
        self._producers = ProducerStates(self._home.settings.producer_ids_max)
        self.sync.forget()
        self._load(mark, mark_lost=False, clean=False, verify_all=False)

    def _load(self, mark: Mark | None, *, mark_lost: bool, clean: bool, verify_all: bool) -> None:
        home = self._home
        found = Recovery(
            home.disk,
            self.path,
            self._settings,
            mark=mark,
            mark_lost=mark_lost,
            clean=clean,
            verify_all=verify_all,
            producers_max=home.settings.producer_ids_max,
            now_ms=home.now_ms(),
        )
        found.run()
        self.segments = Segments(home.disk, home.pool, found.segments)
        self._producers, self.epochs = found.producers, found.epochs
        self.snapshots = Snapshots(home, self.path, found.snapshots)
        self.active = self.segments.active
        self._changes += 1
        self.offset_start, self.offset_end = found.offset_start, found.offset_end
        self.size_bytes = self.segments.size_bytes
        self._epoch_written = -1
        self._roll_at_ms = NEVER_MS
        active = self.active
        if active is not None and active.size:
            self._roll_at_ms = active.first_ms + self._settings.segment_ms
        self.offset_synced = min(mark.offset_synced, self.offset_end) if mark is not None else self.offset_start
        self.sync.begin_at(mark)
        self.compacted = read_compacted(home.disk, self.path).up_to(self.offset_end)
        if active is not None and active.is_compacted:
            self.active = None  # it was cut there; the next append begins a segment
        if found.epochs_stale:
            write_whole(home.disk, f"{self.path}/epochs", self.epochs.encode())
        self.epochs.delete_to(self.offset_start)  # in memory: an epoch moved to the log's very end would be lost
        if not clean and self.active is not None:
            above_mark = self.segments.all[self.segments.slot(self.offset_synced) :]
            self.sync.found_after_crash(above_mark, (f"{self.path}/epochs", *self.snapshots.paths), mark)
        self.drop_segments(min(self.sync.start_marked, self.sync.mark_base))

    def close_clean(self) -> None:
        """Everything is synced: leaves what makes the next start cheap."""
        if self._resting is not None or self.offline is not None:
            return
        assert self.offset_synced == self.offset_end, "stopped clean with unsynced records"
        active = self.active
        if active is not None:
            self._trim(active)
            if active.size >= SAVE_FROM_BYTES:
                self._home.quietly(active.save_index, self._home.disk)
                self._home.quietly(self._save_snapshot)
        self.sync.closed_clean = True

    def close_files(self) -> None:
        self.sync.close_files()
        self.segments.close()
