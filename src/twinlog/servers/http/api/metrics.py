"""Metrics for Prometheus: RabbitMQ's names, as its dashboards use them, and ours for Kafka's side and the node.

Every family is declared once, in ``FAMILIES``; the page ``docs/operate/metrics.md`` is made from that, and a value of
an undeclared family is a bug. Labels are bounded: their values are our own words, except in the lines per queue, topic
and group, of which there are at most as many as a setting says; how many were left out is a metric, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from twinlog.amqp.ports import QueueStatus
from twinlog.base.metrics import Histogram
from twinlog.kafka.transactions import TransactionState
from twinlog.servers.http.api.overview import RABBITMQ_VERSION, alarms
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

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
COUNTER: Final = "counter"
GAUGE: Final = "gauge"
HISTOGRAM: Final = "histogram"


PER_QUEUE_LABELS: Final = ("vhost", "queue")


class Family(NamedTuple):
    """``labels`` of queues, topics and groups are only in /metrics/per-object; ``per_object``: the whole family is."""

    name: str
    kind: str
    help: str
    labels: tuple[str, ...] = ()
    per_object: bool = False


def _global(name: str, told: str) -> Family:
    return Family(f"rabbitmq_global_messages_{name}_total", COUNTER, told, ("protocol",))


STORAGE: Final = (
    ("twinlog_storage_writes_refused_total", COUNTER, "Batches refused because the disk is low.", "writes_refused"),
    ("twinlog_storage_segments_expired_total", COUNTER, "Segments deleted by age or size.", "segments_expired"),
    ("twinlog_storage_bytes_expired_total", COUNTER, "Bytes of those segments.", "bytes_expired"),
    ("twinlog_compactions_total", COUNTER, "Passes of compaction that reached their end.", "compactions"),
    ("twinlog_compactions_failed_total", COUNTER, "Passes that did not.", "compactions_failed"),
    (
        "twinlog_compaction_bytes_before_total",
        COUNTER,
        "Bytes of the segments that compaction replaced.",
        "compaction_bytes_before",
    ),
    (
        "twinlog_compaction_bytes_after_total",
        COUNTER,
        "Bytes of the segments that it put in their place.",
        "compaction_bytes_after",
    ),
    ("twinlog_compaction_records_read_total", COUNTER, "Records that compaction read.", "compaction_records_read"),
    ("twinlog_compaction_records_kept_total", COUNTER, "Records that it kept.", "compaction_records_kept"),
    (
        "twinlog_logs_uncompactable",
        GAUGE,
        "Logs left alone until the next start: something in them is damaged.",
        "logs_uncompactable",
    ),
)
"""What ``StorageMetrics`` counts: the metric, and the name it has there."""

FAMILIES: Final[dict[str, Family]] = {
    family.name: family
    for family in (
        # RabbitMQ's.
        Family(
            "rabbitmq_identity_info",
            GAUGE,
            "Always 1; the labels say which node this is.",
            ("rabbitmq_node", "rabbitmq_cluster", "rabbitmq_cluster_permanent_id", "rabbitmq_endpoint"),
        ),
        Family(
            "rabbitmq_build_info",
            GAUGE,
            "Always 1; the labels say which release this is, and of which RabbitMQ it has the manners.",
            ("rabbitmq_version", "product_name", "product_version", "erlang_version"),
        ),
        Family("rabbitmq_connections", GAUGE, "Open AMQP connections."),
        Family("rabbitmq_channels", GAUGE, "Open channels."),
        Family("rabbitmq_consumers", GAUGE, "Registered consumers."),
        Family("rabbitmq_queues", GAUGE, "Queues in all vhosts."),
        Family("rabbitmq_queue_messages", GAUGE, "Messages, ready and unacked.", PER_QUEUE_LABELS),
        Family("rabbitmq_queue_messages_ready", GAUGE, "Messages that wait for a consumer.", PER_QUEUE_LABELS),
        Family("rabbitmq_queue_messages_unacked", GAUGE, "Messages delivered and not acknowledged.", PER_QUEUE_LABELS),
        Family("twinlog_streams", GAUGE, "Stream queues: partitions of topics that AMQP sees."),
        Family("twinlog_stream_consumers", GAUGE, "AMQP consumers of streams."),
        Family("twinlog_stream_messages_refused_total", COUNTER, "Published messages that a stream did not take."),
        Family("twinlog_stream_cache_bytes", GAUGE, "Memory of what was read from streams a moment ago."),
        Family("rabbitmq_connections_opened_total", COUNTER, "AMQP connections opened since the start."),
        Family("rabbitmq_connections_closed_total", COUNTER, "AMQP connections closed since the start."),
        Family("rabbitmq_channels_opened_total", COUNTER, "Channels opened since the start."),
        Family("rabbitmq_channels_closed_total", COUNTER, "Channels closed since the start."),
        _global("received", "Messages that clients published."),
        _global("confirmed", "Publisher confirms sent."),
        _global("unroutable_dropped", "Messages that no binding took, dropped."),
        _global("unroutable_returned", "Messages that no binding took, returned to their publisher."),
        _global("delivered", "Messages given to clients, by any way."),
        _global("delivered_consume_manual_ack", "Messages given to consumers that acknowledge."),
        _global("delivered_consume_auto_ack", "Messages given to consumers that do not."),
        _global("delivered_get_manual_ack", "Messages taken by basic.get, to be acknowledged."),
        _global("delivered_get_auto_ack", "Messages taken by basic.get for good."),
        _global("redelivered", "Messages given again."),
        _global("acknowledged", "Messages that clients acknowledged."),
        Family("rabbitmq_process_resident_memory_bytes", GAUGE, "Memory of the process."),
        Family("rabbitmq_resident_memory_limit_bytes", GAUGE, "Above this the memory alarm holds publishers back."),
        Family("rabbitmq_disk_space_available_bytes", GAUGE, "Free space of the fullest data directory."),
        Family("rabbitmq_disk_space_available_limit_bytes", GAUGE, "Below this the disk alarm holds publishers back."),
        Family("rabbitmq_process_open_fds", GAUGE, "Open descriptors."),
        Family("rabbitmq_process_max_fds", GAUGE, "Descriptors that may be open."),
        Family("rabbitmq_process_open_tcp_sockets", GAUGE, "Open connections of all protocols."),
        Family("rabbitmq_alarms_memory_used_watermark", GAUGE, "1 while the memory alarm is on."),
        Family("rabbitmq_alarms_free_disk_space_watermark", GAUGE, "1 while the disk alarm is on."),
        # Kafka's side.
        Family("twinlog_kafka_connections", GAUGE, "Open Kafka connections."),
        Family("twinlog_kafka_records_total", COUNTER, "Records in all logs: the sum of their end offsets."),
        Family("twinlog_kafka_bytes_in_total", COUNTER, "Bytes of record batches appended since the start."),
        Family(
            "twinlog_kafka_request_seconds",
            HISTOGRAM,
            "From a request's bytes to its answer, by API. Fetches wait for data on purpose.",
            ("api",),
        ),
        Family("twinlog_kafka_throttled_total", COUNTER, "Clients told to be quiet for a while, by quota.", ("quota",)),
        Family(
            "twinlog_kafka_throttled_seconds_total", COUNTER, "For how long they were told to be quiet.", ("quota",)
        ),
        Family("twinlog_kafka_connections_broken_off_total", COUNTER, "Closed because the peer broke the rules."),
        Family("twinlog_kafka_fetch_sessions", GAUGE, "Fetch sessions that are kept."),
        Family("twinlog_kafka_memory_delays_total", COUNTER, "Produce requests slowed down: memory was short."),
        Family("twinlog_kafka_slow_readers_closed_total", COUNTER, "Peers parted from: they took nothing."),
        Family("twinlog_transactions_open", GAUGE, "Transactions that are not ended."),
        Family("twinlog_transactional_ids", GAUGE, "Transactional ids that are remembered."),
        Family("twinlog_transactional_ids_refused_total", COUNTER, "Producers refused: too many ids are remembered."),
        Family("twinlog_producers", GAUGE, "Idempotent producers that logs remember; one counts in each log."),
        Family("twinlog_topics", GAUGE, "Topics, the broker's own included."),
        Family("twinlog_partitions", GAUGE, "Partitions."),
        Family("twinlog_partitions_offline", GAUGE, "Partitions without a leader: somebody has to look."),
        Family("twinlog_log_size_bytes", GAUGE, "Size of all partition logs."),
        Family("twinlog_groups", GAUGE, "Consumer groups."),
        Family("twinlog_group_lag_max", GAUGE, "The greatest lag of any group."),
        Family("twinlog_pipelines", GAUGE, "Pipelines on Spark, by the state they last reported.", ("state",)),
        Family("twinlog_pipeline_reports_bad_total", COUNTER, "Records in the pipelines' topic that are no reports."),
        # Storage.
        *(Family(name, kind, told) for name, kind, told, _ in STORAGE),
        # The node.
        Family("twinlog_sync_seconds", HISTOGRAM, "How long a sync of the disk took; every confirm waits for one."),
        Family("twinlog_sync_rounds_total", COUNTER, "Rounds of group commit."),
        Family("twinlog_loop_stall_seconds", HISTOGRAM, "How late the loop came to a timer: what clients wait beside."),
        Family("twinlog_http_requests_total", COUNTER, "HTTP requests, by class of status.", ("part", "status")),
        Family("twinlog_http_logins_failed_total", COUNTER, "Failed logins at the HTTP side."),
        Family("twinlog_connections_turned_away_total", COUNTER, "Closed at once: too many, or memory scarce."),
        Family("twinlog_connections_memory_bytes", GAUGE, "What connections hold in memory."),
        Family("twinlog_connections_memory_limit_bytes", GAUGE, "What they may hold; 0 where nobody knows."),
        Family("twinlog_connection_memory_largest_bytes", GAUGE, "What the one that holds most holds."),
        Family("twinlog_connections_closed_for_memory_total", COUNTER, "Closed because of the memory they held."),
        Family("twinlog_segment_files_open", GAUGE, "Open files of segments."),
        Family("twinlog_uptime_seconds", GAUGE, "Since the start."),
        Family("twinlog_cpu_seconds_total", COUNTER, "CPU time of the process."),
        Family("twinlog_alarms", GAUGE, "Alarms that are on."),
        Family("twinlog_metric_objects_left_out", GAUGE, "Queues, topics and groups without lines, beyond the limit."),
        # One by one.
        Family("rabbitmq_queue_consumers", GAUGE, "Consumers of a queue.", PER_QUEUE_LABELS, True),
        Family("rabbitmq_queue_messages_bytes", GAUGE, "Bytes of a queue's ready messages.", PER_QUEUE_LABELS, True),
        Family("twinlog_topic_records_total", COUNTER, "Records in a topic: its end offsets.", ("topic",), True),
        Family("twinlog_topic_size_bytes", GAUGE, "Size of a topic's logs.", ("topic",), True),
        Family("twinlog_group_lag", GAUGE, "Records that a group has yet to read.", ("group", "topic"), True),
        Family("twinlog_pipeline_lag", GAUGE, "Records that a pipeline has yet to read.", ("pipeline",), True),
    )
}
PER_QUEUE: Final[tuple[tuple[str, Callable[[QueueStatus], int]], ...]] = (
    ("messages", lambda status: status.ready + status.unacked),
    ("messages_ready", lambda status: status.ready),
    ("messages_unacked", lambda status: status.unacked),
    ("messages_bytes", lambda status: status.ready_bytes),
    ("consumers", lambda status: status.consumers),
)


class Page:
    """Lines of one answer, each family's together."""

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {}

    def add(self, name: str, value: float, **labels: str) -> None:
        assert name in FAMILIES, name
        self.put(name, FAMILIES[name].kind, FAMILIES[name].help, value, labels)

    def put(self, name: str, kind: str, told: str, value: float, labels: Mapping[str, str]) -> None:
        lines = self._lines.get(name)
        if lines is None:
            lines = self._lines[name] = [f"# HELP {name} {told}", f"# TYPE {name} {kind}"]
        lines.append(f"{name}{label_text(labels)} {number_text(value)}")

    def add_histogram(self, name: str, histogram: Histogram, **labels: str) -> None:
        family = FAMILIES[name]
        lines = self._lines.setdefault(name, [f"# HELP {name} {family.help}", f"# TYPE {name} {HISTOGRAM}"])
        for bound, count in histogram.cumulated():
            edge = "+Inf" if bound is None else number_text(bound)
            lines.append(f"{name}_bucket{label_text({**labels, 'le': edge})} {count}")
        lines.append(f"{name}_sum{label_text(labels)} {number_text(histogram.sum_us / 1_000_000)}")
        lines.append(f"{name}_count{label_text(labels)} {histogram.count}")

    def response(self) -> Response:
        lines = [line for lines in self._lines.values() for line in lines]
        return Response(200, ("\n".join(lines) + "\n").encode(errors="replace"), CONTENT_TYPE)


def label_text(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = ",".join(f'{name}="{escaped(value)}"' for name, value in labels.items())
    return "{" + pairs + "}"


def escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def number_text(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.9g}"


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
