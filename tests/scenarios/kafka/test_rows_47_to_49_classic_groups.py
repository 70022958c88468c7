"""Classic groups: members that come, go and come back late, and what an operator sees and does."""

from __future__ import annotations

import time

import pytest

from tests.compat.target import Target
from tests.kit.groups import assigned, assignment
from tests.scenarios.kafka.groups import (
    Group,
    find,
    settle,
    share,
    until,
)
from tests.scenarios.kafka.raw import Connection
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    describe_configs,
    find_coordinator,
    leave_group,
    list_groups,
)

GROUP = 0


# ---- finding the coordinator ----


@pytest.mark.parametrize("version", range(7))
def test_every_version_finds_the_coordinator(kafka: Connection, group: Group, version: int) -> None:
    found = find(kafka, group.name, version)
    assert (found.error_code, found.node_id, found.port) == (0, 1, int(group.bootstrap.rpartition(":")[2]))


def test_several_coordinators_are_found_at_once(kafka: Connection, group: Group) -> None:
    names = [f"{group.name}-{number}" for number in range(20)]
    answer = kafka.call(find_coordinator.FindCoordinatorRequest(key_type=GROUP, coordinator_keys=names), 6)
    assert [each.key for each in answer.coordinators] == names
    assert {each.error_code for each in answer.coordinators} == {0}


def test_a_kind_of_coordinator_that_is_not_there_is_refused(kafka: Connection, group: Group) -> None:
    assert find(kafka, "x", 6, key_type=9).error_code == ErrorCode.INVALID_REQUEST
    assert find(kafka, "x", 1, key_type=9).error_code == ErrorCode.INVALID_REQUEST


def test_the_offsets_topic_is_compacted_and_internal(kafka: Connection, group: Group) -> None:
    found = kafka.topic("__consumer_offsets")
    assert found.is_internal
    assert len(found.partitions) == 50
    wanted = describe_configs.DescribeConfigsResource(
        resource_type=2,
        resource_name="__consumer_offsets",
        configuration_keys=["cleanup.policy", "segment.bytes", "compression.type"],
    )
    (result,) = kafka.call(describe_configs.DescribeConfigsRequest(resources=[wanted]), 4).results
    assert {config.name: config.value for config in result.configs} == {
        "cleanup.policy": "compact",
        "segment.bytes": "104857600",
        "compression.type": "producer",
    }


# ---- row 47: joining ----


@pytest.mark.parametrize("version", range(10))
def test_row_47_a_newcomer_fetches_its_id_from_version_4_on(group: Group, version: int) -> None:
    member = group.classic(version=version)
    member.ask_join()
    first = member.kafka.receive(11, version)
    if version < 4:
        assert first.error_code == 0
        assert first.generation_id == 1
    else:
        assert first.error_code == ErrorCode.MEMBER_ID_REQUIRED
        member.id = first.member_id
        assert member.join() == 0
    assert member.id.startswith("scenario-") or version < 4


def test_row_47_a_static_member_needs_no_id_first(group: Group) -> None:
    member = group.classic(instance_id="one")
    member.ask_join()
    assert member.kafka.receive(11, 9).error_code == 0


def test_row_47_a_group_has_a_size_limit(hasty_group: Group) -> None:
    members = [hasty_group.classic() for _ in range(3)]
    settle(*members)
    one_too_many = hasty_group.classic()
    one_too_many.ask_join()
    assert one_too_many.kafka.receive(11, 9).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert members[0].beat() == 0  # nobody was disturbed


def test_row_47_a_consumer_group_has_a_size_limit(hasty_group: Group) -> None:
    for name in "abc":
        assert hasty_group.consumer(name).join() == 0
    assert hasty_group.consumer("d").join() == ErrorCode.GROUP_MAX_SIZE_REACHED


def test_row_47_no_protocol_in_common_is_refused(group: Group) -> None:
    settle(group.classic(protocols=("range", "sticky")))
    assert group.classic(protocols=("roundrobin",)).join() == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert group.classic(protocol_type="connect").join() == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert group.classic(protocols=()).join() == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert group.classic(protocol_type="").join() == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_row_47_the_protocol_that_all_know_is_chosen(group: Group) -> None:
    members = [group.classic(protocols=("sticky", "range")), group.classic(protocols=("range",))]
    settle(*members)
    assert {member.joined.protocol_name for member in members} == {"range"}


def test_row_47_an_empty_group_name_is_refused(target: Target, group: Group) -> None:
    with Group(target.bootstrap, group.name, group.topic) as nameless:
        nameless.name = ""
        assert nameless.classic().join() == ErrorCode.INVALID_GROUP_ID


# ---- row 48: static members ----


def test_row_48_a_static_member_comes_back_without_a_rebalance(group: Group) -> None:
    leader, follower = group.classic(), group.classic(instance_id="still")
    settle(leader, follower)
    back = group.classic(instance_id="still")
    assert back.join() == 0
    assert back.generation == follower.generation
    assert back.id != follower.id
    assert back.sync().error_code == 0
    assert back.owned == follower.owned
    assert leader.beat() == 0  # nobody has to join again
    assert follower.beat() == ErrorCode.FENCED_INSTANCE_ID
    assert follower.commit(1) == ErrorCode.FENCED_INSTANCE_ID
    assert follower.sync().error_code == ErrorCode.FENCED_INSTANCE_ID
    assert follower.leave() == ErrorCode.FENCED_INSTANCE_ID


@pytest.mark.parametrize("version", [5, 8, 9])
def test_row_48_a_static_leader_comes_back(group: Group, version: int) -> None:
    """From version 9 on it is told to keep the assignment; before, it is told that its old name leads."""
    one, two = group.classic(instance_id="one"), group.classic(instance_id="two")
    settle(one, two)
    leader, other = (one, two) if one.leads else (two, one)
    back = group.classic(instance_id=leader.instance_id, version=version)
    assert back.join() == 0
    assert back.joined.skip_assignment == back.leads == (version >= 9)
    assert back.sync().error_code == 0
    assert back.owned == leader.owned
    assert other.beat() == 0


def test_row_48_a_static_member_that_comes_back_with_other_protocols_is_a_rebalance(group: Group) -> None:
    leader, follower = (group.classic(instance_id=name, protocols=("range", "sticky")) for name in ("one", "two"))
    settle(leader, follower)
    other, name = (follower, "one") if leader.leads else (leader, "two")
    back = group.classic(instance_id=name, protocols=("sticky",))
    back.ask_join()
    until(lambda: other.beat() == ErrorCode.REBALANCE_IN_PROGRESS)
    other.ask_join()
    assert other.hear_join() == back.hear_join() == 0
    assert back.generation == 2
    assert back.joined.protocol_name == "sticky"


def test_row_48_static_members_leave_by_their_name(group: Group) -> None:
    settle(group.classic(instance_id="one"), group.classic(instance_id="two"))
    gone = [leave_group.MemberIdentity(member_id="", group_instance_id=name) for name in ("one", "none", "two")]
    answer = group.admin.call(leave_group.LeaveGroupRequest(group_id=group.name, members=gone), 5)
    assert [each.error_code for each in answer.members] == [0, ErrorCode.UNKNOWN_MEMBER_ID, 0]
    assert group.state() == "Empty"


@pytest.mark.parametrize("version", range(6))
def test_row_48_one_member_leaves_by_any_version(group: Group, version: int) -> None:
    member = group.classic()
    settle(member)
    assert member.leave(version) == 0
    assert group.state() == "Empty"
    assert member.beat() == ErrorCode.UNKNOWN_MEMBER_ID


# ---- row 49: syncing, codes, timeouts ----


def test_row_49_the_leaders_bytes_reach_the_members_unchanged(group: Group) -> None:
    leader, follower = group.classic(protocol_type="connect"), group.classic(protocol_type="connect")
    for member in (leader, follower):
        member.ask_join()
        first = member.kafka.receive(11, 9)
        member.id = first.member_id
        member.ask_join()
    assert leader.hear_join() == follower.hear_join() == 0
    if not leader.leads:
        leader, follower = follower, leader
    odd = bytes(range(256)) * 100
    follower.ask_sync()
    leader.ask_sync({leader.id: b"", follower.id: odd})
    assert leader.kafka.receive(14, 5).assignment == b""
    answer = follower.kafka.receive(14, 5)
    assert (answer.assignment, answer.protocol_type, answer.protocol_name) == (odd, "connect", "range")


def test_row_49_stale_members_get_the_code_that_tells_them_what_to_do(group: Group) -> None:
    old, new = group.classic(), group.classic()
    settle(old)
    stale = old.generation
    new.ask_join()
    first = new.kafka.receive(11, 9)
    new.id = first.member_id
    new.ask_join()
    until(lambda: old.beat() == ErrorCode.REBALANCE_IN_PROGRESS)
    assert old.commit(5) == 0  # while the next round gathers, the old generation still may
    old.ask_join()
    assert old.hear_join() == new.hear_join() == 0
    assert old.commit(6, epoch=stale) == ErrorCode.ILLEGAL_GENERATION
    assert old.commit(6) == ErrorCode.REBALANCE_IN_PROGRESS  # until the leader has assigned
    share(old, new)
    assert old.beat(stale) == ErrorCode.ILLEGAL_GENERATION
    assert old.sync(generation=stale).error_code == ErrorCode.ILLEGAL_GENERATION
    assert old.commit(6, epoch=stale) == ErrorCode.ILLEGAL_GENERATION
    assert old.commit(6, member_id="nobody") == ErrorCode.UNKNOWN_MEMBER_ID
    assert old.commit(6, member_id="", epoch=-1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert old.commit(6) == 0
    assert group.committed().committed_offset == 6


def test_row_49_a_sync_must_name_the_protocol_of_the_generation(group: Group) -> None:
    member = group.classic()
    assert member.join() == 0
    mine = {member.id: assignment({group.topic: [0]})}
    assert member.sync(mine, protocol_name="sticky").error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert member.sync(mine, protocol_type="connect").error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    answer = member.sync(mine, protocol_type="consumer", protocol_name="range")
    assert (answer.error_code, assigned(answer.assignment)) == (0, {group.topic: [0]})


@pytest.mark.parametrize("session_ms", [0, -1, 5_999, 1_800_001, 2**31 - 1])
def test_row_49_a_session_timeout_out_of_bounds_is_refused(group: Group, session_ms: int) -> None:
    assert group.classic(session_ms=session_ms).join() == ErrorCode.INVALID_SESSION_TIMEOUT


def test_row_49_a_silent_member_is_out_after_its_session(hasty_group: Group) -> None:
    alive, silent = hasty_group.classic(session_ms=10_000), hasty_group.classic(session_ms=300)
    settle(alive, silent)
    until(lambda: alive.beat() == ErrorCode.REBALANCE_IN_PROGRESS, "the silent member stayed")
    settle(alive)
    assert alive.owned == {hasty_group.topic: [0, 1, 2, 3]}
    assert silent.beat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_row_49_who_does_not_join_in_time_is_out(hasty_group: Group) -> None:
    """Its session goes on, but the round waits no longer than the rebalance timeout."""
    late, new = hasty_group.classic(rebalance_ms=300), hasty_group.classic(rebalance_ms=300)
    settle(late)
    new.ask_join()
    new.id = new.kafka.receive(11, 9).member_id
    new.ask_join()
    assert new.hear_join() == 0
    assert [each.member_id for each in new.joined.members] == [new.id]
    assert late.beat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_row_49_who_does_not_sync_in_time_is_out(hasty_group: Group) -> None:
    """A leader that never assigns does not hold up the others for ever."""
    one, two = hasty_group.classic(rebalance_ms=400), hasty_group.classic(rebalance_ms=400)
    settle(one, two)
    for member in (one, two) if one.leads else (two, one):  # the leader's coming back begins another round
        member.ask_join()
    assert one.hear_join() == two.hear_join() == 0
    leader, follower = (one, two) if one.leads else (two, one)
    assert follower.sync().error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert leader.beat() == ErrorCode.UNKNOWN_MEMBER_ID
    settle(follower)
    assert follower.owned == {hasty_group.topic: [0, 1, 2, 3]}


def test_row_49_a_newcomer_that_dies_while_it_waits_is_dropped(hasty_group: Group) -> None:
    """It fetched an id and never came again: the round goes on when that id's session ends."""
    member = hasty_group.classic(rebalance_ms=20_000)
    settle(member)
    ghost = hasty_group.classic(session_ms=300)
    ghost.ask_join()
    assert ghost.kafka.receive(11, 9).error_code == ErrorCode.MEMBER_ID_REQUIRED
    started = time.monotonic()
    member.ask_join()  # the leader joins again: a new round, which first waits for the id given out
    assert member.hear_join() == 0
    assert time.monotonic() - started < 15
    assert [each.member_id for each in member.joined.members] == [member.id]


# ---- administration ----


@pytest.mark.parametrize("version", range(7))
def test_a_classic_group_is_described(group: Group, version: int) -> None:
    missing = group.describe(version)
    assert missing.group_state == "Dead"
    assert missing.error_code == (ErrorCode.GROUP_ID_NOT_FOUND if version >= 6 else 0)
    member = group.classic(instance_id="one")
    settle(member)
    told = group.describe(version)
    assert (told.error_code, told.group_state, told.protocol_type, told.protocol_data) == (
        0,
        "Stable",
        "consumer",
        "range",
    )
    (only,) = told.members
    assert (only.member_id, only.client_id, only.client_host) == (member.id, "scenario", "/127.0.0.1")
    assert assigned(only.member_assignment) == {group.topic: [0, 1, 2, 3]}
    assert only.group_instance_id == ("one" if version >= 4 else None)


def test_groups_are_listed_by_state_and_type(group: Group) -> None:
    assert group.listed() is None
    member = group.classic()
    settle(member)
    line = group.listed(states_filter=["Stable"], types_filter=["Classic"])
    assert (line.protocol_type, line.group_state, line.group_type) == ("consumer", "Stable", "classic")
    assert group.listed(states_filter=["Empty", "Dead"]) is None
    assert group.listed(types_filter=["consumer"]) is None
    for version in range(6):
        names = {each.group_id for each in group.admin.call(list_groups.ListGroupsRequest(), version).groups}
        assert group.name in names


def test_only_a_group_without_members_is_deleted(group: Group) -> None:
    assert group.delete() == ErrorCode.GROUP_ID_NOT_FOUND
    member = group.classic()
    settle(member)
    assert member.commit(5) == 0
    assert group.delete() == ErrorCode.NON_EMPTY_GROUP
    assert member.leave() == 0
    assert group.delete() == 0
    assert group.listed() is None
    assert group.committed().committed_offset == -1
    assert group.delete() == ErrorCode.GROUP_ID_NOT_FOUND


def test_a_consumer_group_is_described_by_its_own_request(group: Group) -> None:
    assert group.describe_consumer().error_code == ErrorCode.GROUP_ID_NOT_FOUND
    member = group.consumer("one", instance_id="still", rack_id="r1", server_assignor="range")
    assert member.join() == 0
    told = group.describe_consumer()
    assert (told.error_code, told.group_state, told.assignor_name) == (0, "Stable", "range")
    assert told.group_epoch == told.assignment_epoch == member.epoch
    (only,) = told.members
    assert (only.member_id, only.instance_id, only.rack_id, only.member_epoch) == ("one", "still", "r1", member.epoch)
    assert [(t.topic_name, t.partitions) for t in only.assignment.topic_partitions] == [(group.topic, [0, 1, 2, 3])]
    assert group.describe().error_code == ErrorCode.GROUP_ID_NOT_FOUND  # it is no classic one
    line = group.listed(types_filter=["consumer"])
    assert (line.protocol_type, line.group_state, line.group_type) == ("consumer", "Stable", "consumer")
    assert group.delete() == ErrorCode.NON_EMPTY_GROUP
