"""A stream queue: ``ports.Queue`` over a log that stays as it is, whoever reads.

Each consumer has a place of its own and sees everything from there on. Acknowledgements only give it credit: nothing
is settled, requeued or dropped by them. What is read are slices of the log as runs (``slices``), whose messages are
numbered by their offsets; a consumer without credit holds nothing but its offset.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NoReturn, Protocol

from twinlog._kernel import Malformed, records_to_runs
from twinlog.amqp.arguments import age_seconds, is_int
from twinlog.amqp.codes import NOT_IMPLEMENTED, PRECONDITION_FAILED, refuse
from twinlog.amqp.ports import Appended, Consumer, Got, Queue, QueueInfo, StreamLog
from twinlog.amqp.queues.slices import Filter, Slice, Slices
from twinlog.base import HostFault, Refused
from twinlog.base.units import KIB, MIB
from twinlog.wire.amqp import Table
from twinlog.wire.amqp.table import Timestamp

OFFSET: Final = "x-stream-offset"
FILTER: Final = "x-stream-filter"
MATCH_UNFILTERED: Final = "x-stream-match-unfiltered"
PRIORITY: Final = "x-priority"
FILTERS_MAX: Final = 64
OFFSET_MAX: Final = 2**63 - 1

READ_BYTES: Final = 256 * KIB
SLICE_BYTES: Final = MIB
MESSAGES_PER_TURN: Final = 16_384
SLICES_PER_TURN: Final = 8  # each may be read for nothing, where a filter wants little of it


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """What the node says about reading streams."""

    stream_cache_bytes: int = 32 * MIB
    properties_bytes_max: int = 127 * KIB
    inflated_bytes_max: int = 64 * MIB


class StreamSurroundings(Protocol):
    """What streams need of ``Messages``."""

    slices: Slices
    properties_bytes_max: int
    inflated_bytes_max: int

    def now_ms(self) -> int: ...

    def stream_log(self, info: QueueInfo) -> StreamLog | None: ...

    def wake(self, queue: StreamQueue) -> None:
        """``pump`` it in a later turn."""

    def cannot_read(self, queue: StreamQueue, why: str) -> None:
        """For the log of the node."""


class Reader:
    """A consumer's place: the next offset, and where that is in the slice ``slice_number``."""

    __slots__ = ("consumer", "filter", "key", "offset", "position", "run", "slice_number")

    def __init__(self, consumer: Consumer, queue_id: int, offset: int, wanted: Filter) -> None:
        self.consumer = consumer
        self.filter = wanted
        self.key = (queue_id, wanted, offset)
        self.move(offset)

    def move(self, offset: int) -> None:
        """Out of the slice."""
        self.offset = offset
        self.slice_number = -1
        self.run = self.position = 0


class StreamQueue(Queue):
    """See above."""

    def __init__(self, info: QueueInfo, around: StreamSurroundings) -> None:
        self.info = info
        self._around = around
        self._readers: dict[Consumer, Reader] = {}
        self._ready: dict[Reader, None] = {}  # who may have credit, in turn
        self._unwatch: Callable[[], None] | None = None
        self.is_gone = False

    # ---- in ---------------------------------------------------------------------------------------------------

    def append(self, blob: bytes, count: int) -> Appended:
        return self._log().append(blob, count)

    def check_room(self) -> None:
        """``HostFault`` if nothing can be written now."""
        self._log().check_room()

    def _log(self) -> StreamLog:
        log = self._around.stream_log(self.info)
        if log is None:
            raise HostFault(f"stream '{self.info.name}'", "its log is not served here")
        return log

    # ---- consumers --------------------------------------------------------------------------------------------

    def consume(self, consumer: Consumer) -> None:
        what = f"stream '{self.info.name}' in vhost '{self.info.vhost}'"
        if consumer.no_ack:
            refuse(NOT_IMPLEMENTED, f"automatic acknowledgement not supported by {what}")
        if consumer.shares_limit:
            refuse(NOT_IMPLEMENTED, f"{what} does not support global qos")
        if not consumer.prefetch:
            refuse(PRECONDITION_FAILED, f"consumer prefetch count is not set for {what}")
        if PRIORITY in consumer.arguments:
            refuse(PRECONDITION_FAILED, f"invalid arg '{PRIORITY}' for {what}: everybody gets everything")
        wanted = filter_of(consumer.arguments, what)
        log = self._log()
        offset = self._first_offset(consumer.arguments.get(OFFSET, "next"), log, what)
        reader = Reader(consumer, self.info.id, offset, wanted)
        self._readers[consumer] = reader
        self._ready[reader] = None
        if self._unwatch is None:
            self._unwatch = log.watch(self._on_more)
        self._around.wake(self)

    def _first_offset(self, wanted: Any, log: StreamLog, what: str) -> int:
        start, end = log.start, log.end
        if isinstance(wanted, Timestamp):
            return self._offset_at(log, int(wanted) * 1000)
        if is_int(wanted) and 0 <= wanted <= OFFSET_MAX:
            return max(int(wanted), start)
        if wanted == "first":
            return start
        if wanted == "next":
            return end
        if wanted == "last":
            return log.batch_start(end - 1) if end > start else end
        seconds = age_seconds(wanted) if isinstance(wanted, str) else None
        if seconds is None:
            refuse(PRECONDITION_FAILED, f"invalid arg '{OFFSET}' for {what}: {wanted!r} names no offset")
        return self._offset_at(log, self._around.now_ms() - seconds * 1000)

    @staticmethod
    def _offset_at(log: StreamLog, timestamp_ms: int) -> int:
        found = log.offset_for_time(timestamp_ms)
        return log.end if found is None else min(found, log.end)

    def cancel(self, consumer: Consumer) -> None:
        reader = self._readers.pop(consumer, None)
        if reader is not None:
            self._ready.pop(reader, None)
        if not self._readers:
            self._watch_no_more()

    def resume(self, consumer: Consumer) -> None:
        reader = self._readers.get(consumer)
        if reader is not None and reader not in self._ready:
            self._ready[reader] = None
            self._around.wake(self)

    def catch_up(self) -> None:
        """Nobody takes anything away from anybody here."""

    def _watch_no_more(self) -> None:
        if self._unwatch is not None:
            self._unwatch()
            self._unwatch = None

    def _on_more(self) -> None:
        if self._ready:
            self._around.wake(self)

    # ---- out --------------------------------------------------------------------------------------------------

    def pump(self) -> bool:
        """Gives everybody the next of what is new to them; whether there is more to do at once."""
        if self.is_gone or not self._ready:
            return False
        try:
            log = self._log()
            start, end = log.start, log.end
            messages_left, slices_left = MESSAGES_PER_TURN, SLICES_PER_TURN
            behind = [reader for reader in self._ready if reader.offset < end]
            while behind:
                for reader in behind:
                    if messages_left <= 0 or slices_left <= 0:
                        return True
                    if reader not in self._ready:
                        continue  # it went while others were sent something
                    del self._ready[reader]
                    if reader.consumer.credit() <= 0:
                        continue
                    self._ready[reader] = None  # behind those who wait
                    taken = self._advance(reader, log, start, messages_left)
                    messages_left -= taken
                    slices_left -= not taken
                behind = [reader for reader in behind if reader in self._ready and reader.offset < end]
        except (Refused, HostFault, Malformed) as fault:
            self._fail(str(fault))
        return False

    def _advance(self, reader: Reader, log: StreamLog, start: int, count_max: int) -> int:
        """Delivers from one slice; how many."""
        if reader.offset < start:
            reader.move(start)  # what it had still to read is gone
        found = self._slice_for(reader, log)
        consumer, runs = reader.consumer, found.runs
        taken_all = 0
        while reader.run < len(runs):
            credit = min(consumer.credit(), count_max - taken_all)
            if credit <= 0:
                break
            first, messages, blob = runs[reader.run]
            offset = max(reader.offset, first)
            ahead = first + messages - offset
            taken, reader.position = consumer.deliver(offset, blob, reader.position, min(ahead, credit), False)
            taken_all += taken
            reader.offset = offset + taken
            if taken == ahead:
                reader.run += 1
                reader.position = 0
        else:
            reader.move(found.offset_next)
        return taken_all

    def _slice_for(self, reader: Reader, log: StreamLog) -> Slice:
        slices = self._around.slices
        found = slices.get(reader.key)
        if found is not None and found.number == reader.slice_number:
            return found
        reader.move(reader.offset)
        reader.key = (self.info.id, reader.filter, reader.offset)
        found = slices.get(reader.key)
        if found is None:
            found = slices.put(reader.key, *self._read(reader, log))
        reader.slice_number = found.number
        return found

    def _read(self, reader: Reader, log: StreamLog) -> tuple[list[tuple[int, int, bytes]], int]:
        data, stop, aborted = log.read(reader.offset, READ_BYTES)
        values, match_unfiltered = reader.filter if reader.filter is not None else (None, False)
        return records_to_runs(
            data,
            reader.offset,
            stop,
            aborted,
            self.info.name,
            size_max=SLICE_BYTES,
            properties_size_max=self._around.properties_bytes_max,
            inflated_max=self._around.inflated_bytes_max,
            wanted=list(values) if values is not None else None,
            match_unfiltered=match_unfiltered,
        )

    def _fail(self, why: str) -> None:
        """It cannot be read any more: its consumers hear of it, as they would of its end."""
        self._around.cannot_read(self, why)
        self._drop_consumers()

    def _drop_consumers(self) -> None:
        self._watch_no_more()
        readers, self._readers = self._readers, {}
        self._ready.clear()
        for consumer in readers:
            consumer.cancelled()

    # ---- what a stream does not do ------------------------------------------------------------------------------

    def _cannot(self, what: str) -> NoReturn:
        refuse(NOT_IMPLEMENTED, f"{what} not supported by stream '{self.info.name}' in vhost '{self.info.vhost}'")

    def get(self, *, no_ack: bool) -> Got | None:
        self._cannot("basic.get")

    def purge(self) -> int:
        self._cannot("queue.purge")

    def settle(self, low: int, high: int) -> None:
        """The channel has counted it as credit."""

    def requeue(self, low: int, high: int) -> None:
        """It is where it was, and the consumer is past it."""

    def reject(self, low: int, high: int) -> None:
        """It stays for others."""

    # ---- figures and the end ------------------------------------------------------------------------------------

    @property
    def consumer_count(self) -> int:
        return len(self._readers)

    def delete(self) -> None:
        self.is_gone = True
        self._drop_consumers()
        self._around.slices.forget(self.info.id)


def filter_of(arguments: Table, what: str) -> Filter:
    """Which values of ``x-stream-filter-value`` a consumer asks for."""
    match_unfiltered = arguments.get(MATCH_UNFILTERED, False)
    if not isinstance(match_unfiltered, bool):
        refuse(PRECONDITION_FAILED, f"invalid arg '{MATCH_UNFILTERED}' for {what}: it is true or false")
    wanted = arguments.get(FILTER)
    if wanted is None:
        return None
    values = wanted if isinstance(wanted, list) else [wanted]
    if len(values) > FILTERS_MAX or not all(isinstance(value, str | bytes) for value in values):
        refuse(PRECONDITION_FAILED, f"invalid arg '{FILTER}' for {what}: it is a text, or up to {FILTERS_MAX} of them")
    return tuple(value.encode() if isinstance(value, str) else bytes(value) for value in values), match_unfiltered
