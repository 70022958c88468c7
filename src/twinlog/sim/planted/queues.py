"""Sabotages of queues and of their store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from twinlog.amqp.queues import ClassicQueue, LiveMessages
from twinlog.amqp.queues import pieces as pieces_module
from twinlog.amqp.queues.classic import EXPIRED
from twinlog.amqp.queues.pieces import Piece
from twinlog.amqp.queues.ready import Fifo
from twinlog.amqp.store import mover as mover_module
from twinlog.amqp.store.journal import Journal
from twinlog.amqp.store.mover import Mover
from twinlog.amqp.store.queue import QueueLog
from twinlog.amqp.store.recovery import Recovery
from twinlog.amqp.store.segments import Segment
from twinlog.amqp.store.store import QueueStore
from twinlog.base import HostFault
from twinlog.host import File
from twinlog.sim.planted.patch import Bug, Patch


def confirm_before_sync(patch: Patch) -> None:
    def when_durable(self: QueueStore, mark: int, done: Callable[[HostFault | None], None]) -> None:
        done(None)

    patch.put(QueueStore, "when_durable", when_durable)


def requeue_forgets(patch: Patch) -> None:
    patch.put(ClassicQueue, "requeue", lambda self, low, high: self.taken.take(low, high) and None)


def requeue_to_the_end(patch: Patch) -> None:
    def push_back(self: Fifo, piece: Piece) -> None:
        self.push(piece)

    patch.put(Fifo, "push_back", push_back)


def requeue_unmarked(patch: Patch) -> None:
    def part_of(piece: Piece, low: int, high: int) -> Piece:
        part: Piece = before(piece, low, high)
        part.redelivered = False
        return part

    before = patch.put(pieces_module, "part_of", part_of)


def crash_unmarked(patch: Patch) -> None:
    def found(self: Recovery, stop: Any) -> Any:
        recovered = before(self, stop)
        return {queue: each._replace(redelivered_below=0) for queue, each in recovered.items()}

    before = patch.put(Recovery, "_found", found)


def acknowledgements_not_written(patch: Patch) -> None:
    def append_settled(self: QueueStore) -> None:
        for queue in self._unsaved:
            queue.unsaved.clear()
        self._unsaved.clear()

    patch.put(QueueStore, "_append_settled", append_settled)


def acknowledgements_lost_with_the_journal(patch: Patch) -> None:
    def index_files(queues: list[QueueLog], journal_from: int) -> list[tuple[str, bytes, Segment | None]]:
        return [each for each in before(queues, journal_from) if each[2] is None]

    before = mover_module.index_files
    from twinlog.amqp.store import store as store_module

    patch.put(store_module, "index_files", index_files)


def moved_without_a_copy(patch: Patch) -> None:
    patch.put(Mover, "_copy", lambda self, *arguments: None)


def journal_name_not_synced(patch: Patch) -> None:
    def sync_files(self: Journal, files: list[File], directories: list[str]) -> int:
        return int(before(self, files, []))

    before = patch.put(Journal, "sync_files", sync_files)


def torn_tail_kept(patch: Patch) -> None:
    def cut(self: Recovery, files: int, good: int) -> None:
        for entry in self._journal.files:
            entry.end = entry.base + max(entry.file.size - 24, 0)

    patch.put(Recovery, "_cut", cut)


def expired_delivered(patch: Patch) -> None:
    def living_head(self: ClassicQueue, now_ms: int) -> Piece | None:
        return before(self, 0)  # type: ignore[no-any-return]

    before = patch.put(ClassicQueue, "_living_head", living_head)


def dead_letters_dropped(patch: Patch) -> None:
    def publish_letters(self: LiveMessages, burial: Any, piece: Piece) -> None:
        if burial.reason != EXPIRED:
            before(self, burial, piece)

    before = patch.put(LiveMessages, "_publish_letters", publish_letters)


def length_off_by_one(patch: Patch) -> None:
    def enforce(self: ClassicQueue) -> None:
        limits = self.limits
        if limits.count_max is not None:
            limits.count_max += 1
        before(self)
        if limits.count_max is not None:
            limits.count_max -= 1

    before = patch.put(ClassicQueue, "_enforce_length", enforce)


def transient_survives(patch: Patch) -> None:
    def append(self: QueueStore, blob: bytes, count: int, targets: Any, *, durable: bool, now_ms: int) -> int:
        return int(before(self, blob, count, targets, durable=True, now_ms=now_ms))

    before = patch.put(QueueStore, "append", append)


def taken_counted_twice(patch: Patch) -> None:
    def settle(self: ClassicQueue, low: int, high: int) -> None:
        before(self, low, high)
        self.settled_count += 1 if high > low + 2 else 0

    before = patch.put(ClassicQueue, "settle", settle)


def mark_of_the_beginning(patch: Patch) -> None:
    def append(self: QueueStore, blob: bytes, count: int, targets: Any, *, durable: bool, now_ms: int) -> int:
        mark = self.journal.end
        before(self, blob, count, targets, durable=durable, now_ms=now_ms)
        return mark

    before = patch.put(QueueStore, "append", append)


BUGS: Final = (
    Bug("queue-confirm-before-sync", "a confirm does not wait for the disk", confirm_before_sync, 200, "queues"),
    Bug("queue-confirm-too-early", "a confirm waits for what came before", mark_of_the_beginning, 200, "queues"),
    Bug("queue-requeue-forgets", "what is requeued is gone", requeue_forgets, 20, "queues"),
    Bug("queue-requeue-to-the-end", "what is requeued goes to the end", requeue_to_the_end, 50, "queues"),
    Bug("queue-requeue-unmarked", "what is requeued is not marked as redelivered", requeue_unmarked, 50, "queues"),
    Bug("queue-crash-unmarked", "after a crash nothing is marked as redelivered", crash_unmarked, 50, "queues"),
    Bug("queue-acks-not-written", "acknowledgements are not stored", acknowledgements_not_written, 50, "queues"),
    Bug(
        "queue-acks-lost-with-journal",
        "a file of the journal goes before its acknowledgements are stored elsewhere",
        acknowledgements_lost_with_the_journal,
        200,
        "queues",
    ),
    Bug(
        "queue-moved-without-copy",
        "a journal file goes before its messages",
        moved_without_a_copy,
        200,
        "queues",
    ),
    Bug("queue-journal-name-lost", "the name of a new file is not durable", journal_name_not_synced, 200, "queues"),
    Bug("queue-torn-tail-kept", "the rest of a broken write stays behind the end", torn_tail_kept, 200, "queues"),
    Bug("queue-expired-delivered", "messages are delivered after their time", expired_delivered, 100, "queues"),
    Bug("queue-dead-letters-dropped", "what expires is not dead-lettered", dead_letters_dropped, 200, "queues"),
    Bug("queue-length-off-by-one", "one message too many stays", length_off_by_one, 100, "queues"),
    Bug("queue-transient-survives", "what is not persistent comes back", transient_survives, 100, "queues"),
    Bug("queue-counts-twice", "an acknowledgement is counted twice", taken_counted_twice, 50, "queues"),
)
