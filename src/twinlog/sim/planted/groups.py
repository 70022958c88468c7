"""Sabotages of group coordination: members, generations, offsets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from twinlog.base import Refused
from twinlog.kafka.coordinator.partition_log import PartitionCoordinatorLog
from twinlog.kafka.coordinator.runtime import Shard
from twinlog.kafka.groups import classic_members, migration
from twinlog.kafka.groups.classic import ClassicGroup
from twinlog.kafka.groups.classic_types import Member
from twinlog.kafka.groups.consumer import ConsumerGroup
from twinlog.kafka.groups.machine import GroupMachine
from twinlog.kafka.groups.offsets import Offsets
from twinlog.sim.planted.patch import Bug, Patch


def answered_before_stored(patch: Patch) -> None:
    def write(self: Shard[Any], decide: Callable[..., Any], done: Callable[..., None]) -> None:
        answered: list[bool] = []

        def once(reply: Any, fault: Exception | None) -> None:
            if not answered:
                answered.append(True)
                done(reply, fault)

        replies = []

        def noted(machine: Any, now_ms: int) -> Any:
            decision = decide(machine, now_ms)
            replies.append(decision.reply)
            return decision

        before(self, noted, once)
        if replies:
            once(replies[0], None)

    before = patch.put(Shard, "write", write)


def records_not_written(patch: Patch) -> None:
    patch.put(PartitionCoordinatorLog, "append", lambda self, records, now_ms: self.partition.log.offset_end)


def offsets_not_replayed(patch: Patch) -> None:
    """What was committed before the restart is forgotten."""

    def loaded(self: GroupMachine, now_ms: int) -> None:
        self.offsets.by_group.clear()
        before(self, now_ms)

    before = patch.put(GroupMachine, "loaded", loaded)


def older_commit_wins(patch: Patch) -> None:
    """A commit does not replace what is there."""

    def replay(self: Offsets, group_id: str, place: Any, value: Any, producer_id: int = -1) -> None:
        if value is None or self.get(group_id, place) is None:
            before(self, group_id, place, value, producer_id)

    before = patch.put(Offsets, "replay", replay)


def any_generation_commits(patch: Patch) -> None:
    def member_of(self: ClassicGroup, member_id: str, instance_id: str | None, generation: int) -> Member:
        return self.member(member_id, instance_id)

    patch.put(ClassicGroup, "_member_of_generation", member_of)


def strangers_commit(patch: Patch) -> None:
    def check_commit(self: ClassicGroup, *arguments: Any) -> None:
        try:
            before(self, *arguments)
        except Refused:
            return

    before = patch.put(ClassicGroup, "check_commit", check_commit)


def any_epoch_commits(patch: Patch) -> None:
    patch.put(ConsumerGroup, "check_commit", lambda self, *arguments, **keywords: None)


def handed_on_while_held(patch: Patch) -> None:
    patch.put(ConsumerGroup, "is_free", lambda self, topic_id, partition, member_id, *others: True)


def generations_forgotten(patch: Patch) -> None:
    patch.put(GroupMachine, "_replay_group", lambda self, key, encoded: None)


def dead_members_kept(patch: Patch) -> None:
    """Nobody's session ends."""
    patch.put(ClassicGroup, "touch", lambda self, member, now_ms: None)
    patch.put(ClassicGroup, "give_until", lambda self, member, deadline_ms: None)


def dead_consumers_kept(patch: Patch) -> None:
    """Who is late is looked at, so that the next alarm is another one, and stays."""

    def wake(self: ConsumerGroup, now_ms: int) -> list[str]:
        before(self, now_ms)
        return []

    before = patch.put(ConsumerGroup, "wake", wake)


def static_name_suffices(patch: Patch) -> None:
    """Whoever knows a static name is taken for the member that has it now."""

    def member(self: ClassicGroup, member_id: str, instance_id: str | None) -> Member:
        found: Member = before(self, self.instances.get(instance_id or "", member_id), instance_id)
        return found

    before = patch.put(ClassicGroup, "member", member)


def static_consumer_name_suffices(patch: Patch) -> None:
    def check_commit(
        self: ConsumerGroup, member_id: str, instance_id: str | None, epoch: int, *, may_use_epochs: bool = True
    ) -> None:
        before(
            self, self.instances.get(instance_id or "", member_id), instance_id, epoch, may_use_epochs=may_use_epochs
        )

    before = patch.put(ConsumerGroup, "check_commit", check_commit)


def assignments_swapped(patch: Patch) -> None:
    """The leader's bytes reach the wrong members."""

    def assign(self: ClassicGroup, assignments: dict[str, bytes], now_ms: int, outbox: Any) -> None:
        members = list(assignments)
        before(self, dict(zip(members, [assignments[each] for each in reversed(members)], strict=True)), now_ms, outbox)

    before = patch.put(ClassicGroup, "_assign", assign)


def owners_lost_on_the_way(patch: Patch) -> None:
    """A classic group that becomes one of the consumer protocol forgets who owns what."""
    patch.put(migration, "read_assignment", lambda data, topics: {})


def nobody_deals_after_the_way_back(patch: Patch) -> None:
    """A consumer group that becomes classic does not tell its members to join again."""
    patch.put(ClassicGroup, "rebalance", lambda self, now_ms: None)


def classic_members_not_called(patch: Patch) -> None:
    """Classic members of a consumer group are not told that their share changed."""
    patch.put(classic_members, "_should_rejoin", lambda group, member: False)


def what_they_own_not_read(patch: Patch) -> None:
    """Cooperative members of a consumer group are taken to have given up all they have when they join again."""
    patch.put(classic_members, "_owned", lambda before, member_id, read, topics: {})


def _bug(name: str, about: str, plant: Callable[[Patch], None], seeds_max: int = 200) -> Bug:
    return Bug(name, about, plant, seeds_max, "groups")


BUGS: Final = (
    _bug("group-answered-before-stored", "answers come before they are durable", answered_before_stored),
    _bug("group-records-not-written", "the coordinator writes nothing", records_not_written),
    _bug("offsets-not-replayed", "a restart forgets offsets", offsets_not_replayed),
    _bug("older-commit-wins", "a commit does not replace the one before", older_commit_wins),
    _bug("any-generation-commits", "members of older generations may commit", any_generation_commits),
    _bug("strangers-commit", "whoever likes may commit", strangers_commit),
    _bug("any-epoch-commits", "members of older epochs may commit", any_epoch_commits),
    _bug("handed-on-while-held", "a partition goes to its next owner at once", handed_on_while_held),
    _bug("generations-forgotten", "a restart forgets classic groups", generations_forgotten),
    _bug("dead-members-kept", "classic members that are silent stay", dead_members_kept),
    _bug("static-name-suffices", "a static name is believed without its id", static_name_suffices),
    _bug("static-consumer-name-suffices", "the same in the consumer protocol", static_consumer_name_suffices),
    _bug("assignments-swapped", "members get the shares of others", assignments_swapped),
    _bug("owners-lost-on-the-way", "a live group forgets its owners on its way to consumer", owners_lost_on_the_way),
    _bug(
        "nobody-deals-on-the-way-back",
        "a live group does not rebalance when it becomes classic",
        nobody_deals_after_the_way_back,
    ),
    _bug(
        "classic-members-not-called", "classic members among consumers are not told to join", classic_members_not_called
    ),
    _bug(
        "what-they-own-not-read", "what cooperative members among consumers own is given away", what_they_own_not_read
    ),
    _bug("dead-consumers-kept", "consumer members that are silent stay", dead_consumers_kept),
)
