"""The classic protocol: rounds, timeouts, static members, limits. Rows 47 to 49 of the checklist."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.kit.groups import SESSION_MS, ClassicMember, Coordinator, Topics, assignment, settle
from twinlog.base import Refused
from twinlog.kafka.groups import GroupSettings, GroupState
from twinlog.kafka.groups.classic import CLASSIC_MOVES
from twinlog.wire.kafka.errors import ErrorCode


@pytest.fixture
def coordinator() -> Coordinator:
    return Coordinator()


def stable(coordinator: Coordinator, size: int, **more: Any) -> list[ClassicMember]:
    """One after the other, each with a generation of its own."""
    members = [ClassicMember(coordinator, **more) for _ in range(size)]
    for n in range(size):
        settle(*members[: n + 1])
    return members


def owned(members: list[ClassicMember]) -> list[int]:
    return sorted(p for member in members for p in member.owned.get("t", []))


# ---- rounds ----


def test_one_member_gets_everything(coordinator: Coordinator) -> None:
    (member,) = stable(coordinator, 1)
    assert member.owned == {"t": [0, 1, 2, 3]}
    assert member.generation == 1
    assert member.leads
    assert coordinator.group().state is GroupState.STABLE


def test_each_newcomer_makes_a_generation_and_partitions_have_one_owner(coordinator: Coordinator) -> None:
    members = stable(coordinator, 4)
    assert {member.generation for member in members} == {4}
    assert sum(member.leads for member in members) == 1
    assert owned(members) == [0, 1, 2, 3]


def test_the_leader_alone_learns_of_the_others_metadata(coordinator: Coordinator) -> None:
    leader, other = stable(coordinator, 2)
    assert leader.joined and other.joined
    assert [member_id for member_id, _, _ in leader.joined.members] == [leader.id, other.id]
    assert other.joined.members == []


def test_row_49_the_leaders_bytes_reach_the_members_unchanged(coordinator: Coordinator) -> None:
    leader, other = stable(coordinator, 2)
    leader.ask_join()
    other.ask_join()
    noise = bytes(range(256)) * 40
    seen: list[Any] = []
    other._on_synced = seen.append  # type: ignore[method-assign]
    other.sync()
    leader.sync({leader.id: b"", other.id: noise})
    assert [answer.assignment for answer in seen] == [noise]
    coordinator.crash()
    assert coordinator.group().members[other.id].assignment == noise


def test_nothing_is_answered_before_the_assignment_is_durable() -> None:
    coordinator = Coordinator(held=True)
    member = ClassicMember(coordinator)
    member.join()
    member.sync({member.id: assignment({"t": [0]})})
    assert member.synced is None
    coordinator.log.sync()
    assert member.synced is not None


def test_a_member_not_in_the_leaders_list_gets_nothing(coordinator: Coordinator) -> None:
    members = stable(coordinator, 2)
    for member in members:
        member.ask_join()
    leader, other = members
    other.sync()
    leader.sync({leader.id: assignment({"t": [0, 1, 2, 3]})})
    assert other.synced is not None
    assert other.synced.assignment == b""


def test_a_first_round_waits_for_more_members_up_to_the_delay() -> None:
    coordinator = Coordinator(settings=GroupSettings(initial_rebalance_delay_ms=3_000))
    members = [ClassicMember(coordinator) for _ in range(3)]
    for member in members:
        member.join()
        coordinator.pass_ms(2_000)
        assert member.joined is None, "each newcomer pushes the end"
    coordinator.pass_ms(1_000)
    assert [member.generation for member in members] == [1, 1, 1]


def test_an_assignor_is_chosen_by_votes_among_those_that_all_know(coordinator: Coordinator) -> None:
    wishes = [("sticky", "range"), ("range", "sticky"), ("odd", "sticky", "range")]
    members = [ClassicMember(coordinator, protocols=wish) for wish in wishes]
    for n in range(3):
        settle(*members[: n + 1])
    assert coordinator.group().protocol == "sticky"


def test_a_member_without_a_common_protocol_is_refused(coordinator: Coordinator) -> None:
    stable(coordinator, 1)
    for stranger in (
        ClassicMember(coordinator, protocols=["other"]),
        ClassicMember(coordinator, protocol_type="connect"),
        ClassicMember(coordinator, protocols=[]),
        ClassicMember(coordinator, protocol_type=""),
    ):
        with pytest.raises(Refused) as refused:
            stranger.join()
        assert refused.value.code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_a_sync_that_names_another_protocol_is_refused(coordinator: Coordinator) -> None:
    (member,) = stable(coordinator, 1)
    for wrong in ({"protocol": "sticky"}, {"protocol_type": "connect"}):
        with pytest.raises(Refused) as refused:
            member.sync(**wrong)
        assert refused.value.code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_a_repeated_join_of_a_follower_gets_the_same_answer_again(coordinator: Coordinator) -> None:
    _, follower = stable(coordinator, 2)
    follower.repeat_join()
    assert follower.joined is not None
    assert follower.joined.generation == 2
    assert coordinator.group().state is GroupState.STABLE


def test_the_leader_joins_again_to_start_a_round(coordinator: Coordinator) -> None:
    leader, follower = stable(coordinator, 2)
    leader.ask_join()
    assert leader.joined is None
    assert follower.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    follower.ask_join()
    assert follower.generation == leader.generation == 3


def test_a_sync_after_the_round_gets_the_stored_share(coordinator: Coordinator) -> None:
    _leader, follower = stable(coordinator, 2)
    share = follower.owned
    follower.owned = {}
    follower.sync()
    assert follower.owned == share


# ---- row 47 ----


@pytest.mark.parametrize(("version", "asked"), [(0, False), (3, False), (4, True), (9, True)])
def test_row_47_newer_clients_fetch_their_id_first(coordinator: Coordinator, version: int, asked: bool) -> None:
    member = ClassicMember(coordinator, version=version)
    member.ask_join()
    assert member.joined is not None
    assert member.joined.error == (ErrorCode.MEMBER_ID_REQUIRED if asked else ErrorCode.NONE)
    assert member.id != ""


def test_row_47_an_id_that_is_not_used_is_taken_back(coordinator: Coordinator) -> None:
    member = ClassicMember(coordinator)
    member.ask_join()
    coordinator.pass_ms(SESSION_MS)
    with pytest.raises(Refused) as refused:
        member.ask_join()
    assert refused.value.code == ErrorCode.UNKNOWN_MEMBER_ID


def test_row_47_a_full_group_takes_nobody_but_its_own() -> None:
    coordinator = Coordinator(settings=GroupSettings(initial_rebalance_delay_ms=0, size_max=2))
    members = stable(coordinator, 2)
    with pytest.raises(Refused) as refused:
        ClassicMember(coordinator).join()
    assert refused.value.code == ErrorCode.GROUP_MAX_SIZE_REACHED
    members[0].ask_join()
    members[1].ask_join()
    assert members[0].generation == 3


def test_row_47_ids_given_out_count_as_members() -> None:
    coordinator = Coordinator(settings=GroupSettings(initial_rebalance_delay_ms=0, size_max=2))
    for _ in range(2):
        ClassicMember(coordinator).ask_join()
    with pytest.raises(Refused) as refused:
        ClassicMember(coordinator).ask_join()
    assert refused.value.code == ErrorCode.GROUP_MAX_SIZE_REACHED


def test_a_node_that_has_all_the_groups_it_may_takes_no_new_one() -> None:
    coordinator = Coordinator(settings=GroupSettings(initial_rebalance_delay_ms=0, groups_max=1))
    (member,) = stable(coordinator, 1)
    with pytest.raises(Refused) as refused:
        ClassicMember(coordinator, group_id="another").join()
    assert refused.value.code == ErrorCode.GROUP_MAX_SIZE_REACHED and "limit of 1 groups" in str(refused.value)
    with pytest.raises(Refused):
        coordinator.machine.commit("committing alone", [], 0)
    member.ask_join()


# ---- row 48 ----


def test_row_48_a_static_member_comes_back_without_a_round(coordinator: Coordinator) -> None:
    members = [ClassicMember(coordinator, instance_id=name) for name in ("a", "b")]
    settle(members[0])
    settle(*members)
    again = ClassicMember(coordinator, instance_id="b")
    again.join()
    assert coordinator.group().state is GroupState.STABLE
    assert again.generation == 2
    assert again.id != members[1].id
    again.sync()
    assert again.owned == members[1].owned
    assert members[0].heartbeat() == ErrorCode.NONE


def test_row_48_the_old_self_is_fenced_everywhere(coordinator: Coordinator) -> None:
    old = ClassicMember(coordinator, instance_id="a")
    settle(old)
    again = ClassicMember(coordinator, instance_id="a")
    again.join()
    for move in (old.heartbeat, old.sync, old.leave, old.ask_join, lambda: old.commit(1)):
        with pytest.raises(Refused) as refused:
            move()
        assert refused.value.code == ErrorCode.FENCED_INSTANCE_ID
    assert again.heartbeat() == ErrorCode.NONE


@pytest.mark.parametrize(("version", "leads"), [(5, False), (8, False), (9, True)])
def test_row_48_a_static_leader_that_returns_does_not_assign_anew(
    coordinator: Coordinator, version: int, leads: bool
) -> None:
    members = [ClassicMember(coordinator, instance_id=name) for name in ("a", "b")]
    settle(members[0])
    settle(*members)
    again = ClassicMember(coordinator, instance_id="a", version=version)
    again.join()
    assert again.joined is not None
    # Clients that know the flag lead and skip; older ones are told that their former self leads, and so do nothing.
    assert again.leads is leads
    assert again.joined.skip_assignment is leads
    assert len(again.joined.members) == (2 if leads else 0)
    assert coordinator.group().state is GroupState.STABLE


def test_row_48_a_static_member_with_a_new_subscription_starts_a_round(coordinator: Coordinator) -> None:
    members = [ClassicMember(coordinator, instance_id=name, protocols=["range", "sticky"]) for name in ("a", "b")]
    settle(members[0])
    settle(*members)
    again = ClassicMember(coordinator, instance_id="b", protocols=["sticky"])
    again.join()
    assert again.joined is None
    assert coordinator.group().state is GroupState.PREPARING_REBALANCE


def test_row_48_a_static_member_keeps_its_place_while_away(coordinator: Coordinator) -> None:
    member = ClassicMember(coordinator, instance_id="a")
    settle(member)
    coordinator.pass_ms(SESSION_MS - 1)
    again = ClassicMember(coordinator, instance_id="a")
    again.join()
    assert again.generation == 1
    coordinator.pass_ms(SESSION_MS)
    assert coordinator.group().state is GroupState.EMPTY


def test_row_48_two_clients_of_one_static_name_both_waiting_to_join(coordinator: Coordinator) -> None:
    first, other = ClassicMember(coordinator, instance_id="a"), ClassicMember(coordinator)
    settle(other)
    first.join()
    assert first.joined is None
    second = ClassicMember(coordinator, instance_id="a")
    second.join()
    assert first.joined is not None
    assert first.joined.error == ErrorCode.FENCED_INSTANCE_ID
    other.ask_join()
    assert second.generation == 2


def test_a_static_member_leaves_by_its_name_alone(coordinator: Coordinator) -> None:
    member = ClassicMember(coordinator, instance_id="a")
    settle(member)
    member.id = ""
    member.leave()
    assert coordinator.group().state is GroupState.EMPTY


# ---- row 49: codes and the four timeouts ----


def test_row_49_strangers_and_other_generations_are_told_apart(coordinator: Coordinator) -> None:
    (member,) = stable(coordinator, 1)
    stranger = ClassicMember(coordinator)
    stranger.id, stranger.generation = "nobody", 1
    for move in (stranger.heartbeat, stranger.sync, stranger.leave, stranger.ask_join, lambda: stranger.commit(1)):
        with pytest.raises(Refused) as refused:
            move()
        assert refused.value.code == ErrorCode.UNKNOWN_MEMBER_ID
    for generation in (0, 2):
        for move in (
            lambda generation=generation: member.heartbeat(generation),
            lambda generation=generation: member.sync(generation=generation),
            lambda generation=generation: member.commit(1, generation=generation),
        ):
            with pytest.raises(Refused) as refused:
                move()
            assert refused.value.code == ErrorCode.ILLEGAL_GENERATION


def test_row_49_who_is_between_generations_hears_of_the_rebalance(coordinator: Coordinator) -> None:
    leader, follower = stable(coordinator, 2)
    leader.ask_join()
    assert follower.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    with pytest.raises(Refused) as refused:
        follower.sync()
    assert refused.value.code == ErrorCode.REBALANCE_IN_PROGRESS
    assert follower.commit(5) == ErrorCode.NONE, "what was read may still be committed before the next generation"
    follower.ask_join()
    with pytest.raises(Refused) as refused:
        follower.commit(6)
    assert refused.value.code == ErrorCode.REBALANCE_IN_PROGRESS, "the leader has not assigned yet"


@pytest.mark.parametrize(("session_ms", "fits"), [(5_999, False), (6_000, True), (1_800_000, True), (1_800_001, False)])
def test_row_49_a_session_timeout_has_bounds(coordinator: Coordinator, session_ms: int, fits: bool) -> None:
    member = ClassicMember(coordinator, session_ms=session_ms)
    if fits:
        member.join()
        return
    with pytest.raises(Refused) as refused:
        member.join()
    assert refused.value.code == ErrorCode.INVALID_SESSION_TIMEOUT
    assert coordinator.machine.groups == {}, "a refused join leaves nothing behind"


def test_row_49_session_timeout_a_silent_member_is_out(coordinator: Coordinator) -> None:
    quiet, alive = stable(coordinator, 2)
    for _ in range(3):
        coordinator.pass_ms(SESSION_MS // 2)
        if coordinator.group().state is GroupState.PREPARING_REBALANCE:
            break
        assert alive.heartbeat() == ErrorCode.NONE
    assert alive.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    alive.ask_join()
    assert alive.generation == 3
    assert quiet.id not in coordinator.group().members


def test_row_49_rebalance_timeout_who_does_not_come_is_out(coordinator: Coordinator) -> None:
    slow, fast = stable(coordinator, 2, rebalance_ms=20_000)
    newcomer = ClassicMember(coordinator, rebalance_ms=20_000)
    newcomer.join()
    fast.ask_join()
    for _ in range(3):
        coordinator.pass_ms(6_000)
        assert slow.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS, "it lives, but does not join"
        assert fast.joined is None
    coordinator.pass_ms(2_000)
    assert fast.generation == newcomer.generation == 3
    assert slow.id not in coordinator.group().members


def test_row_49_join_timeout_a_newcomer_whose_client_is_gone_does_not_stay_forever(coordinator: Coordinator) -> None:
    settings = coordinator.settings
    newcomer = ClassicMember(coordinator, rebalance_ms=1_000_000)
    blocker = ClassicMember(coordinator, rebalance_ms=1_000_000)
    settle(blocker)
    newcomer.join()
    passed_ms = 0
    while passed_ms < settings.new_member_timeout_ms:
        coordinator.pass_ms(SESSION_MS // 2)
        passed_ms += SESSION_MS // 2
        blocker.heartbeat()
    assert newcomer.joined is not None
    assert newcomer.joined.error == ErrorCode.UNKNOWN_MEMBER_ID


def test_row_49_sync_timeout_who_does_not_sync_is_out(coordinator: Coordinator) -> None:
    leader, follower = stable(coordinator, 2, rebalance_ms=20_000)
    leader.ask_join()
    follower.ask_join()
    follower.sync()
    for _ in range(3):
        coordinator.pass_ms(6_000)
        assert leader.heartbeat() == ErrorCode.NONE, "it lives, but does not assign"
    assert follower.synced is None
    coordinator.pass_ms(2_000)
    assert follower.synced is not None
    assert follower.synced.error == ErrorCode.REBALANCE_IN_PROGRESS
    follower.ask_join()
    assert follower.leads
    assert leader.id not in coordinator.group().members


def test_a_member_that_leaves_starts_a_round_and_the_last_one_empties_the_group(coordinator: Coordinator) -> None:
    first, second = stable(coordinator, 2)
    first.leave()
    assert second.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    second.ask_join()
    assert second.leads
    second.leave()
    assert coordinator.group().state is GroupState.EMPTY
    with pytest.raises(Refused):
        second.heartbeat()


def test_a_cooperative_member_that_owns_partitions_joins_with_them(coordinator: Coordinator) -> None:
    """What members say of their own partitions is the assignor's business: passed on, not judged."""
    first, second = (ClassicMember(coordinator, protocols=["cooperative-sticky"]) for _ in range(2))
    settle(first)
    second.join()
    first.ask_join()
    assert first.joined is not None
    told = {member_id: metadata for member_id, _, metadata in first.joined.members}
    assert b"\x00\x01t" in told[first.id]
    assert told[first.id] != told[second.id]


def test_members_metadata_is_limited_together() -> None:
    settings = GroupSettings(initial_rebalance_delay_ms=0, metadata_max_bytes=2_000)
    coordinator = Coordinator(settings=settings)
    settle(ClassicMember(coordinator, topics=["x" * 249] * 4))
    with pytest.raises(Refused) as refused:
        ClassicMember(coordinator, topics=["x" * 249] * 5).join()
    assert refused.value.code == ErrorCode.GROUP_MAX_SIZE_REACHED


def test_assignments_are_limited_together(coordinator: Coordinator) -> None:
    coordinator = Coordinator(settings=GroupSettings(initial_rebalance_delay_ms=0, metadata_max_bytes=2_000))
    member = ClassicMember(coordinator)
    member.join()
    with pytest.raises(Refused) as refused:
        member.sync({member.id: bytes(2_001)})
    assert refused.value.code == ErrorCode.INVALID_REQUEST


# ---- restarts ----


def test_a_group_survives_a_restart_and_its_members_have_a_whole_session(coordinator: Coordinator) -> None:
    members = stable(coordinator, 2)
    coordinator.pass_ms(SESSION_MS - 1)
    coordinator.crash()
    group = coordinator.group()
    assert group.state is GroupState.STABLE
    assert group.generation == 2
    coordinator.pass_ms(SESSION_MS - 1)
    assert [member.heartbeat() for member in members] == [ErrorCode.NONE] * 2
    members[1].sync()
    assert owned(members) == [0, 1, 2, 3]


def test_a_restart_in_each_phase_leaves_the_last_whole_generation(coordinator: Coordinator) -> None:
    members = stable(coordinator, 2)
    newcomer = ClassicMember(coordinator)
    newcomer.join()
    coordinator.crash()  # while preparing
    assert coordinator.group().generation == 2
    assert [m.heartbeat() for m in members] == [ErrorCode.NONE] * 2
    with pytest.raises(Refused) as refused:
        newcomer.ask_join()
    assert refused.value.code == ErrorCode.UNKNOWN_MEMBER_ID, "nothing of it was kept: it starts over"
    for member in members:
        member.ask_join()
    coordinator.crash()  # while the leader assigns
    assert coordinator.group().generation == 2
    with pytest.raises(Refused) as refused:
        members[0].sync()
    assert refused.value.code == ErrorCode.ILLEGAL_GENERATION


def test_who_waits_while_the_coordinator_goes_is_told_to_look_elsewhere(coordinator: Coordinator) -> None:
    stable(coordinator, 1)
    newcomer = ClassicMember(coordinator)
    newcomer.join()
    assert newcomer.joined is None
    coordinator.runtime.resign(0)
    assert newcomer.joined is not None
    assert newcomer.joined.error == ErrorCode.NOT_COORDINATOR


def test_a_static_member_that_returned_is_remembered_through_a_restart(coordinator: Coordinator) -> None:
    settle(ClassicMember(coordinator, instance_id="a"))
    again = ClassicMember(coordinator, instance_id="a")
    again.join()
    coordinator.crash()
    assert again.heartbeat() == ErrorCode.NONE


# ---- the table ----


def test_every_move_of_the_table_is_made_by_something_here(coordinator: Coordinator) -> None:
    """A move that nothing makes is a wrong line in the guide's diagram."""
    made: set[tuple[GroupState, GroupState]] = set()
    watched = [ClassicMember(coordinator, rebalance_ms=20_000) for _ in range(2)]

    def look(before: GroupState) -> GroupState:
        now: GroupState = coordinator.group().state
        if now is not before:
            made.add((before, now))
        return now

    settings = GroupSettings(initial_rebalance_delay_ms=1)
    coordinator.settings = settings
    coordinator.restart()
    first, second = watched
    first.join()
    state = look(GroupState.EMPTY)
    coordinator.pass_ms(1)
    state = look(state)
    second.join()
    state = look(state)
    first.ask_join()
    state = look(state)
    first.sync({}) if first.leads else second.sync({})
    state = look(state)
    second.leave()
    state = look(state)
    first.leave()
    look(state)
    moves = {(a, b) for a, into in CLASSIC_MOVES.items() for b in into if b is not GroupState.DEAD and a is not b}
    assert made == moves


def test_the_table_leaves_no_state_without_a_way_on() -> None:
    for state in CLASSIC_MOVES:
        reached, grows = {state}, True
        while grows:
            more = set(itertools.chain.from_iterable(CLASSIC_MOVES[s] for s in reached))
            grows = not more <= reached
            reached |= more
        assert GroupState.DEAD in reached


@pytest.mark.parametrize("size", [300])
def test_many_members_join_one_round_without_a_step_for_each_pair(size: int) -> None:
    coordinator = Coordinator(Topics(t=8), GroupSettings(initial_rebalance_delay_ms=10))
    members = [ClassicMember(coordinator) for _ in range(size)]
    for member in members:
        member.join()
    coordinator.pass_ms(10)
    assert {member.generation for member in members} == {1}
    settle_leader = next(member for member in members if member.leads)
    for member in members:
        if member is not settle_leader:
            member.sync()
    settle_leader.sync({})
    assert all(member.synced is not None for member in members)
