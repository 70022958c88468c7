"""A channel's consumers: how much each may hold, and how a run becomes deliveries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from twinlog._kernel import encode_run
from twinlog.amqp.ports import Queue
from twinlog.wire.amqp import Table

if TYPE_CHECKING:
    from twinlog.amqp.channel.channel import Channel

UNLIMITED: Final = 1 << 31


class ChannelConsumer:
    """Keeps the promises of ``ports.Consumer``. ``prefetch`` 0 is no limit of its own."""

    __slots__ = (
        "arguments",
        "channel",
        "exclusive",
        "is_cancelled",
        "is_gone",
        "is_starved",
        "no_ack",
        "owner",
        "prefetch",
        "priority",
        "queue",
        "tag",
        "unacked",
    )

    def __init__(
        self,
        channel: Channel,
        queue: Queue,
        tag: str,
        *,
        no_ack: bool,
        exclusive: bool,
        priority: int,
        prefetch: int,
        arguments: Table,
    ) -> None:
        self.channel = channel
        self.owner: object = channel
        self.queue = queue
        self.tag = tag
        self.no_ack = no_ack
        self.exclusive = exclusive
        self.priority = priority
        self.prefetch = prefetch
        self.arguments = arguments
        self.unacked = 0
        self.is_starved = False  # it said that it takes nothing, and waits to be resumed
        self.is_cancelled = False
        self.is_gone = False  # with its queue: what it holds is void

    @property
    def shares_limit(self) -> bool:
        return self.channel.prefetch != 0

    def credit(self) -> int:
        channel = self.channel
        credit = UNLIMITED
        if not channel.peer.can_take():
            credit = 0
        else:
            if self.prefetch and not self.no_ack:
                credit = self.prefetch - self.unacked
            if channel.prefetch:
                # A consumer without acknowledgements adds nothing, yet a full channel is full for it, too.
                left = channel.prefetch - channel.unacked
                credit = min(credit, UNLIMITED if self.no_ack and left > 0 else left)
        if credit <= 0:
            self.is_starved = True
            return 0
        return credit

    def deliver(self, number: int, blob: bytes, position: int, count: int, redelivered: bool) -> tuple[int, int]:
        channel = self.channel
        tag = channel.tag_next
        data, end = encode_run(blob, position, count, channel.number, self.tag, tag, redelivered, channel.frame_max)
        channel.tag_next = tag + count
        counts, mine, of_queue = channel.broker.counts, channel.traffic, self.queue.info.traffic
        if redelivered:
            counts.redeliver += count
            mine.redeliver += count
            of_queue.redeliver += count
        if self.no_ack:
            counts.deliver_no_ack += count
            mine.deliver_no_ack += count
            of_queue.deliver_no_ack += count
        else:
            counts.deliver += count
            mine.deliver += count
            of_queue.deliver += count
            self.unacked += count
            channel.unacked += count
            channel.outstanding.add(self.queue, self, tag, number, count, channel.broker.now_ms())
            channel.served_last = self
        channel.peer.send(data)
        return count, end

    def answered(self, count: int) -> None:
        """So many are acknowledged, or given back."""
        self.unacked -= count
        self.channel.unacked -= count
        if self.is_starved and not self.channel.prefetch:  # else it is resumed in its turn
            self.resume()

    def resume(self) -> None:
        if not (self.is_gone or self.is_cancelled):
            self.is_starved = False
            self.queue.resume(self)

    def cancelled(self) -> None:
        self.is_gone = True
        self.channel.on_cancelled(self)


class ReplyConsumer:
    """Takes direct replies for a channel."""

    __slots__ = ("channel", "name", "tag")

    def __init__(self, channel: Channel, tag: str, name: str) -> None:
        self.channel = channel
        self.tag = tag
        self.name = name

    def on_replies(self, blob: bytes, count: int) -> None:
        channel = self.channel
        if not channel.peer.can_take():
            return  # nothing is kept for who does not take it
        tag = channel.tag_next
        data, _ = encode_run(blob, 0, count, channel.number, self.tag, tag, False, channel.frame_max)
        channel.tag_next = tag + count
        channel.peer.send(data)
