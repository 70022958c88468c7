"""Where messages go."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.kit.topology import World, code
from twinlog.base import Refused
from twinlog.wire.amqp.table import Int8


def world_of(kind: str, *queues: str) -> World:
    world = World()
    world.exchange("x", kind)
    for queue in queues:
        world.queue(queue)
    return world


def test_a_missing_exchange_is_404() -> None:
    with pytest.raises(Refused) as refused:
        World().route("none", "k")
    assert refused.value.code == 404


def test_30_a_queue_gets_one_copy_however_often_it_matches() -> None:
    world = world_of("topic", "q")
    for key in ("#", "a.*", "*.b", "a.b"):
        world.bind("q", "x", key)
    assert world.route("x", "a.b") == ["q"]
    assert world.route("x", "a.b", copies=("c", "a.b")) == ["q"]


def test_direct_and_fanout() -> None:
    world = world_of("direct", "a", "b")
    world.exchange("f", "fanout")
    for queue in ("a", "b"):
        world.bind(queue, "x", queue)
        world.bind(queue, "x", "both")
        world.bind(queue, "f", "whatever")
    assert world.route("x", "a") == ["a"]
    assert world.route("x", "both") == ["a", "b"]
    assert world.route("x", "none") == []
    assert world.route("x", "none", copies=("b", "a")) == ["b", "a"]
    assert world.route("f", "none") == ["a", "b"]
    assert world.route("", "a", copies=("b", "none")) == ["a", "b"]


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("#", ["", "a", "a.b", "."], []),
        ("*", ["a"], ["", "a.b", "."]),
        ("a.#", ["a", "a.b", "a.b.c", "a."], ["", "b", "b.a"]),
        ("#.a", ["a", "b.a"], ["", "a.b"]),
        ("#.a.#", ["a", "b.a", "a.b", "b.a.b", "a.a"], ["", "b", "b.b"]),
        ("*.*", [".", "a.b", "a."], ["a", "a.b.c", ""]),
        ("a.*.c", ["a.b.c", "a..c"], ["a.c", "a.b.b.c"]),
        ("*.#.b", ["a.b", "a.x.y.b"], ["b", "a"]),
        ("#.#", ["", "a", "a.b"], []),
        ("", [""], ["a", "."]),
        ("a.", ["a."], ["a"]),
    ],
)
def test_28_topics(pattern: str, matching: list[str], other: list[str]) -> None:
    world = world_of("topic", "q")
    world.bind("q", "x", pattern)
    assert [key for key in matching + other if world.route("x", key)] == matching
    world.unbind("q", "x", pattern)
    assert [key for key in matching if world.route("x", key)] == []


def test_a_topic_pattern_full_of_hashes_is_no_weapon() -> None:
    world = world_of("topic", "q")
    world.bind("q", "x", ".".join(["#", "a"] * 60))
    assert world.route("x", ".".join(["a"] * 120 + ["b"])) == []
    assert world.route("x", ".".join(["a"] * 120)) == ["q"]


@pytest.mark.parametrize(
    ("arguments", "headers", "fits"),
    [
        ({}, {}, True),
        ({"x-match": "any"}, {"a": 1}, False),
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": 1}, {"a": Int8(1)}, True),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"a": "1"}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1, "b": 2}, {"a": 1}, False),
        ({"a": 1, "b": 2, "x-match": "any"}, {"a": 1}, True),
        ({"a": 1, "b": 2, "x-match": "any"}, {"a": 2}, False),
        ({"a": None}, {"a": "anything"}, True),
        ({"a": None}, {}, False),
        ({"a": 1, "x-b": 2}, {"a": 1}, True),
        ({"a": 1, "x-b": 2, "x-match": "all-with-x"}, {"a": 1}, False),
        ({"a": 1, "x-b": 2, "x-match": "all-with-x"}, {"a": 1, "x-b": 2}, True),
        ({"x-b": 2, "x-match": "any"}, {"x-b": 2}, False),
        ({"x-b": 2, "x-match": "any-with-x"}, {"x-b": 2}, True),
        ({"a": {"b": [1]}}, {"a": {"b": [1]}}, True),
    ],
)
def test_29_headers(arguments: dict[str, object], headers: dict[str, object], fits: bool) -> None:
    world = world_of("headers", "q")
    assert world.bind("q", "x", "", arguments) is None
    assert bool(world.route("x", "", headers)) is fits
    assert world.router.reads_properties("/", "x") and not world.router.reads_properties("/", "amq.topic")


@pytest.mark.parametrize("way", ["most", 1, None, ["all"]])
def test_29_another_way_of_matching_is_406(way: object) -> None:
    assert code(world_of("headers", "q").bind("q", "x", "", {"x-match": way})) == 406


def test_27_a_diamond_delivers_one_copy_and_a_circle_ends() -> None:
    world = world_of("fanout", "q")
    for name in ("left", "right", "end"):
        world.exchange(name, "fanout")
    world.bind_exchange("left", "x")
    world.bind_exchange("right", "x")
    world.bind_exchange("end", "left")
    world.bind_exchange("end", "right")
    world.bind_exchange("x", "end")
    world.bind("q", "end")
    assert world.route("x") == ["q"] and world.route("right") == ["q"]
    world.unbind_exchange("left", "x")
    assert world.route("x") == ["q"]
    world.unbind_exchange("right", "x")
    assert world.route("x") == []


def test_an_alternate_exchange_gets_what_nobody_wants() -> None:
    world = World()
    world.exchange("lost", "fanout")
    world.exchange("x", arguments={"alternate-exchange": "lost"})
    world.queue("wanted")
    world.queue("unwanted")
    world.bind("wanted", "x", "k")
    assert world.route("x", "other") == []
    world.bind("unwanted", "lost")
    assert world.route("x", "other") == ["unwanted"]
    assert world.route("x", "k") == ["wanted"]
    world.delete_exchange("lost")
    assert world.route("x", "other") == []
    world.exchange("lost", "headers")
    assert world.router.reads_properties("/", "x"), "the way may lead over headers"
    world.bind("unwanted", "lost", "", {"a": 1})
    assert world.route("x", "other", {"a": 1}) == ["unwanted"]
    assert world.route("x", "other", {"a": 2}) == []


def test_two_alternate_exchanges_of_one_another_end() -> None:
    world = World()
    world.exchange("a", arguments={"alternate-exchange": "b"})
    world.exchange("b", arguments={"alternate-exchange": "a"})
    assert world.route("a", "k") == []


def test_a_consistent_hash_spreads_by_weight_and_moves_only_its_own() -> None:
    world = world_of("x-consistent-hash", "a", "b", "c")
    world.bind("a", "x", "1")
    world.bind("b", "x", "2")
    keys = [f"key {n}" for n in range(3000)]
    before = {key: world.route("x", key)[0] for key in keys}
    counts = Counter(before.values())
    assert 700 < counts["a"] < 1300 and 1700 < counts["b"] < 2300
    world.bind("c", "x", "1")
    after = {key: world.route("x", key)[0] for key in keys}
    assert all(after[key] in (before[key], "c") for key in keys)
    assert 450 < sum(owner == "c" for owner in after.values()) < 1050
    world.unbind("c", "x", "1")
    assert {key: world.route("x", key)[0] for key in keys} == before


def test_a_consistent_hash_can_look_at_a_header() -> None:
    world = World()
    world.exchange("x", "x-consistent-hash", arguments={"hash-header": "who"})
    for queue in ("a", "b"):
        world.queue(queue)
        world.bind(queue, "x", "1")
    assert world.router.reads_properties("/", "x")
    for who in range(20):
        assert len({world.route("x", f"key {n}", {"who": who})[0] for n in range(5)}) == 1
    assert len({world.route("x", "k", {"who": who})[0] for who in range(50)}) == 2


@pytest.mark.parametrize("weight", ["0", "", "x", "-1", "1001", "９"])
def test_the_weight_of_a_consistent_hash_is_a_number(weight: str) -> None:
    assert code(world_of("x-consistent-hash", "q").bind("q", "x", weight)) == 406


def test_a_delayed_exchange_routes_as_the_type_it_names() -> None:
    world = World()
    assert code(world.exchange("d", "x-delayed-message")) == 406
    assert code(world.exchange("d", "x-delayed-message", arguments={"x-delayed-type": "strange"})) == 406
    assert world.exchange("d", "x-delayed-message", arguments={"x-delayed-type": "topic"}) is None
    world.queue("q")
    world.bind("q", "d", "a.#")
    assert world.route("d", "a.b") == ["q"] and world.route("d", "b") == []
