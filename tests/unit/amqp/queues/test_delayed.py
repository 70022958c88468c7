"""Delayed messages: routed when their time has come, and not lost by any stop in between."""

from __future__ import annotations

import pytest

from tests.kit.queues import VHOST, World, run_of
from twinlog._kernel import RUN_COPIES, RUN_DELAY, RUN_HEADERS, RUN_PERSISTENT, build_run, split_run
from twinlog.amqp.queues.delayed import delay_of
from twinlog.wire.amqp import Properties, decode_properties, encode_properties


def later(
    world: World, body: str, delay_ms: int, key: str = "q", *, exchange: str = "", persistent: bool = True
) -> int:
    run = run_of([body.encode()], key, exchange=exchange, persistent=persistent, headers={"x-delay": delay_ms})
    return world.messages.publish_later(VHOST, run, delay_of(run)).mark


def test_messages_come_when_they_are_due_whatever_their_order() -> None:
    world = World()
    world.queue()
    later(world, "second", 500)
    later(world, "first", 200)
    later(world, "third", 500)
    world.settle(150)
    assert world.pull() == []
    world.settle(100)
    assert world.pull() == [b"first"]
    world.settle(300)
    assert world.pull() == [b"second", b"third"]
    assert len(world.messages.delayed) == 0


def test_they_are_routed_as_the_exchange_is_then_and_cannot_be_delayed_again() -> None:
    world = World()
    world.exchange("x", "direct")
    later(world, "a", 100, "key", exchange="x")
    world.queue()
    world.bind("q", "x", "key")
    world.settle(200)
    got = world.of("q").get(no_ack=True)
    assert got is not None
    headers = decode_properties(split_run(got.blob, got.position, 1)[0][1]).headers
    assert headers == {"x-delay": -100}
    assert delay_of(got.blob) == 0


def test_what_has_nowhere_to_go_by_then_is_dropped() -> None:
    world = World()
    world.exchange("x", "direct")
    later(world, "a", 100, "key", exchange="x")
    later(world, "b", 100, "key", exchange="missing")
    world.settle(200)
    world.settle(2000)
    world.restart("kill")
    assert len(world.messages.delayed) == 0


@pytest.mark.parametrize("how", ["stop", "kill", "cut_power"])
def test_persistent_ones_survive(how: str) -> None:
    world = World()
    world.queue()
    later(world, "gone", 10_000, persistent=False)
    mark = later(world, "a", 10_000)
    assert mark > 0
    world.home.durable(mark)
    world.settle(300)
    world.restart(how)
    world.settle(100)
    assert world.pull() == []
    world.settle(12_000)
    assert world.pull() == [b"a"]
    world.settle(2000)
    world.restart(how)
    world.settle(2000)
    assert world.pull() == [] and len(world.messages.delayed) == 0


def test_copies_go_along_and_hidden_ones_stay_hidden() -> None:
    world = World()
    world.queue()
    world.queue("copy")
    world.queue("hidden")
    properties = Properties(delivery_mode=2, headers={"x-delay": 10, "CC": ["copy"], "BCC": ["hidden"]})
    flags = RUN_PERSISTENT | RUN_HEADERS | RUN_DELAY | RUN_COPIES
    world.messages.publish_later(VHOST, build_run("", "q", flags, [(encode_properties(properties), b"a")]), 10)
    world.settle(100)
    for name in ("q", "copy", "hidden"):
        got = world.of(name).get(no_ack=True)
        assert got is not None
        headers = decode_properties(split_run(got.blob, got.position, 1)[0][1]).headers
        assert headers is not None and "BCC" not in headers and headers["CC"] == ["copy"]


@pytest.mark.parametrize("value", ["5", -1, 0, True, 2**40, None, 1.5])
def test_what_is_no_delay_is_none(value: object) -> None:
    assert delay_of(run_of([b"a"], headers={"x-delay": value})) == 0


def test_a_full_disk_only_delays_them_more() -> None:
    world = World()
    world.queue()
    world.home.durable(later(world, "a", 100))
    platter = world.home.machine.platter
    platter.capacity_bytes = platter.used_bytes
    world.settle(1500)
    platter.capacity_bytes = 1 << 30
    world.settle(5000)
    assert world.pull() == [b"a"]
