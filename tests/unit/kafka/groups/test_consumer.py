"""The consumer protocol (KIP-848): epochs, fencing, convergence. Rows 51 and 52 of the checklist."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit.groups import (
    REBALANCE_MS,
    SESSION_MS,
    ClassicMember,
    ConsumerMember,
    Coordinator,
    Topics,
    converge,
    settle,
)
from twinlog.base import Refused
from twinlog.kafka.groups import GroupSettings, GroupState
from twinlog.kafka.groups.reconcile import MemberState
from twinlog.wire.kafka.errors import ErrorCode

SESSION_848_MS = GroupSettings().consumer_session_timeout_ms


@pytest.fixture
def coordinator() -> Coordinator:
    return Coordinator(Topics(t=6))


def refusal(move: Any, *arguments: Any, **more: Any) -> int:
    with pytest.raises(Refused) as refused:
        move(*arguments, **more)
    return refused.value.code


def two(coordinator: Coordinator) -> tuple[ConsumerMember, ConsumerMember]:
    first, second = ConsumerMember(coordinator, "a"), ConsumerMember(coordinator, "b")
    first.join()
    second.join()
    converge(first, second)
    return first, second


def check_owners(coordinator: Coordinator, *members: ConsumerMember) -> None:
    """No partition is used by two; what the coordinator believes is what they use."""
    used = [(topic_id, p) for m in members for topic_id, partitions in m.owned.items() for p in partitions]
    assert len(used) == len(set(used)), "a partition has two users"
    group = coordinator.group()
    for member in members:
        for topic_id, partitions in member.owned.items():
            assert all(group.owners[topic_id, p] == member.id for p in partitions)


# ---- joining ----


def test_the_first_member_gets_everything_at_once(coordinator: Coordinator) -> None:
    member = ConsumerMember(coordinator, "a")
    member.join()
    assert member.partitions == [0, 1, 2, 3, 4, 5]
    assert member.epoch == 1
    assert member.told is not None
    assert member.told.heartbeat_interval_ms == coordinator.settings.consumer_heartbeat_interval_min_ms
    assert coordinator.group().state is GroupState.STABLE


def test_members_report_often_just_after_a_change_and_seldom_once_it_is_quiet(coordinator: Coordinator) -> None:
    settings = coordinator.settings
    member = ConsumerMember(coordinator, "a")
    member.join()

    def interval_after(ms: int) -> int:
        coordinator.pass_ms(ms)
        member.beat()
        assert member.told is not None
        return member.told.heartbeat_interval_ms

    assert [interval_after(2_000), interval_after(2_000), interval_after(8_000)] == [1_000, 2_000, 5_000]
    assert settings.consumer_heartbeat_interval_ms == 5_000
    ConsumerMember(coordinator, "b").join()
    assert interval_after(0) == settings.consumer_heartbeat_interval_min_ms
    coordinator.restart()
    assert interval_after(0) == settings.consumer_heartbeat_interval_min_ms, "nobody knows what changed meanwhile"


def test_nothing_is_answered_before_it_is_durable() -> None:
    coordinator = Coordinator(held=True)
    member = ConsumerMember(coordinator, "a")
    assert member.beat(topic_names=("t",), owned={}, rebalance_timeout_ms=1000) is None
    coordinator.crash()
    assert coordinator.machine.groups == {}


def test_row_52_a_partition_moves_only_after_its_owner_reported_it_gone(coordinator: Coordinator) -> None:
    first, second = ConsumerMember(coordinator, "a"), ConsumerMember(coordinator, "b")
    first.join()
    second.join()
    assert second.partitions == []
    before = dict(first.owned)
    first.beat(owned=first.owned)
    assert first.told is not None and first.told.assignment is not None
    assert sorted(p for parts in first.told.assignment.values() for p in parts) == [0, 1, 2]
    assert first.epoch == 1, "it stays behind until it gave up what it has to"
    # It still uses them: nobody else may.
    second.report()
    assert second.partitions == []
    first.beat(owned=before)
    assert coordinator.group().members["a"].current.state is MemberState.UNREVOKED_PARTITIONS
    second.report()
    assert second.partitions == []
    first.owned = {topic_id: frozenset({0, 1, 2}) for topic_id in before}
    first.report()
    assert first.epoch == 2
    second.report()
    assert second.partitions == [3, 4, 5]
    check_owners(coordinator, first, second)
    assert coordinator.group().state is GroupState.STABLE


def test_row_52_an_assignment_is_sent_only_when_it_changed(coordinator: Coordinator) -> None:
    first, second = two(coordinator)
    for member in (first, second):
        assert member.beat().assignment is None
        assert member.beat(owned=member.owned).assignment is None
    full = first.beat(topic_names=("t",), owned=first.owned, rebalance_timeout_ms=REBALANCE_MS)
    assert full.assignment == first.owned, "a whole report gets a whole answer"


def test_row_52_a_topic_made_later_is_picked_up(coordinator: Coordinator) -> None:
    member = ConsumerMember(coordinator, "a", topics=("t", "later"))
    member.join()
    later_id = coordinator.topics.put("later", 2)
    member.report()
    assert member.owned[later_id] == frozenset({0, 1})
    assert member.epoch == 2


def test_row_52_new_partitions_are_picked_up_and_deleted_topics_let_go(coordinator: Coordinator) -> None:
    member = ConsumerMember(coordinator, "a")
    member.join()
    coordinator.topics.put("t", 8)
    member.report()
    assert member.partitions == list(range(8))
    coordinator.topics.drop("t")
    converge(member)
    assert member.partitions == []


def test_row_52_who_does_not_revoke_in_time_is_out(coordinator: Coordinator) -> None:
    first, second = ConsumerMember(coordinator, "a", rebalance_timeout_ms=10_000), ConsumerMember(coordinator, "b")
    first.join()
    second.join()
    first.beat(owned=first.owned)  # told to give up some, goes on using them
    for _ in range(3):
        coordinator.pass_ms(3_000)
        first.beat(owned=first.owned)
    coordinator.pass_ms(1_000)
    assert "a" not in coordinator.group().members
    assert refusal(first.beat, owned=first.owned) == ErrorCode.UNKNOWN_MEMBER_ID
    second.report()
    assert second.partitions == [0, 1, 2, 3, 4, 5]


def test_row_52_the_time_to_revoke_starts_over_for_the_next_task(coordinator: Coordinator) -> None:
    first, second = ConsumerMember(coordinator, "a", rebalance_timeout_ms=10_000), ConsumerMember(coordinator, "b")
    first.join()
    second.join()
    first.report()
    coordinator.pass_ms(9_000)
    first.report()
    coordinator.pass_ms(9_000)
    first.report()
    assert "a" in coordinator.group().members


def test_a_silent_member_is_out_and_its_partitions_go_on(coordinator: Coordinator) -> None:
    first, second = two(coordinator)
    coordinator.pass_ms(SESSION_848_MS - 1)
    second.report()
    coordinator.pass_ms(1)
    assert "a" not in coordinator.group().members
    second.report()
    assert second.partitions == [0, 1, 2, 3, 4, 5]
    assert refusal(first.report) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_member_that_leaves_frees_what_it_had(coordinator: Coordinator) -> None:
    first, second = two(coordinator)
    first.leave()
    second.report()
    assert second.partitions == [0, 1, 2, 3, 4, 5]
    second.leave()
    assert coordinator.group().state is GroupState.EMPTY


def test_members_keep_what_they_have_when_another_one_comes(coordinator: Coordinator) -> None:
    first, second = two(coordinator)
    held = {m.id: set(m.partitions) for m in (first, second)}
    third = ConsumerMember(coordinator, "c")
    third.join()
    converge(first, second, third)
    assert [len(m.partitions) for m in (first, second, third)] == [2, 2, 2]
    assert set(first.partitions) < held["a"]
    assert set(second.partitions) < held["b"]
    check_owners(coordinator, first, second, third)


def test_many_members_converge(coordinator: Coordinator) -> None:
    coordinator.topics.put("t", 100)
    members = [ConsumerMember(coordinator, f"m{n:02}") for n in range(40)]
    for member in members:
        member.join()
        member.report()
    converge(*members, rounds=4)
    check_owners(coordinator, *members)
    assert sorted(len(m.partitions) for m in members) == [2] * 20 + [3] * 20
    assert coordinator.group().state is GroupState.STABLE


# ---- row 51: epochs and codes ----


def test_row_51_a_join_that_owns_partitions_is_refused(coordinator: Coordinator) -> None:
    member = ConsumerMember(coordinator, "a")
    owned = {coordinator.topics.id("t"): frozenset({1})}
    code = refusal(member.beat, epoch=0, topic_names=("t",), owned=owned, rebalance_timeout_ms=1000)
    assert code == ErrorCode.INVALID_REQUEST
    assert coordinator.machine.groups == {}


@pytest.mark.parametrize(
    "wrong",
    [
        {"member_id": ""},
        {"epoch": -3},
        {"epoch": -2},
        {"instance_id": ""},
        {"rack_id": ""},
        {"rebalance_timeout_ms": -1},
        {"rebalance_timeout_ms": 0},
        {"topic_names": None},
        {"owned": None},
    ],
)
def test_row_51_malformed_heartbeats_are_refused(coordinator: Coordinator, wrong: dict[str, Any]) -> None:
    member = ConsumerMember(coordinator, "a")
    fields = {"epoch": 0, "topic_names": ("t",), "owned": {}, "rebalance_timeout_ms": 1000, **wrong}
    assert refusal(member.beat, **fields) == ErrorCode.INVALID_REQUEST


def test_row_51_strangers_and_other_epochs_are_fenced(coordinator: Coordinator) -> None:
    first, _ = two(coordinator)
    stranger = ConsumerMember(coordinator, "nobody")
    assert refusal(stranger.beat, epoch=2) == ErrorCode.UNKNOWN_MEMBER_ID
    assert refusal(stranger.beat, epoch=-1) == ErrorCode.UNKNOWN_MEMBER_ID
    for epoch in (1, 3, 100):
        assert refusal(first.beat, epoch=epoch) == ErrorCode.FENCED_MEMBER_EPOCH
    assert first.epoch == 2
    first.report()


def test_row_51_a_member_whose_answer_got_lost_may_show_its_epoch_before(coordinator: Coordinator) -> None:
    first = ConsumerMember(coordinator, "a")
    first.join()
    coordinator.topics.put("t", 7)
    first.beat(owned=first.owned)  # now at epoch 2; the client never saw the answer
    first.epoch = 1
    first.beat(owned=first.owned)
    assert first.epoch == 2
    first.epoch = 1
    beyond = {coordinator.topics.id("t"): frozenset(range(9))}
    assert refusal(first.beat, owned=beyond) == ErrorCode.FENCED_MEMBER_EPOCH
    assert refusal(first.beat, epoch=1) == ErrorCode.FENCED_MEMBER_EPOCH, "without its partitions it proves nothing"


def test_row_51_an_unknown_assignor_is_refused(coordinator: Coordinator) -> None:
    member = ConsumerMember(coordinator, "a", server_assignor="magic")
    assert refusal(member.join) == ErrorCode.UNSUPPORTED_ASSIGNOR


def test_row_51_commits_need_the_members_own_epoch(coordinator: Coordinator) -> None:
    first, _ = two(coordinator)
    assert first.commit(5) == ErrorCode.NONE
    assert refusal(first.commit, 6, epoch=1) == ErrorCode.STALE_MEMBER_EPOCH
    assert refusal(first.commit, 6, epoch=3) == ErrorCode.STALE_MEMBER_EPOCH
    assert refusal(ConsumerMember(coordinator, "nobody").commit, 6) == ErrorCode.UNKNOWN_MEMBER_ID
    assert refusal(coordinator.commit, 6) == ErrorCode.UNKNOWN_MEMBER_ID, "no commits from outside while it is used"
    assert refusal(first.commit, 6, may_use_epochs=False) == ErrorCode.UNSUPPORTED_VERSION
    assert coordinator.committed() == 5


def test_row_51_reading_offsets_with_a_stale_epoch_is_refused(coordinator: Coordinator) -> None:
    first, _ = two(coordinator)
    machine = coordinator.machine
    machine.check_fetch("g", None, -1)
    machine.check_fetch("g", "a", first.epoch)
    assert refusal(machine.check_fetch, "g", "a", first.epoch - 1) == ErrorCode.STALE_MEMBER_EPOCH
    assert refusal(machine.check_fetch, "g", "nobody", 1) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_transaction_with_a_stale_epoch_hears_the_code_that_its_protocol_knows(coordinator: Coordinator) -> None:
    first, _ = two(coordinator)
    check = coordinator.machine.check_transactional_commit
    check("g", "", None, -1)
    check("g", "a", None, first.epoch)
    assert refusal(check, "g", "a", None, first.epoch - 1) == ErrorCode.ILLEGAL_GENERATION
    assert refusal(check, "g", "nobody", None, 1) == ErrorCode.UNKNOWN_MEMBER_ID


def test_row_51_a_full_group_takes_nobody(coordinator: Coordinator) -> None:
    full = Coordinator(settings=GroupSettings(consumer_size_max=1))
    ConsumerMember(full, "a").join()
    assert refusal(ConsumerMember(full, "b").join) == ErrorCode.GROUP_MAX_SIZE_REACHED
    ConsumerMember(full, "a").join()


# ---- row 51: static members ----


def test_row_51_a_static_name_in_use_is_not_released(coordinator: Coordinator) -> None:
    ConsumerMember(coordinator, "a", instance_id="one").join()
    assert refusal(ConsumerMember(coordinator, "b", instance_id="one").join) == ErrorCode.UNRELEASED_INSTANCE_ID


def test_row_51_a_static_member_that_leaves_for_a_while_keeps_its_share(coordinator: Coordinator) -> None:
    first = ConsumerMember(coordinator, "a", instance_id="one")
    second = ConsumerMember(coordinator, "b")
    first.join()
    second.join()
    converge(first, second)
    share = first.owned
    first.leave(epoch=-2)
    second.report()
    assert len(second.partitions) == 3, "its share is not given away while its session lasts"
    again = ConsumerMember(coordinator, "c", instance_id="one")
    again.join()
    assert again.owned == share
    assert second.epoch == again.epoch, "nobody else noticed"
    assert refusal(first.report) in (ErrorCode.FENCED_INSTANCE_ID, ErrorCode.UNKNOWN_MEMBER_ID)


def test_row_51_a_static_member_that_does_not_come_back_is_out(coordinator: Coordinator) -> None:
    first = ConsumerMember(coordinator, "a", instance_id="one")
    first.join()
    first.leave(epoch=-2)
    coordinator.pass_ms(SESSION_848_MS)
    assert coordinator.group().state is GroupState.EMPTY


def test_row_51_the_old_self_of_a_static_member_is_fenced(coordinator: Coordinator) -> None:
    first = ConsumerMember(coordinator, "a", instance_id="one")
    first.join()
    first.leave(epoch=-2)
    ConsumerMember(coordinator, "b", instance_id="one").join()
    first.epoch = 1
    assert refusal(first.report) == ErrorCode.FENCED_INSTANCE_ID
    assert refusal(first.commit, 1) == ErrorCode.FENCED_INSTANCE_ID


# ---- subscriptions ----


def test_patterns_subscribe_to_topics_that_come_later(coordinator: Coordinator) -> None:
    member = ConsumerMember(coordinator, "a", topics=None, topic_regex="logs-.*")
    member.join()
    assert member.partitions == []
    coordinator.topics.put("logs-1", 2)
    member.report()
    assert member.partitions == [0, 1]


def test_names_and_a_pattern_count_together(coordinator: Coordinator) -> None:
    coordinator.topics.put("logs-1", 1)
    member = ConsumerMember(coordinator, "a", topics=("t",), topic_regex="logs-.*")
    member.join()
    assert set(member.owned) == {coordinator.topics.id("t"), coordinator.topics.id("logs-1")}


def test_row_51_an_invalid_pattern_changes_nothing(coordinator: Coordinator) -> None:
    member = ConsumerMember(coordinator, "a")
    member.join()
    assert refusal(member.beat, topic_regex="(") == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert coordinator.group().epoch == 1
    member.report()


def test_a_changed_subscription_moves_the_group_on(coordinator: Coordinator) -> None:
    other_id = coordinator.topics.put("other", 2)
    first, second = two(coordinator)
    first.beat(topic_names=("other",), owned=first.owned)
    first.take()
    converge(first, second)
    assert first.owned == {other_id: frozenset({0, 1})}
    assert second.partitions == [0, 1, 2, 3, 4, 5]


def test_the_assignor_that_most_members_ask_for_is_used(coordinator: Coordinator) -> None:
    members = [ConsumerMember(coordinator, name, server_assignor="range") for name in "ab"]
    members.append(ConsumerMember(coordinator, "c", server_assignor="uniform"))
    for member in members:
        member.join()
    converge(*members)
    assert coordinator.group().assignor_name() == "range"
    assert [m.partitions for m in members] == [[0, 1], [2, 3], [4, 5]]


# ---- restarts ----


def test_a_restart_in_the_middle_of_a_move_changes_nothing(coordinator: Coordinator) -> None:
    first, second = ConsumerMember(coordinator, "a"), ConsumerMember(coordinator, "b")
    first.join()
    second.join()
    first.beat(owned=first.owned)
    before = coordinator.group()
    coordinator.crash()
    after = coordinator.group()
    assert (after.epoch, after.target_epoch, after.metadata_hash) == (
        before.epoch,
        before.target_epoch,
        before.metadata_hash,
    )
    assert after.owners == before.owners
    assert after.targets == before.targets
    assert {m.id: m.current for m in after.members.values()} == {m.id: m.current for m in before.members.values()}
    assert {m.id: m.subscription for m in after.members.values()} == {
        m.id: m.subscription for m in before.members.values()
    }
    first.take()
    converge(first, second)
    check_owners(coordinator, first, second)
    assert len(first.partitions) == len(second.partitions) == 3


def test_a_log_of_newest_records_alone_makes_the_same_group(coordinator: Coordinator) -> None:
    first, second = two(coordinator)
    coordinator.topics.put("t", 9)
    converge(first, second)
    third = ConsumerMember(coordinator, "c")
    third.join()
    third.leave()
    converge(first, second)
    before = coordinator.group()
    coordinator.log.compact()
    coordinator.crash()
    after = coordinator.group()
    assert after.owners == before.owners
    assert {m.id: (m.current, m.subscription) for m in after.members.values()} == {
        m.id: (m.current, m.subscription) for m in before.members.values()
    }


def test_topics_that_changed_while_nobody_ran_are_seen(coordinator: Coordinator) -> None:
    member = ConsumerMember(coordinator, "a")
    member.join()
    coordinator.topics.put("t", 7)
    coordinator.crash()
    member.report()
    assert member.partitions == list(range(7))


def test_an_empty_consumer_group_becomes_classic_when_a_classic_member_comes(coordinator: Coordinator) -> None:
    member = ConsumerMember(coordinator, "a")
    member.join()
    member.commit(3)
    member.leave()
    classic = ClassicMember(coordinator, session_ms=SESSION_MS)
    classic.version = 3
    settle(classic)
    assert coordinator.committed() == 3
    coordinator.crash()
    assert coordinator.group().state is GroupState.STABLE
    assert classic.heartbeat() == ErrorCode.NONE
