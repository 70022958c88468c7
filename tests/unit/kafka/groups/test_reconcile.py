"""One member's way from what it has to what it should have, tried as a whole group of them."""

from __future__ import annotations

import random

import pytest

from twinlog.kafka.groups.reconcile import Current, MemberState, step

T = bytes(16)


def have(*partitions: int) -> dict[bytes, frozenset[int]]:
    return {T: frozenset(partitions)} if partitions else {}


def free(*partitions: int):
    return lambda topic_id, partition: partition in partitions


def test_free_partitions_come_at_once() -> None:
    assert step(Current(), have(1, 2), 5, {}, free(1, 2)) == Current(5, 0, MemberState.STABLE, have(1, 2))


def test_what_is_not_free_follows_later_and_the_epoch_moves_on() -> None:
    waiting = step(Current(), have(1, 2), 5, {}, free(1))
    assert waiting == Current(5, 0, MemberState.UNRELEASED_PARTITIONS, have(1))
    assert step(waiting, have(1, 2), 5, None, free()) == waiting
    assert step(waiting, have(1, 2), 5, None, free(2)) == Current(5, 0, MemberState.STABLE, have(1, 2))


def test_who_has_to_give_up_stays_at_its_epoch_until_it_did() -> None:
    before = Current(5, 4, MemberState.STABLE, have(1, 2))
    told = step(before, have(1, 3), 6, have(1, 2), free(3))
    assert told == Current(5, 4, MemberState.UNREVOKED_PARTITIONS, have(1), have(2))
    assert step(told, have(1, 3), 6, None, free(3)) == told
    assert step(told, have(1, 3), 6, have(1, 2), free(3)) == told
    assert step(told, have(1, 3), 6, have(1), free(3)) == Current(6, 5, MemberState.STABLE, have(1, 3))


def test_a_target_that_moves_on_meanwhile_is_followed_after_giving_up() -> None:
    told = Current(5, 4, MemberState.UNREVOKED_PARTITIONS, have(1), have(2))
    assert step(told, have(2), 7, have(1), free(2)).state is MemberState.UNREVOKED_PARTITIONS
    assert step(told, have(2), 7, {}, free(2)) == Current(7, 5, MemberState.STABLE, have(2))


@pytest.mark.parametrize("seed", range(40))
def test_any_order_of_targets_and_reports_converges_without_two_owners(seed: int) -> None:
    chance = random.Random(seed)
    members = ["a", "b", "c"]
    currents = {m: Current() for m in members}
    uses: dict[str, set[int]] = {m: set() for m in members}

    def is_free(asker: str):
        def look(topic_id: bytes, partition: int) -> bool:
            return not any(
                partition in currents[m].assigned.get(T, ()) or partition in currents[m].pending_revocation.get(T, ())
                for m in members
                if m != asker
            )

        return look

    epoch, target = 0, {m: frozenset[int]() for m in members}
    for turn in range(300):
        if turn < 200 and chance.random() < 0.15:
            epoch += 1
            dealt = {p: chance.choice(members) for p in range(6)}
            target = {m: frozenset(p for p in dealt if dealt[p] == m) for m in members}
        member = members[turn % 3] if turn >= 200 else chance.choice(members)
        reported = {T: frozenset(uses[member])} if uses[member] else {}
        owned = reported if turn >= 200 or chance.random() < 0.7 else None
        wanted = {T: target[member]} if target[member] else {}
        currents[member] = step(currents[member], wanted, epoch, owned, is_free(member))
        if chance.random() < 0.8 or turn >= 200:  # the client does what it was told, or not yet
            uses[member] = set(currents[member].assigned.get(T, ()))
        every = [p for m in members for p in uses[m]]
        assert len(every) == len(set(every)), f"two users at turn {turn}"
    assert {m: frozenset(uses[m]) for m in members} == target
    assert {c.epoch for c in currents.values()} == {epoch}
