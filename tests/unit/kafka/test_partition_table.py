"""The table of partitions follows the metadata image: topics come, grow, change their settings, and go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.servers.harness import Node, batch, produce
from twinlog.cluster import ConfigOp, ConfigOperation, ConfigsWanted, PartitionsWanted
from twinlog.wire.kafka.errors import ErrorCode


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    yield Node(str(tmp_path / "data"))


def test_a_topic_is_found_by_name_and_by_id(node: Node) -> None:
    topic_id = node.topic("t", 3)
    partitions = node.broker.partitions
    assert partitions.of_topic("t") is partitions.of_topic(topic_id)
    assert [partition.index for partition in partitions.of_topic("t") or ()] == [0, 1, 2]
    assert partitions.get("t", 3) is None and partitions.get("t", -1) is None and partitions.get("u", 0) is None
    assert {partition.topic for partition in partitions} == {"t"}


def test_added_partitions_join_those_that_are_there(node: Node) -> None:
    node.topic("t")
    first = node.broker.partitions.get("t", 0)
    node.controller.create_partitions([PartitionsWanted("t", 3)], lambda outcomes: None)
    node.settle()
    assert node.broker.partitions.get("t", 0) is first
    assert node.broker.partitions.get("t", 2) is not None


def test_settings_count_from_the_moment_they_are_set(node: Node) -> None:
    node.topic("t")
    node.topic("other")
    partition, other = node.broker.partitions.get("t", 0), node.broker.partitions.get("other", 0)
    assert partition is not None and other is not None
    ops = [
        ConfigOp("max.message.bytes", ConfigOperation.SET, "100"),
        ConfigOp("segment.bytes", ConfigOperation.SET, "2000000"),
    ]
    node.controller.alter_configs([ConfigsWanted("topic", "t", ops)], lambda outcomes: None)
    node.settle()
    assert partition.rules.message_max_bytes == 100 and partition.log.settings.segment_bytes == 2_000_000
    assert other.rules.message_max_bytes == 1048588
    assert other.rules is not partition.rules


def test_settings_of_all_brokers_reach_every_topic_without_its_own(node: Node) -> None:
    node.topic("t")
    node.topic("own", max_message_bytes="500")
    ops = [ConfigOp("message.max.bytes", ConfigOperation.SET, "100")]
    node.controller.alter_configs([ConfigsWanted("broker", "", ops)], lambda outcomes: None)
    node.settle()
    found = {partition.topic: partition.rules.message_max_bytes for partition in node.broker.partitions}
    assert found == {"t": 100, "own": 500}


def test_partitions_of_topics_that_set_nothing_share_their_rules(node: Node) -> None:
    node.topic("t", 2)
    node.topic("u")
    assert len({id_of(partition.rules) for partition in node.broker.partitions}) == 1


def id_of(thing: object) -> int:
    return object.__hash__(thing)


def test_a_deleted_topic_is_gone_with_its_files_and_the_record_of_it(node: Node, tmp_path: Path) -> None:
    topic_id = node.topic("t")
    node.client().ask(produce("t", batch(b"a")), 9)
    partition = node.broker.partitions.get("t", 0)
    assert partition is not None and any((tmp_path / "data" / "logs").iterdir())
    node.delete_topic(topic_id)
    assert node.broker.partitions.of_topic("t") is None and node.broker.partitions.of_topic(topic_id) is None
    assert partition.refusal() == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert not any((tmp_path / "data" / "logs").iterdir())
    assert not node.metadata.image.topics_to_erase


def test_files_of_a_topic_deleted_before_a_crash_go_at_the_next_start(tmp_path: Path) -> None:
    node = Node(str(tmp_path / "data"))
    topic_id = node.topic("t")
    node.client().ask(produce("t", batch(b"a")), 9)
    node.broker.partitions._store = NoDeletes(node.store)  # type: ignore[assignment]
    node.delete_topic(topic_id)
    payloads = [payload for payload in node.journal.payloads if b"topic.erased" not in payload]
    node.journal.payloads = payloads
    node.store.close(lambda: None)
    node.settle()
    assert any((tmp_path / "data" / "logs").iterdir())

    again = Node(str(tmp_path / "data"), journal=node.journal)
    again.settle()
    assert not any((tmp_path / "data" / "logs").iterdir())
    assert not again.metadata.image.topics_to_erase


class NoDeletes:
    """A store that crashes before it deletes."""

    def __init__(self, store: object) -> None:
        self._store = store

    def delete(self, topic_id: bytes, partition: int) -> None:
        return None


def test_a_damaged_log_has_no_leader_and_the_others_do(tmp_path: Path) -> None:
    node = Node(str(tmp_path / "data"))
    topic_id = node.topic("t", 2)
    client = node.client()
    client.ask(produce("t", batch(b"a" * 500), batch(b"b")), 9)
    node.store.close(lambda: None)
    node.settle()
    segment = next((tmp_path / "data" / "logs" / f"{topic_id.hex()}-0").glob("*.log"))
    data = bytearray(segment.read_bytes())
    data[100] ^= 1
    segment.write_bytes(data)
    (tmp_path / "data" / "clean").unlink(missing_ok=True)

    again = Node(str(tmp_path / "data"), journal=node.journal)
    leaders = [info.leader for info in again.metadata.image.topics_by_name["t"].partitions]
    refusals = [partition.refusal() for partition in again.broker.partitions.of_topic("t") or ()]
    assert (leaders, refusals) == ([-1, 1], [ErrorCode.NOT_LEADER_OR_FOLLOWER, None])
