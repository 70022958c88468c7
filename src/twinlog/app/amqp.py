"""The rooms of AMQP, plugged together for one node."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from twinlog.amqp.administration import Administration
from twinlog.amqp.broker import AmqpBroker
from twinlog.amqp.ports import Messages, QueueKeeper
from twinlog.amqp.queues import LiveMessages
from twinlog.amqp.queues.stream import StreamSettings
from twinlog.amqp.routing import RouteFinder
from twinlog.amqp.store import QueueStore
from twinlog.amqp.topology import LiveTopology
from twinlog.amqp.topology.twins import overruled_by_policies
from twinlog.amqp.users import MetadataRights
from twinlog.app.streams import TopicStreams
from twinlog.app.waiting import finished
from twinlog.cluster.kinds.users import USERS
from twinlog.cluster.kinds.vhosts import VHOSTS
from twinlog.kafka.names import INTERNAL_TOPICS

if TYPE_CHECKING:
    from twinlog.app.node import Node

QUEUES_NAME: Final = "queues"
HEADER_FRAME_BYTES: Final = 64  # what else is in the frame of a content header, and some room


class Keeper(Messages, QueueKeeper, Protocol):
    """Who keeps the messages, and hears of queues."""

    def open(self) -> None:
        """Before the first queue is told of. May block, and raise ``HostFault``."""

    def started(self) -> None:
        """Every queue and exchange is known."""

    def close(self) -> None:
        """For a clean stop, when no channel is left."""


class StoredQueues(LiveMessages):
    """All queues, with their store in the node's first data directory."""

    def __init__(self, node: Node, rooms: AmqpRooms) -> None:
        host, settings = node.host, node.settings
        directory = node.store.directories[0]
        self._files: Final = QueueStore(
            host.disk,
            host.tasks,
            directory.flusher,
            f"{settings.identity.data_dir}/{QUEUES_NAME}",
            settings.queues,
            node.log,
        )
        super().__init__(
            self._files,
            rooms.topology,
            rooms.router,
            now_ms=host.clock.now_ms,
            soon=host.tasks.soon,
            later=host.tasks.later,
            memory_bytes=settings.queues.memory_bytes,
            log=node.log,
            streams=rooms.streams,
            stream_settings=StreamSettings(
                stream_cache_bytes=settings.amqp.stream_cache_bytes,
                properties_bytes_max=settings.amqp.frame_size_max_bytes - HEADER_FRAME_BYTES,
                inflated_bytes_max=settings.kafka.batch_inflated_max_bytes,
            ),
        )

    def open(self) -> None:
        self._files.open()

    def close(self) -> None:
        super().close()
        self._files.close()


MakeKeeper = Callable[["Node", "AmqpRooms"], Keeper]


class AmqpRooms:
    """Made with the node, started when its metadata is there."""

    def __init__(self, node: Node, make_keeper: MakeKeeper = StoredQueues) -> None:
        metadata, host = node.metadata, node.host
        self._metadata = metadata
        self.is_open = False
        self.rights: Final = MetadataRights(lambda: metadata.image)
        self.topology: Final = LiveTopology(
            metadata,
            self.rights,
            queues_max=node.settings.amqp.queues_max,
            controller=node.controller,
            internal_topics=INTERNAL_TOPICS,
        )
        self.streams: Final = TopicStreams(node.broker)
        node.broker.configs.overruled = partial(overruled_by_policies, internal=INTERNAL_TOPICS)
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
            streams_charge=self.streams.charge,
        )

    async def start(self) -> None:
        """Queues are known to who keeps them when this returns."""
        self.messages.open()
        await finished(self.administration.make_first_vhost)
        self.topology.keeper = self.messages
        self.topology.start()
        self.messages.started()
        self.is_open = True

    def close(self) -> None:
        self.messages.close()

    def _vhost_limit(self, vhost: str, limit: str) -> int:
        found = self._metadata.image.part(VHOSTS).get(vhost)
        return found.limits.get(limit, -1) if found else -1

    def _user_limit(self, user: str, limit: str) -> int:
        found = self._metadata.image.part(USERS).get(user)
        return found.limits.get(limit, -1) if found else -1
