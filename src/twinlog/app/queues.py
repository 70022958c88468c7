"""The queues of a node, on its first data directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twinlog.amqp.queues import LiveMessages
from twinlog.amqp.store import QueueStore

if TYPE_CHECKING:
    from twinlog.app.amqp import AmqpRooms
    from twinlog.app.node import Node


class NodeQueues(LiveMessages):
    """``open`` it when the data directories are open, before the topology tells of queues; ``close`` it before them."""

    def __init__(self, node: Node, rooms: AmqpRooms) -> None:
        directory = node.store.directories[0]
        host, settings = node.host, node.settings.queues
        self.disk_store = QueueStore(
            host.disk, host.tasks, directory.flusher, f"{directory.path}/queues", settings, node.log
        )
        super().__init__(
            self.disk_store,
            rooms.topology,
            rooms.router,
            now_ms=host.clock.now_ms,
            soon=host.tasks.soon,
            later=host.tasks.later,
            memory_bytes=settings.memory_bytes,
            log=node.log,
        )

    def open(self) -> None:
        self.disk_store.open()

    def close(self) -> None:
        super().close()
        self.disk_store.close()
