"""A restart in the middle: live producers and readers go on, nothing is lost, ids and configs are the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.compat.clients import CLIENT_NAMES, Clients, record, values
from tests.compat.findings import can
from tests.compat.target import Elsewhere, Server, Target


@pytest.fixture(scope="module")
def own_target(target: Target) -> Iterator[Target]:
    """A broker of this file's own: restarting it disturbs no other test."""
    if isinstance(target, Elsewhere):
        if not target.can_restart():
            pytest.skip("TWINLOG_TEST_RESTART does not say how to restart this broker")
        yield target
        return
    with Server() as server:
        yield server


@pytest.fixture(scope="module")
def own_clients(own_target: Target, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clients]:
    found = Clients(own_target.bootstrap, tmp_path_factory.mktemp("restart-clients"))
    yield found
    found.close()


def test_every_client_lives_through_a_restart(own_target: Target, own_clients: Clients, new_name) -> None:
    """One restart for all: each client has a live producer before it, and a reader waiting across it."""
    topics = {client: new_name() + client for client in CLIENT_NAMES}
    ids = {}
    for name, topic in topics.items():
        client = own_clients[name]
        client.create_topic(topic=topic, partitions=2, configs={"retention.ms": "3600000"})
        placed = client.produce(
            topic=topic, partition=0, records=[record(b"before")] * 10, idempotent=True, compression="zstd"
        )
        assert placed[-1][1] == 9
        client.delete_records(topic=topic, partition=0, before=3)
        ids[name] = client.topic_id(topic=topic) if can(name, "topic ids") else None
    cluster = own_clients["java"].describe_cluster()
    own_target.restart()
    for name, topic in topics.items():
        client = own_clients[name]
        placed = client.produce(
            topic=topic, partition=0, records=[record(b"after")] * 10, idempotent=True, compression="zstd"
        )
        assert [offset for _, offset, _ in placed] == list(range(10, 20)), name
        read = client.consume(topic=topic, partition=0, offset=3, count=17)
        assert values(read) == [b"before"] * 7 + [b"after"] * 10, name
        assert client.offset_at(topic=topic, partition=0, at="earliest")["offset"] == 3
        assert client.offset_at(topic=topic, partition=0, at="latest")["offset"] == 20
        assert client.describe_configs(topic=topic)["retention.ms"] == "3600000"
        assert client.partitions(topic=topic) == 2
        if ids[name] is not None:
            assert client.topic_id(topic=topic) == ids[name]
    assert own_clients["java"].describe_cluster() == cluster


def test_a_reader_waits_across_a_restart(own_target: Target, own_clients: Clients, new_name) -> None:
    topic = new_name()
    own_clients["go"].create_topic(topic=topic)
    own_clients["go"].produce(topic=topic, partition=0, records=[record(b"1")])
    readers = ["confluent", "java", "aiokafka", "kafka-python"]
    for reader in readers:
        own_clients[reader].ask("consume", topic=topic, partition=0, offset=0, count=2, timeout_s=40)
    own_target.restart()
    own_clients["go"].produce(topic=topic, partition=0, records=[record(b"2")])
    for reader in readers:
        assert values(own_clients[reader].hear("consume")) == [b"1", b"2"], reader
