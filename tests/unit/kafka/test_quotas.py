"""Quotas: whose counts, how exactly they are kept, and that they follow the metadata."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.cluster import Metadata
from twinlog.base import Refused
from twinlog.cluster import QuotaWanted
from twinlog.kafka.metrics import KafkaMetrics
from twinlog.kafka.quota_rules import check_value, checked_entity
from twinlog.kafka.quotas import Bucket, QuotaBook

MIB = 1 << 20


def book(**quotas: float) -> tuple[QuotaBook, Metadata]:
    """Keys: 'user=ann,client-id=*:producer_byte_rate'."""
    metadata = Metadata()
    found = QuotaBook(KafkaMetrics())
    metadata.log.subscribe(found.follow)
    for name, value in quotas.items():
        put(metadata, name, value)
    return found, metadata


def put(metadata: Metadata, name: str, value: float | None) -> None:
    who, _, key = name.partition(":")
    pairs = [pair.split("=") for pair in who.split(",")]
    entity = checked_entity([(kind, None if each == "*" else each) for kind, each in pairs])
    wanted = QuotaWanted(entity, {key: value}) if value is not None else QuotaWanted(entity, {}, (key,))
    metadata.run(lambda done: metadata.controller.alter_quotas([wanted], done))


@given(
    rate=st.integers(1000, 100 * MIB),
    sizes=st.lists(st.integers(1, MIB), min_size=1, max_size=20),
    pause_ms=st.integers(0, 20),
)
def test_a_client_that_obeys_gets_its_rate_within_five_percent(rate: int, sizes: list[int], pause_ms: int) -> None:
    """However large its requests, as long as one is not much of what 30 s bring."""
    sizes = [min(size, rate // 2) or 1 for size in sizes]
    bucket = Bucket(rate, 0)
    now_ms = taken = number = 0
    while now_ms < 30_000:
        size = sizes[number % len(sizes)]
        number += 1
        taken += size
        wait_ms = bucket.take(size, now_ms)
        now_ms += wait_ms + pause_ms if wait_ms else max(pause_ms, 1)
    assert taken <= rate * now_ms / 1000 * 1.05
    offered = sum(sizes) / len(sizes) / max(pause_ms, 1) * 1000
    if offered > 3 * rate:
        assert taken >= rate * now_ms / 1000 * 0.95 * (1 if not pause_ms else 0.5)


def test_nobody_has_a_quota_unless_it_was_set() -> None:
    quotas, _ = book()
    assert quotas.charge_produce("User:ann", "app", 1 << 40, 0) == 0
    assert quotas.charge_fetch("User:ann", "app", 1 << 40, 0) == 0
    assert quotas.charge_connection("10.0.0.1", 0) == 0


PRECEDENCE = [
    "user=ann,client-id=app",
    "user=ann,client-id=*",
    "user=ann",
    "user=*,client-id=app",
    "user=*,client-id=*",
    "user=*",
    "client-id=app",
    "client-id=*",
]


@pytest.mark.parametrize("first", range(len(PRECEDENCE)))
def test_the_closest_quota_counts(first: int) -> None:
    """All from this one on are set, each a tenth of the one before; the first of them is what counts."""
    quotas, _ = book(
        **{f"{who}:producer_byte_rate": 1e6 / 10 ** (n - first) for n, who in enumerate(PRECEDENCE) if n >= first}
    )
    quotas.charge_produce("User:ann", "app", 500_000, 0)  # what a full bucket holds
    assert quotas.charge_produce("User:ann", "app", 100_000, 0) == 100


def test_who_shares_a_quota() -> None:
    quotas, metadata = book(**{"user=*:producer_byte_rate": 1000})
    assert quotas.charge_produce("User:ann", "one", 2500, 0) == 2000
    assert quotas.charge_produce("User:ann", "two", 500, 0) == 2500, "clients of a user share the user's"
    assert quotas.charge_produce("User:bob", "one", 500, 0) == 0, "each user has his own"
    put(metadata, "client-id=*:consumer_byte_rate", 1000)
    put(metadata, "user=*:producer_byte_rate", None)
    assert quotas.charge_fetch("User:ann", "one", 1500, 0) == 1000
    assert quotas.charge_fetch("User:bob", "one", 500, 0) == 1500, "users share a client id's"
    assert quotas.charge_fetch("User:bob", None, 500, 0) == 0


def test_a_changed_quota_counts_at_once_and_a_removed_one_no_more() -> None:
    quotas, metadata = book(**{"user=ann:producer_byte_rate": 1000})
    assert quotas.charge_produce("User:ann", "app", 100_500, 0) == 100_000
    put(metadata, "user=ann:producer_byte_rate", 1_000_000)
    assert quotas.charge_produce("User:ann", "app", 600_000, 0) == 100
    put(metadata, "user=ann:producer_byte_rate", None)
    assert quotas.charge_produce("User:ann", "app", 1 << 40, 0) == 0


def test_quotas_survive_a_restart() -> None:
    _, metadata = book(**{"user=ann:producer_byte_rate": 1000, "ip=*:connection_creation_rate": 1})
    again = QuotaBook(KafkaMetrics())
    restarted = metadata.restarted(registered=False)
    restarted.log.subscribe(again.follow)
    assert again.charge_produce("User:ann", "app", 1500, 0) == 1000
    assert again.charge_connection("10.0.0.1", 0) == 0
    assert again.charge_connection("10.0.0.1", 0) == 1000


def test_a_share_of_time_is_counted_in_percent_of_one_core() -> None:
    quotas, _ = book(**{"client-id=app:request_percentage": 10})
    assert quotas.watches_time
    assert quotas.charge_time("User:ann", "app", 50_000, 0) == 0, "half a second's worth"
    assert quotas.charge_time("User:ann", "app", 10_000, 0) == 100


def test_partitions_made_and_deleted_are_counted_and_refused_or_only_told() -> None:
    quotas, _ = book(**{"client-id=app:controller_mutation_rate": 2})
    charge = quotas.charge_mutations
    assert charge("User:ann", "app", 22, 0, True) == 0, "eleven seconds' worth at once"
    assert charge("User:ann", "app", 100, 0, True) == 0, "nothing is owed: this passes, whatever it comes to"
    assert charge("User:ann", "app", 1, 0, True) == 50_000
    assert charge("User:ann", "app", 1, 0, True) == 50_000, "what was refused is not charged"
    assert charge("User:ann", "app", 2, 0, False) == 51_000, "what is only told is"
    assert charge("User:ann", "app", 1, 51_000, True) == 0
    assert charge("User:ann", "other", 1000, 0, True) == 0


def test_addresses_have_a_rate_of_connections() -> None:
    quotas, _ = book(**{"ip=10.0.0.1:connection_creation_rate": 2, "ip=*:connection_creation_rate": 10})
    assert [quotas.charge_connection("10.0.0.1", 0) for _ in range(4)] == [0, 0, 500, 1000]
    assert [quotas.charge_connection("10.0.0.2", 0) for _ in range(11)] == [0] * 10 + [100]


def test_a_clock_that_is_set_back_gives_nothing_and_takes_nothing() -> None:
    bucket = Bucket(1000, 10_000)
    assert bucket.take(500, 10_000) == 0
    assert bucket.take(100, 5000) == 100
    assert bucket.take(0, 5100) == 0


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [("group", "a")],
        [("user", "a"), ("user", "b")],
        [("ip", "10.0.0.1"), ("user", "a")],
        [("ip", "nowhere")],
        [("user", "")],
        [("user", "x" * 1001)],
    ],
)
def test_an_entity_that_cannot_be_is_refused(pairs: list[tuple[str, str | None]]) -> None:
    with pytest.raises(Refused) as refused:
        checked_entity(pairs)
    assert refused.value.code == 42


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("user", "producer_byte_rate", 0),
        ("user", "producer_byte_rate", -1),
        ("user", "producer_byte_rate", 1.5),
        ("user", "producer_byte_rate", float("nan")),
        ("user", "request_percentage", float("inf")),
        ("user", "connection_creation_rate", 1),
        ("user", "controller_mutation_rate", 0),
        ("ip", "controller_mutation_rate", 1),
        ("ip", "producer_byte_rate", 1),
    ],
)
def test_a_value_that_cannot_be_is_refused(kind: str, name: str, value: float) -> None:
    with pytest.raises(Refused):
        check_value(((kind, None),), name, value)
