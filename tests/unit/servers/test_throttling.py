"""Quotas on connections: how much comes through in virtual time, and what stays untouched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.servers.harness import Client, Node, batch, fetch, produce, values
from twinlog.cluster import QuotaWanted
from twinlog.wire.kafka.messages.api_versions import ApiVersionsRequest

MIB = 1 << 20


def hello() -> ApiVersionsRequest:
    return ApiVersionsRequest(client_software_name="test", client_software_version="1")


@pytest.fixture
def node(tmp_path: Path) -> Node:
    node = Node(str(tmp_path / "data"))
    node.topic("t")
    return node


def limit(node: Node, kind: str, name: str | None, key: str, value: float) -> None:
    node.controller.alter_quotas([QuotaWanted(((kind, name),), {key: value})], lambda outcomes: None)
    node.settle()


def test_a_producer_is_kept_within_five_percent_of_its_quota_over_half_a_minute(node: Node) -> None:
    limit(node, "client-id", "test", "producer_byte_rate", MIB)
    client = node.client()
    start_ms, sent = node.tasks.elapsed_ms, 0
    while node.tasks.elapsed_ms - start_ms < 30_000:
        client.send_request(produce("t", batch(b"x" * 100_000)), 9)
        sent += 100_000
        while not (answers := client.answers()):
            node.pass_time(1)
        assert answers[0][1].responses[0].partition_responses[0].error_code == 0
    assert 0.95 < sent / (30 * MIB) < 1.05


def test_a_consumer_is_kept_within_five_percent_of_its_quota(node: Node) -> None:
    writer = node.client()
    for _ in range(10):
        writer.ask(produce("t", batch(b"x" * 100_000)), 9)
    limit(node, "user", "ANONYMOUS", "consumer_byte_rate", MIB)
    client = node.client()
    start_ms, got = node.tasks.elapsed_ms, 0
    while node.tasks.elapsed_ms - start_ms < 30_000:
        client.send_request(fetch("t", 0), 12)
        while not (answers := client.answers()):
            node.pass_time(1)
        got += len(answers[0][1].responses[0].partitions[0].records)
    assert 0.95 < got / (30 * MIB) < 1.05


def test_a_consumer_that_asks_for_much_at_a_time_is_kept_within_five_percent_as_well(node: Node) -> None:
    """Forty partitions with a MiB each in one request: unbounded, the first answer would be more than a minute's."""
    node.topic("wide", 40)
    writer = node.client()
    for partition in range(40):
        for _ in range(10):
            writer.ask(produce("wide", batch(b"x" * 100_000), partition=partition), 9)
    limit(node, "client-id", "test", "consumer_byte_rate", MIB // 2)
    client = node.client()
    offsets = [0] * 40
    start_ms, got = node.tasks.elapsed_ms, 0
    while node.tasks.elapsed_ms - start_ms < 30_000:
        client.send_request(fetch("wide", *offsets), 12)
        while not (answers := client.answers()):
            node.pass_time(1)
        for part in answers[0][1].responses[0].partitions:
            got += len(part.records or b"")
            offsets[part.partition_index] += len(values(part.records or b""))
        offsets = [offset % 10 for offset in offsets]
    assert 0.95 < got / (15 * MIB) < 1.05


def test_byte_quotas_slow_no_other_client_and_no_other_request(node: Node) -> None:
    limit(node, "client-id", "test", "producer_byte_rate", 1000)
    busy, other = node.client(), node.client()
    assert busy.ask(produce("t", batch(b"x" * 10_000)), 9).throttle_time_ms > 5000
    for _ in range(50):
        assert other.ask(hello(), 3).throttle_time_ms == 0
    assert node.broker.metrics.produce_throttled == 1


def test_a_share_of_time_slows_every_request_of_a_client(node: Node) -> None:
    limit(node, "client-id", "test", "request_percentage", 1)
    client = node.client()
    node.pass_time(10)
    spent = node.server.monotonic_us
    node.server.monotonic_us = lambda: spent() + 7_000 * next_step()  # each look at the clock finds it 7 ms later
    answer = client.ask(hello(), 3)
    assert answer.throttle_time_ms > 0
    assert node.broker.metrics.requests_throttled == 1
    client.send_request(hello(), 3)
    assert client.answers() == []


steps = 0


def next_step() -> int:
    global steps
    steps += 1
    return steps


def test_connections_of_an_address_that_come_too_fast_wait_for_their_turn(node: Node) -> None:
    limit(node, "ip", "10.0.0.9", "connection_creation_rate", 2)
    clients = [node.client() for _ in range(5)]
    for client in clients:
        client.send_request(hello(), 3)

    def served() -> int:
        return sum(bool(client.received) for client in clients)

    node.settle()
    assert served() == 2
    node.pass_time(600)
    assert served() == 3
    node.pass_time(1000)
    assert served() == 5
    assert not any(client.closed for client in clients)


def test_a_client_that_waits_for_its_turn_is_not_taken_for_a_silent_one(node: Node) -> None:
    limit(node, "ip", None, "connection_creation_rate", 1)
    clients: list[Client] = [node.client() for _ in range(12)]
    for client in clients:
        client.send_request(hello(), 3)
    node.pass_time(11_000)
    assert all(client.received for client in clients)
