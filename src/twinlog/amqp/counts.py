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


class Traffic:
    """What went through one queue, exchange or channel, by RabbitMQ's names."""

    __slots__ = (
        "ack",
        "confirm",
        "deliver",
        "deliver_no_ack",
        "drop_unroutable",
        "get",
        "get_no_ack",
        "publish",
        "publish_in",
        "publish_out",
        "redeliver",
        "return_unroutable",
    )

    def __init__(self) -> None:
        self.publish = self.publish_in = self.publish_out = self.confirm = 0
        self.drop_unroutable = self.return_unroutable = 0
        self.deliver = self.deliver_no_ack = self.get = self.get_no_ack = self.redeliver = self.ack = 0

    def add(self, other: Traffic) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def told(self) -> dict[str, int]:
        """What is not 0, as RabbitMQ tells it."""
        counts: dict[str, int] = {name: count for name in self.__slots__ if (count := getattr(self, name))}
        given = self.deliver + self.deliver_no_ack + self.get + self.get_no_ack
        return counts | {"deliver_get": given} if given else counts


class Counts:
    """Of the node, by RabbitMQ's names."""

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
