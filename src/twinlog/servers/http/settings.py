"""What the HTTP side can be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from twinlog.base.settings import Form, setting
from twinlog.base.units import KIB, MIB


def is_origin(text: str) -> bool:
    scheme, separator, rest = text.partition("://")
    return bool(separator) and scheme in ("http", "https") and bool(rest) and not set(rest) & set("/*?# ")


ORIGINS: Final = Form("a list of origins like https://console.example.org; * is none", lambda o: all(map(is_origin, o)))
HOSTS: Final = Form("a list of host names without ports", lambda names: all(name and ":" not in name for name in names))


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """Limits and sessions of the HTTP side."""

    connections_max: int = setting(512, min=1, max=100_000, doc="HTTP connections at a time; more are turned away.")
    connections_per_address_max: int = setting(
        128, min=1, max=100_000, doc="HTTP connections from one address at a time."
    )
    header_size_max_bytes: int = setting(
        32 * KIB, unit="bytes", min=4 * KIB, max=1 * MIB, doc="Request line and headers together."
    )
    body_size_max_bytes: int = setting(
        1 * MIB, unit="bytes", min=1 * KIB, max=64 * MIB, doc="The body of a request, but for definitions and messages."
    )
    upload_size_max_bytes: int = setting(
        24 * MIB, unit="bytes", min=1 * KIB, max=256 * MIB, doc="The body of a request with definitions or a message."
    )
    header_wait_max_ms: int = setting(
        10_000,
        unit="ms",
        min=100,
        max=600_000,
        doc="A connection without a whole request head in this time closes.",
    )
    body_wait_max_ms: int = setting(
        30_000, unit="ms", min=100, max=600_000, doc="A body that has not come whole in this time ends its connection."
    )
    idle_max_ms: int = setting(
        60_000, unit="ms", min=100, max=3_600_000, doc="A kept connection without a request closes after this time."
    )
    sample_interval_ms: int = setting(
        5000,
        unit="ms",
        min=100,
        max=60_000,
        doc="How often totals are taken, from which rates and the charts' past come; 361 of them are kept.",
    )
    event_streams_max: int = setting(64, min=0, max=10_000, doc="Streams of live figures at a time.")
    session_idle_max_ms: int = setting(
        30 * 60_000, unit="ms", min=60_000, max=24 * 3_600_000, doc="A session that is not used ends after this time."
    )
    session_max_ms: int = setting(
        8 * 3_600_000, unit="ms", min=60_000, max=7 * 24 * 3_600_000, doc="A session ends after this time, used or not."
    )
    metrics_open: bool = setting(
        False, doc="Whether /metrics answers without a login; Prometheus can also log in (a user with tag monitoring)."
    )
    metric_labels_max: int = setting(
        1000, min=0, max=100_000, doc="Queues and topics with lines of their own in /metrics/per-object."
    )
    cors_origins: tuple[str, ...] = setting(
        (), form=ORIGINS, doc="Pages from these origins may use the API with a session of theirs; exact, no wildcard."
    )
    host_names: tuple[str, ...] = setting(
        (), form=HOSTS, doc="Further names by which this machine's own browsers reach the console (else localhost)."
    )
