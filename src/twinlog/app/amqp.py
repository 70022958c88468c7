"""The rooms of AMQP, plugged together for one node."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

from twinlog.amqp.administration import Administration
from twinlog.amqp.broker import AmqpBroker
from twinlog.amqp.ports import Messages, QueueKeeper
from twinlog.amqp.routing import RouteFinder
from twinlog.amqp.topology import LiveTopology
from twinlog.amqp.users import MetadataRights
from twinlog.app.waiting import finished
from twinlog.cluster.kinds.users import USERS
from twinlog.cluster.kinds.vhosts import VHOSTS

if TYPE_CHECKING:
    from twinlog.app.node import Node


class Keeper(Messages, QueueKeeper, Protocol):
    """Who keeps the messages, and hears of queues."""

    def open(self) -> None:
        """Before the first queue is told of. May block, and raise ``HostFault``."""

    def close(self) -> None:
        """For a clean stop, when no channel is left."""


MakeKeeper = Callable[["Node", "AmqpRooms"], Keeper]


class AmqpRooms:
    """Made with the node, started when its metadata is there."""

    def __init__(self, node: Node, make_keeper: MakeKeeper) -> None:
        metadata, host = node.metadata, node.host
        self._metadata = metadata
        self.rights: Final = MetadataRights(lambda: metadata.image)
        self.topology: Final = LiveTopology(metadata, self.rights)
        self.router: Final = RouteFinder(self.topology.graph)
        self.administration: Final = Administration(metadata, host.chance.fork("amqp administration"))
        self.messages: Final = make_keeper(node, self)
        self.broker: Final = AmqpBroker(
            topology=self.topology,
            router=self.router,
            messages=self.messages,
            keeper=self.messages,
            rights=self.rights,
            chance=host.chance.fork("amqp names"),
            now_ms=host.clock.now_ms,
            settings=node.settings.amqp,
            vhost_limit=self._vhost_limit,
            user_limit=self._user_limit,
        )

    async def start(self) -> None:
        """Queues are known to who keeps them when this returns."""
        self.messages.open()
        await finished(self.administration.make_first_vhost)
        self.topology.keeper = self.messages
        self.topology.start()

    def close(self) -> None:
        self.messages.close()

    def _vhost_limit(self, vhost: str, limit: str) -> int:
        found = self._metadata.image.part(VHOSTS).get(vhost)
        return found.limits.get(limit, -1) if found else -1

    def _user_limit(self, user: str, limit: str) -> int:
        found = self._metadata.image.part(USERS).get(user)
        return found.limits.get(limit, -1) if found else -1
