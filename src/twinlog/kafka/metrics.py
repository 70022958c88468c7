"""What the room counts: plain numbers that only grow, unless their line says otherwise."""

from __future__ import annotations


class KafkaMetrics:
    """One object a node."""

    __slots__ = (
        "connections_throttled",
        "fetch_throttled",
        "fetch_throttled_ms",
        "memory_delays",
        "mutations_throttled",
        "mutations_throttled_ms",
        "produce_throttled",
        "produce_throttled_ms",
        "requests_throttled",
        "requests_throttled_ms",
        "slow_readers_closed",
        "transactional_ids_refused",
    )

    def __init__(self) -> None:
        self.produce_throttled = 0  # answers that told a client to be quiet for a while, by its quota of produced bytes
        self.produce_throttled_ms = 0
        self.fetch_throttled = 0  # by its quota of fetched bytes
        self.fetch_throttled_ms = 0
        self.requests_throttled = 0  # by its share of the broker's time
        self.requests_throttled_ms = 0
        self.mutations_throttled = 0  # by its rate of partitions made and deleted
        self.mutations_throttled_ms = 0
        self.connections_throttled = 0  # made to wait by their address's rate
        self.memory_delays = 0  # produce requests whose connection was made to wait because memory was short
        self.slow_readers_closed = 0  # connections closed because their peer did not take what we sent
        self.transactional_ids_refused = 0  # producers turned away because the node remembers as many ids as it may
