"""Metrics as Prometheus reads them: every family there is, and the page they are written on.

Every family is declared once, in ``FAMILIES``; ``docs/operate/metrics.md`` is made from that, and a value of an
undeclared family is a bug.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from twinlog.base.metrics import Histogram
from twinlog.servers.http.message import Response

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
