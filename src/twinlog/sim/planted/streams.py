"""Sabotages of streams: where AMQP and the log meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from twinlog.amqp.ports import StreamLog
from twinlog.amqp.queues.slices import Slice
from twinlog.amqp.queues.stream import Reader, StreamQueue
from twinlog.app.streams import Append, PartitionStream
from twinlog.base import HostFault
from twinlog.sim.planted.patch import Bug, Patch


def confirmed_before_the_sync(patch: Patch) -> None:
    def when_durable(self: Append, done: Callable[[HostFault | None], None]) -> None:
        done(None)

    patch.put(Append, "when_durable", when_durable)


def shown_before_the_sync(patch: Patch) -> None:
    patch.put(PartitionStream, "end", property(lambda self: self.partition.log.offset_end))


def place_in_the_slice_forgotten(patch: Patch) -> None:
    """Who waited for credit begins its slice again, but counts on."""

    def slice_for(self: StreamQueue, reader: Reader, log: StreamLog) -> Slice:
        number = reader.slice_number
        found: Slice = before(self, reader, log)
        if number != found.number:
            reader.offset = found.runs[0][0] if found.runs else reader.offset
        else:
            reader.run = reader.position = 0
        return found

    before = patch.put(StreamQueue, "_slice_for", slice_for)


def readers_not_woken(patch: Patch) -> None:
    patch.put(StreamQueue, "_on_more", lambda self: None)


BUGS: Final = (
    Bug("stream-confirmed-before-sync", "publishers hear too early", confirmed_before_the_sync, 200, "streams"),
    Bug("stream-shown-before-sync", "consumers see what is not stable", shown_before_the_sync, 200, "streams"),
    Bug("stream-place-forgotten", "a slice begins again after a wait", place_in_the_slice_forgotten, 40, "streams"),
    Bug("stream-readers-not-woken", "appends wake no consumer", readers_not_woken, 40, "streams"),
)
