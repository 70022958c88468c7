"""The door where quotas are charged: every produce and fetch passes it, the answer says how long to be quiet.

The reply leaves at once with the delay in ``throttle_time_ms``; the connection is then not read for so long.

Each quota is a bucket that fills with its rate and holds what half a second brings. A request takes what it used,
however much that is; when the bucket is below empty, the client is quiet until it would be empty again. So over any
longer time a client gets its rate, and at most half a second's worth more.
"""

from __future__ import annotations

from math import ceil
from typing import Final, Protocol

from twinlog.cluster import Delta, Image
from twinlog.cluster.kinds.quotas import QUOTAS
from twinlog.kafka.metrics import KafkaMetrics
from twinlog.kafka.quota_rules import (
    ADDRESS,
    CONNECTION_RATE,
    FETCH_RATE,
    MUTATION_RATE,
    PRODUCE_RATE,
    REQUEST_SHARE,
    candidates,
)

BURST_MS: Final = 500
FETCH_ANSWER_MS: Final = 500  # an answer holds no more than this brings, or it could be all of half a minute's
CONNECTION_BURST_MS: Final = 1000
MUTATION_BURST_MS: Final = 11_000  # Kafka's: topics come in bunches
CLIENTS_MAX: Final = 10_000  # whose buckets are remembered; beyond it the longest silent one begins anew
USER_PREFIX: Final = "User:"


class Quotas(Protocol):
    """Charges a client; returns for how many ms its connection stays muted (0: not at all)."""

    watches_time: bool  # whether anybody's share of time is limited

    def charge_produce(self, principal: str, client_id: str | None, size_bytes: int, now_ms: int) -> int: ...
    def charge_fetch(self, principal: str, client_id: str | None, size_bytes: int, now_ms: int) -> int: ...
    def fetch_bytes_max(self, principal: str, client_id: str | None, now_ms: int) -> int:
        """The largest answer to a fetch that a quota of a few of them can be kept with; 0: there is no quota."""

    def charge_time(self, principal: str, client_id: str | None, spent_us: int, now_ms: int) -> int: ...
    def charge_mutations(self, principal: str, client_id: str | None, count: int, now_ms: int, strict: bool) -> int:
        """Partitions to be made or deleted. ``strict``: 0 lets them pass, and what is not let pass is not charged."""

    def charge_connection(self, address: str, now_ms: int) -> int: ...


class NoQuotas:
    """Nobody is slowed down."""

    watches_time = False

    def charge_produce(self, principal: str, client_id: str | None, size_bytes: int, now_ms: int) -> int:
        return 0

    def charge_fetch(self, principal: str, client_id: str | None, size_bytes: int, now_ms: int) -> int:
        return 0

    def fetch_bytes_max(self, principal: str, client_id: str | None, now_ms: int) -> int:
        return 0

    def charge_time(self, principal: str, client_id: str | None, spent_us: int, now_ms: int) -> int:
        return 0

    def charge_mutations(self, principal: str, client_id: str | None, count: int, now_ms: int, strict: bool) -> int:
        return 0

    def charge_connection(self, address: str, now_ms: int) -> int:
        return 0


class Bucket:
    """``rate`` a second."""

    __slots__ = ("_at_ms", "_full", "_level", "rate")

    def __init__(self, rate: float, now_ms: int, burst_ms: int = BURST_MS) -> None:
        self.rate = rate
        self._full = rate * burst_ms / 1000
        self._level = self._full
        self._at_ms = now_ms

    def take(self, amount: float, now_ms: int) -> int:
        """For how many ms there is nothing more to take."""
        passed_ms = max(now_ms - self._at_ms, 0)  # a clock that was set back gives nothing
        self._at_ms = now_ms
        self._level = min(self._level + passed_ms * self.rate / 1000, self._full) - amount
        return ceil(-self._level * 1000 / self.rate) if self._level < 0 else 0


class Shares:
    """The buckets of one client; None where it has no quota."""

    __slots__ = ("fetch", "mutations", "produce", "time_us")

    def __init__(self) -> None:
        self.produce: Bucket | None = None
        self.fetch: Bucket | None = None
        self.time_us: Bucket | None = None
        self.mutations: Bucket | None = None


class QuotaBook:
    """``Quotas`` as the metadata has them. Follows changes at once; a quota that changed begins with a full bucket."""

    def __init__(self, metrics: KafkaMetrics) -> None:
        self._metrics = metrics
        self._values: dict[object, dict[str, float]] = {}
        self._shares: dict[tuple[str, str | None], Shares] = {}
        self._buckets: dict[tuple[str, tuple[str, str]], Bucket] = {}
        self._addresses: dict[str, Bucket] = {}
        self._of_clients = False
        self._of_addresses = False
        self.watches_time = False

    def follow(self, image: Image, delta: Delta) -> None:
        """Listener of the metadata log."""
        if not delta.touches(QUOTAS):
            return
        quotas = image.part(QUOTAS)
        self._values = {entity: quota.values for entity, quota in quotas.items()}
        self._of_addresses = any(entity[0][0] == ADDRESS for entity in quotas)
        self._of_clients = any(entity[0][0] != ADDRESS for entity in quotas)
        self.watches_time = any(REQUEST_SHARE in values for values in self._values.values())
        self._shares.clear()
        self._buckets.clear()
        self._addresses.clear()

    def charge_produce(self, principal: str, client_id: str | None, size_bytes: int, now_ms: int) -> int:
        if not self._of_clients:
            return 0
        bucket = self._shares_of(principal, client_id, now_ms).produce
        wait_ms = bucket.take(size_bytes, now_ms) if bucket is not None else 0
        if wait_ms:
            self._metrics.produce_throttled += 1
            self._metrics.produce_throttled_ms += wait_ms
        return wait_ms

    def charge_fetch(self, principal: str, client_id: str | None, size_bytes: int, now_ms: int) -> int:
        if not self._of_clients:
            return 0
        bucket = self._shares_of(principal, client_id, now_ms).fetch
        wait_ms = bucket.take(size_bytes, now_ms) if bucket is not None else 0
        if wait_ms:
            self._metrics.fetch_throttled += 1
            self._metrics.fetch_throttled_ms += wait_ms
        return wait_ms

    def fetch_bytes_max(self, principal: str, client_id: str | None, now_ms: int) -> int:
        if not self._of_clients:
            return 0
        bucket = self._shares_of(principal, client_id, now_ms).fetch
        return max(int(bucket.rate * FETCH_ANSWER_MS / 1000), 1) if bucket is not None else 0

    def charge_time(self, principal: str, client_id: str | None, spent_us: int, now_ms: int) -> int:
        if not self.watches_time:
            return 0
        bucket = self._shares_of(principal, client_id, now_ms).time_us
        wait_ms = bucket.take(spent_us, now_ms) if bucket is not None else 0
        if wait_ms:
            self._metrics.requests_throttled += 1
            self._metrics.requests_throttled_ms += wait_ms
        return wait_ms

    def charge_mutations(self, principal: str, client_id: str | None, count: int, now_ms: int, strict: bool) -> int:
        if not self._of_clients:
            return 0
        bucket = self._shares_of(principal, client_id, now_ms).mutations
        if bucket is None:
            return 0
        if not strict:
            wait_ms = bucket.take(count, now_ms)
        elif not (wait_ms := bucket.take(0, now_ms)):
            bucket.take(count, now_ms)
        if wait_ms:
            self._metrics.mutations_throttled += 1
            self._metrics.mutations_throttled_ms += wait_ms
        return wait_ms

    def charge_connection(self, address: str, now_ms: int) -> int:
        if not self._of_addresses:
            return 0
        bucket = self._addresses.get(address)
        if bucket is None:
            values = self._values.get(((ADDRESS, address),)) or self._values.get(((ADDRESS, None),)) or {}
            if CONNECTION_RATE not in values:
                return 0
            if len(self._addresses) >= CLIENTS_MAX:
                del self._addresses[next(iter(self._addresses))]
            bucket = self._addresses[address] = Bucket(values[CONNECTION_RATE], now_ms, CONNECTION_BURST_MS)
        wait_ms = bucket.take(1, now_ms)
        if wait_ms:
            self._metrics.connections_throttled += 1
        return wait_ms

    def _shares_of(self, principal: str, client_id: str | None, now_ms: int) -> Shares:
        shares = self._shares.get((principal, client_id))
        if shares is None:
            if len(self._shares) >= CLIENTS_MAX:
                del self._shares[next(iter(self._shares))]
            shares = self._shares[principal, client_id] = Shares()
            user = principal.removeprefix(USER_PREFIX)
            shares.produce = self._bucket(PRODUCE_RATE, user, client_id or "", 1, now_ms)
            shares.fetch = self._bucket(FETCH_RATE, user, client_id or "", 1, now_ms)
            # A percent of a second is 10,000 us.
            shares.time_us = self._bucket(REQUEST_SHARE, user, client_id or "", 10_000, now_ms)
            shares.mutations = self._bucket(MUTATION_RATE, user, client_id or "", 1, now_ms, MUTATION_BURST_MS)
        return shares

    def _bucket(
        self, name: str, user: str, client_id: str, unit: float, now_ms: int, burst_ms: int = BURST_MS
    ) -> Bucket | None:
        for entity, sharers in candidates(user, client_id):
            values = self._values.get(entity)
            if values is None or name not in values:
                continue
            bucket = self._buckets.get((name, sharers))
            if bucket is None:
                if len(self._buckets) >= 4 * CLIENTS_MAX:
                    del self._buckets[next(iter(self._buckets))]
                bucket = self._buckets[name, sharers] = Bucket(values[name] * unit, now_ms, burst_ms)
            return bucket
        return None
