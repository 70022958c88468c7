"""Metrics for Prometheus: RabbitMQ's names, as its dashboards use them, and ours for Kafka's side and the node.

What there is, is declared in ``servers.http.families``. Labels are bounded: their values are our own words, except in
the lines per queue, topic and group, of which there are at most as many as a setting says; how many were left out is a
metric, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from twinlog.amqp.ports import QueueStatus
from twinlog.base.metrics import Histogram
from twinlog.kafka.transactions import TransactionState
from twinlog.servers.http.api.overview import RABBITMQ_VERSION, alarms
from twinlog.servers.http.families import GAUGE, STORAGE, Page
from twinlog.servers.http.figures import overview_totals
from twinlog.servers.http.listing import pattern
from twinlog.servers.http.message import Request, Response
from twinlog.servers.http.pipelines import STATES
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import MONITOR, Routes
from twinlog.servers.http.views import queue_status
from twinlog.servers.http.waiting import ITEMS_A_TURN, breath
from twinlog.wire.kafka.api import APIS

routes = Routes("metrics")

PER_QUEUE: Final[tuple[tuple[str, Callable[[QueueStatus], int]], ...]] = (
    ("messages", lambda status: status.ready + status.unacked),
    ("messages_ready", lambda status: status.ready),
    ("messages_unacked", lambda status: status.unacked),
    ("messages_bytes", lambda status: status.ready_bytes),
    ("consumers", lambda status: status.consumers),
)


# ---- all together ---------------------------------------------------------------------------------------------------


@routes.get("/metrics", MONITOR, "Metrics of the node, without lines for single queues and topics.")
async def metrics(managed: Managed, request: Request) -> Response:
    await managed.pipelines.read()
    page = Page()
    add_node(managed, page)
    return page.response()


def add_node(managed: Managed, page: Page, *, one_by_one: bool = False) -> None:
    totals = overview_totals(managed)
    image, machine = managed.image, managed.machine
    page.add(
        "rabbitmq_identity_info",
        1,
        rabbitmq_node=managed.node_name,
        rabbitmq_cluster=f"twinlog@{image.cluster_id}",
        rabbitmq_cluster_permanent_id=str(image.cluster_id),
        rabbitmq_endpoint="aggregated",
    )
    page.add(
        "rabbitmq_build_info",
        1,
        rabbitmq_version=RABBITMQ_VERSION,
        product_name="Twinlog",
        product_version=managed.version,
        erlang_version="none",
    )
    add_amqp(managed, page, totals)
    if not one_by_one:
        add_queue_totals(page, totals)
    raised = alarms(managed)
    resources = {each["resource"] for each in raised}
    descriptors, descriptors_max = machine.descriptors()
    directories = managed.broker.store.describe()
    page.add("rabbitmq_process_resident_memory_bytes", totals["resident_bytes"])
    page.add("rabbitmq_resident_memory_limit_bytes", managed.memory_alarm_bytes or int(machine.memory_bytes() * 0.6))
    page.add("rabbitmq_disk_space_available_bytes", min((each.usable_bytes for each in directories), default=0))
    page.add("rabbitmq_disk_space_available_limit_bytes", managed.disk_free_min_bytes)
    page.add("rabbitmq_process_open_fds", descriptors)
    page.add("rabbitmq_process_max_fds", descriptors_max)
    kafka_connections = sum(1 for _ in managed.kafka_connections())
    amqp_connections = sum(1 for _ in managed.clients.connections()) if managed.clients else 0
    page.add("rabbitmq_process_open_tcp_sockets", kafka_connections + amqp_connections)
    page.add("rabbitmq_alarms_memory_used_watermark", int("memory" in resources))
    page.add("rabbitmq_alarms_free_disk_space_watermark", int("disk" in resources))
    page.add("twinlog_kafka_connections", kafka_connections)
    page.add("twinlog_kafka_records_total", totals["kafka_records"])
    page.add("twinlog_kafka_bytes_in_total", totals["kafka_bytes"])
    for key, histogram in sorted(managed.kafka_requests().items()):
        page.add_histogram("twinlog_kafka_request_seconds", histogram, api=APIS[key].name if key in APIS else str(key))
    counts = managed.broker.metrics
    for quota, count, for_ms in (
        ("produce", counts.produce_throttled, counts.produce_throttled_ms),
        ("fetch", counts.fetch_throttled, counts.fetch_throttled_ms),
        ("request", counts.requests_throttled, counts.requests_throttled_ms),
        ("mutation", counts.mutations_throttled, counts.mutations_throttled_ms),
        ("connection", counts.connections_throttled, None),
    ):
        page.add("twinlog_kafka_throttled_total", count, quota=quota)
        if for_ms is not None:
            page.add("twinlog_kafka_throttled_seconds_total", for_ms / 1000, quota=quota)
    page.add("twinlog_kafka_connections_broken_off_total", managed.kafka_broken_off())
    page.add("twinlog_kafka_fetch_sessions", len(managed.broker.fetches.sessions))
    page.add("twinlog_kafka_memory_delays_total", counts.memory_delays)
    page.add("twinlog_kafka_slow_readers_closed_total", counts.slow_readers_closed)
    page.add("twinlog_transactions_open", open_transactions(managed))
    page.add("twinlog_transactional_ids", managed.broker.transactions.id_count)
    page.add("twinlog_transactional_ids_refused_total", counts.transactional_ids_refused)
    page.add("twinlog_producers", sum(each.producer_count for each in managed.broker.store.all_logs()))
    page.add("twinlog_topics", len(image.topics_by_name))
    page.add("twinlog_partitions", image.partition_count)
    offline = sum(1 for topic in image.topics_by_name.values() for each in topic.partitions if each.leader < 0)
    page.add("twinlog_partitions_offline", offline)
    page.add("twinlog_log_size_bytes", totals["log_bytes"])
    lags = list(group_lags(managed))
    page.add("twinlog_groups", len({group for group, _, _ in lags}))
    page.add("twinlog_group_lag_max", max((lag for _, _, lag in lags), default=0))
    states = Counter(report["state"] for report in managed.pipelines.reports.values())
    for state in STATES:
        page.add("twinlog_pipelines", states[state], state=state)
    page.add("twinlog_pipeline_reports_bad_total", managed.pipelines.bad_count)
    for name, _, _, counted in STORAGE:
        page.add(name, getattr(managed.broker.store.metrics, counted))
    syncs = Histogram()
    for directory in managed.broker.store.directories:
        syncs.add(directory.flusher.sync_times)
    page.add_histogram("twinlog_sync_seconds", syncs)
    page.add("twinlog_sync_rounds_total", totals["sync_rounds"])
    page.add_histogram("twinlog_loop_stall_seconds", managed.figures.stalls)
    for (part, status), count in sorted(managed.http_requests.items()):
        page.add("twinlog_http_requests_total", count, part=part, status=f"{status // 100}xx")
    page.add("twinlog_http_logins_failed_total", managed.guard.lockout.failed_count)
    memory = managed.memory
    page.add("twinlog_connections_turned_away_total", managed.admission.turned_away_count)
    page.add("twinlog_connections_memory_bytes", memory.held_bytes)
    page.add("twinlog_connections_memory_limit_bytes", managed.connections_memory_max_bytes)
    largest = max((each.held_bytes for each in memory.accounts), default=0)
    page.add("twinlog_connection_memory_largest_bytes", largest)
    page.add("twinlog_connections_closed_for_memory_total", memory.closed_count)
    page.add("twinlog_segment_files_open", managed.broker.store.files_open)
    page.add("twinlog_uptime_seconds", max(0, managed.now_ms() - managed.started_ms) // 1000)
    page.add("twinlog_cpu_seconds_total", totals["cpu_ms"] / 1000)
    page.add("twinlog_alarms", len(raised))


def add_amqp(managed: Managed, page: Page, totals: Mapping[str, int]) -> None:
    clients = managed.clients
    page.add("rabbitmq_connections", sum(1 for _ in clients.connections()) if clients else 0)
    page.add("rabbitmq_channels", sum(1 for _ in clients.channels()) if clients else 0)
    page.add("rabbitmq_consumers", sum(1 for _ in clients.consumers()) if clients else 0)
    page.add("rabbitmq_queues", sum(len(part.queues) for part in managed.topology.graph))
    streams = sum(info.twin is not None for part in managed.topology.graph for info in part.queues.values())
    page.add("twinlog_streams", streams)
    if managed.messages is not None:
        figures = managed.messages.stream_figures()
        page.add("twinlog_stream_consumers", figures.consumers)
        page.add("twinlog_stream_messages_refused_total", figures.refused)
        page.add("twinlog_stream_cache_bytes", figures.cache_bytes)
    for name in ("connections", "channels"):
        page.add(f"rabbitmq_{name}_opened_total", totals.get(f"{name[:-1]}_created", 0))
        page.add(f"rabbitmq_{name}_closed_total", totals.get(f"{name[:-1]}_closed", 0))
    delivered = sum(totals.get(name, 0) for name in ("deliver", "deliver_no_ack", "get", "get_no_ack"))
    for name, value in (
        ("received", totals.get("publish", 0)),
        ("confirmed", totals.get("confirm", 0)),
        ("unroutable_dropped", totals.get("drop_unroutable", 0)),
        ("unroutable_returned", totals.get("return_unroutable", 0)),
        ("delivered", delivered),
        ("delivered_consume_manual_ack", totals.get("deliver", 0)),
        ("delivered_consume_auto_ack", totals.get("deliver_no_ack", 0)),
        ("delivered_get_manual_ack", totals.get("get", 0)),
        ("delivered_get_auto_ack", totals.get("get_no_ack", 0)),
        ("redelivered", totals.get("redeliver", 0)),
        ("acknowledged", totals.get("ack", 0)),
    ):
        page.add(f"rabbitmq_global_messages_{name}_total", value, protocol="amqp091")


def add_queue_totals(page: Page, totals: Mapping[str, int]) -> None:
    """Not beside lines per queue: whoever sums them would count everything twice."""
    ready, unacked = totals.get("ready", 0), totals.get("unacked", 0)
    page.add("rabbitmq_queue_messages", ready + unacked)
    page.add("rabbitmq_queue_messages_ready", ready)
    page.add("rabbitmq_queue_messages_unacked", unacked)


def open_transactions(managed: Managed) -> int:
    shards = managed.broker.transactions.topic.runtime.active_shards()
    return sum(
        1
        for shard in shards
        for each in shard.machine.transactions.values()
        if each.state is TransactionState.ONGOING or each.state.is_decided
    )


def group_lags(managed: Managed) -> Iterator[tuple[str, str, int]]:
    """(group, topic, lag) of every topic that a group has committed offsets in."""
    partitions = managed.broker.partitions
    for shard in managed.broker.groups.topic.runtime.active_shards():
        for group, places in shard.machine.offsets.by_group.items():
            lags: dict[str, int] = {}
            for (topic, index), committed in places.items():
                partition = partitions.get(topic, index)
                if partition is not None:
                    lags[topic] = lags.get(topic, 0) + max(0, partition.high_watermark - committed.offset)
            for topic, lag in lags.items():
                yield group, topic, lag


# ---- one by one -----------------------------------------------------------------------------------------------------


@routes.get("/metrics/per-object", MONITOR, "Metrics with lines for each queue, topic and group, up to a limit.")
async def per_object(managed: Managed, request: Request) -> Response:
    await managed.pipelines.read()
    page = Page()
    add_node(managed, page, one_by_one=True)
    most = managed.settings.metric_labels_max
    left_out = 0
    queues = [info for part in managed.topology.graph for info in part.queues.values()]
    queues.sort(key=lambda info: info.twin is not None)  # streams have lines as topics, too
    for at, info in enumerate(queues[:most]):
        if at % ITEMS_A_TURN == ITEMS_A_TURN - 1:
            await breath(managed.tasks)
        status = queue_status(managed, info)
        for name, read in PER_QUEUE:
            page.add(f"rabbitmq_queue_{name}", read(status), vhost=info.vhost, queue=info.name)
    left_out += max(0, len(queues) - most)
    topics = managed.image.topics_by_name
    for name in islice(topics, most):
        partitions = managed.broker.partitions.of_topic(name) or ()
        page.add("twinlog_topic_records_total", sum(each.log.offset_end for each in partitions), topic=name)
        page.add("twinlog_topic_size_bytes", sum(each.log.size_bytes for each in partitions), topic=name)
    left_out += max(0, len(topics) - most)
    for at, (group, topic, lag) in enumerate(group_lags(managed)):
        if at >= most:
            left_out += 1
        else:
            page.add("twinlog_group_lag", lag, group=group, topic=topic)
    for report in managed.pipelines.reports.values():
        if report["lag"] is not None:
            page.add("twinlog_pipeline_lag", report["lag"], pipeline=report["name"])
    page.add("twinlog_metric_objects_left_out", left_out)
    return page.response()


@routes.get(
    "/metrics/detailed",
    MONITOR,
    "RabbitMQ's metrics of single queues: families queue_coarse_metrics, queue_metrics, queue_consumer_count.",
    query=(
        ("family", "which"),
        ("vhost", "only this vhost"),
        ("queue", "only queues that this RE2 expression finds"),
    ),
)
async def detailed(managed: Managed, request: Request) -> Response:
    page = Page()
    fits = pattern(request.query["queue"]) if request.query.get("queue") else lambda name: True
    vhost = request.query.get("vhost")
    infos: Iterable[Any] = (
        info
        for part in managed.topology.graph
        if vhost in (None, part.name)
        for info in part.queues.values()
        if fits(info.name)
    )
    family = request.query.get("family", "")
    names = ("consumers",) if family == "queue_consumer_count" else tuple(name for name, _ in PER_QUEUE)
    if not family.startswith("queue"):
        infos = ()
    for at, info in enumerate(islice(infos, managed.settings.metric_labels_max)):
        if at % ITEMS_A_TURN == ITEMS_A_TURN - 1:
            await breath(managed.tasks)
        status = queue_status(managed, info)
        for name, read in PER_QUEUE:
            if name in names:
                told = "Of a queue; see rabbitmq_queue_" + name + "."
                labels = {"vhost": info.vhost, "queue": info.name}
                page.put(f"rabbitmq_detailed_queue_{name}", GAUGE, told, read(status), labels)
    return page.response()
