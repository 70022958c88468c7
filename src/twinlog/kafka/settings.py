"""What the Kafka side of a node can be told."""

from __future__ import annotations

from dataclasses import dataclass

from twinlog.base.settings import setting
from twinlog.base.units import DAY_MS, GIB, HOUR_MS, KIB, MIB, MINUTE_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSettings:
    """Limits and defaults of the Kafka port. Topics have their own settings: see ``topic_configs``."""

    request_size_max_bytes: int = setting(
        100 * MIB, unit="bytes", min=64 * KIB, max=GIB, doc="A longer request closes its connection."
    )
    request_size_before_login_max_bytes: int = setting(
        64 * KIB,
        unit="bytes",
        min=KIB,
        max=MIB,
        doc="The same limit for a connection that has to log in and has not done so yet.",
    )
    batch_inflated_max_bytes: int = setting(
        64 * MIB,
        unit="bytes",
        min=MIB,
        max=GIB,
        doc="A compressed batch that inflates beyond this is refused as too large.",
    )
    fetch_size_max_bytes: int = setting(
        55 * MIB,
        unit="bytes",
        min=KIB,
        max=GIB,
        doc="One fetch answers with at most about this much, whatever it asks.",
    )
    fetch_sessions_max: int = setting(
        1000,
        min=0,
        max=100_000,
        doc="Fetch sessions kept at a time; a client without one sends all its partitions again.",
    )
    fetch_session_partitions_max: int = setting(
        200_000, min=0, max=10_000_000, doc="Partitions in all fetch sessions together; beyond it no session is made."
    )
    fetch_session_protected_ms: int = setting(
        2 * MINUTE_MS,
        unit="ms",
        min=0,
        max=DAY_MS,
        doc="A fetch session used or made more recently than this does not yield its place to another.",
    )
    produces_in_flight_max: int = setting(
        1000, min=1, max=100_000, doc="Produce requests of one connection that wait for the disk; then it is not read."
    )
    connections_max: int = setting(
        10_000, min=1, max=1_000_000, doc="Open connections of one listener; more are closed at once."
    )
    connections_per_address_max: int = setting(
        1000, min=1, max=1_000_000, doc="Open connections from one network address; more are closed at once."
    )
    slow_reader_max_ms: int = setting(
        MINUTE_MS,
        unit="ms",
        min=1000,
        max=HOUR_MS,
        doc="A connection whose peer takes nothing of what waits for it for this long, while more than 1 MiB waits, is "
        "closed. Until then its requests are not read.",
    )
    connection_idle_max_ms: int = setting(
        10 * MINUTE_MS, unit="ms", min=1000, max=DAY_MS, doc="A connection that sends nothing for this long is closed."
    )
    first_request_max_ms: int = setting(
        10_000, unit="ms", min=100, max=HOUR_MS, doc="A new connection has to send its first whole request within this."
    )
