"""All queues of a node: ``ports.Messages`` for channels, ``ports.QueueKeeper`` for the topology.

A run is stored once, for all queues that need it stored, and pushed into each of them. Deliveries, expiry and dead
letters happen in later turns, a bounded part in each, so that no queue keeps the loop from the others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

from twinlog._kernel import RUN_PERSISTENT, build_run, measure_run, run_info, split_run
from twinlog.amqp.durability import when_all_durable
from twinlog.amqp.ports import (
    Appending,
    Published,
    Queue,
    QueueCounts,
    QueueInfo,
    Queues,
    QueueStatus,
    Router,
    StreamFigures,
    StreamLog,
    Streams,
    Topology,
)
from twinlog.amqp.queues.classic import TOO_LONG, ClassicQueue, Timer
from twinlog.amqp.queues.deaths import Letter, letter_of
from twinlog.amqp.queues.delayed import Delayed, copies_of, single_run
from twinlog.amqp.queues.pieces import NO_TTL, PIECE_BYTES, Piece
from twinlog.amqp.queues.slices import Slices
from twinlog.amqp.queues.stream import StreamQueue, StreamSettings
from twinlog.base import DiskFull, HostFault, Refused
from twinlog.base.logs import Log, Silence
from twinlog.wire.amqp import Properties

BURIED_PER_TURN: Final = 256
BURIALS_WAITING_MAX: Final = 64
AGAIN_MS: Final = 1000
REFUSALS_TOLD_EVERY_MS: Final = 10_000


class Burial(NamedTuple):
    """Messages that died in a queue, and are to be published again before they are settled there."""

    queue: ClassicQueue
    piece: Piece
    reason: str
    exchange: str
    key: str | None


class Pumped(Protocol):
    """A queue of either kind that may have something to give."""

    info: QueueInfo

    def pump(self) -> bool: ...


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
        streams: Streams | None = None,
        stream_settings: StreamSettings | None = None,
    ) -> None:
        self.store = store
        self.queues: dict[int, ClassicQueue] = {}
        settings = stream_settings or StreamSettings()
        self.streams: dict[int, StreamQueue] = {}  # those that were used
        self.slices = Slices(settings.stream_cache_bytes)
        self.properties_bytes_max = settings.properties_bytes_max
        self.inflated_bytes_max = settings.inflated_bytes_max
        self._logs = streams
        self.stream_refused_count = 0
        self._refusal_told_ms = -REFUSALS_TOLD_EVERY_MS
        self._topology = topology
        self._router = router
        self._now_ms = now_ms
        self._soon = soon
        self._later = later
        self._log: Log = log or Silence()
        self._held_bytes_per_queue_max = max(memory_bytes // 4, 1)
        self._dirty: dict[Pumped, None] = {}
        self._burials: deque[Burial] = deque()
        self._burials_syncing = 0
        self._is_turn_planned = False
        self.delayed = Delayed(store, self._release, now_ms=now_ms, later=later)
        self._bury_again: Timer | None = None

    # ---- for channels -----------------------------------------------------------------------------------------

    def queue(self, info: QueueInfo) -> Queue:
        return self.queues[info.id] if info.twin is None else self.stream(info)

    def stream(self, info: QueueInfo) -> StreamQueue:
        found = self.streams.get(info.id)
        if found is None:
            found = self.streams[info.id] = StreamQueue(info, self)
        return found

    def stream_log(self, info: QueueInfo) -> StreamLog | None:
        return self._logs.log(info) if self._logs is not None else None

    def publish(self, blob: bytes, targets: Sequence[QueueInfo]) -> Published:
        for info in targets:
            if info.twin is not None:
                return self._publish_with_streams(blob, targets)
        return self._publish_to_queues(blob, targets)

    def _publish_with_streams(self, blob: bytes, targets: Sequence[QueueInfo]) -> Published:
        """A log that cannot be written now refuses the run before anybody has it; what a log finds wrong with a message
        is no reason for the others not to have it."""
        streams = [self.stream(info) for info in targets if info.twin is not None]
        for stream in streams:
            stream.check_room()
        queues = [info for info in targets if info.twin is None]
        count = run_info(blob)[3]
        mark, accepted, _ = self._publish_to_queues(blob, queues) if queues else Published(0, count)
        appendings: list[Appending] = []
        for stream in streams:
            appended = stream.append(blob, count)
            if appended.appending is not None:
                appendings.append(appended.appending)
            if appended.accepted < count:
                accepted = min(accepted, appended.accepted)
                self._refused_by_stream(stream, count - appended.accepted, appended.why_not)
        return Published(mark, accepted, tuple(appendings))

    def _refused_by_stream(self, stream: StreamQueue, count: int, why: str) -> None:
        self.stream_refused_count += count
        now_ms = self._now_ms()
        if now_ms - self._refusal_told_ms >= REFUSALS_TOLD_EVERY_MS:
            self._refusal_told_ms = now_ms
            self._log.warning("a stream refused messages", stream=stream.info.name, messages=count, why=why)

    def _publish_to_queues(self, blob: bytes, targets: Sequence[QueueInfo]) -> Published:
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
        size = len(blob) // len(targets) + PIECE_BYTES if targets else 0
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

    def _release(
        self, vhost: str, exchange: str, key: str, flags: int, properties: Properties, body: bytes
    ) -> Sequence[Appending]:
        """A delayed message is due. Returns which streams' syncs it waits for."""
        copies = copies_of(flags, properties)
        try:
            targets = self._router.route(vhost, exchange, key, properties, copies)
        except Refused:
            return ()  # its exchange is gone
        if not targets:
            return ()
        return self.publish(single_run(exchange, key, flags, properties, body), targets).appendings

    def started(self) -> None:
        """All queues and exchanges are known."""
        self.delayed.recover()

    def when_durable(self, mark: int, done: Callable[[HostFault | None], None]) -> None:
        self.store.when_durable(mark, done)

    def status(self, info: QueueInfo) -> QueueStatus:
        if info.twin is not None:
            return self._stream_status(info)
        queue = self.queues.get(info.id)
        return queue.status() if queue is not None else QueueStatus(0, 0, 0, 0, 0, 0)

    def _stream_status(self, info: QueueInfo) -> QueueStatus:
        """Of any stream, also one that nobody has used yet."""
        log, known = self.stream_log(info), self.streams.get(info.id)
        count = max(log.end - log.start, 0) if log is not None else 0
        return QueueStatus(
            ready=count,
            unacked=0,
            consumers=known.consumer_count if known is not None else 0,
            ready_bytes=log.size_bytes if log is not None else 0,
            memory_bytes=0,
            persistent=count,
        )

    def stream_figures(self) -> StreamFigures:
        return StreamFigures(
            consumers=sum(stream.consumer_count for stream in self.streams.values()),
            refused=self.stream_refused_count,
            cache_bytes=self.slices.size_bytes,
        )

    # ---- for the topology -------------------------------------------------------------------------------------

    def on_queue_created(self, info: QueueInfo) -> None:
        if info.twin is not None:
            return  # it costs nothing until somebody uses it
        self.store.create(info.id, durable=info.durable)
        self.queues[info.id] = ClassicQueue(info, self, self.store.recovered().get(info.id))

    def on_queue_deleted(self, info: QueueInfo, reason: str) -> None:
        stream = self.streams.pop(info.id, None)
        if stream is not None:
            self._dirty.pop(stream, None)
            stream.delete()
        queue = self.queues.pop(info.id, None)
        if queue is not None:
            self._dirty.pop(queue, None)
            queue.delete()
            self.store.delete(info.id)

    def on_queue_changed(self, info: QueueInfo) -> None:
        if info.twin is None:  # else its topic obeys
            self.queues[info.id].obey()

    def on_queue_used(self, info: QueueInfo) -> None:
        """It was declared again, or asked for."""
        queue = self.queues.get(info.id)
        if queue is not None:
            queue.used()

    def counts(self, info: QueueInfo) -> QueueCounts:
        if info.twin is not None:
            status = self._stream_status(info)
            return QueueCounts(status.ready, status.consumers)
        queue = self.queues.get(info.id)
        if queue is None:
            return QueueCounts(0, 0)
        self.catch_up(queue)
        return QueueCounts(queue.ready.count, len(queue.consumers))

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

    def wake(self, queue: Pumped) -> None:
        self._dirty[queue] = None
        if not self._is_turn_planned:
            self._plan_turn()

    def catch_up(self, queue: ClassicQueue) -> None:
        if queue in self._dirty and not queue.pump():
            self._dirty.pop(queue, None)

    def _plan_turn(self) -> None:
        if not self._is_turn_planned:
            self._is_turn_planned = True
            self._soon(self._turn)

    def cannot_read(self, queue: StreamQueue, why: str) -> None:
        self._log.error("stream cannot be read", stream=queue.info.name, vhost=queue.info.vhost, why=why)

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
        return len(self._burials) + self._burials_syncing < BURIALS_WAITING_MAX

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
                    self._buried_when_durable(burial.queue, front, self._publish_letters(burial, front))
                else:
                    appendings = self._publish_letters(burial, piece)
                    self._burials.popleft()
                    self._buried_when_durable(burial.queue, piece, appendings)
            except DiskFull:
                self._bury_again = self._later(AGAIN_MS, self._try_again)
                return
            except HostFault as fault:
                self._log.error("dead letters cannot be stored", queue=burial.queue.info.name, fault=str(fault))
                self._burials.clear()
                return
            left -= piece.count

    def _buried_when_durable(self, queue: ClassicQueue, piece: Piece, appendings: list[Appending]) -> None:
        """Streams are another journal: until that has the letters, the queue keeps the messages."""
        if not appendings:
            queue.buried(piece)
            return
        self._burials_syncing += 1

        def on_durable(fault: HostFault | None) -> None:
            self._burials_syncing -= 1
            if fault is None:
                queue.buried(piece)
            else:
                self._log.error("dead letters cannot be stored", queue=queue.info.name, fault=str(fault))

        when_all_durable(self.store, 0, appendings, on_durable)

    def _try_again(self) -> None:
        self._bury_again = None
        self._plan_turn()

    def _publish_letters(self, burial: Burial, piece: Piece) -> list[Appending]:
        """Runs of letters that go the same way."""
        info = burial.queue.info
        assert piece.blob is not None
        appendings: list[Appending] = []
        if self._topology.find_exchange(info.vhost, burial.exchange) is None:
            return appendings
        exchange, key, flags, _, _, _ = run_info(piece.blob)
        now_ms = self._now_ms()
        waiting: list[tuple[bytes, bytes]] = []
        way: tuple[str, int, tuple[QueueInfo, ...]] | None = None
        for _, encoded, body in split_run(piece.blob, piece.position, piece.count):
            letter = letter_of(info.name, burial.reason, exchange, key, flags, encoded, body, now_ms, burial.key)
            targets = self._targets(burial, letter)
            this_way = (letter.key, letter.flags, targets)
            if way is not None and (this_way != way or letter.copies):
                appendings += self._publish_way(burial, way, waiting)
                waiting = []
            way = this_way
            waiting.append((letter.encoded, letter.body))
        if way is not None:
            appendings += self._publish_way(burial, way, waiting)
        return appendings

    def _publish_way(
        self, burial: Burial, way: tuple[str, int, tuple[QueueInfo, ...]], letters: list[tuple[bytes, bytes]]
    ) -> tuple[Appending, ...]:
        key, flags, targets = way
        if not targets:
            return ()
        return self.publish(build_run(burial.exchange, key, flags, letters), targets).appendings

    def _targets(self, burial: Burial, letter: Letter) -> tuple[QueueInfo, ...]:
        info = burial.queue.info
        try:
            found = self._router.route(info.vhost, burial.exchange, letter.key, letter.properties, letter.copies)
        except Refused:
            return ()
        return tuple(target for target in found if letter.may_enter(target.name, burial.reason))
