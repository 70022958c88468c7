"""What the node did, per second: totals taken every few seconds, rates from two of them, a short past for charts.

Where there are few things (``ALWAYS_MAX``) totals of all are taken always, else while somebody watches. A past is kept
of those that change, and of those that a page has open: half an hour, of at most ``PASTS_MAX`` things. Connections and
channels have rates and no past.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from twinlog.amqp.counts import Traffic
from twinlog.base.metrics import Histogram
from twinlog.host import Timer

if TYPE_CHECKING:
    from twinlog.servers.http.ports import Managed

PAST_SAMPLES: Final = 361  # half an hour, as the setting is by itself
PAST_SLACK: Final = 60
WATCH_MS: Final = 120_000
ALWAYS_MAX: Final = 1000
PASTS_MAX: Final = 200
TICK_MS: Final = 100
ITEMS_A_TURN: Final = 500
UNKNOWN: Final = -(2**63)
HAVE_NO_PAST: Final = ("connection", "channel")


class Sample(NamedTuple):
    at_ms: int
    values: Mapping[str, int]


Key = tuple[str, ...]


class Past:
    """Samples of one thing, a column for each name: eight bytes a figure."""

    def __init__(self) -> None:
        self.at_ms = array("q")
        self._columns: dict[str, array[int]] = {}

    def append(self, sample: Sample) -> None:
        known = len(self.at_ms)
        for name, value in sample.values.items():
            column = self._columns.get(name)
            if column is None:
                column = self._columns[name] = array("q", [UNKNOWN]) * known
            column.append(value)
        self.at_ms.append(sample.at_ms)
        for column in self._columns.values():
            if len(column) == known:
                column.append(UNKNOWN)
        if known > PAST_SAMPLES + PAST_SLACK:
            for each in (self.at_ms, *self._columns.values()):
                del each[:PAST_SLACK]

    def view(self) -> dict[str, Any]:
        """Columns, which is what charts draw: times in milliseconds, and a list for each name."""
        return {
            "at_ms": self.at_ms[-PAST_SAMPLES:].tolist(),
            "values": {
                name: [None if value == UNKNOWN else value for value in column[-PAST_SAMPLES:]]
                for name, column in self._columns.items()
            },
        }


class Figures:
    """``start`` begins the samples; everything else reads."""

    def __init__(self, managed: Managed) -> None:
        self._managed = managed
        self._tasks = managed.tasks
        self.overview = Past()
        self._overviews: tuple[Sample, ...] = ()
        self.stall_us_max = 0
        self.stalls = Histogram()
        self.stall_us_recent = 0
        self._before: dict[Key, Sample] = {}
        self._latest: dict[Key, Sample] = {}
        self._pasts: dict[Key, Past] = {}  # those that changed or were asked for last at the end
        self._looked_ms = -WATCH_MS
        self._tick_due_us = 0
        self._worst_us = 0
        self._pending: list[tuple[Key, Callable[[], Mapping[str, int]]]] = []
        self._next: dict[Key, Sample] = {}
        self._timers: dict[str, Timer] = {}

    def start(self) -> None:
        self._take_overview()
        self._tick_due_us = self._managed.monotonic_us() + TICK_MS * 1000
        self._timers["tick"] = self._tasks.later(TICK_MS, self._tick)
        self._timers["sample"] = self._tasks.later(self._managed.settings.sample_interval_ms, self._sample)

    def stop(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._pending.clear()

    def forget(self) -> None:
        """The past, not the totals."""
        self.overview = Past()
        self._pasts.clear()

    # ---- overview -----------------------------------------------------------------------------------------------

    def totals(self) -> Mapping[str, int]:
        return self._overviews[-1].values if self._overviews else {}

    def rates(self) -> dict[str, float]:
        return rates_between(*self._overviews) if len(self._overviews) == 2 else {}

    # ---- single things ------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Somebody shows lists: take samples of everything for a while."""
        self._looked_ms = self._managed.monotonic_ms()

    def watch(self, key: Key) -> Past:
        """The past of one thing, from now on kept."""
        self.look()
        return self._keep(key)

    def _keep(self, key: Key) -> Past:
        past = self._pasts.pop(key, None)
        if past is None:
            past = Past()
            for known in (self._before.get(key), self._latest.get(key)):
                if known is not None:
                    past.append(known)
            while len(self._pasts) >= PASTS_MAX:
                del self._pasts[next(iter(self._pasts))]
        self._pasts[key] = past
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
        self._timers["sample"] = self._tasks.later(self._managed.settings.sample_interval_ms, self._sample)
        self.stall_us_recent, self._worst_us = self._worst_us, 0
        self._take_overview()
        if self._pending:
            return  # there is so much that one round takes longer than the pause between two
        is_watched = self._managed.monotonic_ms() - self._looked_ms <= WATCH_MS
        if is_watched or self._count() <= ALWAYS_MAX:
            self._pending = list(self._everything(clients=is_watched))
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
            if key[0] in HAVE_NO_PAST:
                continue
            latest = self._latest.get(key)
            if latest is not None and latest.values != sample.values:
                self._keep(key)
            past = self._pasts.get(key)
            if past is not None:
                past.append(sample)
        if self._pending:
            self._tasks.soon(self._take_some)
        else:
            self._before, self._latest, self._next = self._latest, self._next, {}
            for key in [key for key in self._pasts if key not in self._latest]:
                del self._pasts[key]  # it is gone

    def _count(self) -> int:
        managed = self._managed
        return len(managed.image.topics_by_name) + sum(
            len(part.queues) + len(part.exchanges) for part in managed.topology.graph
        )

    def _everything(self, *, clients: bool) -> Iterable[tuple[Key, Callable[[], Mapping[str, int]]]]:
        managed = self._managed
        for name in managed.image.topics_by_name:
            yield ("topic", name), partial(topic_totals, managed, name)
        for shard in managed.broker.groups.topic.runtime.active_shards():
            for group in shard.machine.offsets.by_group:
                yield ("group", group), partial(group_totals, managed, shard.machine, group)
        for pipeline in managed.pipelines.reports:
            yield ("pipeline", pipeline), partial(pipeline_totals, managed, pipeline)
        for part in managed.topology.graph:
            for node in part.exchanges.values():
                yield ("exchange", part.name, node.info.name), partial(exchange_totals, node.info.traffic)
            if managed.messages is not None:
                for info in part.queues.values():
                    yield ("queue", part.name, info.name), partial(queue_totals, managed, info)
        if not clients:
            return
        for connection in managed.kafka_connections():
            yield ("connection", connection.name), partial(connection_totals, connection)
        if managed.clients is not None:
            for connection in managed.clients.connections():
                yield ("connection", connection.name), partial(connection_totals, connection)
            for channel in managed.clients.channels():
                yield ("channel", channel.connection.name, str(channel.number)), channel.traffic.told

    def _take_overview(self) -> None:
        sample = Sample(self._managed.now_ms(), overview_totals(self._managed))
        self.overview.append(sample)
        self._overviews = (*self._overviews[-1:], sample)


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
                if info.twin is not None:
                    continue  # what is in streams waits for nobody
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


def group_totals(managed: Managed, machine: Any, group: str) -> dict[str, int]:
    """``committed`` grows by what the group has dealt with."""
    lag = committed = 0
    for (topic, index), each in machine.offsets.by_group.get(group, {}).items():
        partition = managed.broker.partitions.get(topic, index)
        if partition is not None:
            lag += max(0, partition.high_watermark - each.offset)
        committed += each.offset
    return {"lag": lag, "committed": committed}


def pipeline_totals(managed: Managed, name: str) -> dict[str, int]:
    report = managed.pipelines.reports.get(name, {})
    rate = report.get("rows_per_second")
    return {"lag": report.get("lag") or 0, "rows_per_second": round(rate) if rate is not None else 0}


def exchange_totals(traffic: Traffic) -> dict[str, int]:
    return {"publish_in": traffic.publish_in, "publish_out": traffic.publish_out}


def connection_totals(connection: Any) -> dict[str, int]:
    return {
        **connection.traffic().told(),
        "recv_oct": connection.received_bytes,
        "send_oct": connection.sent_bytes,
        "requests": connection.requests,
    }


def queue_totals(managed: Managed, info: Any) -> dict[str, int]:
    assert managed.messages is not None
    try:
        status = managed.messages.status(info)
    except KeyError:
        return {"ready": 0, "unacked": 0, "messages": 0}
    traffic = info.traffic
    return {
        "ready": status.ready,
        "unacked": status.unacked,
        "messages": status.ready + status.unacked,
        "ready_bytes": status.ready_bytes,
        "consumers": status.consumers,
        "publish": traffic.publish,
        "deliver_get": traffic.deliver + traffic.deliver_no_ack + traffic.get + traffic.get_no_ack,
        "deliver": traffic.deliver,
        "deliver_no_ack": traffic.deliver_no_ack,
        "get": traffic.get,
        "get_no_ack": traffic.get_no_ack,
        "redeliver": traffic.redeliver,
        "ack": traffic.ack,
    }


def rates_between(before: Sample, after: Sample) -> dict[str, float]:
    seconds = max(after.at_ms - before.at_ms, 1) / 1000
    return {
        name: round((value - before.values[name]) / seconds, 2)
        for name, value in after.values.items()
        if name in before.values
    }
