"""Streams of AMQP over partitions of Kafka's topics: ``amqp.ports.Streams``, plugged to one node's broker.

A run becomes record batches that are appended as a producer's with ``acks=all`` are: the same checks, the same epoch,
the same wait for stable storage. Readers see what those with ``read_committed`` see.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from twinlog._kernel import run_to_batches
from twinlog.amqp.ports import Appended, QueueInfo, StreamLog, StreamRead
from twinlog.base import DiskFull, HostFault, Refused
from twinlog.kafka.broker import Broker
from twinlog.kafka.partition import ACKS_ALL, AppendResult, Partition
from twinlog.wire.kafka.errors import ErrorCode

TOO_LARGE: Final = "a message is larger than its topic takes (max.message.bytes)"
PRINCIPAL: Final = "User:"
TIDY_FROM: Final = 1000


class Append:
    """A run on its way to stable storage: ``Appending`` for who waits, a ``Waiter`` for the partition."""

    __slots__ = ("_done", "_fault", "waiting")

    def __init__(self) -> None:
        self.waiting = 0
        self._fault: HostFault | None = None
        self._done: Callable[[HostFault | None], None] | None = None

    def when_durable(self, done: Callable[[HostFault | None], None]) -> None:
        assert self._done is None, "one waits for an append"
        if self.waiting:
            self._done = done
        else:
            done(self._fault)

    def stored(self, token: object) -> None:
        self.waiting -= 1
        if not self.waiting and self._done is not None:
            self._done(self._fault)

    def failed(self, token: object, code: int) -> None:
        # Who deletes a queue wants nothing of what is on its way there: that is no failure.
        if code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            self._fault = HostFault("stream", ErrorCode(code).message)  # type: ignore[call-arg]
        self.stored(token)


class Watch:
    """Stays on a partition's list until it is taken off, whatever happens to the partition."""

    __slots__ = ("_is_over", "_on_more", "_partition")

    waits_for_committed = True

    def __init__(self, partition: Partition, on_more: Callable[[], None]) -> None:
        self._partition = partition
        self._on_more = on_more
        self._is_over = False
        partition.watch(self)

    def on_data(self, size_bytes: int) -> bool:
        self._on_more()
        return not self._is_over

    def on_change(self) -> None:
        if not self._is_over and self._partition.closed is None:
            self._partition.watch(self)
        self._on_more()

    def stop(self) -> None:
        self._is_over = True
        self._partition.unwatch(self)


class PartitionStream:
    """One partition, known to AMQP as the stream ``name``."""

    def __init__(self, broker: Broker, partition: Partition, name: str) -> None:
        self.partition: Final = partition
        self._broker = broker
        self._name = name

    @property
    def start(self) -> int:
        return self.partition.log.offset_start

    @property
    def end(self) -> int:
        return self.partition.stable_offset

    @property
    def size_bytes(self) -> int:
        return self.partition.log.size_bytes

    def check_room(self) -> None:
        partition = self.partition
        code = partition.refusal()
        if code is not None:
            raise HostFault(f"stream '{self._name}'", code.message)
        if partition.log.is_short_of_room:
            partition.log.refused_for_room()
            raise DiskFull(f"stream '{self._name}'", "the disk is nearly full")

    def append(self, blob: bytes, count: int) -> Appended:
        partition = self.partition
        now_ms = self._broker.now_ms()
        batches, fitting = run_to_batches(blob, self._name, now_ms, partition.rules.message_max_bytes)
        why_not = "" if fitting == count else TOO_LARGE
        append = Append()
        accepted = 0
        for buffer, batch, keyless_at in batches:
            try:
                partition.append(buffer, batch, keyless_at, ACKS_ALL, now_ms, append, AppendResult(partition.index))
            except (Refused, HostFault) as refused:
                if not accepted and isinstance(refused, HostFault):
                    raise
                why_not = str(refused)
                break
            accepted += batch[4]
        return Appended(accepted, append if accepted else None, why_not)

    def read(self, offset: int, bytes_max: int) -> StreamRead:
        log, stop = self.partition.log, self.end
        found = log.read(offset, bytes_max, stop)
        data = b"".join([part.file.read_at(part.position, part.size) for part in found.parts])
        aborted = [(each.offset_first, each.producer_id) for each in log.aborted_between(offset, found.offset_next)]
        return StreamRead(data, stop, aborted)

    def batch_start(self, offset: int) -> int:
        return max(self.partition.log.read(offset, 1).offset_first, self.start)

    def offset_for_time(self, timestamp_ms: int) -> int | None:
        found = self.partition.log.offset_for_time(timestamp_ms)
        return found.offset if found is not None else None

    def watch(self, on_more: Callable[[], None]) -> Callable[[], None]:
        return Watch(self.partition, on_more).stop


class TopicStreams:
    """All topics of the node. What was found is remembered; what is gone is forgotten when there is much of it."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._logs: dict[tuple[bytes, int], PartitionStream] = {}
        self._tidy_at = TIDY_FROM

    def log(self, info: QueueInfo) -> StreamLog | None:
        twin = info.twin
        assert twin is not None, info
        key = (twin.topic_id, twin.partition)
        found = self._logs.get(key)
        if found is None or found.partition.closed is not None:
            self._logs.pop(key, None)
            partition = self._broker.partitions.get(*key)
            if partition is None:
                return None
            found = self._logs[key] = PartitionStream(self._broker, partition, info.name)
            if len(self._logs) > self._tidy_at:
                self._logs = {key: log for key, log in self._logs.items() if log.partition.closed is None}
                self._tidy_at = 2 * len(self._logs) + TIDY_FROM
        return found

    def charge(self, user: str, size_bytes: int) -> int:
        return self._broker.quotas.charge_produce(PRINCIPAL + user, None, size_bytes, self._broker.now_ms())
