"""Offsets by time and epoch: rows 31, 33 and 35 of the checklist, and what deletes do to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.servers.harness import START_MS, Client, Node, batch, produce
from twinlog._kernel import build_batch
from twinlog.wire.kafka.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from twinlog.wire.kafka.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from twinlog.wire.kafka.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    yield Node(str(tmp_path / "data"))


def ask(
    client: Client,
    timestamp: int,
    *,
    version: int = 7,
    topic: str = "t",
    partition: int = 0,
    epoch: int = -1,
    isolation: int = 0,
    replica_id: int = -1,
) -> Any:
    asked = ListOffsetsPartition(partition_index=partition, timestamp=timestamp, current_leader_epoch=epoch)
    request = ListOffsetsRequest(
        replica_id=replica_id,
        isolation_level=isolation,
        topics=[ListOffsetsTopic(name=topic, partitions=[asked])],
    )
    return client.ask(request, version).topics[0].partitions[0]


def found(answer: Any) -> tuple[int, int, int]:
    assert answer.error_code == 0
    return answer.offset, answer.timestamp, answer.leader_epoch


def write(client: Client, *times_ms: int) -> None:
    data = build_batch([(time_ms, b"k", b"v", []) for time_ms in times_ms])
    assert client.ask(produce("t", data), 9).responses[0].partition_responses[0].error_code == 0


@pytest.mark.parametrize("version", range(1, 12))
def test_every_version_finds_first_last_and_time(node: Node, version: int) -> None:
    node.topic("t")
    client = node.client()
    write(client, START_MS - 30, START_MS - 20)
    assert ask(client, LATEST, version=version).offset == 2
    assert ask(client, EARLIEST, version=version).offset == 0
    assert ask(client, START_MS - 25, version=version).offset == 1


def test_row_31_an_empty_topic_begins_and_ends_at_0(node: Node) -> None:
    node.topic("t")
    client = node.client()
    assert found(ask(client, EARLIEST)) == (0, -1, 0)
    assert found(ask(client, LATEST)) == (0, -1, 0)
    assert found(ask(client, MAX_TIMESTAMP)) == (-1, -1, -1)
    assert found(ask(client, START_MS)) == (-1, -1, -1)


def test_row_35_a_time_finds_the_first_record_at_or_after_it_with_its_own_time(node: Node) -> None:
    node.topic("t")
    client = node.client()
    write(client, START_MS - 50, START_MS - 40)
    write(client, START_MS - 30, START_MS - 60, START_MS - 10)
    assert found(ask(client, START_MS - 45)) == (1, START_MS - 40, 0)
    assert found(ask(client, START_MS - 40)) == (1, START_MS - 40, 0)
    assert found(ask(client, START_MS - 39)) == (2, START_MS - 30, 0)
    assert found(ask(client, START_MS - 29)) == (4, START_MS - 10, 0)
    assert found(ask(client, START_MS - 9)) == (-1, -1, -1)
    assert found(ask(client, 0)) == (0, START_MS - 50, 0)


def test_row_35_the_greatest_time(node: Node) -> None:
    node.topic("t")
    client = node.client()
    write(client, START_MS - 50, START_MS - 5, START_MS - 20)
    write(client, START_MS - 10)
    assert found(ask(client, MAX_TIMESTAMP)) == (1, START_MS - 5, 0)


def test_row_35_the_end_for_read_committed_is_the_stable_offset(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    from twinlog.kafka.partition import Partition

    node.topic("t")
    client = node.client()
    write(client, START_MS - 50, START_MS - 5)
    write(client, START_MS - 1)
    monkeypatch.setattr(Partition, "stable_offset", property(lambda self: 2))
    assert found(ask(client, LATEST, isolation=1))[0] == 2
    assert found(ask(client, LATEST))[0] == 3
    assert found(ask(client, START_MS - 1, isolation=1)) == (-1, -1, -1)


def test_row_35_what_is_not_visible_yet_is_not_found(node: Node) -> None:
    node.topic("t")
    client, writer = node.client(), node.client()
    write(client, START_MS - 50)
    node.hold_syncs()
    writer.send_request(produce("t", batch(b"a", at_ms=START_MS - 5)), 9)
    assert found(ask(client, LATEST))[0] == 1
    assert found(ask(client, START_MS - 10)) == (-1, -1, -1)


@pytest.mark.parametrize(("timestamp", "version"), [(-3, 6), (-4, 7), (-5, 8), (-6, 10)])
def test_special_times_need_their_version(node: Node, timestamp: int, version: int) -> None:
    node.topic("t")
    client = node.client()
    assert ask(client, timestamp, version=version).error_code == 35
    assert ask(client, timestamp, version=version + 1).error_code == 0


def test_nothing_is_tiered(node: Node) -> None:
    node.topic("t")
    client = node.client()
    write(client, START_MS)
    assert found(ask(client, -4, version=8)) == (0, -1, 0)
    assert found(ask(client, -5, version=9)) == (-1, -1, -1)
    assert ask(client, -7, version=11).error_code == 42


def test_epochs_of_offsets_are_those_that_wrote_them(node: Node) -> None:
    node.topic("t")
    client = node.client()
    write(client, START_MS - 50)
    node.broker.partitions.get("t", 0).lead(4, 1, 1)  # type: ignore[union-attr]
    write(client, START_MS - 40)
    assert found(ask(client, EARLIEST)) == (0, -1, 0)
    assert found(ask(client, LATEST)) == (2, -1, 4)
    assert found(ask(client, START_MS - 45)) == (1, START_MS - 40, 4)


def test_refusals(node: Node) -> None:
    node.topic("t")
    client = node.client()
    node.broker.partitions.get("t", 0).lead(4, 1, 1)  # type: ignore[union-attr]
    assert ask(client, LATEST, topic="nowhere").error_code == 3
    assert ask(client, LATEST, partition=1).error_code == 3
    assert ask(client, LATEST, epoch=3).error_code == 74
    assert ask(client, LATEST, epoch=5).error_code == 75
    assert ask(client, LATEST, replica_id=2).error_code == 31


def test_a_partition_asked_for_twice_is_an_invalid_request(node: Node) -> None:
    node.topic("t", 2)
    asked = [ListOffsetsPartition(partition_index=index, timestamp=-1) for index in (0, 1, 0)]
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name="t", partitions=asked)])
    answers = node.client().ask(request, 7).topics[0].partitions
    assert [each.error_code for each in answers] == [42, 0, 42]


# -- leader epochs


def end_of(
    client: Client, epoch: int, *, version: int = 4, current: int = -1, topic: str = "t"
) -> tuple[int, int, int]:
    asked = OffsetForLeaderPartition(partition=0, current_leader_epoch=current, leader_epoch=epoch)
    request = OffsetForLeaderEpochRequest(
        replica_id=-1 if version >= 3 else -2, topics=[OffsetForLeaderTopic(topic=topic, partitions=[asked])]
    )
    answer = client.ask(request, version).topics[0].partitions[0]
    return answer.error_code, answer.leader_epoch, answer.end_offset


@pytest.mark.parametrize("version", [2, 3, 4])
def test_row_33_an_epoch_ends_where_the_next_begins(node: Node, version: int) -> None:
    node.topic("t")
    client = node.client()
    partition = node.broker.partitions.get("t", 0)
    assert partition is not None
    write(client, START_MS)
    partition.lead(3, 1, 1)
    write(client, START_MS, START_MS)
    partition.lead(6, 1, 1)
    assert end_of(client, 0, version=version) == (0, 0, 1)
    assert end_of(client, 2, version=version) == (0, 0, 1)
    assert end_of(client, 3, version=version) == (0, 3, 3)
    assert end_of(client, 5, version=version) == (0, 3, 3)
    assert end_of(client, 6, version=version) == (0, 6, 3)
    assert end_of(client, 7, version=version) == (0, -1, -1)
    assert end_of(client, -1, version=version) == (0, -1, -1)


def test_row_33_the_epoch_of_the_question_is_checked_too(node: Node) -> None:
    node.topic("t")
    client = node.client()
    node.broker.partitions.get("t", 0).lead(4, 1, 1)  # type: ignore[union-attr]
    assert end_of(client, 0, current=3)[0] == 74
    assert end_of(client, 0, current=5)[0] == 75
    assert end_of(client, 0, topic="nowhere") == (3, -1, -1)


# -- deletes


def delete(node: Node, client: Client, offset: int, topic: str = "t") -> tuple[int, int]:
    asked = DeleteRecordsTopic(name=topic, partitions=[DeleteRecordsPartition(partition_index=0, offset=offset)])
    client.send_request(DeleteRecordsRequest(topics=[asked], timeout_ms=5000), 2)
    node.pass_time(1)
    answer = client.answers()[0][1].topics[0].partitions[0]
    return answer.error_code, answer.low_watermark


def test_row_16_the_first_offset_moves_and_stays(node: Node) -> None:
    node.topic("t")
    client = node.client()
    write(client, START_MS, START_MS, START_MS)
    assert delete(node, client, 2) == (0, 2)
    assert found(ask(client, EARLIEST))[0] == 2
    assert delete(node, client, 1) == (0, 2)
    assert delete(node, client, -1) == (0, 3)
    assert found(ask(client, EARLIEST))[0] == found(ask(client, LATEST))[0] == 3


def test_row_16_what_cannot_be_deleted(node: Node) -> None:
    node.topic("t")
    client = node.client()
    write(client, START_MS)
    assert delete(node, client, 2) == (1, -1)
    assert delete(node, client, -2) == (1, -1)
    assert delete(node, client, 0, topic="nowhere") == (3, -1)
    node.topic("compacted", cleanup_policy="compact")
    assert delete(node, client, 0, topic="compacted") == (44, -1)


def test_row_16_records_that_are_not_visible_are_not_deleted(node: Node) -> None:
    node.topic("t")
    client, writer = node.client(), node.client()
    write(client, START_MS)
    node.hold_syncs()
    writer.send_request(produce("t", batch(b"a")), 9)
    assert delete(node, client, 2) == (1, -1)


def test_a_deletion_that_does_not_become_durable_in_time_says_so(node: Node) -> None:
    node.topic("t")
    client = node.client()
    write(client, START_MS)
    node.hold_syncs()
    asked = DeleteRecordsTopic(name="t", partitions=[DeleteRecordsPartition(partition_index=0, offset=1)])
    client.send_request(DeleteRecordsRequest(topics=[asked], timeout_ms=100), 2)
    node.pass_time(99)
    assert client.answers() == []
    node.pass_time(1)
    assert client.answers()[0][1].topics[0].partitions[0].error_code == 7
