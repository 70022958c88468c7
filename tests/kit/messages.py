"""Queues in a dictionary: what channels need of ``amqp.ports.Messages``, without disk, limits or dead letters."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Sequence
from typing import Any

from twinlog._kernel import run_info, split_run
from twinlog.amqp.ports import Consumer, Got, Published, QueueCounts, QueueInfo, QueueStatus
from twinlog.base import HostFault, Refused


class MemoryQueue:
    """Every message on its own: (number, run of it, position, redelivered)."""

    def __init__(self, info: QueueInfo, messages: MemoryMessages) -> None:
        self.info = info
        self.messages = messages
        self.number_next = 1
        self.ready: list[tuple[int, bytes, int, bool]] = []
        self.held: dict[int, tuple[int, bytes, int, bool]] = {}
        self.consumers: list[Consumer] = []
        self.settled: list[int] = []
        self.rejected: list[int] = []
        self.is_gone = False
        self._planned = False
        self._had_consumers = False

    def publish(self, blob: bytes) -> None:
        for position, _, _ in split_run(blob, 0, run_info(blob)[3]):
            self.ready.append((self.number_next, blob, position, False))
            self.number_next += 1
        self.plan()

    def consume(self, consumer: Consumer) -> None:
        if self.consumers and (consumer.exclusive or self.consumers[0].exclusive):
            raise Refused(403, f"queue '{self.info.name}' in vhost '{self.info.vhost}' in exclusive use")
        self.consumers.append(consumer)
        self._had_consumers = True
        self.plan()

    def cancel(self, consumer: Consumer) -> None:
        if consumer not in self.consumers:
            return
        self.consumers.remove(consumer)
        if self.info.auto_delete and not self.consumers:
            self.messages.remove_queue(self.info)

    def resume(self, consumer: Consumer) -> None:
        self.plan()

    def catch_up(self) -> None:
        if self._planned:
            self.pump()

    def get(self, *, no_ack: bool) -> Got | None:
        if not self.ready:
            return None
        message = self.ready.pop(0)
        number, blob, position, redelivered = message
        if no_ack:
            self.settled.append(number)
        else:
            self.held[number] = message
        return Got(number, blob, position, redelivered, len(self.ready))

    def settle(self, low: int, high: int) -> None:
        for number in range(low, high + 1):
            if self.held.pop(number, None) is not None:
                self.settled.append(number)

    def requeue(self, low: int, high: int) -> None:
        for number in range(low, high + 1):
            message = self.held.pop(number, None)
            if message is not None:
                insort(self.ready, (*message[:3], True))
        self.plan()

    def reject(self, low: int, high: int) -> None:
        for number in range(low, high + 1):
            if self.held.pop(number, None) is not None:
                self.rejected.append(number)

    def purge(self) -> int:
        count = len(self.ready)
        self.ready.clear()
        return count

    def plan(self) -> None:
        if not self._planned and not self.is_gone:
            self._planned = True
            self.messages.soon(self.pump)

    def pump(self) -> None:
        """Equal turns: one message to each consumer that takes one, as long as there are both."""
        self._planned = False
        waiting = sorted(self.consumers, key=lambda consumer: -consumer.priority)
        while self.ready and waiting and not self.is_gone:
            best = waiting[0].priority
            for consumer in [each for each in waiting if each.priority == best]:
                if not self.ready:
                    break
                if consumer.credit() <= 0:
                    waiting.remove(consumer)
                    continue
                message = self.ready.pop(0)
                number, blob, position, redelivered = message
                if not consumer.no_ack:
                    self.held[number] = message
                consumer.deliver(number, blob, position, 1, redelivered)
                self.consumers.remove(consumer)
                self.consumers.append(consumer)

    def gone(self) -> None:
        self.is_gone = True
        consumers, self.consumers = self.consumers, []
        for consumer in consumers:
            consumer.cancelled()


class MemoryMessages:
    """``Messages`` and ``QueueKeeper``. Marks are durable when ``sync`` says so, or at once unless ``is_held``."""

    def __init__(self, soon: Callable[..., Any]) -> None:
        self.soon = soon
        self.queues: dict[QueueInfo, MemoryQueue] = {}
        self.remove_queue: Callable[[QueueInfo], None] = lambda info: None
        self.is_held = False
        self.refuse_beyond: int | None = None
        self.fault: HostFault | None = None
        self.mark = 0
        self._waiting: list[tuple[int, Callable[[HostFault | None], None]]] = []

    def open(self) -> None:
        """There is nothing to read."""

    def started(self) -> None:
        """Nothing waits."""

    def publish_later(self, vhost: str, blob: bytes, delay_ms: int) -> Published:
        raise NotImplementedError("nothing is delayed here")

    def close(self) -> None:
        """There is nothing to write."""

    def on_queue_used(self, info: QueueInfo) -> None:
        """Nothing expires here."""

    def queue(self, info: QueueInfo) -> MemoryQueue:
        return self.queues[info]

    def publish(self, blob: bytes, targets: Sequence[QueueInfo]) -> Published:
        if self.fault is not None:
            raise self.fault
        flags, count = run_info(blob)[2:4]
        if self.refuse_beyond is not None:
            return Published(0, min(count, self.refuse_beyond))
        for info in targets:
            self.queues[info].publish(blob)
        if not (flags & 4 and any(info.durable for info in targets)):
            return Published(0, count)
        self.mark += 1
        return Published(self.mark, count)

    def when_durable(self, mark: int, done: Callable[[HostFault | None], None]) -> None:
        if self.is_held:
            self._waiting.append((mark, done))
        else:
            self.soon(done, None)

    def sync(self, fault: HostFault | None = None) -> None:
        waiting, self._waiting = self._waiting, []
        for _, done in waiting:
            done(fault)

    def status(self, info: QueueInfo) -> QueueStatus:
        queue = self.queues[info]
        return QueueStatus(len(queue.ready), len(queue.held), len(queue.consumers), 0, 0, 0)

    def on_queue_created(self, info: QueueInfo) -> None:
        self.queues[info] = MemoryQueue(info, self)

    def on_queue_deleted(self, info: QueueInfo, reason: str) -> None:
        self.queues.pop(info).gone()

    def on_queue_changed(self, info: QueueInfo) -> None:
        """Nothing here obeys policies."""

    def counts(self, info: QueueInfo) -> QueueCounts:
        queue = self.queues.get(info)
        return QueueCounts(len(queue.ready), len(queue.consumers)) if queue else QueueCounts(0, 0)
