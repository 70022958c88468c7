"""Hostile groups: too many members, too much of them, clever expressions, times beyond all bounds."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.faults.hostile.attack import MIB, Attack
from tests.scenarios.kafka.batches import Record, batch
from tests.scenarios.kafka.groups import JOIN_GROUP, SYNC_GROUP, Group, commit, ready
from tests.scenarios.kafka.raw import Connection
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    consumer_group_heartbeat,
    create_topics,
    describe_groups,
    join_group,
    offset_commit,
    offset_fetch,
)

HEARTBEAT = 68
SIZE_MAX = 10_000


def join(group: str, *protocols: tuple[str, bytes], session_ms: int = 10_000) -> join_group.JoinGroupRequest:
    return join_group.JoinGroupRequest(
        group_id=group,
        session_timeout_ms=session_ms,
        rebalance_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=[join_group.JoinGroupRequestProtocol(name=name, metadata=data) for name, data in protocols],
    )


def heartbeat(group: str, member_id: str, **more: object) -> consumer_group_heartbeat.ConsumerGroupHeartbeatRequest:
    return consumer_group_heartbeat.ConsumerGroupHeartbeatRequest(
        group_id=group, member_id=member_id, member_epoch=0, rebalance_timeout_ms=10_000, topic_partitions=[], **more
    )


@pytest.fixture
def kafka(attack: Attack) -> Iterator[Connection]:
    with attack.connect(timeout_s=60) as connection:
        ready(connection, attack.topic)
        yield connection


def test_k16_twelve_thousand_members_fill_a_group_and_no_more(attack: Attack, kafka: Connection) -> None:
    """Each fetches an id and never comes with it."""
    codes: Counter[int] = Counter()
    request = join(attack.topic, ("range", b""))
    for _ in range(120):
        for _ in range(100):
            kafka.send(request, 9)
        codes.update(kafka.receive(JOIN_GROUP, 9).error_code for _ in range(100))
    assert codes == {ErrorCode.MEMBER_ID_REQUIRED: SIZE_MAX, ErrorCode.GROUP_MAX_SIZE_REACHED: 2_000}


def test_k16_fifty_megabytes_of_metadata_are_refused(attack: Attack, kafka: Connection) -> None:
    attack.memory_growth_max = 170 * MIB  # the frame itself, as read and as decoded
    answer = kafka.call(join(attack.topic, ("range", bytes(50 * MIB))), 3)
    assert answer.error_code == ErrorCode.GROUP_MAX_SIZE_REACHED


def test_k16_a_multitude_of_protocols_without_names_is_refused(attack: Attack, kafka: Connection) -> None:
    attack.memory_growth_max = 100 * MIB  # decoded, then dropped
    many = [(f"{number}", b"") for number in range(99_000)]
    for _ in range(2):
        member = kafka.call(join(attack.topic, *many), 9)
        assert member.error_code == ErrorCode.MEMBER_ID_REQUIRED or (
            member.error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
        )
    many = [("", b"x" * 100)] * 90_000
    assert kafka.call(join(attack.topic, *many), 9).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED


@pytest.mark.parametrize("session_ms", [2**31 - 1, -(2**31), 0, -1])
def test_k16_a_session_of_any_absurd_length_is_refused(attack: Attack, kafka: Connection, session_ms: int) -> None:
    answer = kafka.call(join(attack.topic, ("range", b""), session_ms=session_ms), 9)
    assert answer.error_code == ErrorCode.INVALID_SESSION_TIMEOUT


EVIL = ["(a+)+$", "(a|aa)+$", "(a|a?)+b", "^(([a-z])+.)+[A-Z]([a-z])+$", "(.*)*" * 20 + "b", "(x+x+)+y", "a{1000}"]


@pytest.mark.parametrize("number", range(len(EVIL)))
def test_k16_clever_expressions_take_linear_time(attack: Attack, kafka: Connection, number: int) -> None:
    """Over names made to keep a backtracking matcher busy for ever: taken or refused, but at once."""
    for size in (60, 120, 200):
        name = "a" * size + f"-{number}"
        kafka.call(
            create_topics.CreateTopicsRequest(
                topics=[create_topics.CreatableTopic(name=name, num_partitions=1, replication_factor=1)],
                timeout_ms=10_000,
            ),
            7,
        )
    for turn in range(50):
        group = f"{attack.topic}-{turn}"
        answer = kafka.call(heartbeat(group, "m", subscribed_topic_regex=EVIL[number] + f"|{turn}"), 1)
        assert answer.error_code in (0, ErrorCode.INVALID_REGULAR_EXPRESSION)


def test_k16_an_expression_that_compiles_to_megabytes_is_refused(attack: Attack, kafka: Connection) -> None:
    nested = "((a{100}){100}){100}"
    for regex in (nested, "(" * 400 + ")" * 400, "[\\pL\\pN]{900}", "a" * 1001):
        answer = kafka.call(heartbeat(attack.topic, "m", subscribed_topic_regex=regex), 1)
        assert answer.error_code in (0, ErrorCode.INVALID_REGULAR_EXPRESSION)
    assert kafka.call(heartbeat(attack.topic, "m", subscribed_topic_regex=nested), 1).error_code == 128


def test_k16_subscriptions_have_a_limit_together(attack: Attack, kafka: Connection) -> None:
    attack.memory_growth_max = 120 * MIB
    names = [f"{number:06d}" * 10 for number in range(50_000)]
    codes = []
    for number in range(6):
        code = kafka.call(heartbeat(attack.topic, f"m{number}", subscribed_topic_names=names), 1).error_code
        codes.append(code)
    assert codes[0] == 0
    assert codes[-1] == ErrorCode.GROUP_MAX_SIZE_REACHED


def test_k16_a_hundred_thousand_topics_in_one_request_are_refused(attack: Attack, kafka: Connection) -> None:
    attack.memory_growth_max = 150 * MIB
    topics = [
        create_topics.CreatableTopic(name=f"{attack.topic}-{number}", num_partitions=1, replication_factor=1)
        for number in range(99_000)
    ]
    answer = kafka.call(create_topics.CreateTopicsRequest(topics=topics, timeout_ms=30_000), 7)
    assert {each.error_code for each in answer.topics} == {ErrorCode.INVALID_REQUEST}


def test_k16_a_hundred_thousand_groups_and_offsets_in_one_request(attack: Attack, kafka: Connection) -> None:
    attack.memory_growth_max = 200 * MIB
    described = kafka.call(describe_groups.DescribeGroupsRequest(groups=[f"g{n}" for n in range(90_000)]), 6)
    assert {each.error_code for each in described.groups} == {ErrorCode.GROUP_ID_NOT_FOUND}
    place = offset_commit.OffsetCommitRequestPartition(partition_index=0, committed_offset=7)
    many = offset_commit.OffsetCommitRequestTopic(name=attack.topic, partitions=[place] * 90_000)
    stored = kafka.call(
        offset_commit.OffsetCommitRequest(group_id=attack.topic, generation_id_or_member_epoch=-1, topics=[many]), 9
    )
    assert {each.error_code for each in stored.topics[0].partitions} == {0}
    wanted = offset_fetch.OffsetFetchRequestTopics(name=attack.topic, partition_indexes=[0] * 90_000)
    one = offset_fetch.OffsetFetchRequestGroup(group_id=attack.topic, topics=[wanted])
    (found,) = kafka.call(offset_fetch.OffsetFetchRequest(groups=[one]), 9).groups
    assert {each.committed_offset for each in found.topics[0].partitions} == {7}


def test_k16_nonsense_as_metadata_and_assignment_is_the_clients_own_business(attack: Attack, kafka: Connection) -> None:
    """A group of consumers whose bytes cannot be read works on; only the way to the other protocol is closed."""
    junk = b"\x7f\xff\xff\xff" * 8
    with Group(attack.target.bootstrap, attack.topic, attack.topic) as group:
        member = group.classic(version=3)
        member.kafka.send(join(attack.topic, ("range", junk)), 3)
        assert member.hear_join() == 0
        member.ask_sync({member.id: junk})
        assert member.kafka.receive(SYNC_GROUP, 5).assignment == junk
        assert group.consumer("new").join() == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        assert group.describe().members[0].member_assignment == junk
        assert member.commit(3) == 0


def test_k16_the_brokers_own_topics_take_no_strangers_records(attack: Attack, kafka: Connection) -> None:
    assert commit(kafka, attack.topic, attack.topic, 5) == 0
    key = struct.pack(">hh", 1, len(attack.topic)) + attack.topic.encode() + struct.pack(">h", 1) + b"t" + bytes(4)
    for partition in range(50):
        refused = kafka.produce("__consumer_offsets", batch([Record(None, key)]), partition=partition)
        assert refused.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
