"""Committed offsets: durable, never back, expired only when nobody can want them. Rows 43, 46, 50 of the lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.groups import SESSION_MS, ClassicMember, ConsumerMember, Coordinator, Topics, settle
from twinlog.base import DiskFull, Refused
from twinlog.base.units import DAY_MS, MINUTE_MS
from twinlog.kafka.coordinator import Decision
from twinlog.kafka.groups import GroupMachine, GroupSettings, Wish, stored
from twinlog.kafka.groups.offsets import Committed
from twinlog.wire.kafka import records
from twinlog.wire.kafka.errors import ErrorCode

RETENTION_MS = 7 * DAY_MS
CHECK_MS = 10 * MINUTE_MS
PRODUCER = 9_000


@pytest.fixture
def coordinator() -> Coordinator:
    return Coordinator()


def commit_in_transaction(
    coordinator: Coordinator, offset: int, group_id: str = "g", producer_id: int = PRODUCER
) -> None:
    """What the coordinator of transactions asks for."""
    wish = Wish("t", coordinator.topics.id("t"), 0, offset, -1, "")

    def decide(machine: GroupMachine, now_ms: int) -> Decision[list[int]]:
        machine.check_transactional_commit(group_id, "", None, -1)
        decision = machine.commit(group_id, [wish], now_ms)
        decision.producer_id, decision.producer_epoch = producer_id, 0
        return decision

    assert coordinator.write(decide) == [ErrorCode.NONE]


def end_transaction(coordinator: Coordinator, *, commit: bool, producer_id: int = PRODUCER) -> None:
    coordinator.log.append_marker(producer_id, 0, commit=commit)
    coordinator.log.sync()
    coordinator.shard.replay_marker(producer_id, 0, commit=commit)


# ---- row 50 and 43 ----


def test_row_50_offset_epoch_and_metadata_come_back(coordinator: Coordinator) -> None:
    assert coordinator.commit(42, leader_epoch=7, metadata="héllo") == ErrorCode.NONE
    for _ in range(2):
        found = coordinator.machine.offsets.get("g", ("t", 0))
        assert found is not None
        assert (found.offset, found.leader_epoch, found.metadata) == (42, 7, "héllo")
        assert found.topic_id == coordinator.topics.id("t")
        coordinator.crash()


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ("x" * 4096, ErrorCode.NONE),
        ("x" * 4097, ErrorCode.OFFSET_METADATA_TOO_LARGE),
        ("é" * 2048, ErrorCode.NONE),
        ("é" * 2049, ErrorCode.OFFSET_METADATA_TOO_LARGE),
        (None, ErrorCode.NONE),
    ],
)
def test_row_50_metadata_has_a_limit_in_bytes(coordinator: Coordinator, metadata: str | None, code: int) -> None:
    assert coordinator.commit(1, metadata=metadata) == code
    assert coordinator.committed() == (1 if code == ErrorCode.NONE else None)


def test_row_50_a_commit_is_durable_before_it_is_confirmed() -> None:
    coordinator = Coordinator(held=True)
    answers: list[object] = []
    wish = Wish("t", bytes(16), 0, 5, -1, "")
    coordinator.shard.write(lambda m, now_ms: m.commit("g", [wish], now_ms), lambda reply, fault: answers.append(reply))
    coordinator.timers.run()
    assert answers == []
    coordinator.crash()
    assert coordinator.committed() is None
    coordinator.shard.write(lambda m, now_ms: m.commit("g", [wish], now_ms), lambda reply, fault: answers.append(reply))
    coordinator.timers.run()
    coordinator.log.sync()
    assert answers == [[ErrorCode.NONE]]
    coordinator.crash()
    assert coordinator.committed() == 5


def test_row_43_no_reader_sees_an_offset_that_a_crash_could_take_back() -> None:
    coordinator = Coordinator(held=True)
    wish = Wish("t", bytes(16), 0, 5, -1, "")
    coordinator.shard.write(lambda m, now_ms: m.commit("g", [wish], now_ms), lambda reply, fault: None)
    seen: list[object] = []
    coordinator.shard.read(lambda m, now_ms: m.offsets.get("g", ("t", 0)), lambda reply, fault: seen.append(reply))
    coordinator.timers.run()
    assert seen == []
    coordinator.log.sync()
    assert len(seen) == 1


def test_row_50_until_loaded_nothing_is_answered(coordinator: Coordinator) -> None:
    coordinator.commit(5)
    coordinator.runtime.resign_all()
    shard = coordinator.runtime.lead(0)  # reads its log when the loop turns
    with pytest.raises(Refused) as refused:
        shard.check_active()
    assert refused.value.code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    with pytest.raises(Refused) as refused:
        coordinator.runtime.resign_all()
        coordinator.runtime.shard_for("g")
    assert refused.value.code == ErrorCode.NOT_COORDINATOR


def test_row_43_a_failed_write_confirms_nothing_and_the_last_offset_stays(coordinator: Coordinator) -> None:
    coordinator.commit(5)
    coordinator.log.fault = DiskFull("disk", "no space")
    with pytest.raises(Refused) as refused:
        coordinator.commit(6)
    assert refused.value.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    coordinator.log.fault = None
    coordinator.pass_ms(1_000)
    coordinator.shard  # noqa: B018 - whoever asks next makes the log be read again
    coordinator.timers.run()
    assert coordinator.committed() == 5


def test_a_generation_of_a_group_that_is_not_there_is_refused(coordinator: Coordinator) -> None:
    for may_use_epochs, code in ((False, ErrorCode.ILLEGAL_GENERATION), (True, ErrorCode.GROUP_ID_NOT_FOUND)):
        with pytest.raises(Refused) as refused:
            coordinator.commit(1, member_id="m", generation=3, may_use_epochs=may_use_epochs)
        assert refused.value.code == code


def test_who_is_no_member_commits_only_while_the_group_is_empty(coordinator: Coordinator) -> None:
    assert coordinator.commit(1) == ErrorCode.NONE
    member = ClassicMember(coordinator)
    settle(member)
    with pytest.raises(Refused) as refused:
        coordinator.commit(2)
    assert refused.value.code == ErrorCode.UNKNOWN_MEMBER_ID
    member.leave()
    assert coordinator.commit(3) == ErrorCode.NONE


# ---- row 46: expiry ----


def test_row_46_the_very_first_commit_is_enough_to_look_for_old_ones_later(coordinator: Coordinator) -> None:
    coordinator.commit(1)
    settings = coordinator.settings
    coordinator.pass_ms(settings.offsets_retention_ms + settings.offsets_expiry_check_ms)
    assert coordinator.committed() is None


def test_row_46_offsets_of_a_group_with_members_never_expire(coordinator: Coordinator) -> None:
    member = ClassicMember(coordinator, session_ms=MINUTE_MS * 30)
    settle(member)
    member.commit(5)
    for _ in range(8 * 24 * 4):
        coordinator.pass_ms(15 * MINUTE_MS)
        assert member.heartbeat() == ErrorCode.NONE
    assert coordinator.committed() == 5


def test_row_46_offsets_of_an_empty_group_expire_after_the_retention_counted_from_its_end(
    coordinator: Coordinator,
) -> None:
    member = ClassicMember(coordinator)
    settle(member)
    member.commit(5)
    coordinator.pass_ms(SESSION_MS - 1)
    member.leave()
    coordinator.pass_ms(RETENTION_MS - 1)
    assert coordinator.committed() == 5
    coordinator.pass_ms(1 + CHECK_MS)
    assert coordinator.committed() is None
    assert coordinator.machine.groups == {}, "nothing of the group is left"
    coordinator.restart()
    assert coordinator.committed() is None
    assert coordinator.machine.groups == {}


def test_row_46_without_members_each_commit_has_its_own_age(coordinator: Coordinator) -> None:
    coordinator.commit(1, partition=0)
    coordinator.pass_ms(RETENTION_MS // 2)
    coordinator.commit(2, partition=1)
    coordinator.pass_ms(RETENTION_MS // 2 + CHECK_MS)
    assert coordinator.committed(partition=0) is None
    assert coordinator.committed(partition=1) == 2


def test_row_46_an_old_clients_own_retention_counts(coordinator: Coordinator) -> None:
    coordinator.commit(1, retention_ms=MINUTE_MS)
    coordinator.crash()
    coordinator.pass_ms(MINUTE_MS - 1)
    assert coordinator.committed() == 1
    coordinator.pass_ms(1 + CHECK_MS)
    assert coordinator.committed() is None


def test_row_46_an_empty_consumer_groups_offsets_expire_too(coordinator: Coordinator) -> None:
    member = ConsumerMember(coordinator, "a")
    member.join()
    member.commit(5)
    member.leave()
    coordinator.pass_ms(RETENTION_MS + CHECK_MS)
    assert coordinator.committed() is None
    assert coordinator.machine.groups == {}


def test_row_46_offsets_that_an_open_transaction_would_change_do_not_expire(coordinator: Coordinator) -> None:
    coordinator.commit(1)
    commit_in_transaction(coordinator, 2)
    coordinator.pass_ms(RETENTION_MS + CHECK_MS)
    assert coordinator.committed() == 1


# ---- deleting ----


def test_a_deleted_topics_offsets_are_forgotten(coordinator: Coordinator) -> None:
    coordinator.topics.put("other", 1)
    coordinator.commit(5)
    coordinator.commit(6, topic="other")
    coordinator.write(lambda machine, now_ms: machine.delete_topic("t"))
    assert (coordinator.committed(), coordinator.committed(topic="other")) == (None, 6)


def test_a_topic_made_again_while_nobody_looked_does_not_inherit_offsets(coordinator: Coordinator) -> None:
    coordinator.commit(5)
    coordinator.topics.drop("t")
    coordinator.topics.put("t", 4)
    coordinator.crash()
    coordinator.pass_ms(0)
    assert coordinator.committed() is None


def test_offsets_are_deleted_only_where_nobody_reads(coordinator: Coordinator) -> None:
    coordinator.topics.put("old", 1)
    coordinator.commit(5)
    coordinator.commit(6, topic="old")
    settle(ClassicMember(coordinator))
    places = [("t", 0), ("old", 0), ("never", 0)]
    assert coordinator.write(lambda machine, now_ms: machine.delete_offsets("g", places)) == [
        ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
        ErrorCode.NONE,
        ErrorCode.NONE,
    ]
    assert (coordinator.committed(), coordinator.committed(topic="old")) == (5, None)
    with pytest.raises(Refused) as refused:
        coordinator.write(lambda machine, now_ms: machine.delete_offsets("nowhere", places))
    assert refused.value.code == ErrorCode.GROUP_ID_NOT_FOUND


def test_a_group_is_deleted_only_without_members(coordinator: Coordinator) -> None:
    member = ClassicMember(coordinator)
    settle(member)
    member.commit(5)
    with pytest.raises(Refused) as refused:
        coordinator.write(lambda machine, now_ms: machine.delete_group("g"))
    assert refused.value.code == ErrorCode.NON_EMPTY_GROUP
    member.leave()
    coordinator.write(lambda machine, now_ms: machine.delete_group("g"))
    assert coordinator.machine.overview() == []
    assert coordinator.committed() is None
    coordinator.crash()
    assert coordinator.machine.overview() == []
    with pytest.raises(Refused) as refused:
        coordinator.write(lambda machine, now_ms: machine.delete_group("g"))
    assert refused.value.code == ErrorCode.GROUP_ID_NOT_FOUND


# ---- row 41: what transactions commit ----


def test_row_41_offsets_in_a_transaction_are_invisible_until_it_commits(coordinator: Coordinator) -> None:
    coordinator.commit(1)
    commit_in_transaction(coordinator, 2)
    assert coordinator.committed() == 1
    assert coordinator.machine.offsets.is_unstable("g", ("t", 0))
    end_transaction(coordinator, commit=True)
    assert coordinator.committed() == 2
    assert not coordinator.machine.offsets.is_unstable("g", ("t", 0))


def test_row_41_an_aborted_transaction_leaves_no_trace(coordinator: Coordinator) -> None:
    commit_in_transaction(coordinator, 2)
    end_transaction(coordinator, commit=False)
    assert coordinator.committed() is None
    assert not coordinator.machine.offsets.is_unstable("g", ("t", 0))
    assert not coordinator.machine.offsets.has_open("g")


@pytest.mark.parametrize("commit", [True, False])
def test_row_41_a_restart_remembers_what_is_open_and_what_ended(coordinator: Coordinator, commit: bool) -> None:
    coordinator.commit(1)
    commit_in_transaction(coordinator, 2)
    commit_in_transaction(coordinator, 9, "other", producer_id=PRODUCER + 1)
    coordinator.restart()
    assert coordinator.committed() == 1
    assert coordinator.machine.offsets.is_unstable("g", ("t", 0))
    end_transaction(coordinator, commit=commit)
    coordinator.restart()
    assert coordinator.committed() == (2 if commit else 1)
    assert coordinator.machine.offsets.is_unstable("other", ("t", 0))


def test_two_open_transactions_on_one_partition_end_one_by_one(coordinator: Coordinator) -> None:
    commit_in_transaction(coordinator, 2)
    commit_in_transaction(coordinator, 3, producer_id=PRODUCER + 1)
    end_transaction(coordinator, commit=True)
    assert coordinator.committed() == 2
    assert coordinator.machine.offsets.is_unstable("g", ("t", 0))
    end_transaction(coordinator, commit=False, producer_id=PRODUCER + 1)
    assert coordinator.committed() == 2
    assert not coordinator.machine.offsets.is_unstable("g", ("t", 0))


def test_a_hundred_groups_need_no_more_than_their_newest_records(coordinator: Coordinator) -> None:
    """What the cleaner may take away is not needed by anybody."""
    coordinator = Coordinator(Topics(t=4), GroupSettings(initial_rebalance_delay_ms=0))
    for n in range(100):
        for offset in range(5):
            coordinator.commit(offset, f"g{n}")
    records = coordinator.log.end()
    coordinator.log.compact()
    assert sum(map(len, coordinator.log.batches)) == 100 < records
    coordinator.crash()
    assert {coordinator.committed(f"g{n}") for n in range(100)} == {4}


@given(
    offset=st.integers(0, 2**63 - 1),
    leader_epoch=st.integers(-1, 2**31 - 1),
    metadata=st.text(max_size=200),
    topic_id=st.binary(min_size=16, max_size=16),
    retention_ms=st.sampled_from([-1, 0, 5]),
)
def test_a_commit_packed_in_one_go_is_the_record_that_kafka_writes(
    offset: int, leader_epoch: int, metadata: str, topic_id: bytes, retention_ms: int
) -> None:
    value = Committed(offset, leader_epoch, metadata, 1_700_000_000_000, retention_ms, topic_id)
    key, packed = stored.offset_record("g", ("t", 3), value)
    assert packed == stored.offset_value(value)
    assert records.decode_group_key(key).partition == 3
