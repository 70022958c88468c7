"""The page about limits, made from the settings: ``docs/operate/limits.md``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from twinlog.app.settings import ENTRIES

HEAD: Final = """# Limits, and what happens at each

Made from the program by `make docs`: change the declarations, not this page.

Every queue in a node has a limit, and every limit an answer. No limit needs a restart to be left: as soon as the
cause is gone, things go on by themselves. Settings are explained in [settings](settings.md); `twinlog doctor` looks at
what the machine gives and says what to do. Limits for single users, clients and addresses are quotas: `twinlog quota`.
"""


class Limit(NamedTuple):
    """``metrics`` name families of ``/metrics``."""

    title: str
    answer: str
    settings: tuple[str, ...]
    metrics: tuple[str, ...]


LIMITS: Final = (
    Limit(
        "The disk is nearly full",
        "Produce requests are refused with KAFKA_STORAGE_ERROR and a message that says why. All clients tried "
        "(librdkafka, kafka-python, aiokafka; Java takes the code for retriable, too) wait and send again within their "
        "delivery timeout, so a producer sees a pause and no error if there is room in time. Reading, deleting, "
        "retention and group offsets go on. AMQP publishers are not read; their mark is a setting of its own. Records "
        "are taken again once a sixteenth more than the mark is free.",
        ("storage.disk_low_bytes", "storage.disk_low_percent", "amqp.disk_free_min_bytes"),
        ("twinlog_storage_writes_refused_total", "rabbitmq_alarms_free_disk_space_watermark"),
    ),
    Limit(
        "The disk is full",
        "A write that meets the end of the disk is cut back to the last whole batch and refused as above; nothing that "
        "was acknowledged is touched. Compaction pauses for a minute. What AMQP publishers had sent already waits in "
        "memory for room, and its confirms with it; what comes after is refused by a nack, behind those. Deleting "
        "goes on: a file that only takes room is given back when even the few bytes that it needs are missing.",
        ("storage.reserve_bytes", "storage.ballast_bytes"),
        ("twinlog_storage_writes_refused_total", "twinlog_compactions_failed_total"),
    ),
    Limit(
        "The process holds much memory",
        "When it holds more than its share, each produce request is answered with a throttle time of 200 ms and its "
        "connection not read for so long, and AMQP connections that published are told so (`connection.blocked`) and "
        "not read. At a third more than that, new connections are turned away. Those that only consume, and their "
        "acknowledgements, are never held up: consume on another connection than you publish on.",
        ("amqp.memory_alarm_bytes",),
        (
            "rabbitmq_alarms_memory_used_watermark",
            "twinlog_kafka_memory_delays_total",
            "twinlog_connections_turned_away_total",
        ),
    ),
    Limit(
        "Connections hold much memory",
        "Each connection has an account: its read buffer with half-read requests, answers that its peer does not take, "
        "messages of which a part is missing, and what waits for the disk or for its turn on its behalf. All together "
        "have a limit. From 60 % of it on producers are slowed down and publishers not read, as above; from 80 % on "
        "nobody new comes in; and at all of it the connections that hold most are closed, until 80 % are left. A "
        "single connection that holds more than one may is closed as well. `memory` of a connection in the HTTP API "
        "is its account. The HTTP side lets people in all the time: somebody has to be able to look.",
        ("memory.connections_max_bytes", "memory.connection_max_bytes"),
        (
            "twinlog_connections_memory_bytes",
            "twinlog_connections_memory_limit_bytes",
            "twinlog_connection_memory_largest_bytes",
            "twinlog_connections_closed_for_memory_total",
        ),
    ),
    Limit(
        "Many connections",
        "Above the limit of a listener, or when Kafka and AMQP clients together have 80 % of the files and connections "
        "that the process may have open, new connections are closed at once, and the log says so.",
        (
            "kafka.connections_max",
            "kafka.connections_per_address_max",
            "amqp.connections_max",
            "amqp.connections_per_address_max",
            "amqp.handshakes_per_address_max",
            "http.connections_max",
            "http.connections_per_address_max",
        ),
        (
            "twinlog_connections_turned_away_total",
            "twinlog_kafka_connections",
            "rabbitmq_connections",
            "rabbitmq_process_max_fds",
        ),
    ),
    Limit(
        "A storm of new connections",
        "With a quota `connections` of an address, connections that come too fast are accepted and not read until "
        "their turn, for at most 10 s. At the AMQP side a refused login is answered after a while.",
        ("amqp.login_failure_delay_ms",),
        ("twinlog_kafka_throttled_total",),
    ),
    Limit(
        "A peer that says nothing, or little at a time",
        "The connection is closed. Memory follows the bytes that came, never a length that a peer declares.",
        (
            "kafka.first_request_max_ms",
            "kafka.connection_idle_max_ms",
            "kafka.request_size_before_login_max_bytes",
            "amqp.handshake_max_ms",
            "amqp.heartbeat_s",
            "http.header_wait_max_ms",
            "http.body_wait_max_ms",
            "http.idle_max_ms",
        ),
        ("twinlog_kafka_connections_broken_off_total", "rabbitmq_connections_closed_total"),
    ),
    Limit(
        "A large request or message, or a batch that inflates to a large one",
        "A longer Kafka request closes its connection; a batch that inflates beyond the limit is refused as too large, "
        "and so is one above the topic's `max.message.bytes`. A larger AMQP message closes its channel with 406. A "
        "larger HTTP request is answered with 413 or 431.",
        (
            "kafka.request_size_max_bytes",
            "kafka.batch_inflated_max_bytes",
            "amqp.message_size_max_bytes",
            "amqp.frame_size_max_bytes",
            "http.header_size_max_bytes",
            "http.body_size_max_bytes",
            "http.upload_size_max_bytes",
        ),
        ("twinlog_kafka_connections_broken_off_total", "twinlog_http_requests_total"),
    ),
    Limit(
        "A reader that does not take what we send",
        "With so much waiting for it its requests are not read any more, and its consumers get nothing more; if it "
        "takes nothing for the time given it is cut.",
        (
            "memory.send_queue_max_bytes",
            "kafka.slow_reader_max_ms",
            "kafka.fetch_size_max_bytes",
            "amqp.send_stalled_max_ms",
        ),
        ("twinlog_kafka_slow_readers_closed_total", "twinlog_connection_memory_largest_bytes"),
    ),
    Limit(
        "A producer that is faster than the disk",
        "So many requests of a Kafka connection, so many bytes of an AMQP connection may wait for the disk; then it is "
        "not read.",
        ("kafka.produces_in_flight_max", "amqp.unsynced_max_bytes"),
        ("twinlog_sync_seconds",),
    ),
    Limit(
        "Too much for a quota",
        "The answer leaves at once and says how long the client has to be quiet; for so long its connection is not "
        "read. Over half a minute a client gets its quota within 5 %. Requests of groups are never held up by quotas "
        "of bytes.",
        (),
        ("twinlog_kafka_throttled_total", "twinlog_kafka_throttled_seconds_total"),
    ),
    Limit(
        "Many partitions made and deleted",
        "With a quota `mutations` of a user or client id, requests that make or delete partitions faster than that "
        "are refused with THROTTLING_QUOTA_EXCEEDED, topic by topic; older clients, which do not know the error, are "
        "only told to be quiet. What eleven seconds bring may be used at once.",
        (),
        ("twinlog_kafka_throttled_total", "twinlog_kafka_throttled_seconds_total"),
    ),
    Limit(
        "Many partitions",
        "A topic, or more partitions, beyond what a node or a topic may have are refused with POLICY_VIOLATION and a "
        "message that names the limit.",
        ("topics.partitions_max", "topics.partitions_per_topic_max"),
        ("twinlog_partitions",),
    ),
    Limit(
        "Many queues",
        "Declaring another queue is refused with 406. A vhost can have a smaller limit (`max-queues`).",
        ("amqp.queues_max",),
        ("rabbitmq_queues",),
    ),
    Limit(
        "Many channels and consumers of a connection",
        "Another channel than was agreed on closes the connection with 530, another consumer closes its channel. A "
        "user can have smaller limits of connections and channels (`max-connections`, `max-channels`), a vhost of "
        "connections.",
        ("amqp.channels_max", "amqp.consumers_max"),
        ("rabbitmq_channels", "rabbitmq_consumers"),
    ),
    Limit(
        "Many groups, large groups",
        "A new group, or a new member, is refused with GROUP_MAX_SIZE_REACHED, and so is a member whose metadata is "
        "too much for its group. Groups go when their offsets have expired.",
        (
            "groups.groups_max",
            "groups.size_max",
            "groups.consumer_size_max",
            "groups.metadata_max_bytes",
            "groups.offset_metadata_max_bytes",
        ),
        ("twinlog_groups",),
    ),
    Limit(
        "Long transactions",
        "A producer that asks for a longer timeout is refused; a transaction that is open for longer than its timeout "
        "is aborted. A request that meets the end of the one before waits so long for it.",
        ("transactions.timeout_max_ms", "transactions.end_wait_max_ms"),
        ("twinlog_transactions_open",),
    ),
    Limit(
        "A long journal of queues",
        "Messages that stay move to files of their own queue.",
        ("queues.journal_files_max",),
        ("rabbitmq_queue_messages_ready",),
    ),
    Limit(
        "Many people who look",
        "Another stream of live figures is refused with 503. Queues and topics beyond the number of lines are left "
        "out of `/metrics/per-object`, and counted. Lines of the log that one peer causes are limited, too.",
        ("http.event_streams_max", "http.metric_labels_max", "log.peer_lines_max"),
        ("twinlog_metric_objects_left_out", "twinlog_http_requests_total"),
    ),
    Limit(
        "Many keys in a compacted topic",
        "The map of keys is bounded; a log with more keys is compacted in several passes. Compaction works on one log "
        "at a time, at most at the given rate.",
        ("storage.compaction_map_bytes", "storage.compaction_bytes_per_second_max"),
        (
            "twinlog_compactions_total",
            "twinlog_compaction_bytes_before_total",
            "twinlog_compaction_bytes_after_total",
        ),
    ),
    Limit(
        "Many open files",
        "The least used segment files are closed and opened again when somebody asks.",
        ("storage.files_open_max", "storage.files_idle_close_ms"),
        ("twinlog_segment_files_open", "rabbitmq_process_open_fds"),
    ),
    Limit(
        "Many idempotent producers",
        "The longest silent one is forgotten; when it comes back it takes a new epoch and goes on.",
        ("storage.producer_ids_max", "storage.producer_id_expiration_ms"),
        ("twinlog_producers",),
    ),
    Limit(
        "Many transactional ids",
        "A producer with an id that is not known yet is refused with POLICY_VIOLATION (librdkafka asks again until the "
        "time of its call is over, and then names it); those with known ids go on. An id that was unused for the time "
        "given is forgotten, and makes room for another one. Programs that make up an id at each start are what fills "
        "this: they should keep theirs.",
        ("transactions.ids_max", "transactions.id_expiration_ms", "transactions.id_expiry_check_ms"),
        ("twinlog_transactional_ids", "twinlog_transactional_ids_refused_total"),
    ),
    Limit(
        "Many fetch sessions",
        "A client without one sends all its partitions again.",
        ("kafka.fetch_sessions_max", "kafka.fetch_session_partitions_max"),
        ("twinlog_kafka_fetch_sessions",),
    ),
)


def limits_page() -> str:
    return HEAD + "".join(sections())


def sections() -> Iterator[str]:
    for limit in LIMITS:
        yield f"\n## {limit.title}\n\n{limit.answer}\n"
        if limit.settings:
            yield "\n| setting | default |\n| --- | --- |\n"
            for key in limit.settings:
                setting = ENTRIES[key].setting
                yield f"| `{key}` | {setting.show(setting.default)} |\n"
        yield f"\nTo be seen in {', '.join(f'`{name}`' for name in limit.metrics)}.\n"
