"""What the node did, per second: totals taken every few seconds, rates from two of them, and a short past for charts.

Overview figures are always kept, they are a handful. Those of single queues and topics are kept while somebody
watches: the last two of all, and a past of the few that a page has open.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from twinlog.base.metrics import Histogram
from twinlog.host import Timer

if TYPE_CHECKING:
    from twinlog.servers.http.ports import Managed

SAMPLE_MS: Final = 5000
PAST_SAMPLES: Final = 361  # half an hour
WATCH_MS: Final = 120_000
WATCHED_MAX: Final = 200
TICK_MS: Final = 100
ITEMS_A_TURN: Final = 500


class Sample(NamedTuple):
    at_ms: int
    values: Mapping[str, int]


Key = tuple[str, ...]


class Figures:
    """``start`` begins the samples; everything else reads."""

    def __init__(self, managed: Managed) -> None:
        self._managed = managed
        self._tasks = managed.tasks
        self.overview: deque[Sample] = deque(maxlen=PAST_SAMPLES)
        self.stall_us_max = 0
        self.stalls = Histogram()
        self.stall_us_recent = 0
        self._before: dict[Key, Sample] = {}
        self._latest: dict[Key, Sample] = {}
        self._watched: dict[Key, tuple[int, deque[Sample]]] = {}
        self._looked_ms = -WATCH_MS
        self._tick_due_us = 0
        self._worst_us = 0
        self._pending: list[tuple[Key, Callable[[], Mapping[str, int]]]] = []
        self._next: dict[Key, Sample] = {}
        self._timers: dict[str, Timer] = {}

    def start(self) -> None:
        self.overview.append(self._overview())
        self._tick_due_us = self._managed.monotonic_us() + TICK_MS * 1000
        self._timers["tick"] = self._tasks.later(TICK_MS, self._tick)
        self._timers["sample"] = self._tasks.later(SAMPLE_MS, self._sample)

    def stop(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._pending.clear()

    # ---- overview -----------------------------------------------------------------------------------------------

    def totals(self) -> Mapping[str, int]:
        return self.overview[-1].values if self.overview else {}

    def rates(self) -> dict[str, float]:
        if len(self.overview) < 2:
            return {}
        return rates_between(self.overview[-2], self.overview[-1])

    # ---- single things ------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Somebody shows lists: take samples of everything for a while."""
        self._looked_ms = self._managed.monotonic_ms()

    def watch(self, key: Key) -> deque[Sample]:
        """The past of one thing, from now on kept while it is asked for."""
        self.look()
        now_ms = self._managed.monotonic_ms()
        known = self._watched.get(key)
        if known is None:
            while len(self._watched) >= WATCHED_MAX:
                del self._watched[next(iter(self._watched))]
            past: deque[Sample] = deque(maxlen=PAST_SAMPLES)
            if key in self._latest:
                past.append(self._latest[key])
        else:
            del self._watched[key]
            past = known[1]
        self._watched[key] = (now_ms, past)
        return past

    def rates_of(self, key: Key) -> dict[str, float]:
        before, latest = self._before.get(key), self._latest.get(key)
        if before is None or latest is None:
            return {}
        return rates_between(before, latest)

    # ---- taking them --------------------------------------------------------------------------------------------

    def _tick(self) -> None:
        now_us = self._managed.monotonic_us()
        late_us = max(0, now_us - self._tick_due_us)
        self.stalls.observe(late_us)
        self._worst_us = max(self._worst_us, late_us)
        self.stall_us_max = max(self.stall_us_max, late_us)
        self._tick_due_us = now_us + TICK_MS * 1000
        self._timers["tick"] = self._tasks.later(TICK_MS, self._tick)

    def _sample(self) -> None:
        self._timers["sample"] = self._tasks.later(SAMPLE_MS, self._sample)
        self.stall_us_recent, self._worst_us = self._worst_us, 0
        self.overview.append(self._overview())
        now_ms = self._managed.monotonic_ms()
        for key in [key for key, (asked_ms, _) in self._watched.items() if now_ms - asked_ms > WATCH_MS]:
            del self._watched[key]
        if now_ms - self._looked_ms <= WATCH_MS:
            if not self._pending:
                self._pending = list(self._everything())
                self._next = {}
                self._take_some()
        else:
            self._before, self._latest = {}, {}

    def _take_some(self) -> None:
        now_ms = self._managed.now_ms()
        for _ in range(min(ITEMS_A_TURN, len(self._pending))):
            key, take = self._pending.pop()
            sample = Sample(now_ms, take())
            self._next[key] = sample
            watched = self._watched.get(key)
            if watched is not None:
                watched[1].append(sample)
        if self._pending:
            self._tasks.soon(self._take_some)
        else:
            self._before, self._latest, self._next = self._latest, self._next, {}

    def _everything(self) -> Iterable[tuple[Key, Callable[[], Mapping[str, int]]]]:
        managed = self._managed
        for name in managed.image.topics_by_name:
            yield ("topic", name), partial(topic_totals, managed, name)
        if managed.messages is not None:
            for part in managed.topology.graph:
                for info in part.queues.values():
                    yield ("queue", part.name, info.name), partial(queue_totals, managed, info)

    def _overview(self) -> Sample:
        return Sample(self._managed.now_ms(), overview_totals(self._managed))


def overview_totals(managed: Managed) -> dict[str, int]:
    records = size_bytes = appended = 0
    for partition in managed.broker.partitions:
        log = partition.log
        records += log.offset_end
        size_bytes += log.size_bytes
        appended += partition.bytes_appended
    values = {
        "kafka_records": records,
        "kafka_bytes": appended,
        "log_bytes": size_bytes,
        "resident_bytes": managed.machine.resident_bytes(),
        "cpu_ms": int(managed.machine.cpu_seconds() * 1000),
        "http_requests": sum(managed.http_requests.values()),
        "kafka_requests": sum(each.count for each in managed.kafka_requests().values()),
        "sync_rounds": sum(each.flusher.rounds for each in managed.broker.store.directories),
    }
    if managed.messages is not None:
        ready = unacked = 0
        for part in managed.topology.graph:
            for info in part.queues.values():
                status = managed.messages.status(info)
                ready += status.ready
                unacked += status.unacked
        values["ready"], values["unacked"] = ready, unacked
    if managed.clients is not None:
        values.update(managed.clients.totals())
    return values


def topic_totals(managed: Managed, name: str) -> dict[str, int]:
    partitions = managed.broker.partitions.of_topic(name) or ()
    return {
        "records": sum(each.log.offset_end for each in partitions),
        "size_bytes": sum(each.log.size_bytes for each in partitions),
        "bytes": sum(each.bytes_appended for each in partitions),
    }


def queue_totals(managed: Managed, info: Any) -> dict[str, int]:
    assert managed.messages is not None
    try:
        status = managed.messages.status(info)
    except KeyError:
        return {"ready": 0, "unacked": 0, "messages": 0}
    return {
        "ready": status.ready,
        "unacked": status.unacked,
        "messages": status.ready + status.unacked,
        "ready_bytes": status.ready_bytes,
        "consumers": status.consumers,
    }


def rates_between(before: Sample, after: Sample) -> dict[str, float]:
    seconds = max(after.at_ms - before.at_ms, 1) / 1000
    return {
        name: round((value - before.values[name]) / seconds, 2)
        for name, value in after.values.items()
        if name in before.values
    }
