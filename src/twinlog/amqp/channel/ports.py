"""What a channel asks of the connection it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from twinlog.amqp.broker import AmqpBroker
from twinlog.amqp.ports import Caller
from twinlog.base import HostFault, Refused


class Peer(Protocol):
    """One client's connection, as its channels see it."""

    broker: AmqpBroker
    caller: Caller
    frame_max: int
    hears_cancels: bool
    """The client announced that it understands a ``basic.cancel`` of ours."""

    def send(self, data: bytes) -> None: ...

    def can_take(self) -> bool:
        """Whether the socket can bear more deliveries. If not, ``Channel.on_writable`` follows."""

    def fail(self, number: int, failure: Refused | HostFault, class_id: int, method_id: int) -> None:
        """Something that a channel asked for went wrong: its channel, or the connection, is told and closed."""

    def go_on(self, number: int) -> None:
        """The channel has the answer that it waited for: what was put off may follow."""

    def soon(self, callback: Callable[[], None]) -> None:
        """Runs it after what is being answered now."""

    def turn_ends(self, number: int) -> None:
        """Asks for ``Channel.on_turn_end`` when what was read is worked off."""

    def charge(self, size: int) -> None:
        """So much more was published to streams, which quotas may be about."""

    def worked(self, count: int) -> None:
        """So many queues took what was published: a turn in which that was a lot ends early."""

    def hold_unsynced(self, size: int) -> None:
        """So much more was published that is not on stable storage; negative: it is now."""
