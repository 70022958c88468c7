"""Who keeps the messages while nobody does."""

from __future__ import annotations

from twinlog.amqp.ports import QueueCounts, QueueInfo


class NoKeeper:
    """A ``QueueKeeper`` of empty queues, for a topology without messages."""

    def on_queue_created(self, info: QueueInfo) -> None:
        """Nothing to keep."""

    def on_queue_deleted(self, info: QueueInfo, reason: str) -> None:
        """Nothing was kept."""

    def on_queue_changed(self, info: QueueInfo) -> None:
        """Nothing to obey it."""

    def on_queue_used(self, info: QueueInfo) -> None:
        """Nothing expires."""

    def counts(self, info: QueueInfo) -> QueueCounts:
        return QueueCounts(0, 0)
