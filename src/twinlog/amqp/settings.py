"""What the AMQP side of a node can be told."""

from __future__ import annotations

from dataclasses import dataclass

from twinlog.base.settings import setting
from twinlog.base.units import KIB, MIB, MINUTE_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class AmqpSettings:
    """Limits and manners of the AMQP port."""

    product: str = setting(
        "RabbitMQ",
        doc="What `product` says in the server properties. Celery and others choose their ways by it; another name "
        "costs them changes of the prefetch count on running consumers.",
    )
    product_version: str = setting(
        "3.13.7",
        doc="What `version` says in the server properties: numbers with points. Below 4.0 Celery asks for prefetch "
        "counts that reach running consumers.",
    )
    heartbeat_s: int = setting(60, unit="s", min=0, max=65_535, doc="The interval of heartbeats offered; 0 is none.")
    frame_size_max_bytes: int = setting(
        128 * KIB, unit="bytes", min=4 * KIB, max=16 * MIB, doc="The largest frame offered to clients."
    )
    channels_max: int = setting(
        2047, min=1, max=65_535, doc="Channels that one connection may have open at a time; offered to clients."
    )
    queues_max: int = setting(
        10_000, min=1, max=10_000_000, doc="Queues in all vhosts of a node; declaring another one is refused with 406."
    )
    consumers_max: int = setting(65_535, min=1, max=1_000_000, doc="Consumers that one channel may have.")
    message_size_max_bytes: int = setting(
        16 * MIB, unit="bytes", min=KIB, max=512 * MIB, doc="A larger body closes its channel with 406."
    )
    connections_max: int = setting(
        10_000, min=1, max=1_000_000, doc="Open connections of one listener; more are closed at once."
    )
    connections_per_address_max: int = setting(
        5_000, min=1, max=1_000_000, doc="Open connections from one address; more are closed at once."
    )
    handshakes_per_address_max: int = setting(
        500, min=1, max=100_000, doc="Connections from one address that have not logged in; more are closed at once."
    )
    handshake_max_ms: int = setting(
        10_000, unit="ms", min=100, max=10 * MINUTE_MS, doc="A connection that is not open by then is closed."
    )
    login_failure_delay_ms: int = setting(
        3_000, unit="ms", min=0, max=MINUTE_MS, doc="A refused login is answered after this time."
    )
    close_wait_ms: int = setting(
        3_000, unit="ms", min=10, max=MINUTE_MS, doc="How long a client has to agree to the end of its connection."
    )
    send_stalled_max_ms: int = setting(
        MINUTE_MS,
        unit="ms",
        min=1_000,
        max=60 * MINUTE_MS,
        doc="A client that takes nothing of what waits for it for this long is cut off.",
    )
    stream_cache_bytes: int = setting(
        32 * MIB,
        unit="bytes",
        min=0,
        max=1024 * MIB,
        doc="What was read from streams a moment ago is kept in memory for consumers at the same place, up to this.",
    )
    unsynced_max_bytes: int = setting(
        16 * MIB,
        unit="bytes",
        min=64 * KIB,
        max=1024 * MIB,
        doc="What one connection may have published that the disk has not got; then it is not read for a while.",
    )
    memory_alarm_bytes: int = setting(
        0,
        unit="bytes",
        min=0,
        max=1024 * 1024 * MIB,
        doc="A node that holds more memory does not read publishers until it holds less; 0 is 60 % of the machine's.",
    )
    disk_free_min_bytes: int = setting(
        50 * MIB,
        unit="bytes",
        min=0,
        max=1024 * 1024 * MIB,
        doc="With less room on the disk publishers are not read until there is more.",
    )
    delivery_timeout_ms: int = setting(
        0,
        unit="ms",
        min=0,
        max=7 * 24 * 60 * MINUTE_MS,
        doc="A delivery that is not acknowledged for this long closes its channel with 406; 0 waits for ever.",
    )
    qos_reaches_running_consumers: bool = setting(
        False,
        doc="Whether basic.qos with global=false also changes the consumers that the channel already has. RabbitMQ "
        "changes later ones only; global=true reaches all of them in any case.",
    )
