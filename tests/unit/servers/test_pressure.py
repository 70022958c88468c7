"""Memory that runs short, readers that do not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.servers.harness import Node, batch, fetch, produce
from twinlog.kafka.settings import KafkaSettings
from twinlog.wire.kafka.messages.api_versions import ApiVersionsRequest


@pytest.fixture
def node(tmp_path: Path) -> Node:
    node = Node(str(tmp_path / "data"), KafkaSettings(slow_reader_max_ms=5000))
    node.topic("t")
    return node


def hello() -> ApiVersionsRequest:
    return ApiVersionsRequest(client_software_name="test", client_software_version="1")


def test_producers_are_slowed_down_while_memory_is_short_and_consumers_are_not(node: Node) -> None:
    client = node.client()
    node.broker.memory_is_short = True
    assert client.ask(produce("t", batch(b"a")), 9).throttle_time_ms == 200
    reader = node.client()
    assert reader.ask(fetch("t", 0), 12).throttle_time_ms == 0
    node.pass_time(200)
    node.broker.memory_is_short = False
    assert client.ask(produce("t", batch(b"a")), 9).throttle_time_ms == 0
    assert node.broker.metrics.memory_delays == 1


def test_nobody_new_comes_in_while_memory_is_scarce(node: Node) -> None:
    inside = node.client()
    node.admission.memory_is_scarce = True
    assert node.client().closed
    assert inside.ask(hello(), 3).throttle_time_ms == 0
    node.admission.memory_is_scarce = False
    assert not node.client().closed
    assert node.admission.turned_away_count == 1


def test_nobody_new_comes_in_when_the_process_can_hardly_open_more_files(node: Node) -> None:
    """All doors of a node together: somebody else has one of the two places."""
    node.admission.connections_max = 2
    node.admission.connection_count = 1
    inside = node.client()
    assert node.client().closed
    inside.gone()
    assert not node.client().closed
    assert node.admission.connection_count == 2


def filled(node: Node) -> None:
    for _ in range(3):
        node.client().ask(produce("t", batch(b"x" * 900_000)), 9)


def test_a_reader_that_takes_nothing_is_closed(node: Node) -> None:
    filled(node)
    client, other = node.client(), node.client()
    client.stuck = True
    for _ in range(10):
        client.send_request(fetch("t", 0), 12)
    held = client.queued_bytes
    assert client.paused
    node.pass_time(4999)
    assert not client.closed
    assert client.queued_bytes == held, "nothing more is made for it"
    node.pass_time(2)
    assert client.closed
    assert node.broker.metrics.slow_readers_closed == 1
    assert other.ask(hello(), 3).throttle_time_ms == 0


def test_a_slow_reader_that_takes_something_stays(node: Node) -> None:
    filled(node)
    client = node.client()
    client.stuck = True
    for _ in range(10):
        client.send_request(fetch("t", 0), 12)
    for _ in range(10):
        node.pass_time(4000)
        client.queued_bytes -= 1000
    assert not client.closed
    assert node.broker.metrics.slow_readers_closed == 0
