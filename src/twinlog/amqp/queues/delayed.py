"""Messages that are to be routed later: those with a header ``x-delay``, on whatever exchange.

They wait in the store, in a queue of its own that no client sees, and survive a restart if they are persistent. In
memory there is only when each is due. When its time has come, a message is routed as if it were published then, with
its ``x-delay`` negated, so that nothing delays it again; what it is routed to is stored before it is settled here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Final, Protocol

from twinlog._kernel import (
    RUN_COPIES,
    RUN_DELAY,
    RUN_IMMEDIATE,
    RUN_MANDATORY,
    RUN_PERSISTENT,
    build_run,
    run_info,
    split_run,
)
from twinlog.amqp.durability import when_all_durable
from twinlog.amqp.ports import Appending, Queues
from twinlog.base import DiskFull, HostFault
from twinlog.base.units import HOUR_MS, MIB
from twinlog.wire.amqp import Properties, decode_properties, encode_properties

DELAY: Final = "x-delay"
DELAY_MAX_MS: Final = 2**32 - 1
QUEUE_ID: Final = 1 << 61
RELEASED_PER_TURN: Final = 128
AGAIN_MS: Final = 1000
NO_PROPERTIES: Final = b"\x00\x00"


class Timer(Protocol):
    def cancel(self) -> object: ...


# (vhost, exchange, key, flags, properties, body): routes and stores it now; returns what of that is in streams.
Release = Callable[[str, str, str, int, Properties, bytes], Sequence[Appending]]


class Delayed:
    """See above. A waiting message is a run of its own: its exchange is when it is due, its key the vhost, its body the
    run as it was published."""

    def __init__(
        self,
        store: Queues,
        release: Release,
        *,
        now_ms: Callable[[], int],
        later: Callable[[float, Callable[[], object]], Timer],
    ) -> None:
        self._store = store
        self._release = release
        self._now_ms = now_ms
        self._later = later
        self._due: list[tuple[int, int]] = []  # when, and the number
        self._number_next = 0
        self._timer: Timer | None = None
        self._timer_due_ms = 0
        self._is_known = False

    def __len__(self) -> int:
        return len(self._due)

    def recover(self) -> None:
        """What a start found waits on."""
        self._know()
        found = self._store.recovered().get(QUEUE_ID)
        if found is None:
            return
        self._number_next = found.number_next
        number = 0
        while runs := self._store.read(QUEUE_ID, number, MIB):
            for run in runs:
                heappush(self._due, (int(run_info(run.blob)[0]), run.number))
            number = runs[-1].number + runs[-1].messages
        self._watch()

    def _know(self) -> None:
        if not self._is_known:
            self._is_known = True
            self._store.create(QUEUE_ID, durable=True)

    def put(self, vhost: str, blob: bytes, delay_ms: int) -> int:
        """Returns the mark to wait for, 0 if the message need not survive."""
        self._know()
        now_ms = self._now_ms()
        due_ms = now_ms + delay_ms
        is_persistent = run_info(blob)[2] & RUN_PERSISTENT != 0
        waiting = build_run(str(due_ms), vhost, RUN_PERSISTENT if is_persistent else 0, [(NO_PROPERTIES, blob)])
        number = self._number_next
        mark = self._store.append(waiting, 1, [(QUEUE_ID, number)], durable=is_persistent, now_ms=now_ms)
        self._number_next += 1
        heappush(self._due, (due_ms, number))
        self._watch()
        return mark if is_persistent else 0

    def _watch(self) -> None:
        if not self._due:
            return
        due_ms = self._due[0][0]
        if self._timer is not None:
            if self._timer_due_ms <= due_ms:
                return
            self._timer.cancel()
        self._timer_due_ms = due_ms
        # Not for ever: the clock on the wall may be set.
        self._timer = self._later(min(max(due_ms - self._now_ms(), 1), HOUR_MS), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        now_ms = self._now_ms()
        released: list[int] = []
        while self._due and self._due[0][0] <= now_ms and len(released) < RELEASED_PER_TURN:
            released.append(heappop(self._due)[1])
        for at, number in enumerate(released):
            try:
                self._release_one(number)
            except DiskFull:
                for left in released[at:]:
                    heappush(self._due, (now_ms, left))
                self._timer_due_ms = now_ms
                self._timer = self._later(AGAIN_MS, self._on_timer)
                return
            except HostFault:
                return  # nothing can be stored any more; they are all there after a restart
        self._watch()

    def _release_one(self, number: int) -> None:
        runs = self._store.read(QUEUE_ID, number, 1)
        if not runs or runs[0].number != number:
            return
        vhost = run_info(runs[0].blob)[1]
        blob = split_run(runs[0].blob, runs[0].position, 1)[0][2]
        exchange, key, flags, _, _, _ = run_info(blob)
        _, encoded, body = split_run(blob, 0, 1)[0]
        properties = decode_properties(encoded)
        headers = dict(properties.headers or {})
        headers[DELAY] = -int(headers.get(DELAY, 0))
        properties.headers = headers
        flags &= ~(RUN_DELAY | RUN_MANDATORY | RUN_IMMEDIATE)
        appendings = self._release(vhost, exchange, key, flags, properties, body)

        def on_durable(fault: HostFault | None) -> None:
            if fault is None:
                self._store.settle(QUEUE_ID, number, number)

        when_all_durable(self._store, 0, appendings, on_durable)


def delay_of(blob: bytes) -> int:
    """How long a message with ``RUN_DELAY`` is to wait; 0 for what is no delay."""
    headers = decode_properties(split_run(blob, 0, 1)[0][1]).headers or {}
    value = headers.get(DELAY)
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= DELAY_MAX_MS:
        return int(value)
    return 0


def copies_of(flags: int, properties: Properties) -> tuple[str, ...]:
    """The further routing keys; ``BCC`` is taken out of the properties."""
    if not flags & RUN_COPIES:
        return ()
    headers = dict(properties.headers or {})
    keys = [*(headers.get("CC") or ()), *(headers.pop("BCC", None) or ())]
    properties.headers = headers
    return tuple(key for key in keys if isinstance(key, str))


def single_run(exchange: str, key: str, flags: int, properties: Properties, body: bytes) -> bytes:
    if "CC" not in (properties.headers or {}):
        flags &= ~RUN_COPIES
    return build_run(exchange, key, flags, [(encode_properties(properties), body)])
