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
    """``counters`` name attributes of the rooms' metrics."""

    title: str
    answer: str
    settings: tuple[str, ...]
    counters: tuple[str, ...] = ()


LIMITS: Final = (
    Limit(
        "The disk is nearly full",
        "Produce requests are refused with KAFKA_STORAGE_ERROR and a message that says why. All clients tried "
        "(librdkafka, "
        "kafka-python, aiokafka; Java takes the code for retriable, too) wait and send again within their "
        "delivery timeout, "
        "so a producer sees a pause and no error if there is room in time. Reading, deleting, retention and "
        "group offsets "
        "go on. AMQP publishers are not read; their mark is a setting of its own. Records are taken again once a "
        "sixteenth more than the mark is free.",
        ("storage.disk_low_bytes", "storage.disk_low_percent", "amqp.disk_free_min_bytes"),
        ("writes_refused",),
    ),
    Limit(
        "The disk is full",
        "A write that meets the end of the disk is cut back to the last whole batch and refused as above; "
        "nothing that was "
        "acknowledged is touched. Compaction pauses for a minute.",
        (),
        ("compactions_failed",),
    ),
    Limit(
        "Memory is short",
        "When the process holds more than its share, each produce request is answered with a throttle time of "
        "200 ms and "
        "its connection not read for so long, and AMQP publishers are not read. At a third more than that, new "
        "connections are turned away. Consumers, and acknowledgements of consumers, are never held up.",
        ("amqp.memory_alarm_bytes",),
        ("memory_delays", "connections_turned_away"),
    ),
    Limit(
        "Many connections",
        "Above the limit, or above 80 % of the files and connections that the process may have open, new "
        "connections are "
        "closed at once, and the log says so.",
        ("kafka.connections_max", "kafka.connections_per_address_max"),
        ("connections_turned_away",),
    ),
    Limit(
        "A storm of new connections",
        "With a quota `connections` of an address, connections that come too fast are accepted and not read "
        "until their "
        "turn, for at most 10 s.",
        (),
        ("connections_throttled",),
    ),
    Limit(
        "A peer that says nothing, or little at a time",
        "The connection is closed. Memory follows the bytes that came, never a length that a peer declares.",
        (
            "kafka.first_request_max_ms",
            "kafka.connection_idle_max_ms",
            "kafka.request_size_before_login_max_bytes",
        ),
    ),
    Limit(
        "A large request, or a batch that inflates to a large one",
        "A longer request closes its connection; a batch that inflates beyond the limit is refused as too large.",
        ("kafka.request_size_max_bytes", "kafka.batch_inflated_max_bytes"),
    ),
    Limit(
        "A reader that does not take what we send",
        "With 1 MiB waiting for it its requests are not read any more; if it takes nothing for the time given it "
        "is cut.",
        ("kafka.slow_reader_max_ms", "kafka.fetch_size_max_bytes"),
        ("slow_readers_closed",),
    ),
    Limit(
        "A producer that is faster than the disk",
        "So many requests of a connection may wait for the disk; then it is not read.",
        ("kafka.produces_in_flight_max",),
    ),
    Limit(
        "Too much for a quota",
        "The answer leaves at once and says how long the client has to be quiet; for so long its connection is "
        "not read. "
        "Over half a minute a client gets its quota within 5 %. Requests of groups are never held up by quotas "
        "of bytes.",
        (),
        (
            "produce_throttled",
            "produce_throttled_ms",
            "fetch_throttled",
            "fetch_throttled_ms",
            "requests_throttled",
            "requests_throttled_ms",
        ),
    ),
    Limit(
        "Many keys in a compacted topic",
        "The map of keys is bounded; a log with more keys is compacted in several passes. Compaction works on "
        "one log at a "
        "time, at most at the given rate.",
        ("storage.compaction_map_bytes", "storage.compaction_bytes_per_second_max"),
        ("compactions", "compaction_bytes_before", "compaction_bytes_after"),
    ),
    Limit(
        "Many open files",
        "The least used segment files are closed and opened again when somebody asks.",
        ("storage.files_open_max", "storage.files_idle_close_ms"),
    ),
    Limit(
        "Many idempotent producers",
        "The longest silent one is forgotten; when it comes back it takes a new epoch and goes on.",
        ("storage.producer_ids_max", "storage.producer_id_expiration_ms"),
    ),
    Limit(
        "Many transactional ids",
        "A producer with an id that is not known yet is refused with POLICY_VIOLATION, which clients do not retry; "
        "those with known ids go on. An id that was unused for the time given is forgotten, and makes room for "
        "another one. Programs that make up an id at each start are what fills this: they should keep theirs.",
        ("transactions.ids_max", "transactions.id_expiration_ms", "transactions.id_expiry_check_ms"),
        ("transactional_ids_refused",),
    ),
    Limit(
        "A group with many members, or with much to say",
        "One more member, or more bytes of subscriptions and assignments, is refused with GROUP_MAX_SIZE_REACHED; the "
        "group goes on as it is.",
        ("groups.size_max", "groups.consumer_size_max", "groups.metadata_max_bytes"),
    ),
    Limit(
        "Many fetch sessions",
        "A client without one sends all its partitions again.",
        ("kafka.fetch_sessions_max", "kafka.fetch_session_partitions_max"),
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
        if limit.counters:
            yield f"\nCounted in {', '.join(f'`{name}`' for name in limit.counters)}.\n"
