"""Rows 17 to 30 of the list of AMQP behaviours: queues, exchanges, bindings, routes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.scenarios.amqp.raw import Channel, Client, Message, eventually, refused
from twinlog.wire.amqp import Method, Properties
from twinlog.wire.amqp import methods as wire
from twinlog.wire.amqp.table import Int8, Int64

Connect = Callable[..., Client]
NewName = Callable[[], str]


def is_there(client: Client, queue: str) -> bool:
    with_number = 900 + is_there.calls % 90  # type: ignore[attr-defined]
    is_there.calls += 1  # type: ignore[attr-defined]
    channel = client.channel(with_number)
    channel.send(wire.QueueDeclare(queue=queue, passive=True))
    thing = client.next_thing(channel.number)
    if isinstance(thing, wire.ChannelClose):
        assert thing.reply_code == 404
        channel.send(wire.ChannelCloseOk())
        return False
    channel.close()
    return True


is_there.calls = 0  # type: ignore[attr-defined]


def has_exchange(client: Client, name: str) -> bool:
    channel = client.channel(890)
    channel.send(wire.ExchangeDeclare(exchange=name, type="direct", passive=True))
    thing = client.next_thing(890)
    if isinstance(thing, wire.ChannelClose):
        assert thing.reply_code == 404
        channel.send(wire.ChannelCloseOk())
        return False
    channel.close()
    return True


def test_row_17_asking_for_a_queue_looks_at_nothing_but_its_name(channel: Channel, new_name: NewName) -> None:
    name = new_name()
    channel.queue(name, auto_delete=True)
    channel.queue(name, passive=True, durable=True, auto_delete=False, arguments={"x-max-length": 5})
    channel.delete_queue(name)
    with refused(404, "no queue"):
        channel.queue(name, passive=True)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"durable": True}, {"durable": False}),
        ({"auto_delete": True}, {"auto_delete": False}),
        ({"arguments": {"x-message-ttl": 1000}}, {"arguments": {"x-message-ttl": 2000}}),
        ({"arguments": {"x-message-ttl": 1000}}, {}),
        ({"arguments": {"x-max-length": 5}}, {"arguments": {"x-max-length": 6}}),
    ],
)
def test_row_18_declaring_a_queue_differently_is_406(
    client: Client, new_name: NewName, first: dict[str, Any], second: dict[str, Any]
) -> None:
    name = new_name()
    client.channel(1).queue(name, **first)
    with refused(406, "inequivalent arg"):
        client.channel(2).queue(name, **second)
    client.channel(2).delete_queue(name)


def test_row_18_what_newer_brokers_turn_away_is_served(client: Client, channel: Channel, new_name: NewName) -> None:
    assert client.server["platform"] == "Twinlog"
    name = new_name()
    channel.queue(name, arguments={"x-queue-mode": "lazy"})
    channel.qos(1, is_global=True)
    assert channel.delete_queue(name) == 0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"x-foo": 1}, {"x-foo": "other"}),
        ({"x-message-ttl": Int8(100)}, {"x-message-ttl": Int64(100)}),
        ({}, {"x-queue-type": "classic"}),
    ],
)
def test_row_18_what_means_the_same_is_the_same(
    channel: Channel, new_name: NewName, first: dict[str, Any], second: dict[str, Any]
) -> None:
    name = new_name()
    channel.queue(name, exclusive=True, arguments=first)
    channel.queue(name, exclusive=True, arguments=second)


@pytest.mark.parametrize(
    "arguments",
    [
        {"x-message-ttl": "1000"},
        {"x-message-ttl": -1},
        {"x-expires": 0},
        {"x-max-length": -1},
        {"x-max-priority": 256},
        {"x-overflow": "sometimes"},
        {"x-dead-letter-routing-key": "k"},
        {"x-max-age": "1h"},
        {"x-queue-type": "quorum"},
        {"x-queue-type": "heap"},
    ],
)
def test_row_18_arguments_that_cannot_be_are_406(channel: Channel, new_name: NewName, arguments: Any) -> None:
    with refused(406):
        channel.queue(new_name(), durable=True, arguments=arguments)


def test_row_19_of_an_exchange_only_the_alternate_counts_when_declared_again(
    client: Client, channel: Channel, new_name: NewName
) -> None:
    name = new_name()
    channel.exchange(name, auto_delete=True, arguments={"x-foo": 1, "alternate-exchange": "a"})
    channel.exchange(name, auto_delete=True, arguments={"x-foo": 2, "alternate-exchange": "a"})
    with refused(406, "inequivalent arg 'alternate-exchange'"):
        channel.exchange(name, auto_delete=True, arguments={"alternate-exchange": "b"})
    again = client.channel(2)
    with refused(406, "inequivalent arg 'type'"):
        again.exchange(name, "fanout", auto_delete=True)
    client.channel(3).delete_exchange(name)


def test_row_19_an_unknown_type_of_exchange_is_406(channel: Channel, new_name: NewName) -> None:
    with refused(406, "unknown exchange type"):
        channel.exchange(new_name(), "sideways")


def test_row_20_an_empty_name_is_the_queue_declared_last(channel: Channel) -> None:
    name = channel.queue("", exclusive=True).queue
    assert name.startswith("amq.gen-")
    channel.bind("", "amq.direct", "")
    channel.publish("amq.direct", name, b"by its own name")
    assert channel.got("").body == b"by its own name"
    tag = channel.consume("")
    assert tag.startswith("amq.ctag-")
    channel.cancel(tag)
    channel.call(wire.QueuePurge(queue=""), wire.QueuePurgeOk)
    channel.delete_queue("")
    with refused(404):
        channel.queue(name, passive=True)


@pytest.mark.parametrize(
    "method",
    [
        wire.BasicConsume(),
        wire.BasicGet(),
        wire.QueueBind(exchange="amq.fanout"),
        wire.QueuePurge(),
        wire.QueueDelete(),
    ],
)
def test_row_20_without_one_there_is_no_last_queue(channel: Channel, method: Method) -> None:
    channel.send(method)
    with refused(404):
        channel.next_thing()


@pytest.mark.parametrize(
    "make",
    [
        lambda name: wire.QueueDeclare(queue=name, exclusive=True),
        lambda name: wire.QueueDeclare(queue=name, passive=True),
        lambda name: wire.BasicConsume(queue=name),
        lambda name: wire.BasicGet(queue=name),
        lambda name: wire.QueueBind(queue=name, exchange="amq.fanout"),
        lambda name: wire.QueuePurge(queue=name),
        lambda name: wire.QueueDelete(queue=name),
    ],
)
def test_row_21_an_exclusive_queue_is_locked_for_other_connections(
    connect: Connect, queue: str, make: Callable[[str], Method]
) -> None:
    other = connect().channel()
    other.send(make(queue))
    with refused(405, "RESOURCE_LOCKED"):
        other.next_thing()


def test_row_21_other_channels_of_its_connection_may_use_it(client: Client, channel: Channel, queue: str) -> None:
    other = client.channel(2)
    other.bind(queue, "amq.fanout")
    other.publish("", queue, b"m")
    assert other.got(queue).body == b"m"


@pytest.mark.parametrize(
    "method",
    [
        wire.ExchangeDeclare(exchange="amq.new", type="direct"),
        wire.QueueDeclare(queue="amq.new"),
        wire.ExchangeDelete(exchange="amq.direct"),
    ],
)
def test_row_22_names_of_the_broker_are_403(channel: Channel, method: Method) -> None:
    channel.send(method)
    with refused(403):
        channel.next_thing()


def test_row_22_but_those_that_exist_may_be_declared_again(channel: Channel) -> None:
    for name, kind in (("direct", "direct"), ("fanout", "fanout"), ("topic", "topic"), ("headers", "headers")):
        channel.exchange(f"amq.{name}", kind, durable=True)
        channel.exchange(f"amq.{name}", kind, passive=True)


@pytest.mark.parametrize(
    "make",
    [
        lambda queue: wire.QueueBind(queue=queue, exchange=""),
        lambda queue: wire.QueueUnbind(queue=queue, exchange=""),
        lambda queue: wire.ExchangeDeclare(exchange="", type="direct", durable=True),
        lambda queue: wire.ExchangeDelete(exchange=""),
        lambda queue: wire.ExchangeBind(destination="", source="amq.fanout"),
    ],
)
def test_row_23_the_default_exchange_cannot_be_touched(
    channel: Channel, queue: str, make: Callable[[str], Method]
) -> None:
    channel.send(make(queue))
    with refused(403):
        channel.next_thing()


def test_row_23_it_routes_by_name_from_the_declaration_to_the_deletion(channel: Channel, new_name: NewName) -> None:
    name = new_name()
    channel.confirm_select()
    channel.queue(name, exclusive=True)
    channel.publish("", name, b"m", mandatory=True)
    channel.confirmed(1)
    channel.delete_queue(name)
    channel.publish("", name, b"m", mandatory=True)
    assert channel.expect(Message).method.reply_code == 312
    channel.confirmed(2)


def test_row_24_deleting_what_is_not_there_is_fine(channel: Channel, queue: str, new_name: NewName) -> None:
    assert channel.delete_queue(new_name()) == 0
    channel.delete_exchange(new_name())
    channel.unbind(queue, "amq.direct", "never bound")


def test_row_24_but_not_if_it_is_used_or_full(client: Client, channel: Channel, new_name: NewName) -> None:
    name, exchange = new_name(), new_name()
    channel.queue(name, exclusive=True)
    channel.published("", name, b"m")
    with refused(406, "not empty"):
        client.channel(2).delete_queue(name, if_empty=True)
    channel.consume(name)
    with refused(406, "in use"):
        client.channel(2).delete_queue(name, if_unused=True)
    channel.exchange(exchange, auto_delete=True)
    channel.bind(name, exchange)
    with refused(406, "in use"):
        client.channel(2).delete_exchange(exchange, if_unused=True)


def test_row_25_an_auto_delete_queue_goes_with_its_last_consumer(
    client: Client, channel: Channel, new_name: NewName
) -> None:
    name = new_name()
    channel.queue(name, auto_delete=True)
    channel.close()
    one, two = client.channel(2), client.channel(3)
    assert is_there(client, name), "it never had a consumer"
    tag = one.consume(name)
    two.consume(name)
    one.cancel(tag)
    assert is_there(client, name)
    two.close()
    eventually(lambda: not is_there(client, name))


def test_row_26_an_auto_delete_exchange_goes_with_its_last_binding(
    client: Client, channel: Channel, new_name: NewName
) -> None:
    name, by_unbind, by_deletion = new_name(), new_name(), new_name()
    for exchange in (by_unbind, by_deletion):
        channel.exchange(exchange, auto_delete=True)
    channel.queue(name, exclusive=True)
    channel.bind(name, by_unbind, "a")
    channel.bind(name, by_unbind, "b")
    channel.bind(name, by_deletion)
    channel.unbind(name, by_unbind, "a")
    assert has_exchange(client, by_unbind)
    channel.unbind(name, by_unbind, "b")
    assert not has_exchange(client, by_unbind)
    channel.delete_queue(name)
    assert not has_exchange(client, by_deletion)


def test_row_27_two_ways_to_a_queue_deliver_one_copy_and_circles_end(
    channel: Channel, queue: str, new_name: NewName
) -> None:
    top, left, right = new_name(), new_name(), new_name()
    for exchange in (top, left, right):
        channel.exchange(exchange, "fanout", auto_delete=True)
    for side in (left, right):
        channel.bind_exchange(side, top)
        channel.bind(queue, side)
    channel.bind_exchange(top, left)
    channel.publish(top, "", b"once")
    assert channel.bodies(queue) == [b"once"]
    unbound = channel.call(wire.ExchangeUnbind(destination=top, source=left), wire.ExchangeUnbindOk)
    assert unbound.METHOD_ID == 51


@pytest.mark.parametrize(
    ("pattern", "fits", "others"),
    [
        ("#", ["", "a", "a.b", "."], []),
        ("a.#", ["a", "a.b", "a.b.c", "a."], ["", "b", "b.a"]),
        ("#.a.#", ["a", "b.a", "a.b", "b.a.c"], ["", "b"]),
        ("*", ["a"], ["", "a.b"]),
        ("*.*", ["a.b", "."], ["a", "a.b.c", ""]),
        ("a.*", ["a.b", "a."], ["a", "a.b.c"]),
        ("a", ["a"], ["a.", "b"]),
    ],
)
def test_row_28_topic_patterns(
    channel: Channel, queue: str, new_name: NewName, pattern: str, fits: list[str], others: list[str]
) -> None:
    exchange = new_name()
    channel.exchange(exchange, "topic", auto_delete=True)
    channel.bind(queue, exchange, pattern)
    for key in [*fits, *others]:
        channel.publish(exchange, key, key.encode())
    assert channel.bodies(queue) == [key.encode() for key in fits]


@pytest.mark.parametrize(
    ("arguments", "fits", "others"),
    [
        ({"x-match": "all", "a": 1, "b": "x"}, [{"a": 1, "b": "x", "c": 2}], [{"a": 1}, {"a": "1", "b": "x"}]),
        ({"a": 1}, [{"a": 1}], [{"b": 1}]),
        ({"x-match": "any", "a": 1, "b": "x"}, [{"a": 1}, {"b": "x"}], [{"a": 2}, {}]),
        ({"x-match": "any"}, [], [{"a": 1}]),
        ({"x-match": "all"}, [{"a": 1}, {}], []),
        ({"x-match": "all", "a": None}, [{"a": 5}, {"a": "x"}], [{"b": 1}]),
        ({"x-match": "all", "x-a": 1, "b": 1}, [{"b": 1}], []),
        ({"x-match": "all-with-x", "x-a": 1}, [{"x-a": 1}], [{"b": 1}]),
        ({"x-match": "any-with-x", "x-a": 1, "b": 1}, [{"x-a": 1}, {"b": 1}], [{"x-a": 2}]),
    ],
)
def test_row_29_headers(
    channel: Channel, queue: str, new_name: NewName, arguments: Any, fits: list[Any], others: list[Any]
) -> None:
    exchange = new_name()
    channel.exchange(exchange, "headers", auto_delete=True)
    channel.bind(queue, exchange, "", arguments)
    for headers in [*fits, *others]:
        channel.publish(exchange, "", repr(headers).encode(), Properties(headers=headers))
    assert channel.bodies(queue) == [repr(headers).encode() for headers in fits]


def test_row_29_another_way_to_match_is_406(channel: Channel, queue: str) -> None:
    with refused(406):
        channel.bind(queue, "amq.headers", "", {"x-match": "most"})


def test_row_30_a_queue_bound_by_several_keys_gets_one_copy(channel: Channel, queue: str) -> None:
    for pattern in ("row30.#", "#.b", "row30.*"):
        channel.bind(queue, "amq.topic", pattern)
    channel.publish("amq.topic", "row30.b", b"once")
    assert channel.bodies(queue) == [b"once"]
