"""Committed offsets: durable before the answer, never back, gone only when nobody can want them."""

from __future__ import annotations

import struct

import pytest

from tests.compat.target import Server
from tests.scenarios.kafka.batches import Record, batch
from tests.scenarios.kafka.groups import (
    PASSING,
    Group,
    commit,
    fetch_offset,
    ready,
    settle,
    until,
)
from tests.scenarios.kafka.raw import Connection
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    delete_topics,
    offset_fetch,
)

PARTITIONS = 4


# ---- row 46: expiry ----


def test_row_46_offsets_of_a_group_with_members_never_expire(hasty_group: Group) -> None:
    group = hasty_group
    member = group.classic(session_ms=30_000)
    settle(member)
    assert member.commit(7) == 0
    lonely = commit_without_members(group)
    until(lambda: is_gone(group, lonely), "it did not expire")
    assert group.committed().committed_offset == 7
    assert member.leave() == 0
    until(lambda: group.committed().committed_offset == -1, "an empty group's offsets stayed")
    until(lambda: group.listed() is None, "a group with nothing left stayed")


def test_row_46_offsets_of_a_consumer_group_wait_for_its_last_member(hasty_group: Group) -> None:
    group = hasty_group
    member = group.consumer("one")
    assert member.join() == 0
    assert member.commit(7) == 0
    lonely = commit_without_members(group)
    until(lambda: member.report() == 0 and is_gone(group, lonely), "it did not expire")
    assert group.committed().committed_offset == 7
    assert member.leave() == 0
    until(lambda: group.committed().committed_offset == -1, "an empty group's offsets stayed")


def commit_without_members(group: Group) -> str:
    """Another group, whose offset has no member to keep it: once it is gone, the retention is over for all."""
    name = group.name + "-lonely"
    ready(group.admin, name)
    assert commit(group.admin, name, group.topic, 7) == 0
    return name


def is_gone(group: Group, name: str) -> bool:
    return bool(fetch_offset(group.admin, name, group.topic).committed_offset == -1)


def test_row_46_expired_offsets_are_tombstones_in_the_topic(hasty_group: Group, hasty: Server) -> None:
    """What the cleaner needs to forget them; a restart shows that they are durable."""
    group = hasty_group
    assert group.commit(7) == 0
    until(lambda: group.committed().committed_offset == -1)
    offset_records = [
        record
        for partition in range(50)
        for found in group.admin.read("__consumer_offsets", partition=partition)
        for record in found.records
        if record.key is not None and group.name.encode() in record.key
    ]
    assert [record.value is None for record in offset_records] == [False, True]


# ---- row 50: offsets ----


@pytest.mark.parametrize("version", range(2, 11))
def test_row_50_commits_of_every_version_are_read_by_every_version(
    kafka: Connection, group: Group, version: int
) -> None:
    topic_id = bytes(kafka.topic(group.topic).topic_id)
    named = topic_id if version >= 10 else group.topic
    assert commit(kafka, group.name, named, 42, 3, version=version, leader_epoch=0, metadata="näme") == 0
    for reader in range(1, 10):
        found = group.committed(3, version=reader)
        assert (found.error_code, found.committed_offset, found.metadata) == (0, 42, "näme")
        if reader >= 5:
            assert found.committed_leader_epoch == (0 if version >= 6 else -1)
    wanted = offset_fetch.OffsetFetchRequestTopics(topic_id=topic_id, partition_indexes=[3])
    one = offset_fetch.OffsetFetchRequestGroup(group_id=group.name, topics=[wanted])
    (answer,) = kafka.call(offset_fetch.OffsetFetchRequest(groups=[one]), 10).groups
    assert answer.topics[0].partitions[0].committed_offset == 42


def test_row_50_metadata_and_leader_epoch_survive_a_restart(own_server: Server, new_name) -> None:
    topic = new_name()
    with Connection(own_server.kafka) as kafka:
        kafka.create_topic(topic, 2)
        ready(kafka, "g")
        assert commit(kafka, "g", topic, 7, 1, leader_epoch=0, metadata="m" * 4096) == 0
    own_server.kill()
    own_server.start()
    with Connection(own_server.kafka) as kafka:
        found = until(lambda: settled(fetch_offset(kafka, "g", topic, 1)))
        assert (found.committed_offset, found.committed_leader_epoch, found.metadata) == (7, 0, "m" * 4096)


def settled(found: object) -> object:
    """The answer, once the coordinator has read its log: until then it says so, and never "no offset"."""
    code = found.error_code  # type: ignore[attr-defined]
    assert code == 0 or code in PASSING, ErrorCode(code)
    return found if code == 0 else None


def test_row_50_too_long_metadata_is_refused_and_nothing_of_it_kept(group: Group) -> None:
    assert group.commit(1, metadata="x" * 4097) == ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert group.commit(1, metadata="ü" * 2049) == ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert group.committed().committed_offset == -1
    assert group.commit(1, metadata=None) == 0
    assert group.committed().metadata == ""


def test_row_50_a_partition_that_is_not_there_is_refused(kafka: Connection, group: Group) -> None:
    assert group.commit(1, partition=PARTITIONS) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert group.commit(1, partition=-1) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert commit(kafka, group.name, "absent", 1) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert commit(kafka, group.name, b"\1" * 16, 1) == ErrorCode.UNKNOWN_TOPIC_ID


def test_row_50_nothing_committed_is_minus_one_and_all_of_a_group_can_be_asked_for(
    kafka: Connection, group: Group
) -> None:
    assert group.committed().committed_offset == -1
    group.commit(5, 0)
    group.commit(6, 2)
    everything = kafka.call(offset_fetch.OffsetFetchRequest(group_id=group.name, topics=None), 7)
    found = {(t.name, p.partition_index): p.committed_offset for t in everything.topics for p in t.partitions}
    assert found == {(group.topic, 0): 5, (group.topic, 2): 6}
    nothing = kafka.call(offset_fetch.OffsetFetchRequest(group_id=group.name, topics=[]), 7)
    assert nothing.topics == []
    asked = [offset_fetch.OffsetFetchRequestGroup(group_id=name, topics=None) for name in (group.name, "no-such")]
    first, second = kafka.call(offset_fetch.OffsetFetchRequest(groups=asked), 9).groups
    assert {p.partition_index for t in first.topics for p in t.partitions} == {0, 2}
    assert (second.error_code, second.topics) == (0, [])


def test_row_50_a_deleted_topics_offsets_are_not_those_of_the_next_one(kafka: Connection, group: Group) -> None:
    assert group.commit(5) == 0
    state = delete_topics.DeleteTopicState(name=group.topic)
    (gone,) = kafka.call(delete_topics.DeleteTopicsRequest(topics=[state], timeout_ms=10_000), 6).responses
    assert gone.error_code == 0
    kafka.create_topic(group.topic, PARTITIONS)
    until(lambda: group.committed().committed_offset == -1)


def test_row_50_offsets_are_deleted_where_nobody_reads(group: Group) -> None:
    assert group.delete_offset() == (ErrorCode.GROUP_ID_NOT_FOUND, 0)
    member = group.classic()
    settle(member)
    assert member.commit(5) == 0
    assert group.delete_offset() == (0, ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC)
    assert member.leave() == 0
    assert group.delete_offset() == (0, 0)
    assert group.committed().committed_offset == -1


# ---- restarts ----


def test_a_group_lives_on_through_a_restart(own_server: Server, new_name) -> None:
    """Members of both protocols keep their places; nobody has to join again."""
    topic = new_name()
    with Connection(own_server.kafka) as kafka:
        kafka.create_topic(topic, PARTITIONS)
    with Group(own_server.kafka, "classic", topic) as group, Group(own_server.kafka, "consumer", topic) as newer:
        member, consumer = group.classic(), newer.consumer("one")
        settle(member)
        assert consumer.join() == 0
        own_server.kill()
        own_server.start()
        with Connection(own_server.kafka) as again, Connection(own_server.kafka) as other:
            member.kafka, consumer.kafka = again, other
            until(lambda: passed(member.beat()), "the member was forgotten")
            until(lambda: passed(consumer.beat()), "the consumer was forgotten")
            assert member.commit(9) == consumer.commit(9) == 0
            assert member.sync().error_code == 0
            assert member.owned == {topic: [0, 1, 2, 3]}


def passed(code: int) -> bool:
    assert code == 0 or code in PASSING, ErrorCode(code)
    return code == 0


def test_offsets_topic_is_readable_as_kafkas_own(kafka: Connection, group: Group) -> None:
    """Key and value as Kafka's tools expect them: version, group, topic, partition; version, offset, ..."""
    assert group.commit(77, 2, metadata="m") == 0
    key = (
        struct.pack(">hh", 1, len(group.name))
        + group.name.encode()
        + struct.pack(">h", len(group.topic))
        + group.topic.encode()
        + struct.pack(">i", 2)
    )
    (value,) = [
        record.value
        for partition in range(50)
        for found in kafka.read("__consumer_offsets", partition=partition)
        for record in found.records
        if record.key == key
    ]
    assert value is not None
    assert struct.unpack_from(">hqi", value)[1:] == (77, -1)


def test_nobody_writes_into_the_offsets_topic_by_hand(kafka: Connection, group: Group) -> None:
    assert group.commit(1) == 0
    refused = kafka.produce("__consumer_offsets", batch([Record(b"v", b"k")]))
    assert refused.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert group.committed().committed_offset == 1
