"""Groups of the consumer protocol: fencing, partitions handed on, live moves from and to classic ones."""

from __future__ import annotations

import pytest

from tests.scenarios.kafka.groups import (
    Classic,
    Consumer,
    Group,
    converge,
    settle,
    until,
)
from tests.scenarios.kafka.raw import Connection
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    create_partitions,
    delete_topics,
)

# ---- row 51: fencing in the consumer protocol ----


def test_row_51_a_member_joins_follows_and_leaves(group: Group) -> None:
    member = group.consumer("one")
    assert member.join() == 0
    assert member.partitions == [0, 1, 2, 3]
    assert member.epoch == 1
    assert member.beat() == 0
    assert member.answer.assignment is None  # told once
    assert member.leave() == 0
    assert member.answer.member_epoch == -1
    assert member.beat(epoch=1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert group.describe_consumer().group_state == "Empty"


def test_row_51_version_0_is_given_an_id(group: Group) -> None:
    member = group.consumer("")
    assert member.join(version=0) == 0
    assert len(member.id) > 16
    assert group.consumer("").join(version=1) == ErrorCode.INVALID_REQUEST


def test_row_51_a_wrong_epoch_is_fenced(group: Group) -> None:
    member = group.consumer("one")
    assert member.join() == 0
    assert member.beat(epoch=member.epoch + 1) == ErrorCode.FENCED_MEMBER_EPOCH
    assert member.beat(epoch=-3) == ErrorCode.INVALID_REQUEST
    assert member.commit(1, epoch=member.epoch + 1) == ErrorCode.STALE_MEMBER_EPOCH
    assert member.commit(1, epoch=0) == ErrorCode.STALE_MEMBER_EPOCH
    assert member.commit(1, version=8) == ErrorCode.UNSUPPORTED_VERSION
    assert member.commit(1) == 0
    assert member.join() == 0  # epoch 0 is always a way back


def test_row_51_who_joins_owns_nothing_yet(kafka: Connection, group: Group) -> None:
    topic_id = bytes(kafka.topic(group.topic).topic_id)
    member = group.consumer("one")
    assert member.join(owned={topic_id: [0]}) == ErrorCode.INVALID_REQUEST
    assert member.join(rebalance_timeout_ms=-1) == ErrorCode.INVALID_REQUEST
    assert member.join(subscribed_topic_names=None) == ErrorCode.INVALID_REQUEST


def test_row_51_a_static_name_is_held_until_it_is_released(group: Group) -> None:
    first, second = group.consumer("one", instance_id="still"), group.consumer("two", instance_id="still")
    assert first.join() == 0
    assert second.join() == ErrorCode.UNRELEASED_INSTANCE_ID
    assert first.leave(epoch=-2) == 0
    assert first.answer.member_epoch == -2
    assert second.join() == 0
    assert second.partitions == [0, 1, 2, 3]
    assert first.beat(epoch=1) in (ErrorCode.FENCED_INSTANCE_ID, ErrorCode.UNKNOWN_MEMBER_ID)
    assert second.leave(epoch=-1) == 0


def test_row_51_an_unknown_assignor_is_refused(group: Group) -> None:
    assert group.consumer("one").join(server_assignor="clever") == ErrorCode.UNSUPPORTED_ASSIGNOR


@pytest.mark.parametrize("regex", ["(", "[", "a{1001}", "(?<name", "\\", "(?=a)", "x" * 1001])
def test_row_51_a_bad_regular_expression_is_refused(group: Group, regex: str) -> None:
    member = group.consumer("one", subscribed_topic_names=None, subscribed_topic_regex=regex)
    assert member.join() == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert group.describe_consumer().error_code == ErrorCode.GROUP_ID_NOT_FOUND  # nothing came of it


# ---- row 52: reconciliation ----


def test_row_52_a_partition_goes_on_only_once_it_was_given_up(group: Group) -> None:
    old, new = group.consumer("old"), group.consumer("new")
    assert old.join() == new.join() == 0
    assert old.partitions == [0, 1, 2, 3]
    assert new.partitions == []  # all are still in use
    assert old.beat() == 0
    told = {p for t in old.answer.assignment.topic_partitions for p in t.partitions}
    assert len(told) == 2
    for _ in range(3):
        assert new.report() == 0
        assert new.partitions == []  # told, but not given up yet
    old.take()
    assert old.report() == 0
    converge(old, new, holds=lambda: len(new.partitions) == 2)
    assert sorted(old.partitions + new.partitions) == [0, 1, 2, 3]
    assert old.epoch == new.epoch


def test_row_52_who_does_not_give_up_in_time_is_fenced(hasty_group: Group) -> None:
    laggard = hasty_group.consumer("laggard", rebalance_timeout_ms=300)
    assert laggard.join() == 0
    new = hasty_group.consumer("new")
    assert new.join() == 0
    # The laggard is alive and says so, yet it goes on using what it should give up.
    until(lambda: laggard.beat() == ErrorCode.UNKNOWN_MEMBER_ID, "the laggard stayed")
    converge(new, holds=lambda: new.partitions == [0, 1, 2, 3])


def test_row_52_a_silent_member_is_out_after_its_session(hasty_group: Group) -> None:
    silent, alive = hasty_group.consumer("silent"), hasty_group.consumer("alive")
    assert silent.join() == alive.join() == 0
    converge(alive, holds=lambda: alive.partitions == [0, 1, 2, 3])
    assert silent.report() == ErrorCode.UNKNOWN_MEMBER_ID


def test_row_52_new_topics_and_partitions_are_picked_up(kafka: Connection, group: Group) -> None:
    prefix = group.topic
    member = group.consumer("one", subscribed_topic_names=None, subscribed_topic_regex=f"{prefix}(-[a-z]+)?")
    by_name = group.consumer("two", subscribed_topic_names=[prefix + "-later"])
    assert member.join() == by_name.join() == 0
    assert member.partitions == [0, 1, 2, 3]
    assert by_name.partitions == []
    more = create_partitions.CreatePartitionsTopic(name=prefix, count=6, assignments=None)
    (grown,) = kafka.call(create_partitions.CreatePartitionsRequest(topics=[more], timeout_ms=10_000), 3).results
    assert grown.error_code == 0
    converge(member, by_name, holds=lambda: member.partitions == [0, 1, 2, 3, 4, 5])
    kafka.create_topic(prefix + "-later", 2)
    kafka.create_topic(prefix + "-OTHER", 2)
    converge(member, by_name, holds=lambda: by_name.partitions == [0, 1])
    assert member.partitions == [0, 1, 2, 3, 4, 5]


def test_row_52_a_deleted_topic_is_taken_away(kafka: Connection, group: Group) -> None:
    member = group.consumer("one")
    assert member.join() == 0
    state = delete_topics.DeleteTopicState(name=group.topic)
    kafka.call(delete_topics.DeleteTopicsRequest(topics=[state], timeout_ms=10_000), 6)
    converge(member, holds=lambda: member.partitions == [])


# ---- row 53: moves between the protocols ----


def test_row_53_a_live_group_moves_to_the_consumer_protocol_and_back(group: Group) -> None:
    classic = group.classic(protocols=("cooperative-sticky",))
    settle(classic)
    assert classic.commit(3) == 0
    consumer = group.consumer("new")
    assert consumer.join() == 0
    assert group.listed().group_type == "consumer"
    assert {m.member_type for m in group.describe_consumer().members} == {0, 1}
    until(lambda: hands_over(classic, consumer), "the classic member kept everything")
    assert len(classic.owned[group.topic]) == len(consumer.partitions) == 2
    assert classic.commit(4) == 0
    assert consumer.commit(5) == 0
    assert group.committed().committed_offset == 5
    assert classic.commit(6, epoch=classic.generation + 7) == ErrorCode.ILLEGAL_GENERATION
    assert consumer.commit(6, epoch=consumer.epoch + 7) == ErrorCode.STALE_MEMBER_EPOCH
    assert consumer.leave() == 0
    assert group.listed().group_type == "classic"
    until(lambda: classic.beat() == ErrorCode.REBALANCE_IN_PROGRESS)
    settle(classic)
    assert classic.owned == {group.topic: [0, 1, 2, 3]}
    assert group.committed().committed_offset == 5


def hands_over(classic: Classic, consumer: Consumer) -> bool:
    """Both go one step on: the classic member by joining again whenever a heartbeat says so."""
    if classic.beat() == ErrorCode.REBALANCE_IN_PROGRESS:
        assert classic.join() == 0
        answer = classic.sync()
        assert answer.error_code in (0, ErrorCode.REBALANCE_IN_PROGRESS)
    assert consumer.report() == 0
    return len(consumer.partitions) == 2 and len(classic.owned.get(consumer.group.topic, [])) == 2


def test_row_53_a_group_of_other_clients_does_not_move(group: Group) -> None:
    member = group.classic(protocol_type="connect")
    assert member.join() == 0
    assert group.consumer("new").join() == ErrorCode.GROUP_ID_NOT_FOUND
    assert group.describe().protocol_type == "connect"


def test_row_53_an_empty_group_changes_its_protocol_and_keeps_its_offsets(group: Group) -> None:
    classic = group.classic()
    settle(classic)
    assert classic.commit(3) == 0
    assert classic.leave() == 0
    consumer = group.consumer("one")
    assert consumer.join() == 0
    assert group.committed().committed_offset == 3
    assert consumer.leave() == 0
    back = group.classic()
    settle(back)
    assert group.committed().committed_offset == 3
