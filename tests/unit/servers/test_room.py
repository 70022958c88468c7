"""What a disk that runs full means to clients: records are refused with a code they retry, everything else goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.servers.harness import Node, batch, fetch, produce, values
from twinlog.base.units import GIB
from twinlog.wire.kafka.errors import ErrorCode


@pytest.fixture
def node(tmp_path: Path) -> Node:
    node = Node(str(tmp_path / "data"))
    node.topic("t")
    return node


def room(node: Node, free_bytes: int) -> None:
    node.disk.free_bytes = lambda path: free_bytes  # type: ignore[method-assign]
    node.disk.total_bytes = lambda path: 100 * GIB  # type: ignore[method-assign]
    node.pass_time(1001)


def send(node: Node, value: bytes) -> tuple[int, str | None]:
    answer = node.client().ask(produce("t", batch(value)), 9)
    result = answer.responses[0].partition_responses[0]
    return result.error_code, result.error_message


def test_records_are_refused_below_the_mark_and_taken_again_above_it(node: Node) -> None:
    assert send(node, b"before")[0] == 0
    room(node, 5 * GIB - 1)
    code, message = send(node, b"refused")
    assert code == ErrorCode.KAFKA_STORAGE_ERROR
    assert message is not None and "nearly full" in message
    room(node, 5 * GIB)
    assert send(node, b"refused")[0] == ErrorCode.KAFKA_STORAGE_ERROR, "not at once, or it would flutter"
    room(node, 6 * GIB)
    assert send(node, b"after")[0] == 0
    assert values(node.client().ask(fetch("t", 0), 12).responses[0].partitions[0].records) == [b"before", b"after"]
    assert node.store.metrics.writes_refused == 2


def test_reading_goes_on_and_the_log_keeps_its_leader(node: Node) -> None:
    send(node, b"a")
    room(node, 0)
    assert values(node.client().ask(fetch("t", 0), 12).responses[0].partitions[0].records) == [b"a"]
    assert node.broker.image.topics_by_name["t"].partitions[0].leader == 1
    assert node.broker.partitions.get("t", 0).log.offline is None  # type: ignore[union-attr]


def test_a_small_disk_is_never_low_with_half_of_it_free(node: Node) -> None:
    node.disk.total_bytes = lambda path: 100 << 20  # type: ignore[method-assign]
    node.disk.free_bytes = lambda path: 50 << 20  # type: ignore[method-assign]
    node.pass_time(1001)
    assert send(node, b"a")[0] == 0
