"""Dead letters: where they go, what they say, and when they are not sent at all."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit.queues import Taker, World, bodies_of, run_of
from twinlog._kernel import split_run
from twinlog.wire.amqp import Properties, decode_properties


def world_with_letters(**arguments: Any) -> World:
    """Queue ``q``, whose dead letters go to the queue ``dead``."""
    world = World()
    world.queue("q", dead_letter_exchange="dlx", **arguments)
    world.queue("dead")
    world.exchange("dlx")
    world.bind("dead", "dlx")
    return world


def letters(world: World, name: str = "dead") -> list[tuple[bytes, Properties]]:
    world.settle(50)
    found = []
    while (got := world.of(name).get(no_ack=True)) is not None:
        _, encoded, body = split_run(got.blob, got.position, 1)[0]
        found.append((body, decode_properties(encoded)))
    return found


def headers_of(properties: Properties) -> dict[str, Any]:
    assert properties.headers is not None
    return properties.headers


def test_48_a_rejected_message_says_where_and_why_it_died() -> None:
    world = world_with_letters()
    world.publish(["a", "b"], message_id="m", headers={"mine": 1})
    got = world.of("q").get(no_ack=False)
    assert got is not None
    world.of("q").reject(got.number, got.number)
    ((body, properties),) = letters(world)
    assert (body, properties.message_id, properties.delivery_mode) == (b"a", "m", 2)
    headers = headers_of(properties)
    (death,) = headers.pop("x-death")
    assert death.pop("time") == world.home.machine.clock.now_ms() // 1000
    assert death == {"count": 1, "reason": "rejected", "queue": "q", "exchange": "", "routing-keys": ["q"]}
    assert headers == {
        "mine": 1,
        "x-first-death-queue": "q",
        "x-first-death-reason": "rejected",
        "x-first-death-exchange": "",
        "x-last-death-queue": "q",
        "x-last-death-reason": "rejected",
        "x-last-death-exchange": "",
    }
    assert world.pull() == [b"b"]


def test_48_an_expired_message_loses_its_expiration_and_remembers_it() -> None:
    world = world_with_letters()
    world.publish(["a", "b"], expiration="100")
    world.settle(200)
    found = letters(world)
    assert [body for body, _ in found] == [b"a", b"b"]
    for _, properties in found:
        assert properties.expiration is None
        (death,) = headers_of(properties)["x-death"]
        assert (death["reason"], death["original-expiration"]) == ("expired", "100")
    world.settle(1000)
    assert world.of("dead").status().ready == 0


def test_49_what_makes_room_is_dead_lettered_in_order() -> None:
    world = world_with_letters(max_length=2)
    world.publish(list("abcdef"))
    found = letters(world)
    assert [body for body, _ in found] == [b"a", b"b", b"c", b"d"]
    assert {headers_of(properties)["x-first-death-reason"] for _, properties in found} == {"maxlen"}
    assert world.pull() == [b"e", b"f"]


def test_a_queue_that_rejects_can_send_what_it_rejects_to_its_dead_letters() -> None:
    world = world_with_letters(max_length=2, overflow="reject-publish-dlx")
    assert world.publish(list("abcd")).accepted == 2
    assert [body for body, _ in letters(world)] == [b"c", b"d"]
    assert world.pull() == [b"a", b"b"]


def test_48_the_second_death_for_the_same_reason_is_counted_and_a_new_one_goes_first() -> None:
    world = world_with_letters()
    world.exchange("back")
    world.policy("dead", message_ttl=10, dead_letter_exchange="back")
    world.bind("q", "back")
    world.publish(["a"])
    for _ in range(3):
        world.settle(50)
        got = world.of("q").get(no_ack=False)
        assert got is not None
        world.of("q").reject(got.number, got.number)
        world.settle(50)
    got = world.of("q").get(no_ack=True)
    assert got is not None
    _, encoded, _ = split_run(got.blob, got.position, 1)[0]
    headers = headers_of(decode_properties(encoded))
    assert [(death["queue"], death["reason"], death["count"]) for death in headers["x-death"]] == [
        ("dead", "expired", 3),
        ("q", "rejected", 3),
    ]
    assert (headers["x-first-death-queue"], headers["x-first-death-reason"]) == ("q", "rejected")
    assert (headers["x-last-death-queue"], headers["x-last-death-reason"]) == ("dead", "expired")


def test_48_a_circle_that_nobody_rejects_in_ends() -> None:
    world = World()
    world.queue("one", message_ttl=10, dead_letter_exchange="", dead_letter_routing_key="two")
    world.queue("two", message_ttl=10, dead_letter_exchange="", dead_letter_routing_key="one")
    world.publish(["a"], "one")
    world.settle(500)
    assert (world.of("one").status().ready, world.of("two").status().ready) == (0, 0)
    assert world.of("one").dead_count == 1
    assert world.of("two").dead_count == 1


def test_what_a_client_says_about_deaths_is_not_believed() -> None:
    world = world_with_letters()
    world.publish(
        ["a"],
        headers={"x-death": [{"queue": "q", "reason": "rejected", "count": 41}], "x-first-death-queue": "lie"},
    )
    got = world.of("q").get(no_ack=False)
    assert got is not None
    world.of("q").reject(got.number, got.number)
    ((_, properties),) = letters(world)
    headers = headers_of(properties)
    assert [death["count"] for death in headers["x-death"]] == [1]
    assert headers["x-first-death-queue"] == "q"


def test_48_copies_go_along_unless_the_queue_names_a_key() -> None:
    world = World()
    world.exchange("dlx", "direct")
    for name in ("kept", "copied", "renamed"):
        world.queue(name)
    world.bind("kept", "dlx", "key")
    world.bind("copied", "dlx", "copy")
    world.bind("renamed", "dlx", "other")
    world.queue("q", dead_letter_exchange="dlx")
    run = run_of([b"a"], "key", exchange="x", headers={"CC": ["copy"]})
    for key in (None, "other"):
        if key is not None:
            world.policy("q", dead_letter_routing_key=key)
        world.publish(["a"], "q", run=run)
        got = world.of("q").get(no_ack=False)
        assert got is not None
        world.of("q").reject(got.number, got.number)
        world.settle(50)
    ((_, kept),) = letters(world, "kept")
    assert headers_of(kept)["CC"] == ["copy"]
    assert headers_of(kept)["x-death"][0]["routing-keys"] == ["key", "copy"]
    assert len(letters(world, "copied")) == 1
    ((_, renamed),) = letters(world, "renamed")
    assert "CC" not in headers_of(renamed)


@pytest.mark.parametrize("arguments", [{}, {"dead_letter_exchange": "missing"}])
def test_without_an_exchange_to_go_to_the_dead_are_dropped(arguments: dict[str, Any]) -> None:
    world = World()
    queue = world.queue(**arguments)
    world.publish(["a"])
    got = queue.get(no_ack=False)
    assert got is not None
    queue.reject(got.number, got.number)
    world.settle(50)
    assert (queue.status().ready, queue.status().unacked, queue.dead_count) == (0, 0, 1)
    assert world.home.store.held_bytes == 0


@pytest.mark.parametrize("how", ["kill", "cut_power"])
def test_a_dead_letter_is_never_lost_by_a_crash(how: str) -> None:
    for span_ms in (1, 2, 5, 30, 60, 150):
        world = world_with_letters()
        world.home.durable(world.publish(list("abc")).mark)
        taker = Taker()
        world.of("q").consume(taker)
        world.settle(1)
        world.of("q").reject(0, 2)
        world.settle(span_ms)
        world.restart(how)
        left, dead = world.pull(), world.pull("dead")
        assert sorted({*left, *dead}) == [b"a", b"b", b"c"]


def test_many_dead_letters_are_sent_a_bounded_part_at_a_time() -> None:
    world = world_with_letters()
    for start in range(0, 20_000, 100):
        world.publish([b"%d" % number for number in range(start, start + 100)])
    world.policy("q", dead_letter_exchange="dlx", message_ttl=1)
    world.settle(2000)
    assert world.of("q").status().ready == 0
    found = []
    while (got := world.of("dead").get(no_ack=True)) is not None:
        found += bodies_of(got.blob, got.position, 1)
    assert found == [b"%d" % number for number in range(20_000)]
