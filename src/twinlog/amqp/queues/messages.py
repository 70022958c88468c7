"""All queues of a node: ``ports.Messages`` for channels, ``ports.QueueKeeper`` for the topology.

A run is stored once, for all queues that need it stored, and pushed into each of them. Deliveries, expiry and dead
letters happen in later turns, a bounded part in each, so that no queue keeps the loop from the others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from twinlog._kernel import RUN_PERSISTENT, build_run, measure_run, run_info, split_run
from twinlog.amqp.ports import (
    Published,
    Queue,
    QueueCounts,
    QueueInfo,
    Queues,
    QueueStatus,
    Router,
    Topology,
)
from twinlog.amqp.queues.classic import TOO_LONG, ClassicQueue, Timer
from twinlog.amqp.queues.deaths import Letter, letter_of
from twinlog.amqp.queues.delayed import Delayed, copies_of, single_run
from twinlog.amqp.queues.pieces import NO_TTL, Piece
from twinlog.base import DiskFull, HostFault, Refused
from twinlog.base.logs import Log, Silence
from twinlog.wire.amqp import Properties

BURIED_PER_TURN: Final = 256
BURIALS_WAITING_MAX: Final = 64
AGAIN_MS: Final = 1000


class Burial(NamedTuple):
    """Messages that died in a queue, and are to be published again before they are settled there."""

    queue: ClassicQueue
    piece: Piece
    reason: str
    exchange: str
    key: str | None


class LiveMessages:
    """See above. ``soon`` and ``later`` are the loop's."""

    def __init__(
        self,
        store: Queues,
        topology: Topology,
        router: Router,
        *,
        now_ms: Callable[[], int],
        soon: Callable[[Callable[[], None]], None],
        later: Callable[[float, Callable[[], object]], Timer],
        memory_bytes: int,
        log: Log | None = None,
    ) -> None:
        self.store = store
        self.queues: dict[int, ClassicQueue] = {}
        self._topology = topology
        self._router = router
        self._now_ms = now_ms
        self._soon = soon
        self._later = later
        self._log: Log = log or Silence()
        self._held_bytes_per_queue_max = max(memory_bytes // 4, 1)
        self._dirty: dict[ClassicQueue, None] = {}
        self._burials: deque[Burial] = deque()
        self._is_turn_planned = False
        self.delayed = Delayed(store, self._release, now_ms=now_ms, later=later)
        self._bury_again: Timer | None = None

    # ---- for channels -----------------------------------------------------------------------------------------

    def queue(self, info: QueueInfo) -> Queue:
        return self.queues[info.id]

    def publish(self, blob: bytes, targets: Sequence[QueueInfo]) -> Published:
        _, _, flags, count, _, concerns = run_info(blob)
        priority, ttl_ms = 0, NO_TTL
        if concerns is not None:
            priority = concerns[0]
            if concerns[1] is not None:
                ttl_ms = int(concerns[1])
        now_ms = self._now_ms()
        body_bytes = measure_run(blob, 0, count)[1]
        is_persistent = flags & RUN_PERSISTENT != 0
        is_durable = False
        accepted = count
        size = max(len(blob) // len(targets), 1) if targets else 0
        entries: list[tuple[ClassicQueue, int, bool]] = []
        stored: list[tuple[int, int]] = []
        for info in targets:
            queue = self.queues[info.id]
            room = queue.accepts(count, blob, body_bytes)
            if room < accepted:
                accepted = room
            if not room:
                entries.append((queue, 0, False))
                continue
            must_last = is_persistent and info.durable
            is_durable = is_durable or must_last
            is_stored = must_last or queue.wants_disk(size)
            if is_stored:
                stored.append((info.id, queue.number_next))
            entries.append((queue, room, is_stored))
        mark = 0
        if stored:
            mark = self.store.append(blob, count, stored, durable=is_durable, now_ms=now_ms)
        for queue, room, is_stored in entries:
            number = queue.number_next
            if room == count:
                queue.push(
                    Piece(number, count, blob, 0, body_bytes, now_ms, ttl_ms, stored=is_stored, priority=priority), size
                )
            else:
                self._push_part(queue, room, number, count, blob, now_ms, ttl_ms, is_stored, priority, size)
        return Published(mark if is_durable else 0, accepted)

    def _push_part(
        self,
        queue: ClassicQueue,
        room: int,
        number: int,
        count: int,
        blob: bytes,
        now_ms: int,
        ttl_ms: int,
        is_stored: bool,
        priority: int,
        size: int,
    ) -> None:
        """The first messages of a run come in, the rest was refused."""
        body_bytes = measure_run(blob, 0, count)[1]
        rest = Piece(number, count, blob, 0, body_bytes, now_ms, ttl_ms, stored=is_stored, priority=priority)
        if room:
            queue.push(rest.split(room), size)
        if queue.dead_letters_refused():
            exchange = queue.limits.dead_letter_exchange
            assert exchange is not None
            rest.stored = False
            self._burials.append(Burial(queue, rest, TOO_LONG, exchange, queue.limits.dead_letter_key))
            self._plan_turn()
        if is_stored:
            queue.skip(number + count)

    def publish_later(self, vhost: str, blob: bytes, delay_ms: int) -> Published:
        return Published(self.delayed.put(vhost, blob, delay_ms), 1)

    def _release(self, vhost: str, exchange: str, key: str, flags: int, properties: Properties, body: bytes) -> None:
        """A delayed message is due."""
        copies = copies_of(flags, properties)
        try:
            targets = self._router.route(vhost, exchange, key, properties, copies)
        except Refused:
            return  # its exchange is gone
        if targets:
            self.publish(single_run(exchange, key, flags, properties, body), targets)

    def started(self) -> None:
        """All queues and exchanges are known."""
        self.delayed.recover()

    def when_durable(self, mark: int, done: Callable[[HostFault | None], None]) -> None:
        self.store.when_durable(mark, done)

    def status(self, info: QueueInfo) -> QueueStatus:
        queue = self.queues.get(info.id)
        return queue.status() if queue is not None else QueueStatus(0, 0, 0, 0, 0, 0)

    # ---- for the topology -------------------------------------------------------------------------------------

    def on_queue_created(self, info: QueueInfo) -> None:
        self.store.create(info.id, durable=info.durable)
        self.queues[info.id] = ClassicQueue(info, self, self.store.recovered().get(info.id))

    def on_queue_deleted(self, info: QueueInfo, reason: str) -> None:
        queue = self.queues.pop(info.id, None)
        if queue is not None:
            self._dirty.pop(queue, None)
            queue.delete()
            self.store.delete(info.id)

    def on_queue_changed(self, info: QueueInfo) -> None:
        self.queues[info.id].obey()

    def on_queue_used(self, info: QueueInfo) -> None:
        """It was declared again."""
        queue = self.queues.get(info.id)
        if queue is not None:
            queue.used()

    def counts(self, info: QueueInfo) -> QueueCounts:
        queue = self.queues.get(info.id)
        return QueueCounts(queue.ready.count, len(queue.consumers)) if queue is not None else QueueCounts(0, 0)

    def close(self) -> None:
        """Before the store is closed: notes what was delivered."""
        for queue in self.queues.values():
            if queue.info.durable:
                self.store.delivered_below(queue.info.id, queue.number_given)

    # ---- for queues -------------------------------------------------------------------------------------------

    def now_ms(self) -> int:
        return self._now_ms()

    def later(self, delay_ms: float, callback: Callable[[], object]) -> Timer:
        return self._later(delay_ms, callback)

    def wake(self, queue: ClassicQueue) -> None:
        self._dirty[queue] = None
        if not self._is_turn_planned:
            self._plan_turn()

    def _plan_turn(self) -> None:
        if not self._is_turn_planned:
            self._is_turn_planned = True
            self._soon(self._turn)

    def unused(self, queue: ClassicQueue) -> None:
        self._topology.remove_queue(queue.info, "its last consumer left")

    def expired(self, queue: ClassicQueue) -> None:
        self._topology.remove_queue(queue.info, "nobody used it")

    @property
    def held_bytes_per_queue_max(self) -> int:
        return self._held_bytes_per_queue_max

    def bury(self, queue: ClassicQueue, piece: Piece, reason: str) -> None:
        exchange = queue.limits.dead_letter_exchange
        assert exchange is not None
        self._burials.append(Burial(queue, piece, reason, exchange, queue.limits.dead_letter_key))
        self._plan_turn()

    @property
    def has_time_to_bury(self) -> bool:
        return len(self._burials) < BURIALS_WAITING_MAX

    # ---- turns ------------------------------------------------------------------------------------------------

    def _turn(self) -> None:
        self._is_turn_planned = False
        if self._burials and self._bury_again is None:
            self._bury_some()
        dirty, self._dirty = self._dirty, {}
        for queue in dirty:
            try:
                if queue.pump():
                    self._dirty[queue] = None
            except HostFault as fault:
                self._log.error("queue cannot be read", queue=queue.info.name, vhost=queue.info.vhost, fault=str(fault))
        if self._dirty or (self._burials and self._bury_again is None):
            self._plan_turn()

    def _bury_some(self) -> None:
        left = BURIED_PER_TURN
        while self._burials and left > 0:
            burial = self._burials[0]
            piece = burial.piece
            try:
                if piece.count > left:
                    front = piece.split(left)
                    self._publish_letters(burial, front)
                    burial.queue.buried(front)
                else:
                    self._publish_letters(burial, piece)
                    self._burials.popleft()
                    burial.queue.buried(piece)
            except DiskFull:
                self._bury_again = self._later(AGAIN_MS, self._try_again)
                return
            except HostFault as fault:
                self._log.error("dead letters cannot be stored", queue=burial.queue.info.name, fault=str(fault))
                self._burials.clear()
                return
            left -= piece.count

    def _try_again(self) -> None:
        self._bury_again = None
        self._plan_turn()

    def _publish_letters(self, burial: Burial, piece: Piece) -> None:
        """Runs of letters that go the same way."""
        info = burial.queue.info
        assert piece.blob is not None
        if self._topology.find_exchange(info.vhost, burial.exchange) is None:
            return
        exchange, key, flags, _, _, _ = run_info(piece.blob)
        now_ms = self._now_ms()
        waiting: list[tuple[bytes, bytes]] = []
        way: tuple[str, int, tuple[QueueInfo, ...]] | None = None
        for _, encoded, body in split_run(piece.blob, piece.position, piece.count):
            letter = letter_of(info.name, burial.reason, exchange, key, flags, encoded, body, now_ms, burial.key)
            targets = self._targets(burial, letter)
            this_way = (letter.key, letter.flags, targets)
            if way is not None and (this_way != way or letter.copies):
                self._publish_way(burial, way, waiting)
                waiting = []
            way = this_way
            waiting.append((letter.encoded, letter.body))
        if way is not None:
            self._publish_way(burial, way, waiting)

    def _publish_way(
        self, burial: Burial, way: tuple[str, int, tuple[QueueInfo, ...]], letters: list[tuple[bytes, bytes]]
    ) -> None:
        key, flags, targets = way
        if targets:
            self.publish(build_run(burial.exchange, key, flags, letters), targets)

    def _targets(self, burial: Burial, letter: Letter) -> tuple[QueueInfo, ...]:
        info = burial.queue.info
        try:
            found = self._router.route(info.vhost, burial.exchange, letter.key, letter.properties, letter.copies)
        except Refused:
            return ()
        return tuple(target for target in found if letter.may_enter(target.name, burial.reason))
