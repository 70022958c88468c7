"""A classic queue: ``ports.Queue`` for messages that go away when somebody has dealt with them.

A run stays whole on its way through: it is pushed as one piece, given to consumers in stretches, and answered in ranges
of numbers. It is taken apart only where a message leaves the order: requeued, rejected, expired, dropped.

Every message is in exactly one place: ready, taken, or settled (which expired, dropped and dead-lettered ones are in
the end). A dead letter is settled here only after it was stored where it went, in the same journal: a crash may double
it, and never loses it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from twinlog._kernel import measure_run, run_info
from twinlog.amqp.ports import Consumer, Got, Queue, QueueInfo, Queues, QueueStatus, RecoveredQueue, StoredRun
from twinlog.amqp.queues.consumers import Consumers
from twinlog.amqp.queues.limits import DROP_HEAD, REJECT_DEAD_LETTER, Limits
from twinlog.amqp.queues.pieces import NO_TTL, Piece, Taken
from twinlog.amqp.queues.ready import Fifo, Levels
from twinlog.base.units import KIB

EXPIRED: Final = "expired"
REJECTED: Final = "rejected"
TOO_LONG: Final = "maxlen"

READ_BYTES: Final = 256 * KIB
READ_BYTES_WITHOUT_ROOM: Final = 32 * KIB
MESSAGES_PER_TURN: Final = 8192
DEATHS_PER_TURN: Final = 4096
SHARE_MAX: Final = 128


class Timer(Protocol):
    def cancel(self) -> object: ...


class Surroundings(Protocol):
    """What queues need of ``Messages``."""

    store: Queues

    def now_ms(self) -> int: ...

    def wake(self, queue: ClassicQueue) -> None:
        """``pump`` it in a later turn."""

    def catch_up(self, queue: ClassicQueue) -> None:
        """``pump`` it now, if that was to come."""

    def later(self, delay_ms: float, callback: Callable[[], object]) -> Timer: ...

    def bury(self, queue: ClassicQueue, piece: Piece, reason: str) -> None:
        """Dead-letters a piece later; then ``buried`` is called."""

    @property
    def has_time_to_bury(self) -> bool: ...

    def unused(self, queue: ClassicQueue) -> None:
        """The last consumer of an auto-delete queue went."""

    def expired(self, queue: ClassicQueue) -> None:
        """Nobody used the queue for as long as it said."""

    @property
    def held_bytes_per_queue_max(self) -> int: ...


class ClassicQueue(Queue):
    """See above."""

    def __init__(self, info: QueueInfo, around: Surroundings, recovered: RecoveredQueue | None = None) -> None:
        self.info = info
        self.consumers = Consumers(info)
        self.consumers.single_active = bool(info.arguments.get("x-single-active-consumer", False))
        self.taken = Taken()
        self.number_next = 0
        self.number_given = 0  # above every number that was ever delivered
        self.held_bytes = 0
        self.published_count = 0  # or found by the start
        self.settled_count = 0  # by acknowledgement, or by nobody wanting one
        self.dead_count = 0  # expired, dropped, rejected; also while they are being buried
        self.is_gone = False
        self._around = around
        self._store = around.store
        priority_max = info.arguments.get("x-max-priority", 0)
        self.ready: Fifo | Levels = Levels(priority_max) if priority_max else Fifo()
        self.limits = Limits(info.effective)
        self._redelivered_below = recovered.redelivered_below if recovered is not None else 0
        self._used_ms = around.now_ms()
        self._expiry_timer: Timer | None = None
        self._expiry_due_ms = 0
        self._unused_timer: Timer | None = None
        if recovered is not None:
            self._recover(recovered)
        self.obey()

    def _recover(self, recovered: RecoveredQueue) -> None:
        self.number_next = recovered.number_next
        self.number_given = recovered.redelivered_below
        if not recovered.ready:
            return
        count = sum(high - low + 1 for low, high in recovered.ready)
        self.published_count = count
        low, high = recovered.ready[0][0], recovered.ready[-1][1]
        piece = Piece(low, count, None, 0, recovered.size_bytes, 0, high=high)
        if isinstance(self.ready, Fifo):
            self.ready.push(piece)
            return
        number = low  # only the messages themselves know their priority
        while runs := self._store.read(self.info.id, number, READ_BYTES):
            for run in runs:
                for part in self._parts(run, high):
                    part.blob = None
                    self.ready.push(part)
            number = runs[-1].number + runs[-1].messages

    def obey(self) -> None:
        """The policies changed, or it begins."""
        self.limits = Limits(self.info.effective)
        self._watch_unused()
        self._around.wake(self)

    # ---- in ---------------------------------------------------------------------------------------------------

    def accepts(self, count: int, blob: bytes, body_bytes: int) -> int:
        """How many messages of a run may come in, from its first on."""
        limits = self.limits
        if not limits.rejects:
            return count
        accepted = count
        if limits.count_max is not None:
            room = limits.count_max - self.ready.count
            if room < count:
                room += self.consumers.credit(count)
            accepted = max(0, min(accepted, room))
        if limits.body_bytes_max is not None:
            room_bytes = limits.body_bytes_max - self.ready.body_bytes
            while accepted and body_bytes > room_bytes:
                accepted -= 1
                body_bytes = measure_run(blob, 0, accepted)[1]
        return accepted

    def wants_disk(self, size: int) -> bool:
        """Whether a run that need not be durable must be stored because memory is scarce, or the queue's end is
        on disk already."""
        last = self.ready.last(0)
        return (last is not None and last.blob is None) or not self._has_room(size)

    def _has_room(self, size: int) -> bool:
        return self.held_bytes + size <= self._around.held_bytes_per_queue_max and self._store.has_room(size)

    def push(self, piece: Piece, size: int) -> None:
        """A piece whose numbers are ``number_next`` and on. ``size`` is what its run costs in memory."""
        ready = self.ready
        assert piece.number == self.number_next, (piece, self.number_next)
        self.published_count += piece.count
        if piece.stored:
            last = ready.last(piece.priority)
            on_disk = last is not None and last.blob is None
            if (on_disk and isinstance(ready, Fifo)) or not self._has_room(size):
                self.number_next = piece.high + 1
                self._push_on_disk(piece, last if on_disk else None)
                self._pushed()
                return
        self.number_next = piece.high + 1
        piece.held_bytes = size
        self.held_bytes += size
        self._store.hold(size)
        ready.push(piece)
        self._pushed()

    def _push_on_disk(self, piece: Piece, last: Piece | None) -> None:
        ready = self.ready
        if last is not None and (isinstance(ready, Fifo) or last.high + 1 == piece.number):
            last.high = piece.high
            last.count += piece.count
            last.body_bytes += piece.body_bytes
            ready.grew(last, piece.count, piece.body_bytes)
        else:
            piece.blob = None
            ready.push(piece)

    def _pushed(self) -> None:
        if self.limits.any_length and not self.consumers.ready:
            self._enforce_length()
        self._around.wake(self)

    def skip(self, number: int) -> None:
        """What was stored below that number, and did not come in, is gone."""
        self._store.settle(self.info.id, self.number_next, number - 1)
        self.number_next = number

    # ---- out --------------------------------------------------------------------------------------------------

    def pump(self) -> bool:
        """Gives away what can be given; whether there is more to do at once."""
        if self.is_gone:
            return False
        messages_left = MESSAGES_PER_TURN
        now_ms = self._around.now_ms()
        again = False
        while messages_left > 0:
            piece = self._living_head(now_ms)
            if piece is None:
                again = self.ready.count > 0 and not self._around.has_time_to_bury
                break
            turn = self.consumers.next()
            if turn is None:
                break
            consumer, credit = turn
            taken = self._deliver(piece, consumer, min(credit, messages_left))
            if not taken:
                break
            messages_left -= taken
        else:
            again = True
        self._expire_now(now_ms)
        if self.limits.any_length:
            self._enforce_length()
        self._watch_expiry(now_ms)
        return again

    def _deliver(self, piece: Piece, consumer: Consumer, credit: int) -> int:
        count = piece.count if piece.count < credit else credit
        others = self.consumers.ready
        if others > 1:
            # One each while there are few; longer stretches where everybody gets enough anyway.
            count = min(count, max(1, min(SHARE_MAX, self.ready.count // (4 * others))))
        assert piece.blob is not None
        number = piece.number
        taken, behind = consumer.deliver(number, piece.blob, piece.position, count, piece.redelivered)
        if not taken:
            return 0
        assert taken <= count, (taken, count)
        if taken == piece.count:
            self.ready.pop()
            front = piece
        else:
            front = self._advance(piece, taken, behind)
        if front.high >= self.number_given:
            self.number_given = front.high + 1
        if consumer.no_ack:
            self._store.settle(self.info.id, number, front.high)
            self.settled_count += taken
            self._release(front.held_bytes)
        else:
            self._take(front)
        return taken

    def _advance(self, piece: Piece, count: int, behind: int) -> Piece:
        assert piece.blob is not None
        if self.limits.body_bytes_max is not None:
            body_bytes = measure_run(piece.blob, piece.position, count)[1]
        else:
            body_bytes = piece.body_bytes * count // piece.count
        front = piece.advance(count, behind, body_bytes)
        self.ready.shrink_head(count, body_bytes)
        return front

    def _take(self, piece: Piece) -> None:
        if piece.stored and not self._store.has_room(0):
            self._release(piece.held_bytes)
            piece.held_bytes = 0
            piece.blob = None
        self.taken.add(piece)

    def _living_head(self, now_ms: int) -> Piece | None:
        """The first message that has not expired, in memory."""
        while True:
            piece = self.ready.head()
            if piece is None:
                return None
            if piece.blob is None:
                self._load(piece)
                continue
            due_ms = self._due_ms(piece)
            if due_ms is None or now_ms < due_ms or self._has_its_chance(piece, due_ms):
                return piece
            if not self._around.has_time_to_bury:
                return None
            self._die(piece.count, EXPIRED)

    def _has_its_chance(self, piece: Piece, due_ms: int) -> bool:
        """With no time to live at all a message goes to who waits for it, once."""
        return due_ms == piece.arrived_ms and not piece.redelivered and self.consumers.ready > 0

    def _due_ms(self, piece: Piece) -> int | None:
        ttl_ms, queue_ttl_ms = piece.ttl_ms, self.limits.message_ttl_ms
        if queue_ttl_ms is None:
            return None if ttl_ms == NO_TTL else piece.arrived_ms + ttl_ms
        return piece.arrived_ms + (queue_ttl_ms if ttl_ms == NO_TTL or queue_ttl_ms < ttl_ms else ttl_ms)

    def _load(self, piece: Piece) -> None:
        """Brings the first messages of the head piece into memory."""
        room = self._has_room(READ_BYTES)
        runs = self._store.read(self.info.id, piece.number, READ_BYTES if room else READ_BYTES_WITHOUT_ROOM)
        parts: list[Piece] = []
        for run in runs:
            if run.number > piece.high:
                break
            parts += self._parts(run, piece.high)
        found = sum(part.count for part in parts)
        for part in parts:
            part.redelivered = part.redelivered or piece.redelivered
            self.held_bytes += part.held_bytes
            self._store.hold(part.held_bytes)
        body_bytes = sum(part.body_bytes for part in parts)
        number = parts[-1].high + 1 if parts else piece.high + 1
        if found < piece.count and number <= piece.high:
            left = max(0, piece.body_bytes - body_bytes)
            parts.append(
                Piece(
                    number,
                    piece.count - found,
                    None,
                    0,
                    left,
                    0,
                    high=piece.high,
                    redelivered=piece.redelivered,
                    priority=piece.priority,
                )
            )
        self.ready.replace_head(parts)

    def _parts(self, run: StoredRun, high: int) -> list[Piece]:
        """A stored run as pieces, without what is above ``high``."""
        count = min(run.messages, high - run.number + 1)
        _, _, _, _, _, concerns = run_info(run.blob)
        priority, expiration = (concerns[0], concerns[1]) if concerns is not None else (0, None)
        body_bytes = measure_run(run.blob, run.position, count)[1]
        ttl_ms = int(expiration) if expiration is not None else NO_TTL
        piece = Piece(run.number, count, run.blob, run.position, body_bytes, run.arrived_ms, ttl_ms, priority=priority)
        piece.held_bytes = len(run.blob)
        below = self._redelivered_below
        if run.number >= below:
            return [piece]
        if piece.high < below:
            piece.redelivered = True
            return [piece]
        front = piece.split(below - run.number)
        front.redelivered = True
        return [front, piece]

    def get(self, *, no_ack: bool) -> Got | None:
        self.catch_up()
        self._used_ms = now_ms = self._around.now_ms()
        while True:
            piece = self.ready.head()
            if piece is None:
                return None
            if piece.blob is None:
                self._load(piece)
                continue
            due_ms = self._due_ms(piece)
            if due_ms is None or now_ms < due_ms:
                break
            self._die(piece.count, EXPIRED)
        blob, position, number = piece.blob, piece.position, piece.number
        if piece.count == 1:
            front = self.ready.pop()
        else:
            front = self._advance(piece, 1, measure_run(blob, position, 1)[2])
        if number >= self.number_given:
            self.number_given = number + 1
        if no_ack:
            self._store.settle(self.info.id, number, number)
            self.settled_count += 1
            self._release(front.held_bytes)
        else:
            self._take(front)
        return Got(number, blob, position, front.redelivered, self.ready.count)

    # ---- answers ----------------------------------------------------------------------------------------------

    def settle(self, low: int, high: int) -> None:
        found, held_bytes = self.taken.remove(low, high)
        for each_low, each_high in found:
            self._store.settle(self.info.id, each_low, each_high)
            self.settled_count += each_high - each_low + 1
        if held_bytes:
            self._release(held_bytes)

    def requeue(self, low: int, high: int) -> None:
        for piece in self.taken.take(low, high):
            self.ready.push_back(piece)
        self._around.wake(self)

    def reject(self, low: int, high: int) -> None:
        for piece in self.taken.take(low, high):
            self._bury(piece, REJECTED)

    # ---- dying ------------------------------------------------------------------------------------------------

    def _die(self, count: int, reason: str) -> None:
        """The first messages of the head piece."""
        piece = self.ready.head()
        assert piece is not None
        if count >= piece.count:
            self._bury(self.ready.pop(), reason)
            return
        if piece.blob is None:
            self._load(piece)
            return  # the caller looks again
        _, body_bytes, behind = measure_run(piece.blob, piece.position, count)
        front = piece.advance(count, behind, body_bytes)
        self.ready.shrink_head(count, body_bytes)
        self._bury(front, reason)

    def _bury(self, piece: Piece, reason: str) -> None:
        self.dead_count += piece.count
        if self.limits.dead_letter_exchange is None:
            self.buried(piece)
        elif piece.blob is not None:
            self._around.bury(self, piece, reason)
        else:
            for part in self._all_parts(piece):
                self._around.bury(self, part, reason)

    def _all_parts(self, piece: Piece) -> list[Piece]:
        """All of a piece that is on disk."""
        parts: list[Piece] = []
        number = piece.number
        while number <= piece.high and (runs := self._store.read(self.info.id, number, READ_BYTES)):
            for run in runs:
                if run.number > piece.high:
                    return parts
                for part in self._parts(run, piece.high):
                    part.held_bytes = 0
                    parts.append(part)
                number = run.number + run.messages
        return parts

    def buried(self, piece: Piece) -> None:
        """It is gone from here for good."""
        if not self.is_gone:
            self._store.settle(self.info.id, piece.number, piece.high)
            self._release(piece.held_bytes)

    def _expire_now(self, now_ms: int) -> None:
        """What had its chance with a consumer in this turn."""
        if self.limits.message_ttl_ms is None and not self._head_expires():
            return
        deaths_left = DEATHS_PER_TURN
        while deaths_left > 0 and self._around.has_time_to_bury:
            piece = self.ready.head()
            if piece is None:
                return
            if piece.blob is None:
                self._load(piece)
                continue
            due_ms = self._due_ms(piece)
            if due_ms is None or now_ms < due_ms:
                return
            deaths_left -= piece.count
            self._die(piece.count, EXPIRED)

    def _head_expires(self) -> bool:
        piece = self.ready.head()
        return piece is not None and piece.ttl_ms != NO_TTL

    def _watch_expiry(self, now_ms: int) -> None:
        piece = self.ready.head()
        due_ms = self._due_ms(piece) if piece is not None and piece.blob is not None else None
        if due_ms is None:
            return
        if self._expiry_timer is not None:
            if self._expiry_due_ms <= due_ms:
                return
            self._expiry_timer.cancel()
        self._expiry_due_ms = due_ms
        self._expiry_timer = self._around.later(max(due_ms - now_ms, 1), self._on_expiry)

    def _on_expiry(self) -> None:
        self._expiry_timer = None
        self._around.wake(self)

    def _enforce_length(self) -> None:
        limits, ready = self.limits, self.ready
        if limits.overflow != DROP_HEAD:
            return
        if limits.count_max is not None:
            while ready.count > limits.count_max and self._may_die():
                head = ready.head()
                assert head is not None
                excess = ready.count - limits.count_max
                if head.blob is None and (excess < head.count or limits.dead_letter_exchange is not None):
                    self._load(head)
                    continue
                self._die(min(excess, head.count), TOO_LONG)
        if limits.body_bytes_max is not None:
            while ready.count and ready.body_bytes > limits.body_bytes_max and self._may_die():
                head = ready.head()
                assert head is not None
                if head.blob is None:
                    self._load(head)
                    continue
                excess = ready.body_bytes - limits.body_bytes_max
                self._die(head.count if head.body_bytes <= excess else 1, TOO_LONG)

    def _may_die(self) -> bool:
        if self.limits.dead_letter_exchange is None or self._around.has_time_to_bury:
            return True
        self._around.wake(self)
        return False

    def dead_letters_refused(self) -> bool:
        return self.limits.overflow == REJECT_DEAD_LETTER and self.limits.dead_letter_exchange is not None

    def purge(self) -> int:
        self.catch_up()
        count = self.ready.count
        for piece in self.ready.clear():
            self._store.settle(self.info.id, piece.number, piece.high)
            self._release(piece.held_bytes)
        self.settled_count += count
        return count

    # ---- consumers --------------------------------------------------------------------------------------------

    def consume(self, consumer: Consumer) -> None:
        self.consumers.add(consumer)
        self._around.wake(self)

    def cancel(self, consumer: Consumer) -> None:
        if not self.consumers.remove(consumer):
            return
        self._used_ms = self._around.now_ms()
        if len(self.consumers):
            self._around.wake(self)  # the next one may be the active one now
            return
        self._watch_unused()
        if self.info.auto_delete:
            self._around.unused(self)

    def resume(self, consumer: Consumer) -> None:
        self.consumers.resume(consumer)
        if self.ready.count:
            self._around.wake(self)

    def catch_up(self) -> None:
        self._around.catch_up(self)

    def used(self) -> None:
        """Declared again, or asked for."""
        self._used_ms = self._around.now_ms()

    def _watch_unused(self) -> None:
        expires_ms = self.limits.expires_ms
        if self._unused_timer is not None:
            self._unused_timer.cancel()
            self._unused_timer = None
        if expires_ms is None or self.is_gone or len(self.consumers):
            return
        due_ms = self._used_ms + expires_ms
        self._unused_timer = self._around.later(max(due_ms - self._around.now_ms(), 1), self._on_unused)

    def _on_unused(self) -> None:
        self._unused_timer = None
        expires_ms = self.limits.expires_ms
        if self.is_gone or expires_ms is None or len(self.consumers):
            return
        if self._around.now_ms() >= self._used_ms + expires_ms:
            self._around.expired(self)
        else:
            self._watch_unused()

    # ---- end --------------------------------------------------------------------------------------------------

    def delete(self) -> None:
        """Consumers are told; nothing of the queue is left in memory."""
        self.is_gone = True
        for timer in (self._expiry_timer, self._unused_timer):
            if timer is not None:
                timer.cancel()
        self._expiry_timer = self._unused_timer = None
        self.ready.clear()
        self._store.drop(self.held_bytes)
        self.held_bytes = 0
        for consumer in self.consumers.clear():
            consumer.cancelled()

    def status(self) -> QueueStatus:
        return QueueStatus(
            ready=self.ready.count,
            unacked=self.taken.count,
            consumers=len(self.consumers),
            ready_bytes=self.ready.body_bytes,
            memory_bytes=self.held_bytes,
            persistent=self.ready.count + self.taken.count if self.info.durable else 0,
        )

    def _release(self, held_bytes: int) -> None:
        if held_bytes:
            self.held_bytes -= held_bytes
            self._store.drop(held_bytes)
