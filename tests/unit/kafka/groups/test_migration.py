"""Live groups between the protocols, in both directions, with members of both at once. Row 53 of the checklist."""

from __future__ import annotations

import pytest

from tests.kit.groups import SESSION_MS, ClassicMember, ConsumerMember, Coordinator, Topics, settle
from twinlog.base import Refused
from twinlog.kafka.groups import GroupSettings, GroupState
from twinlog.kafka.groups.classic import ClassicGroup
from twinlog.kafka.groups.consumer import ConsumerGroup
from twinlog.wire.kafka.errors import ErrorCode


@pytest.fixture
def coordinator() -> Coordinator:
    return Coordinator(Topics(t=4))


def classic_pair(coordinator: Coordinator) -> list[ClassicMember]:
    members = [ClassicMember(coordinator) for _ in range(2)]
    settle(members[0])
    settle(*members)
    return members


def live(*members: ClassicMember | ConsumerMember, rounds: int = 8) -> None:
    """What clients do by themselves: heartbeats, and joining again when told to."""
    for _ in range(rounds):
        for member in members:
            if isinstance(member, ConsumerMember):
                member.report()
                continue
            try:
                code = member.heartbeat()
            except Refused as refused:
                code = refused.code
            if code in (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION):
                member.ask_join()
                if member.joined is not None and member.joined.error == ErrorCode.NONE:
                    try:
                        member.sync()
                    except Refused as refused:
                        assert refused.code == ErrorCode.REBALANCE_IN_PROGRESS


def used(*members: ClassicMember | ConsumerMember) -> list[int]:
    every: list[int] = []
    for member in members:
        every += member.partitions if isinstance(member, ConsumerMember) else member.owned.get("t", [])
    assert len(every) == len(set(every)), f"a partition has two users: {every}"
    return sorted(every)


def test_row_53_a_classic_group_goes_on_as_a_consumer_group(coordinator: Coordinator) -> None:
    classic = classic_pair(coordinator)
    assert classic[0].commit(7) == ErrorCode.NONE
    newcomer = ConsumerMember(coordinator, "new")
    newcomer.join()
    group = coordinator.group()
    assert isinstance(group, ConsumerGroup)
    assert newcomer.partitions == [], "everything is still in use by the classic members"
    live(*classic, newcomer)
    assert used(*classic, newcomer) == [0, 1, 2, 3]
    assert newcomer.partitions
    assert coordinator.group().state is GroupState.STABLE
    assert coordinator.committed() == 7


def test_row_53_all_members_move_over_one_by_one_and_back(coordinator: Coordinator) -> None:
    classic = classic_pair(coordinator)
    modern = []
    for n, old in enumerate(classic):
        old.leave()
        modern.append(ConsumerMember(coordinator, f"new{n}"))
        modern[-1].join()
        live(*classic[n + 1 :], *modern)
        assert used(*classic[n + 1 :], *modern) == [0, 1, 2, 3]
    assert not any(member.is_classic for member in coordinator.group().members.values())
    back = []
    for new in list(modern):
        back.append(ClassicMember(coordinator))
        back[-1].join()
        if back[-1].synced is None:
            back[-1].sync()
        live(*back, *modern)
        new.leave()
        modern.remove(new)
        if modern:
            live(*back, *modern)
            assert used(*back, *modern) == [0, 1, 2, 3]
    group = coordinator.group()
    assert isinstance(group, ClassicGroup)
    assert group.state is GroupState.PREPARING_REBALANCE, "the last consumer member left: the others share anew"
    for member in back:
        assert member.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    settle(*back)
    assert used(*back) == [0, 1, 2, 3]


def test_row_53_the_group_is_classic_again_when_its_last_consumer_member_is_silent(coordinator: Coordinator) -> None:
    classic = classic_pair(coordinator)
    ConsumerMember(coordinator, "new").join()
    live(*classic)
    for _ in range(20):
        coordinator.pass_ms(SESSION_MS // 2)
        if isinstance(coordinator.group(), ClassicGroup):
            break
        live(*classic, rounds=1)
    assert isinstance(coordinator.group(), ClassicGroup)
    settle(*classic)
    assert used(*classic) == [0, 1, 2, 3]


def test_row_53_a_restart_finds_the_group_in_the_form_it_had(coordinator: Coordinator) -> None:
    classic = classic_pair(coordinator)
    newcomer = ConsumerMember(coordinator, "new")
    newcomer.join()
    coordinator.crash()
    assert isinstance(coordinator.group(), ConsumerGroup)
    live(*classic, newcomer)
    assert used(*classic, newcomer) == [0, 1, 2, 3]
    newcomer.leave()
    coordinator.crash()
    assert isinstance(coordinator.group(), ClassicGroup)
    assert set(coordinator.group().members) == {member.id for member in classic}


def test_row_53_commits_of_both_kinds_are_checked_by_their_own_rules(coordinator: Coordinator) -> None:
    first, second = classic_pair(coordinator)
    newcomer = ConsumerMember(coordinator, "new")
    newcomer.join()
    live(first, second, newcomer)
    assert first.commit(1, may_use_epochs=False) == ErrorCode.NONE
    with pytest.raises(Refused) as refused:
        first.commit(2, generation=first.generation - 1)
    assert refused.value.code == ErrorCode.ILLEGAL_GENERATION
    assert newcomer.commit(3, partition=1) == ErrorCode.NONE
    with pytest.raises(Refused) as refused:
        newcomer.commit(4, partition=1, epoch=newcomer.epoch - 1)
    assert refused.value.code == ErrorCode.STALE_MEMBER_EPOCH


def test_row_53_a_classic_member_waiting_to_join_is_told_to_come_again(coordinator: Coordinator) -> None:
    classic = classic_pair(coordinator)
    waiting = ClassicMember(coordinator)
    waiting.join()
    assert waiting.joined is None
    ConsumerMember(coordinator, "new").join()
    assert waiting.joined is not None
    assert waiting.joined.error == ErrorCode.REBALANCE_IN_PROGRESS
    assert isinstance(coordinator.group(), ConsumerGroup)
    assert {m.id for m in classic} <= set(coordinator.group().members)


def test_row_53_a_group_of_others_than_consumers_stays_what_it_is(coordinator: Coordinator) -> None:
    settle(ClassicMember(coordinator, protocol_type="connect"))
    with pytest.raises(Refused) as refused:
        ConsumerMember(coordinator, "new").join()
    assert refused.value.code == ErrorCode.GROUP_ID_NOT_FOUND
    assert isinstance(coordinator.group(), ClassicGroup)


def test_row_53_a_classic_member_that_does_not_join_again_in_time_is_out(coordinator: Coordinator) -> None:
    slow, fast = classic_pair(coordinator)
    slow.rebalance_ms = fast.rebalance_ms = 20_000
    settle(slow, fast)
    newcomer = ConsumerMember(coordinator, "new")
    newcomer.join()
    for _ in range(5):
        coordinator.pass_ms(5_000)
        live(fast, newcomer, rounds=1)
        if slow.id in coordinator.group().members:
            slow.heartbeat()  # alive, told to join again, does not
    live(fast, newcomer)
    assert slow.id not in coordinator.group().members
    assert used(fast, newcomer) == [0, 1, 2, 3]


def test_row_53_a_static_classic_member_comes_back_as_a_consumer(coordinator: Coordinator) -> None:
    static, other = ClassicMember(coordinator, instance_id="one"), ClassicMember(coordinator)
    settle(static)
    settle(static, other)
    again = ConsumerMember(coordinator, "new", instance_id="one")
    again.join()
    live(other, again)
    assert used(other, again) == [0, 1, 2, 3]
    assert static.id not in coordinator.group().members
    with pytest.raises(Refused) as refused:
        static.heartbeat()
    assert refused.value.code == ErrorCode.FENCED_INSTANCE_ID


def test_row_53_limits_hold_on_the_way_over() -> None:
    coordinator = Coordinator(settings=GroupSettings(initial_rebalance_delay_ms=0, consumer_size_max=2))
    classic_pair(coordinator)
    with pytest.raises(Refused) as refused:
        ConsumerMember(coordinator, "new").join()
    assert refused.value.code == ErrorCode.GROUP_MAX_SIZE_REACHED
