"""Rows 47 to 54 of the list of AMQP behaviours: the life of messages, direct replies, alarms, rights."""

from __future__ import annotations

import base64
import json
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.compat.target import Server
from tests.scenarios.amqp.raw import PERSISTENT, Channel, Client, Message, eventually, refused
from tests.scenarios.amqp.test_rows_17_to_30_topology import is_there
from twinlog.wire.amqp import Method, Properties
from twinlog.wire.amqp import methods as wire

Connect = Callable[..., Client]
NewName = Callable[[], str]
PSEUDO = "amq.rabbitmq.reply-to"


def with_letters(channel: Channel, new_name: NewName, **arguments: Any) -> tuple[str, str]:
    """A queue whose dead letters go to another; both names."""
    name, letters = new_name(), new_name()
    channel.queue(letters, exclusive=True)
    wanted = {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": letters}
    wanted |= {f"x-{argument.replace('_', '-')}": value for argument, value in arguments.items()}
    channel.queue(name, exclusive=True, arguments=wanted)
    return name, letters


def deaths(message: Message) -> Any:
    assert message.properties.headers is not None
    return message.properties.headers["x-death"]


def test_row_47_the_shorter_time_counts(channel: Channel, new_name: NewName) -> None:
    name = new_name()
    channel.queue(name, exclusive=True, arguments={"x-message-ttl": 60_000})
    channel.publish("", name, b"short", Properties(expiration="50"))
    channel.publish("", name, b"long", Properties(expiration="600000"))
    eventually(lambda: channel.count(name) == 1)
    assert channel.bodies(name) == [b"long"]


def test_row_47_messages_expire_at_the_head_only(channel: Channel, new_name: NewName) -> None:
    name, letters = with_letters(channel, new_name)
    channel.publish("", name, b"stays", Properties(expiration="300"))
    channel.publish("", name, b"behind it", Properties(expiration="1"))
    channel.quiet()
    assert channel.count(letters) == 0
    eventually(lambda: channel.count(letters) == 2)
    assert channel.bodies(letters) == [b"stays", b"behind it"]


def test_row_47_giving_back_keeps_the_old_deadline(channel: Channel, new_name: NewName) -> None:
    name, letters = with_letters(channel, new_name, message_ttl=300)
    channel.published("", name, b"m")
    tag = channel.got(name, no_ack=False).tag
    channel.nack(tag)
    eventually(lambda: channel.count(letters) == 1)


def test_row_47_a_queue_that_nobody_uses_expires(client: Client, channel: Channel, new_name: NewName) -> None:
    name = new_name()
    channel.queue(name, arguments={"x-expires": 300})
    for _ in range(5):
        time.sleep(0.1)
        assert channel.get(name) is None  # which is a use of it
    for _ in range(5):
        time.sleep(0.1)
        assert is_there(client, name)  # so is asking for it
    deadline = time.monotonic() + 20
    while is_there(client, name):  # asked less often than it expires
        assert time.monotonic() < deadline
        time.sleep(0.5)


def test_row_48_a_dead_letter_says_how_it_died(channel: Channel, new_name: NewName) -> None:
    name, letters = with_letters(channel, new_name)
    channel.publish("", name, b"m", Properties(expiration="1", headers={"mine": 1}))
    eventually(lambda: channel.count(letters) == 1)
    message = channel.got(letters)
    (death,) = deaths(message)
    assert death["reason"] == "expired"
    assert death["queue"] == name
    assert death["count"] == 1
    assert death["exchange"] == ""
    assert death["routing-keys"] == [name]
    assert death["original-expiration"] == "1"
    headers = message.properties.headers or {}
    assert headers["mine"] == 1
    assert message.properties.expiration is None
    assert (headers["x-first-death-queue"], headers["x-first-death-reason"]) == (name, "expired")


def test_row_48_dying_again_the_same_way_counts_up(channel: Channel, new_name: NewName) -> None:
    work, wait = new_name(), new_name()
    for name, other, more in ((work, wait, {}), (wait, work, {"x-message-ttl": 1})):
        arguments = {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": other, **more}
        channel.queue(name, exclusive=True, arguments=arguments)
    channel.published("", work, b"m")
    channel.consume(work)
    for _ in range(2):
        channel.nack(channel.delivered().tag, requeue=False)
    message = channel.delivered()
    assert [(death["queue"], death["reason"], death["count"]) for death in deaths(message)] == [
        (wait, "expired", 2),
        (work, "rejected", 2),
    ]


def test_row_48_deaths_that_a_client_made_up_do_not_count(channel: Channel, new_name: NewName) -> None:
    name, letters = with_letters(channel, new_name)
    claimed = {"x-death": [{"queue": name, "reason": "rejected", "count": 7}]}
    channel.published("", name, b"m", properties=Properties(headers=claimed))
    channel.nack(channel.got(name, no_ack=False).tag, requeue=False)
    eventually(lambda: channel.count(letters) == 1)
    assert [death["count"] for death in deaths(channel.got(letters))] == [1]


def test_row_48_a_circle_without_a_rejection_ends(channel: Channel, new_name: NewName) -> None:
    name = new_name()
    arguments = {"x-message-ttl": 1, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": name}
    channel.queue(name, exclusive=True, arguments=arguments)
    channel.published("", name, b"m")
    eventually(lambda: channel.count(name) == 0)
    channel.published("", name, b"n")
    eventually(lambda: channel.count(name) == 0)


def test_row_49_what_is_too_much_falls_off_the_head_as_dead_letters(channel: Channel, new_name: NewName) -> None:
    name, letters = with_letters(channel, new_name, max_length=2)
    channel.published("", name, b"1", b"2", b"3", b"4")
    assert channel.bodies(name) == [b"3", b"4"]
    eventually(lambda: channel.count(letters) == 2)
    first = channel.got(letters)
    assert first.body == b"1"
    assert deaths(first)[0]["reason"] == "maxlen"
    assert channel.got(letters).body == b"2"


def test_row_49_only_what_is_ready_counts(channel: Channel, new_name: NewName) -> None:
    name = new_name()
    channel.queue(name, exclusive=True, arguments={"x-max-length": 2})
    channel.published("", name, b"1", b"2")
    channel.got(name, no_ack=False)
    channel.published("", name, b"3")
    assert channel.bodies(name) == [b"2", b"3"]


def test_row_49_bytes_are_counted_too(channel: Channel, new_name: NewName) -> None:
    name = new_name()
    channel.queue(name, exclusive=True, arguments={"x-max-length-bytes": 250})
    channel.published("", name, bytes(100), bytes(101), bytes(102))
    assert [len(body) for body in channel.bodies(name)] == [101, 102]


def test_row_49_one_that_refuses_is_a_nack_though_others_keep_it(channel: Channel, new_name: NewName) -> None:
    full, free, exchange = new_name(), new_name(), new_name()
    channel.exchange(exchange, "fanout", auto_delete=True)
    channel.queue(full, exclusive=True, arguments={"x-max-length": 0, "x-overflow": "reject-publish"})
    channel.queue(free, exclusive=True)
    channel.bind(full, exchange)
    channel.bind(free, exchange)
    channel.confirm_select()
    channel.publish(exchange, "", b"m", PERSISTENT)
    assert channel.expect(wire.BasicNack).delivery_tag == 1
    assert channel.bodies(free) == [b"m"]


def test_row_50_the_highest_priority_first_and_in_order_within(channel: Channel, new_name: NewName) -> None:
    name = new_name()
    channel.queue(name, exclusive=True, arguments={"x-max-priority": 5})
    for body, priority in ((b"a", 1), (b"b", 5), (b"c", None), (b"d", 9), (b"e", 1), (b"f", 0)):
        channel.publish("", name, body, Properties(priority=priority))
    assert channel.bodies(name) == [b"b", b"d", b"a", b"e", b"c", b"f"]


def test_row_51_a_reply_goes_straight_to_who_asked(client: Client, queue: str) -> None:
    asks, answers = client.channel(2), client.channel(3)
    asks.consume(PSEUDO, no_ack=True)
    asks.publish("", queue, b"question", Properties(reply_to=PSEUDO, correlation_id="7"))
    question = answers.got(queue)
    reply_to = question.properties.reply_to
    assert reply_to is not None
    assert reply_to.startswith(PSEUDO + ".")
    probe = answers.queue(reply_to, passive=True)
    assert (probe.message_count, probe.consumer_count) == (0, 1)
    answers.confirm_select()
    answers.publish("", reply_to, b"answer", Properties(correlation_id="7"), mandatory=True)
    answers.confirmed(1)
    reply = asks.delivered()
    assert (reply.body, reply.properties.correlation_id) == (b"answer", "7")
    asks.close()
    answers.publish("", reply_to, b"too late")
    answers.confirmed(2)
    with refused(404):
        answers.queue(reply_to, passive=True)


def test_row_51_direct_replies_have_their_rules(client: Client, queue: str) -> None:
    with refused(406):
        client.channel(2).consume(PSEUDO)
    twice = client.channel(3)
    twice.consume(PSEUDO, no_ack=True)
    with refused(406):
        twice.consume(PSEUDO, no_ack=True)
    without = client.channel(4)
    without.publish("", queue, b"m", Properties(reply_to=PSEUDO))
    with refused(406):
        without.next_thing()


@pytest.fixture
def full_disk() -> Iterator[Server]:
    """A broker that wants more free disk than there is."""
    settings = {"amqp.listen": "127.0.0.1:0", "kafka.listen": "off", "amqp.disk_free_min_bytes": 1 << 40}
    with Server(settings=settings) as server:
        yield server


def test_row_52_under_an_alarm_publishers_wait_and_consumers_go_on(full_disk: Server) -> None:
    with Client(full_disk.amqp).opened(heartbeat=1) as publisher, Client(full_disk.amqp).opened() as other:
        reads = other.channel()
        name = reads.queue("alarmed", auto_delete=True).queue
        reads.consume(name, no_ack=True)
        channel = publisher.channel()
        channel.publish("", name, b"the one that told us")
        blocked = publisher.next_thing(0)
        assert isinstance(blocked, wire.ConnectionBlocked)
        assert "disk" in blocked.reason
        assert reads.delivered().body == b"the one that told us"
        channel.publish("", name, b"waits in the socket")
        began = time.monotonic()
        while time.monotonic() - began < 3:
            assert publisher.next_thing(0) == "heartbeat", "it is not cut off, and told once"
        assert reads.count(name) == 0
        reads.quiet()


@pytest.fixture(scope="module")
def guarded() -> Iterator[Server]:
    """A broker with a user ``narrow`` who may do things only with names that begin with the word for it."""
    settings = {"amqp.listen": "127.0.0.1:0", "kafka.listen": "off", "http.listen": "127.0.0.1:0"}
    with Server(settings=settings) as server:
        put(server, "users/narrow", {"password": "secret", "tags": ""})
        put(server, "permissions/%2F/narrow", {"configure": "^configure", "write": "^write", "read": "^read"})
        yield server


def put(server: Server, path: str, value: object) -> None:
    request = urllib.request.Request(f"http://{server.http}/api/{path}", json.dumps(value).encode(), method="PUT")
    request.add_header("Authorization", "Basic " + base64.b64encode(b"guest:guest").decode())
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=20) as answer:
        assert answer.status in (201, 204)


@pytest.mark.parametrize(
    ("needs", "method"),
    [
        ("configure", wire.QueueDeclare(queue="other")),
        ("configure", wire.QueueDelete(queue="other")),
        ("configure", wire.ExchangeDeclare(exchange="other", type="direct")),
        ("configure", wire.ExchangeDelete(exchange="other")),
        ("write", wire.QueueBind(queue="other", exchange="read")),
        ("read", wire.QueueBind(queue="write", exchange="other")),
        ("read", wire.BasicGet(queue="other")),
        ("read", wire.BasicConsume(queue="other")),
        ("read", wire.QueuePurge(queue="other")),
        ("write", wire.QueueDeclare(queue="configure-and-read", arguments={"x-dead-letter-exchange": "other"})),
    ],
)
def test_row_53_what_the_rights_do_not_cover_is_403(guarded: Server, needs: str, method: Method) -> None:
    with Client(guarded.amqp).opened(user="narrow", password="secret") as client:
        channel = client.channel()
        channel.send(method)
        with refused(403, "ACCESS_REFUSED", "narrow"):
            channel.next_thing()
        client.channel(2).quiet()


@pytest.mark.parametrize("exchange", ["", "amq.direct"])
def test_row_53_publishing_needs_the_right_to_write(guarded: Server, exchange: str) -> None:
    with Client(guarded.amqp).opened(user="narrow", password="secret") as client:
        channel = client.channel()
        channel.publish(exchange, "write", b"m")
        with refused(403, exchange or "amq.default"):
            channel.next_thing()


def test_row_53_what_they_cover_is_served(guarded: Server) -> None:
    with Client(guarded.amqp).opened(user="narrow", password="secret") as client:
        channel = client.channel()
        channel.queue("configure", auto_delete=True)
        channel.queue("configure", passive=True)
