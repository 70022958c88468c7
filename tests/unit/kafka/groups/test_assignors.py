"""Server-side assignors: whole, even, and moving little."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twinlog.kafka.groups.assignors import ASSIGNORS, Need, assign_range, assign_uniform

A, B, C = (bytes([n] * 16) for n in (1, 2, 3))


def need(member_id: str, *topics: bytes, instance_id: str | None = None, **current: object) -> Need:
    return Need(member_id, instance_id, frozenset(topics), current.get("current", {}))  # type: ignore[arg-type]


def spots(assignment: dict[bytes, frozenset[int]]) -> set[tuple[bytes, int]]:
    return {(t, p) for t, partitions in assignment.items() for p in partitions}


@st.composite
def worlds(draw: st.DrawFn, *, same: bool = False) -> tuple[list[Need], dict[bytes, int]]:
    counts = {topic: draw(st.integers(1, 7)) for topic in (A, B, C)[: draw(st.integers(1, 3))]}
    subsets = st.sets(st.sampled_from(sorted(counts)), min_size=1)
    common = draw(subsets)
    needs = []
    for n in range(draw(st.integers(1, 8))):
        topics = common if same else draw(subsets)
        # What it has now may be stale in every way: partitions that are gone, of others, of topics left.
        current = {
            t: frozenset(draw(st.sets(st.integers(0, 8), max_size=5)))
            for t in draw(st.sets(st.sampled_from([A, B, C])))
        }
        needs.append(Need(f"m{n}", None, frozenset(topics), current))
    return needs, counts


@pytest.mark.parametrize("name", sorted(ASSIGNORS))
@given(data=worlds())
@settings(max_examples=150, deadline=None)
def test_every_partition_that_somebody_wants_has_one_owner_who_wants_it(name: str, data) -> None:
    needs, counts = data
    result = ASSIGNORS[name](needs, counts)
    given_out = [spot for each in needs for spot in spots(result[each.member_id])]
    assert len(given_out) == len(set(given_out))
    wanted = {t for each in needs for t in each.topics}
    assert set(given_out) == {(t, p) for t in wanted if t in counts for p in range(counts[t])}
    for each in needs:
        assert set(result[each.member_id]) <= each.topics


@given(data=worlds(same=True))
@settings(max_examples=150, deadline=None)
def test_uniform_loads_differ_by_one_at_most(data) -> None:
    needs, counts = data
    loads = [len(spots(share)) for share in assign_uniform(needs, counts).values()]
    assert max(loads) - min(loads) <= 1


@given(data=worlds())
@settings(max_examples=100, deadline=None)
def test_what_was_assigned_stays_when_nothing_changes(data) -> None:
    needs, counts = data
    first = assign_uniform(needs, counts)
    again = assign_uniform([Need(n.member_id, None, n.topics, first[n.member_id]) for n in needs], counts)
    assert again == first


@given(data=worlds())
@settings(max_examples=100, deadline=None)
def test_the_order_of_members_does_not_matter(data) -> None:
    needs, counts = data
    for assign in ASSIGNORS.values():
        assert assign(needs[::-1], counts) == assign(needs, counts)


def test_uniform_moves_only_what_a_newcomer_needs() -> None:
    old = assign_uniform([need("a", A), need("b", A)], {A: 9})
    new = assign_uniform([*(need(m, A, current=share) for m, share in old.items()), need("c", A)], {A: 9})
    moved = sum(len(spots(old[m]) - spots(new[m])) for m in old)
    assert moved == 3


def test_range_gives_neighbours_and_equal_numbers_to_the_same_member() -> None:
    result = assign_range([need("b", A, B), need("a", A, B)], {A: 5, B: 5})
    assert result == {
        "a": {A: frozenset({0, 1, 2}), B: frozenset({0, 1, 2})},
        "b": {A: frozenset({3, 4}), B: frozenset({3, 4})},
    }


def test_range_orders_static_members_by_their_names_through_restarts() -> None:
    before = assign_range([need("x1", A, instance_id="one"), need("x2", A, instance_id="two")], {A: 2})
    after = assign_range([need("x9", A, instance_id="one"), need("x2", A, instance_id="two")], {A: 2})
    assert before["x1"] == after["x9"]


def test_the_pickiest_members_get_what_only_they_can_have() -> None:
    result = assign_uniform([need("a", A, B), need("b", B)], {A: 2, B: 2})
    assert spots(result["a"]) == {(A, 0), (A, 1)}
    assert spots(result["b"]) == {(B, 0), (B, 1)}
