"""One Kafka connection: frames in, answers out, in the order of the requests.

Produce requests follow one another without waiting for the disk, so that several are in flight; every other
request starts when all before it are answered, as clients are used to. What does not start yet stays, unread, in
the read buffer: no request is queued in memory. Buffers are never kept: a handler is done with the bytes of a
request when it returns.
"""

from __future__ import annotations

from collections import deque
from traceback import format_exception
from typing import TYPE_CHECKING, Final

from twinlog._kernel import Malformed, kafka_split
from twinlog.base import ProtocolViolation
from twinlog.host import FileSlice, Stream, Timer
from twinlog.host.network import QUEUE_HIGH_BYTES
from twinlog.servers.kafka.context import Parts, RequestContext
from twinlog.servers.kafka.dispatch import API_VERSIONS, PRODUCE, ROUTES, unsupported_api_versions
from twinlog.servers.kafka.strangers import what_it_speaks
from twinlog.wire.kafka.api import FLEXIBLE_FROM

if TYPE_CHECKING:
    from twinlog.servers.kafka.server import KafkaServer

SIZE_FIELD_BYTES: Final = 4
CONNECTION_WAIT_MS_MAX: Final = 10_000
SEND_AT_ONCE_BYTES: Final = QUEUE_HIGH_BYTES // 4


class KafkaConnection:
    """A ``StreamHandler``. Its timer serves every wait of the connection, so that no request needs one."""

    def __init__(self, server: KafkaServer) -> None:
        self._server = server
        self._broker = server.broker
        self._settings = server.broker.settings
        self._frame_max = server.frame_max_bytes
        self._stream: Stream
        self._slots: deque[RequestContext] = deque()  # requests that are not answered, and answers behind them
        self._slots_hold_produces = False
        self._out: list[bytes | bytearray | memoryview | FileSlice] = []
        self._out_bytes = 0
        self._reading = False  # on_bytes is running
        self._held = False  # the next request has to wait
        self._muted_until_ms: int | None = None
        self._closing = False
        self._draining = False  # closes once all is answered
        self._timer: Timer | None = None
        self._timer_at_ms = 0
        self._heard_bytes = 0
        self._crowded_bytes = 0  # what waited for a slow reader when we last looked
        self._crowded_at_ms = 0
        self._heard_at_ms = 0
        self._requests = 0
        self.peer = ("", 0)
        self.local = ("", 0)
        self.principal = "User:ANONYMOUS"
        self.listener = server.listener
        self.now_ms = 0
        self.now_us = 0
        self.connected_ms = 0
        self.client_id: str | None = None

    @property
    def request_count(self) -> int:
        return self._requests

    @property
    def received_bytes(self) -> int:
        return self._stream.received_bytes

    @property
    def held_bytes(self) -> int:
        return self._stream.held_bytes

    def keep(self, by_bytes: int) -> None:
        """A handler keeps so much more memory for this connection, or less."""
        self._stream.keep(by_bytes)

    # -- StreamHandler -------------------------------------------------------------------------------------------

    def on_open(self, stream: Stream) -> None:
        self._stream = stream
        self.peer = stream.peer
        self.local = stream.local
        self._heard_at_ms = self._server.monotonic_ms()
        self.connected_ms = self._server.now_ms()
        if self._server.admit(self):
            wait_ms = self._broker.quotas.charge_connection(self.peer[0], self._server.now_ms())
            if wait_ms:  # too many came from there of late
                wait_ms = min(wait_ms, CONNECTION_WAIT_MS_MAX)
                self._heard_at_ms += wait_ms
                self.mute(wait_ms)
            self._arm(self._heard_at_ms + self._settings.first_request_max_ms)
        else:
            self._closing = True
            stream.abort()

    def on_bytes(self, buffer: bytearray, start: int, end: int) -> int:
        if self._closing:
            return end
        self.now_ms = self._server.now_ms()
        self.now_us = self._server.monotonic_us()
        self._reading = True
        try:
            position = self._read(buffer, start, end)
        finally:
            self._reading = False
        if self._out:
            self._flush()
        if self._closing:
            return end
        return position

    def on_writable(self) -> None:
        self._crowded_bytes = 0
        self._go_on()

    def on_closed(self, reason: Exception | None) -> None:
        self._closing = True
        if self._timer is not None:
            self._timer.cancel()
        slots, self._slots = self._slots, deque()
        for context in slots:
            if context.parked is not None:
                context.parked.abandon()
        self._server.left(self)

    # -- requests ------------------------------------------------------------------------------------------------

    def _read(self, buffer: bytearray, start: int, end: int) -> int:
        """Starts requests until the bytes end or one has to wait; returns where the rest begins."""
        position = start
        while not (self._held or self._closing):
            try:
                rest, need, frames = kafka_split(buffer, position, end, self._frame_max, FLEXIBLE_FROM)
            except Malformed as broken:
                self.break_off(what_it_speaks(bytes(buffer[position : position + 8])) or str(broken))
                break
            for frame in frames:
                if self._slots and not self._may_follow(frame[0]):
                    self._hold()
                    return position
                try:
                    self._start(buffer, *frame)
                except ProtocolViolation as broken:
                    self.break_off(str(broken))
                position = frame[5]
                if self._held or self._closing:
                    return position
            position = rest
            if need:
                self._stream.expect(need)
                break
            if end - position < SIZE_FIELD_BYTES:
                break
        return position

    def _start(
        self,
        buffer: bytearray,
        api_key: int,
        version: int,
        correlation_id: int,
        client_id: str | None,
        body: int,
        end: int,
    ) -> None:
        self._requests += 1
        self.client_id = client_id
        route = ROUTES.get(api_key)
        context = RequestContext(self, api_key, version, correlation_id, client_id)
        if route is None or not route.version_min <= version <= route.version_max:
            if api_key != API_VERSIONS:
                raise ProtocolViolation(f"API key {api_key} in version {version} is not served")
            self._take([unsupported_api_versions(correlation_id)])
            return
        if self._broker.quotas.watches_time:
            context.started_us = self._server.monotonic_us()
        try:
            parts = route.start(self._broker, buffer, body, end, context)
        except (ProtocolViolation, AssertionError):
            raise  # a broken invariant stops the node
        except Exception as bug:
            self._server.log.error(
                "a request met a bug",
                peer=self.peer[0],
                api_key=api_key,
                version=version,
                trace="".join(format_exception(bug)),
            )
            self.close()
            return
        if context.started_us:
            context.charge_time()
        if parts is None:
            parts = context.parts
        if parts is None:
            self._slots_hold_produces = api_key == PRODUCE
            self._slots.append(context)
            return
        self._server.answered(api_key, self.now_us)
        if self._slots:
            if parts:
                context.parts = parts
                self._slots.append(context)
        else:
            self._take(parts)

    def _may_follow(self, api_key: int) -> bool:
        return (
            api_key == PRODUCE
            and self._slots_hold_produces
            and len(self._slots) < self._settings.produces_in_flight_max
        )

    # -- answers -------------------------------------------------------------------------------------------------

    def count_answer(self, context: RequestContext) -> None:
        self._server.answered(context.api_key, context.began_us)

    def on_answered(self) -> None:
        """A parked request has its answer; whatever stands in front of the line leaves."""
        slots = self._slots
        while slots:
            parts = slots[0].parts
            if parts is None:
                break
            slots.popleft()
            self._take(parts)
        if not self._reading:
            if self._out:
                self._flush()
            if self._held:
                self._go_on()
        if self._draining and not slots:
            self.close()

    def _take(self, parts: Parts) -> None:
        out = self._out
        size = self._out_bytes
        for part in parts:
            out.append(part)
            size += part.size if type(part) is FileSlice else len(part)
        self._out_bytes = size
        if size > SEND_AT_ONCE_BYTES:
            self._flush()
            if self._stream.queued_bytes > self._stream.queue_high_bytes:
                self._hold()  # on_writable ends it
                self._watch_reader()

    def _flush(self) -> None:
        out, self._out = self._out, []
        self._out_bytes = 0
        if not self._closing:
            self._stream.send(out)

    def _hold(self) -> None:
        if not self._held:
            self._held = True
            self._stream.pause_reading()

    def _go_on(self) -> None:
        """Reads on, if nothing speaks against it any more. The kept rest is offered again."""
        if (
            self._held
            and not self._closing
            and not self._draining
            and self._muted_until_ms is None
            and self._stream.queued_bytes <= self._stream.queue_high_bytes
            and (not self._slots or self._may_follow(PRODUCE))
        ):
            self._held = False
            self._stream.resume_reading()

    # -- time ----------------------------------------------------------------------------------------------------

    def set_deadline(self, context: RequestContext, timeout_ms: int) -> None:
        # A request is nearly always parked while its bytes are looked at, and then the time is known.
        now_ms = self.now_us // 1000 if self._reading else self._server.monotonic_ms()
        context.deadline_ms = deadline_ms = now_ms + timeout_ms if timeout_ms > 0 else now_ms
        if self._timer is None or deadline_ms < self._timer_at_ms:
            self._arm(deadline_ms)

    def mute(self, throttle_ms: int) -> None:
        """The client used more than its share: its next request waits. The answer itself does not."""
        until_ms = self._server.monotonic_ms() + throttle_ms
        if self._muted_until_ms is None or until_ms > self._muted_until_ms:
            self._muted_until_ms = until_ms
        self._hold()
        self._arm(self._muted_until_ms)

    def charge_time(self, context: RequestContext) -> int:
        """What a request took of its client's share of time."""
        spent_us = self._server.monotonic_us() - context.started_us
        quotas = self._broker.quotas
        throttle_ms = quotas.charge_time(self.principal, context.client_id, spent_us, self.now_ms)
        if throttle_ms:
            self.mute(throttle_ms)
        return throttle_ms

    def _arm(self, at_ms: int) -> None:
        if self._timer is not None:
            if self._timer_at_ms <= at_ms:
                return
            self._timer.cancel()
        self._timer_at_ms = at_ms
        self._timer = self._server.tasks.later(max(0, at_ms - self._server.monotonic_ms()), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        if self._closing:
            return
        now_ms = self._server.monotonic_ms()
        if self._muted_until_ms is not None and self._muted_until_ms <= now_ms:
            self._muted_until_ms = None
            self._go_on()
        for context in list(self._slots):
            if context.parked is not None and context.deadline_ms is not None and context.deadline_ms <= now_ms:
                context.parked.expire()
        if self._crowded_bytes and self._reader_is_stuck(now_ms):
            self._server.log.warning("closed a Kafka connection", peer=self.peer[0], why="its reader takes nothing")
            self._broker.metrics.slow_readers_closed += 1
            self._closing = True
            self._stream.abort()
            return
        next_ms = self._watch_idle(now_ms)
        if self._closing:
            return
        if self._crowded_bytes:
            next_ms = min(next_ms, self._crowded_at_ms + self._settings.slow_reader_max_ms)
        if self._muted_until_ms is not None:
            next_ms = min(next_ms, self._muted_until_ms)
        for context in self._slots:
            if context.parked is not None and context.deadline_ms is not None:
                next_ms = min(next_ms, context.deadline_ms)
        self._arm(next_ms)

    def _watch_reader(self) -> None:
        if not self._crowded_bytes:
            self._crowded_bytes = self._stream.queued_bytes
            self._crowded_at_ms = self._server.monotonic_ms()
            self._arm(self._crowded_at_ms + self._settings.slow_reader_max_ms)

    def _reader_is_stuck(self, now_ms: int) -> bool:
        """Whether the peer took nothing for too long."""
        queued_bytes = self._stream.queued_bytes
        if queued_bytes < self._crowded_bytes:
            self._crowded_bytes, self._crowded_at_ms = queued_bytes, now_ms
        return now_ms - self._crowded_at_ms >= self._settings.slow_reader_max_ms

    def _watch_idle(self, now_ms: int) -> int:
        """Closes a connection that says nothing; returns when to look again."""
        heard_bytes = self._stream.received_bytes
        if heard_bytes != self._heard_bytes and self._requests:
            self._heard_bytes = heard_bytes
            self._heard_at_ms = now_ms
        patience_ms = self._settings.connection_idle_max_ms if self._requests else self._settings.first_request_max_ms
        if now_ms - self._heard_at_ms >= patience_ms and not self._slots:
            if self._requests:
                self.close()
            else:
                self.break_off("no whole request came in time")
        return max(self._heard_at_ms + patience_ms, now_ms + patience_ms // 4)

    # -- the end -------------------------------------------------------------------------------------------------

    def drain(self) -> None:
        """Reads no further request; closes as soon as those under way are answered."""
        self._draining = True
        if self._slots:
            self._hold()
        else:
            self.close()

    def close(self) -> None:
        """Sends what is ready, then closes."""
        if self._closing:
            return
        if self._out:
            self._flush()
        self._closing = True
        self._stream.close()

    def break_off(self, why: str) -> None:
        """The peer broke the rules."""
        if not self._closing:
            self._server.log.warning("closed a Kafka connection", peer=self.peer[0], port=self.peer[1], why=why)
            self._server.broken_off_count += 1
            self.close()
