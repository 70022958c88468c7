"""What the AMQP side of a node did since its start, in messages. Raised once a run, read by who shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NAMES: Final = (
    "ack",
    "channel_closed",
    "channel_created",
    "confirm",
    "connection_closed",
    "connection_created",
    "deliver",
    "deliver_no_ack",
    "drop_unroutable",
    "get",
    "get_no_ack",
    "publish",
    "redeliver",
    "return_unroutable",
)


class Counts:
    """RabbitMQ's names."""

    __slots__ = NAMES

    def __init__(self) -> None:
        self.ack = self.confirm = self.publish = self.redeliver = 0
        self.deliver = self.deliver_no_ack = self.get = self.get_no_ack = 0
        self.drop_unroutable = self.return_unroutable = 0
        self.channel_closed = self.channel_created = self.connection_closed = self.connection_created = 0

    def told(self) -> Mapping[str, int]:
        counts: dict[str, int] = {name: getattr(self, name) for name in NAMES}
        counts["deliver_get"] = self.deliver + self.deliver_no_ack + self.get + self.get_no_ack
        return counts
