"""Publishing: a run is checked, routed, stored, and its confirm noted, once for all messages in it.

A run is taken apart only where its messages may go different ways (headers, hashes, ``CC``), or must be changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from twinlog import _kernel
from twinlog._kernel import RUN_COPIES, RUN_DELAY, RUN_HEADERS, RUN_IMMEDIATE, RUN_MANDATORY, build_run, split_run
from twinlog.amqp.arguments import MILLISECONDS_MAX
from twinlog.amqp.codes import (
    ACCESS_REFUSED,
    NO_ROUTE,
    NOT_IMPLEMENTED,
    PRECONDITION_FAILED,
    no_exchange,
    refuse,
)
from twinlog.amqp.counts import Traffic
from twinlog.amqp.ports import WRITE, Appending, Published, QueueInfo
from twinlog.amqp.queues.delayed import delay_of
from twinlog.amqp.replies import PREFIX, PSEUDO_QUEUE
from twinlog.amqp.users import IMPERSONATOR
from twinlog.base import HostFault
from twinlog.wire.amqp import Properties, decode_properties, encode_properties
from twinlog.wire.amqp.codec import encode_arguments
from twinlog.wire.amqp.methods import BasicReturn

if TYPE_CHECKING:
    from twinlog._kernel import Concerns
    from twinlog.amqp.channel.channel import Channel

COPIES_MAX: Final = 1000
TOPIC: Final = "topic"
NOWHERE: Final = Published(0, 0)


class Run(NamedTuple):
    """A run as the parser made it, checked."""

    exchange: str
    key: str
    flags: int
    messages: int
    blob: bytes
    traffic: Traffic
    """Of the exchange."""


class Publisher:
    """The publishing half of a channel."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._broker = channel.broker
        self._user = channel.peer.caller.user
        self._vhost = channel.peer.caller.vhost

    def check(self, exchange: str, key: str, flags: int, count: int, blob: bytes, concerns: Concerns | None) -> Run:
        """``Refused`` when this may not be published; the run as it will be stored."""
        broker = self._broker
        info = broker.topology.find_exchange(self._vhost, exchange)
        if info is None:
            raise no_exchange(self._vhost, exchange)
        broker.rights.check(self._user, self._vhost, WRITE, exchange, kind="exchange")
        if info.internal:
            refuse(ACCESS_REFUSED, f"cannot publish to internal exchange '{exchange}' in vhost '{self._vhost}'")
        if info.kind == TOPIC:
            broker.rights.check_topic(self._user, self._vhost, WRITE, exchange, key)
        if flags & RUN_IMMEDIATE:
            refuse(NOT_IMPLEMENTED, "immediate=true")
        if concerns is not None:
            blob = self._check_concerns(exchange, key, flags, count, blob, concerns)
        return Run(exchange, key, flags, count, blob, info.traffic)

    def put(self, run: Run) -> None:
        """Routes and stores it, sends what comes back, and notes the confirm. ``HostFault`` when it cannot be stored
        and there is no confirm to say so."""
        exchange, key, flags, count, blob, traffic = run
        self._broker.counts.publish += count
        self._channel.traffic.publish += count
        traffic.publish_in += count
        try:
            if flags & RUN_DELAY and (delay_ms := delay_of(blob)):
                published = self._broker.messages.publish_later(self._vhost, blob, delay_ms)
                self._note(published, count, blob)
                return
            if flags & RUN_COPIES or self._broker.router.reads_properties(self._vhost, exchange):
                self._put_each(run)
                return
            targets = self._broker.router.route(self._vhost, exchange, key)
            published = self._into(blob, targets, traffic) if targets else self._nowhere(run)
        except HostFault:
            if not self._channel.confirms.is_on:
                raise
            published = NOWHERE  # refused: the client hears a nack and may try again
        self._note(published, count, blob)

    def _into(self, blob: bytes, targets: Sequence[QueueInfo], traffic: Traffic) -> Published:
        published = self._broker.messages.publish(blob, targets)
        accepted = published.accepted
        traffic.publish_out += accepted * len(targets)
        for info in targets:
            info.traffic.publish += accepted
        self._channel.peer.worked(len(targets))
        return published

    def _note(self, published: Published, count: int, blob: bytes) -> None:
        mark, accepted, appendings = published
        self._channel.confirms.note(accepted, count - accepted, mark, len(blob), appendings)
        if appendings:
            self._channel.peer.charge(len(blob))

    def put_committed(self, run: Run) -> tuple[int, list[Appending]]:
        """For a transaction: ``Refused`` 406 unless every queue took all of it; otherwise what to wait for."""
        self._channel.confirms.take_mark()
        self.put(run)
        mark, refused, appendings = self._channel.confirms.take_mark()
        if refused:
            refuse(PRECONDITION_FAILED, "partial tx completion")
        return mark, appendings

    # ---- one by one -------------------------------------------------------------------------------------------

    def _put_each(self, run: Run) -> None:
        """Neighbours with the same way stay together."""
        group: list[tuple[bytes, bytes]] = []
        group_targets: Sequence[QueueInfo] = ()
        for _, raw, body in split_run(run.blob, 0, run.messages):
            properties = decode_properties(raw)
            copies: list[str] = []
            if run.flags & RUN_COPIES:
                copies, raw = self._copies(properties, raw)
            targets = self._broker.router.route(self._vhost, run.exchange, run.key, properties, copies)
            if group and targets != group_targets:
                self._put_group(run, group, group_targets)
                group = []
            group_targets = targets
            group.append((raw, body))
        if group:
            self._put_group(run, group, group_targets)

    def _put_group(self, run: Run, messages: list[tuple[bytes, bytes]], targets: Sequence[QueueInfo]) -> None:
        count = len(messages)
        blob = run.blob
        if count < run.messages or run.flags & RUN_COPIES:
            blob = build_run(run.exchange, run.key, _flags_of(run.flags, messages), messages)
        if targets:
            published = self._into(blob, targets, run.traffic)
        else:
            published = self._nowhere(Run(run.exchange, run.key, run.flags, count, blob, run.traffic))
        self._note(published, count, blob)

    @staticmethod
    def _copies(properties: Properties, raw: bytes) -> tuple[list[str], bytes]:
        """Further routing keys, and the properties without those that nobody may see."""
        headers = properties.headers or {}
        keys: list[str] = []
        for name in ("CC", "BCC"):
            values = headers.get(name)
            if values is None:
                continue
            if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
                refuse(PRECONDITION_FAILED, f"the header '{name}' is not an array of long strings")
            keys += values
        if len(keys) > COPIES_MAX:
            refuse(PRECONDITION_FAILED, f"'CC' and 'BCC' together may name {COPIES_MAX} keys, not {len(keys)}")
        if "BCC" not in headers:
            return keys, raw
        properties.headers = {name: value for name, value in headers.items() if name != "BCC"}
        return keys, encode_properties(properties)

    # ---- no way ------------------------------------------------------------------------------------------------

    def _nowhere(self, run: Run) -> Published:
        if run.exchange == "" and run.key.startswith(PREFIX):
            self._broker.replies.deliver(run.key, run.blob, run.messages)
        elif not run.flags & RUN_MANDATORY:
            self._broker.counts.drop_unroutable += run.messages
            self._channel.traffic.drop_unroutable += run.messages
        else:
            self._broker.counts.return_unroutable += run.messages
            self._channel.traffic.return_unroutable += run.messages
            method = encode_arguments(
                BasicReturn(reply_code=NO_ROUTE, reply_text="NO_ROUTE", exchange=run.exchange, routing_key=run.key)
            )
            channel = self._channel
            for _, properties, body in split_run(run.blob, 0, run.messages):
                channel.peer.send(_kernel.encode_content(channel.number, method, properties, body, channel.frame_max))
        return Published(0, run.messages)

    # ---- checks ------------------------------------------------------------------------------------------------

    def _check_concerns(
        self, exchange: str, key: str, flags: int, count: int, blob: bytes, concerns: Concerns
    ) -> bytes:
        _, expiration, user_id, reply_to = concerns
        if user_id is not None and user_id != self._user and not self._broker.rights.has_tag(self._user, IMPERSONATOR):
            refuse(
                PRECONDITION_FAILED,
                f"user_id property set to '{user_id}' but authenticated user was '{self._user}'",
            )
        if expiration is not None and not is_expiration(expiration):
            refuse(PRECONDITION_FAILED, f"invalid expiration '{expiration}': it is a number of milliseconds as text")
        if reply_to == PSEUDO_QUEUE:
            name = self._channel.reply_name
            if name is None:
                refuse(PRECONDITION_FAILED, "fast reply consumer does not exist")
            return _with_reply_to(exchange, key, flags, count, blob, name)
        return blob


def is_expiration(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 13 and int(text) <= MILLISECONDS_MAX


def _with_reply_to(exchange: str, key: str, flags: int, count: int, blob: bytes, name: str) -> bytes:
    messages = []
    for _, raw, body in split_run(blob, 0, count):
        properties = decode_properties(raw)
        properties.reply_to = name
        messages.append((encode_properties(properties), body))
    return build_run(exchange, key, flags, messages)


def _flags_of(flags: int, messages: Sequence[tuple[bytes, bytes]]) -> int:
    """Of a message whose headers were changed there may be none left."""
    if not flags & RUN_COPIES:
        return flags
    headers: Any = decode_properties(messages[0][0]).headers or {}
    if "CC" not in headers and "BCC" not in headers:
        flags &= ~RUN_COPIES
    return flags if headers else flags & ~RUN_HEADERS
