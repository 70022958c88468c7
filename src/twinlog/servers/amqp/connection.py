"""One AMQP connection: bytes in, events to channels, frames out; heartbeats; every way it can end.

A turn works off what was read, within bounds: so much input, so many events, so many queues that took a message, and
no further while the client does not take what it is sent. What is left waits in the read buffer, or as events of the
last parsed piece, and nothing more is read. An event for a channel that waits for an answer is put off; until it is
worked off, nothing is read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from traceback import format_exception
from typing import TYPE_CHECKING, Any, Final

from twinlog._kernel import AMQP_ERROR, AMQP_HEARTBEAT, AMQP_METHOD, AMQP_RUN, AmqpParser
from twinlog.amqp.channel import Channel
from twinlog.amqp.codes import (
    CHANNEL_CODES,
    CHANNEL_ERROR,
    COMMAND_INVALID,
    CONNECTION_FORCED,
    INTERNAL_ERROR,
    NOT_ALLOWED,
    SYNTAX_ERROR,
    refuse,
    reply_text,
)
from twinlog.amqp.counts import Traffic
from twinlog.amqp.ports import Caller
from twinlog.base import HostFault, ProtocolViolation, Refused
from twinlog.host import Stream, Timer
from twinlog.servers.amqp import handshake
from twinlog.servers.amqp.pulse import Pulse, Signs
from twinlog.servers.amqp.waits import Holds
from twinlog.wire.amqp import HEARTBEAT, Method, decode_method, encode_method
from twinlog.wire.amqp import methods as wire

if TYPE_CHECKING:
    from twinlog.servers.amqp.server import AmqpServer

EVENTS_PER_TURN_MAX: Final = 1000
BYTES_PER_TURN_MAX: Final = 512 << 10
PUSHES_PER_TURN_MAX: Final = 1000
FRAME_MAX_BEFORE_TUNE: Final = 8192
FRAME_OVERHEAD: Final = 8

CHANNEL_CLOSE: Final = (wire.ChannelClose.CLASS_ID, wire.ChannelClose.METHOD_ID)

HEADER, START, TUNE, OPEN, RUNNING, CLOSING, CLOSED = range(7)


class AmqpConnection:
    """A ``StreamHandler``, and the ``Peer`` of its channels."""

    def __init__(self, server: AmqpServer, number: int) -> None:
        self.server = server
        self.number = number
        self.broker = server.broker
        self.settings = server.broker.settings
        self.state = HEADER
        self.peer = ("", 0)
        self.local = ("", 0)
        self.caller = Caller("", "", number)
        self.client_properties: Any = {}
        self.mechanism = ""
        self.frame_max = FRAME_MAX_BEFORE_TUNE
        self.channel_max = 0
        self.heartbeat_s = 0
        self.connected_ms = 0
        self.hears_cancels = False
        self.channels: dict[int, Channel] = {}
        self.blocked_because: str | None = None
        self.has_published = False
        self.sent_bytes = 0
        self.closed_traffic = Traffic()  # of channels that are closed
        self._stream: Stream
        self._parser = AmqpParser(frame_max=FRAME_MAX_BEFORE_TUNE, body_size_max=self.settings.message_size_max_bytes)
        self._holds = Holds()
        self._events: list[tuple[Any, ...]] = []  # of the last piece that was parsed
        self._place = 0  # the next of them
        self._put_off: dict[int, deque[tuple[Any, ...]]] = {}  # by channel
        self._ready: deque[int] = deque()  # channels whose wait is over
        self._is_going_on = False
        self._turn_events = self._turn_bytes = self._turn_pushes = 0
        self._turn_enders: dict[int, None] = {}
        self._closing_channels: dict[int, None] = {}  # we closed them, and wait for the client to agree
        self._close_asked = False  # by the client, while channels had something to finish
        self._unsynced = 0
        self._kept = 0  # what our stream was told that we keep
        self._charges = 0  # of quotas, for which it waits
        self._timer: Timer | None = None
        self._pulse: Pulse  # once it is open
        self.hears_blocked = False
        self._hears_login_failures = False

    # ---- StreamHandler ----------------------------------------------------------------------------------------

    def on_open(self, stream: Stream) -> None:
        self._stream = stream
        self.peer, self.local = stream.peer, stream.local
        self.connected_ms = self.broker.now_ms()
        if not self.server.admit(self):
            self.state = CLOSED
            stream.abort()
            return
        self._arm(self.settings.handshake_max_ms, self._handshake_took_too_long)

    def on_bytes(self, buffer: bytearray, start: int, end: int) -> int:
        if self.state == CLOSED:
            return end
        position = start
        if self.state == HEADER:
            if end - start < handshake.HEADER_SIZE and handshake.PROTOCOL_HEADER.startswith(buffer[start:end][:4]):
                return start
            position = self._take_header(bytes(buffer[start : start + handshake.HEADER_SIZE]), start, end)
        while position < end and not self._holds.any and self.state != CLOSED:
            piece_start = position
            piece_end = min(end, position + self.frame_max + FRAME_OVERHEAD)
            rest, self._events = self._parser.parse(buffer, position, piece_end)
            if not self._events and rest == position:
                break  # the frame is not whole yet
            position = rest
            self._place = 0
            self._turn_events += len(self._events)
            self._turn_bytes += position - piece_start
            self._work()
            if self._turn_events > EVENTS_PER_TURN_MAX or self._turn_bytes > BYTES_PER_TURN_MAX:
                self._end_early()
        self._tell_kept()
        return end if self.state == CLOSED else position

    def on_writable(self) -> None:
        self._release("output")
        for channel in list(self.channels.values()):
            channel.on_writable()

    def on_closed(self, reason: Exception | None) -> None:
        self._stop_timer()
        self._end_channels()
        self.state = CLOSED
        self._events = []
        self._put_off.clear()
        self.broker.alarms.forget(self._on_alarm)
        self.server.left(self)

    # ---- Peer -------------------------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        self.sent_bytes += len(data)
        self._stream.send((data,))

    def can_take(self) -> bool:
        return self._stream.queued_bytes <= self._stream.queue_high_bytes

    def fail(self, number: int, failure: Refused | HostFault, class_id: int, method_id: int) -> None:
        if self.state not in (RUNNING, OPEN):
            return
        if isinstance(failure, HostFault):
            self.server.log.error("a request met a fault of the machine", peer=self.peer[0], fault=failure)
            self._close_with(INTERNAL_ERROR, str(failure), class_id, method_id)
        elif failure.code in CHANNEL_CODES and number in self.channels:
            self._close_channel(number, failure, class_id, method_id)
        else:
            self._close_with(failure.code, failure.message, class_id, method_id)

    def go_on(self, number: int) -> None:
        self._ready.append(number)
        if self._is_going_on:
            return  # one channel's answer was another's
        self._is_going_on = True
        try:
            while self._ready:
                self._work_off(self._ready.popleft())
            self._end_turn()
        finally:
            self._is_going_on = False
        self._waited()

    def soon(self, callback: Callable[[], None]) -> None:
        self.server.tasks.soon(callback)

    def turn_ends(self, number: int) -> None:
        self._turn_enders[number] = None

    @property
    def held_bytes(self) -> int:
        return self._stream.held_bytes

    def _tell_kept(self) -> None:
        """Contents of which a part is missing, and what the disk has not got."""
        kept = self._parser.partial_bytes + self._unsynced
        if kept != self._kept:
            self._stream.keep(kept - self._kept)
            self._kept = kept

    def worked(self, count: int) -> None:
        self._turn_pushes += count

    def hold_unsynced(self, size: int) -> None:
        self._unsynced += size
        self._tell_kept()
        if self._unsynced > self.settings.unsynced_max_bytes:
            self._hold("disk")
        elif size < 0:
            self._release("disk")

    def charge(self, size: int) -> None:
        wait_ms = self.server.broker.streams_charge(self.caller.user, size)
        if wait_ms:
            self._charges += 1
            self._hold("quota")
            self.server.tasks.later(wait_ms, self._charge_is_paid)

    def _charge_is_paid(self) -> None:
        self._charges -= 1
        if not self._charges:
            self._release("quota")

    # ---- events -----------------------------------------------------------------------------------------------

    def _work(self) -> None:
        """Works off the events of the last piece, unless something holds them up."""
        stream = self._stream
        while self._place < len(self._events):
            if stream.queued_bytes > stream.queue_high_bytes and self.state == RUNNING:
                self._hold("output")
                break
            if self._turn_pushes > PUSHES_PER_TURN_MAX:
                self._end_early()
                break
            event = self._events[self._place]
            self._place += 1
            self._take(event)
        else:
            self._events = []
            self._place = 0
        self._end_turn()

    def _take(self, event: tuple[Any, ...]) -> None:
        kind = event[0]
        if kind == AMQP_HEARTBEAT:
            return
        if kind == AMQP_ERROR:
            self._parser_failed(*event[1:])
            return
        number = event[1]
        if number == 0:
            if kind == AMQP_METHOD:
                self._take_own(event[2], event[3], event[4])
            return
        if self.state != RUNNING:
            if self.state < RUNNING:
                self._close_with(CHANNEL_ERROR, "a method on a channel before the connection is open", 0, 0)
            return
        channel = self.channels.get(number)
        if kind == AMQP_METHOD and event[2] == wire.ChannelOpen.CLASS_ID and self._take_channels(event, channel):
            return
        if channel is None:
            if number not in self._closing_channels:
                self._close_with(CHANNEL_ERROR, "expected 'channel.open'", *_of(event))
            return
        if channel.is_waiting:
            self._put_off.setdefault(number, deque()).append(event)
            self._hold("channel")
            return
        if kind == AMQP_RUN and not self.has_published:
            self.has_published = True
            self._block(self.broker.alarms.reason)
        try:
            channel.take(event)
        except (Refused, HostFault) as failure:
            self.fail(number, failure, *_of(event))
        except (ProtocolViolation, AssertionError):
            raise
        except Exception as bug:
            self._bug(bug, *_of(event))

    def _end_turn(self) -> None:
        if not self._turn_enders:
            return
        enders, self._turn_enders = self._turn_enders, {}
        for number in enders:
            channel = self.channels.get(number)
            if channel is not None:
                channel.on_turn_end()

    def _work_off(self, number: int) -> None:
        """What was put off, until the channel waits again."""
        events = self._put_off.get(number)
        while events and self.state == RUNNING:
            channel = self.channels.get(number)
            if channel is not None and channel.is_waiting:
                return
            self._take(events.popleft())
        self._put_off.pop(number, None)

    def _waited(self) -> None:
        """A channel has no longer to wait: if none has, the connection is read again, or closed as was asked."""
        if self._put_off or self.state != RUNNING:
            return
        if not self._close_asked:
            self._release("channel")
        elif not self._is_busy():
            self._agree_to_close()

    def _is_busy(self) -> bool:
        return any(channel.is_waiting for channel in self.channels.values())

    # ---- holding up -------------------------------------------------------------------------------------------

    def _hold(self, why: str) -> None:
        if self._holds.add(why):
            self._stream.pause_reading()

    def _end_early(self) -> None:
        """The others have their turns before this one goes on, however much there is to read."""
        self._turn_events = self._turn_bytes = self._turn_pushes = 0
        self._hold("turn")
        self.server.tasks.soon(self._release, "turn")

    def _release(self, why: str) -> None:
        if not self._holds.remove(why) or self.state == CLOSED:
            return
        if self._events:
            self._work()
            if self._holds.any:
                return
        if self.state != CLOSED:
            self._stream.resume_reading()

    # ---- channel 0 --------------------------------------------------------------------------------------------

    def _take_header(self, header: bytes, start: int, end: int) -> int:
        if header not in (handshake.PROTOCOL_HEADER, handshake.OLD_HEADER):
            self.server.log.warning(
                "closed an AMQP connection", peer=self.peer[0], port=self.peer[1], why="it does not speak AMQP 0-9-1"
            )
            self.send(handshake.PROTOCOL_HEADER)
            self._finish()
            return end
        self.state = START
        self.reply(handshake.start(self.settings, self.server.cluster_name()))
        return start + handshake.HEADER_SIZE

    def reply(self, method: Method) -> None:
        self.send(encode_method(0, method))

    def _take_own(self, class_id: int, method_id: int, arguments: bytes) -> None:
        if self.state == CLOSED:
            return
        try:
            method = decode_method(class_id, method_id, arguments)
        except ProtocolViolation as broken:
            self._close_with(SYNTAX_ERROR, str(broken), class_id, method_id)
            return
        if self.state == CLOSING:
            self._take_while_closing(method)
            return
        try:
            self._answer(method, class_id, method_id)
        except Refused as refused:
            self._close_with(refused.code, refused.message, class_id, method_id)

    def _answer(self, method: Method | None, class_id: int, method_id: int) -> None:
        if isinstance(method, wire.ConnectionClose):
            if self.state == RUNNING and self._is_busy():
                self._close_asked = True  # first what was asked before
                self._hold("channel")
            else:
                self._agree_to_close()
        elif isinstance(method, wire.ConnectionStartOk) and self.state == START:
            self._log_in(method)
        elif isinstance(method, wire.ConnectionTuneOk) and self.state == TUNE:
            self._agree_on(method)
        elif isinstance(method, wire.ConnectionOpen) and self.state == OPEN:
            self._enter(method.virtual_host)
        elif isinstance(method, wire.ConnectionUpdateSecret) and self.state == RUNNING:
            self._renew(method)
        elif isinstance(method, wire.ConnectionCloseOk):
            refuse(COMMAND_INVALID, "nobody asked to close")
        elif method is None:
            refuse(COMMAND_INVALID, f"unknown method {class_id}.{method_id}")
        elif class_id == wire.ConnectionStart.CLASS_ID:
            refuse(COMMAND_INVALID, f"{type(method).__name__} is out of order here")
        else:
            refuse(COMMAND_INVALID, f"{type(method).__name__} does not belong on channel 0")

    def _log_in(self, method: wire.ConnectionStartOk) -> None:
        self.client_properties = method.client_properties
        self.hears_cancels = handshake.can(method.client_properties, "consumer_cancel_notify")
        self.hears_blocked = handshake.can(method.client_properties, "connection.blocked")
        self._hears_login_failures = handshake.can(method.client_properties, "authentication_failure_close")
        self.mechanism = method.mechanism
        user, password = handshake.credentials(method.mechanism, method.response)
        if not self.broker.rights.login(user, password, loopback=self.server.is_loopback(self.peer[0])):
            self.server.log.warning("refused a login", peer=self.peer[0], user=user[:64])
            self.server.refused_login_count += 1
            # Not read until then, so that guessing costs time and nothing else.
            self._hold("login")
            self._arm(self.settings.login_failure_delay_ms, lambda: self._login_failed(method.mechanism))
            return
        self.caller = Caller(user, "", self.number)
        self.state = TUNE
        self.reply(handshake.tune(self.settings))

    def _login_failed(self, mechanism: str) -> None:
        if self.state != START:
            return
        self._holds.remove("login")
        self._stream.resume_reading()
        if not self._hears_login_failures:
            self._finish()
            return
        self._close_with(
            403,
            f"Login was refused using authentication mechanism {mechanism}. For details see the broker logfile.",
            0,
            0,
            quietly=True,
        )

    def _agree_on(self, wanted: wire.ConnectionTuneOk) -> None:
        handshake.check_tune(self.settings, wanted)
        self.frame_max = self._parser.frame_max = wanted.frame_max
        self.channel_max = wanted.channel_max
        self.heartbeat_s = wanted.heartbeat
        self.state = OPEN

    def _enter(self, vhost: str) -> None:
        if not self.broker.topology.has_vhost(vhost):
            refuse(NOT_ALLOWED, f"vhost {vhost} not found")
        if not self.broker.rights.may_enter(self.caller.user, vhost):
            refuse(NOT_ALLOWED, f"access to vhost '{vhost}' refused for user '{self.caller.user}'")
        self.server.check_limits(self.caller.user, vhost)
        self.caller = Caller(self.caller.user, vhost, self.number)
        self.state = RUNNING
        self.server.entered(self)
        self.broker.alarms.listen(self._on_alarm)
        self._stop_timer()
        self.reply(wire.ConnectionOpenOk())
        self._watch()

    def _renew(self, method: wire.ConnectionUpdateSecret) -> None:
        user = self.caller.user
        loopback = self.server.is_loopback(self.peer[0])
        if not self.broker.rights.login(user, method.new_secret, loopback=loopback):
            refuse(NOT_ALLOWED, "New secret was refused by one of the backends")
        self.reply(wire.ConnectionUpdateSecretOk())

    # ---- channels ---------------------------------------------------------------------------------------------

    def _take_channels(self, event: tuple[Any, ...], channel: Channel | None) -> bool:
        """Opens and closes channels; false for what an open channel does itself."""
        number, method_id = event[1], event[3]
        if method_id == wire.ChannelOpen.METHOD_ID:
            if channel is not None:
                self._close_with(CHANNEL_ERROR, "second 'channel.open' seen", *_of(event))
            elif number in self._closing_channels:
                pass  # sent before it heard of the close; nothing but its agreement counts now
            elif len(self.channels) + len(self._closing_channels) >= self.channel_max:
                text = f"number of channels opened ({len(self.channels)}) has reached the negotiated channel_max"
                self._close_with(NOT_ALLOWED, f"{text} ({self.channel_max})", *_of(event))
            else:
                self._open_channel(number, event)
            return True
        if method_id == wire.ChannelCloseOk.METHOD_ID:
            self._closing_channels.pop(number, None)
            return True
        if method_id == wire.ChannelClose.METHOD_ID:
            if channel is None and number not in self._closing_channels:
                return False
            if channel is not None and channel.is_waiting:
                return False  # in its turn
            if channel is not None:
                self._end_channel(number)
            # If we are closing it, too, the client's own close is as good as its agreement.
            self._closing_channels.pop(number, None)
            self.send(encode_method(number, wire.ChannelCloseOk()))
            return True
        return False

    def _open_channel(self, number: int, event: tuple[Any, ...]) -> None:
        try:
            self.server.check_channels(self.caller.user)
        except Refused as refused:
            self._close_with(refused.code, refused.message, *_of(event))
            return
        self.channels[number] = Channel(self, number)
        self.broker.counts.channel_created += 1
        self.send(encode_method(number, wire.ChannelOpenOk()))

    def _close_channel(self, number: int, refused: Refused, class_id: int, method_id: int) -> None:
        put_off = self._put_off.get(number, ())
        self._end_channel(number)
        self._closing_channels[number] = None
        text = reply_text(refused.code, refused.message)
        close = wire.ChannelClose(
            reply_code=refused.code, reply_text=text, failing_class=class_id, failing_method=method_id
        )
        self.send(encode_method(number, close))
        if any(event[0] == AMQP_METHOD and event[2:4] == CHANNEL_CLOSE for event in put_off):
            # The client closes it, too, and waits for the answer.
            self._closing_channels.pop(number)
            self.send(encode_method(number, wire.ChannelCloseOk()))

    def _end_channel(self, number: int) -> None:
        channel = self.channels.pop(number)
        channel.end()
        self.closed_traffic.add(channel.traffic)
        self.broker.counts.channel_closed += 1
        self._put_off.pop(number, None)
        self.server.tasks.soon(self._waited)

    @property
    def received_bytes(self) -> int:
        return self._stream.received_bytes

    def traffic(self) -> Traffic:
        """Of all channels there were."""
        everything = Traffic()
        for each in (self.closed_traffic, *(channel.traffic for channel in self.channels.values())):
            everything.add(each)
        return everything

    def _end_channels(self) -> None:
        channels, self.channels = self.channels, {}
        self.broker.counts.channel_closed += len(channels)
        for channel in channels.values():
            channel.end()
        if self.state >= RUNNING and self.caller.vhost:
            self.broker.topology.release_owner(self.number)

    # ---- alarms -----------------------------------------------------------------------------------------------

    def _on_alarm(self, reason: str | None) -> None:
        if self.state == RUNNING and self.has_published:
            self._block(reason)

    def _block(self, reason: str | None) -> None:
        if reason == self.blocked_because:
            return
        was_blocked, self.blocked_because = self.blocked_because is not None, reason
        if reason is None:
            if self.hears_blocked:
                self.reply(wire.ConnectionUnblocked())
            self._release("alarm")
        elif not was_blocked:
            if self.hears_blocked:
                self.reply(wire.ConnectionBlocked(reason=reason))
            self._hold("alarm")

    # ---- time -------------------------------------------------------------------------------------------------

    def _arm(self, delay_ms: float, callback: Any) -> None:
        self._stop_timer()
        self._timer = self.server.tasks.later(delay_ms, callback)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _handshake_took_too_long(self) -> None:
        if self.state < RUNNING:
            self.server.log.warning("closed an AMQP connection", peer=self.peer[0], why="its handshake took too long")
            self.state = CLOSED
            self._stream.abort()

    def _watch(self) -> None:
        self._pulse = Pulse(self.heartbeat_s, self.settings.send_stalled_max_ms)
        self._pulse.begin(self._signs())
        self._arm(self._pulse.interval_ms, self._on_watch)

    def _signs(self) -> Signs:
        stream = self._stream
        return Signs(
            self.server.monotonic_ms(), stream.received_bytes, self.sent_bytes, stream.queued_bytes, self._holds.any
        )

    def _on_watch(self) -> None:
        self._timer = None
        if self.state != RUNNING:
            return
        if why := self._pulse.look(self._signs()):
            self.server.log.warning("closed an AMQP connection", peer=self.peer[0], why=why)
            self._abort()
            return
        if self._pulse.owes_beat:
            self.send(HEARTBEAT)
            self._pulse.has_beaten(len(HEARTBEAT))
        timeout_ms = self.settings.delivery_timeout_ms
        if timeout_ms:
            self._close_late_channels(timeout_ms)
        self._arm(self._pulse.interval_ms, self._on_watch)

    def _close_late_channels(self, timeout_ms: int) -> None:
        now_ms = self.broker.now_ms()
        for number, channel in list(self.channels.items()):
            oldest_ms = channel.oldest_delivery_ms()
            if oldest_ms is not None and now_ms - oldest_ms > timeout_ms:
                text = f"delivery acknowledgement on channel {number} timed out. Timeout value used: {timeout_ms} ms"
                self._close_channel(number, Refused(406, text), 0, 0)

    # ---- the end ----------------------------------------------------------------------------------------------

    def _parser_failed(self, number: int, code: int, text: str, class_id: int, method_id: int) -> None:
        if code in CHANNEL_CODES:
            channel = self.channels.get(number)
            if channel is None:
                if number not in self._closing_channels:
                    self._close_with(CHANNEL_ERROR, "expected 'channel.open'", class_id, method_id)
            elif channel.is_waiting:
                self._put_off.setdefault(number, deque()).append((AMQP_ERROR, number, code, text, class_id, method_id))
                self._hold("channel")
            else:
                if "larger than the limit" in text:
                    text = f"message size is larger than configured max size {self.settings.message_size_max_bytes}"
                self.fail(number, Refused(code, text), class_id, method_id)
        else:
            self._close_with(code, text, class_id, method_id)

    def _bug(self, bug: Exception, class_id: int, method_id: int) -> None:
        trace = "".join(format_exception(bug))
        self.server.log.error("a method met a bug", peer=self.peer[0], method=f"{class_id}.{method_id}", trace=trace)
        self._close_with(INTERNAL_ERROR, "the broker met a bug; its log says more", class_id, method_id)

    def _agree_to_close(self) -> None:
        self._end_channels()
        self.reply(wire.ConnectionCloseOk())
        self._finish()

    def _take_while_closing(self, method: Method | None) -> None:
        if isinstance(method, wire.ConnectionClose):
            self.reply(wire.ConnectionCloseOk())
        elif isinstance(method, wire.ConnectionCloseOk):
            self._finish()

    def drain(self) -> None:
        if self.state < RUNNING:
            self._finish()
        elif self.state == RUNNING:
            self._hold("drain")

    def close(self, code: int = CONNECTION_FORCED, reason: str = "broker forced connection closure") -> None:
        """An operator, or the end of the node, closes it."""
        if self.state < RUNNING:
            self._finish()
        elif self.state == RUNNING:
            self._close_with(code, reason, 0, 0, quietly=True)

    def _close_with(self, code: int, text: str, class_id: int, method_id: int, *, quietly: bool = False) -> None:
        """Says why, and gives the client some time to hear it."""
        if self.state >= CLOSING:
            return
        if not quietly:
            self.server.log.warning("closed an AMQP connection", peer=self.peer[0], port=self.peer[1], why=text)
            self.server.broken_off_count += 1
        self._end_channels()
        self.state = CLOSING
        self._parser.close()
        self._closing_channels.clear()
        self._put_off.clear()
        self.blocked_because = None
        self.reply(
            wire.ConnectionClose(
                reply_code=code,
                reply_text=reply_text(code, text),
                failing_class=class_id,
                failing_method=method_id,
            )
        )
        self._arm(self.settings.close_wait_ms, self._finish)
        # What it still sends is read and dropped: closing over unread bytes could destroy what we have just said.
        if self._holds.clear():
            self._stream.resume_reading()

    def _finish(self) -> None:
        """Sends what is ready, and closes."""
        if self.state == CLOSED:
            return
        self.state = CLOSED
        self._stop_timer()
        self._stream.close()

    def _abort(self) -> None:
        self._end_channels()
        self.state = CLOSED
        self._stop_timer()
        self._stream.abort()


def _of(event: Iterable[Any]) -> tuple[int, int]:
    """Class and method of an event, as an error names them."""
    kind, _, *rest = event
    if kind == AMQP_METHOD:
        return rest[0], rest[1]
    return (60, 40) if kind == AMQP_RUN else (60, 80)
