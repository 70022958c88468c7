"""Rows 31 to 36 of the list of AMQP behaviours: returns, confirms, refusals, copies, transactions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.scenarios.amqp.raw import PERSISTENT, Channel, Client, Message, refused
from twinlog.wire.amqp import Properties
from twinlog.wire.amqp import methods as wire

Connect = Callable[..., Client]
NewName = Callable[[], str]


def test_row_31_what_has_no_way_comes_back_whole_and_before_its_confirm(channel: Channel) -> None:
    channel.confirm_select()
    sent = Properties(content_type="a/b", headers={"h": 1}, message_id="m", delivery_mode=2)
    channel.publish("amq.direct", "no way", b"body", sent, mandatory=True)
    returned = channel.expect(Message)
    assert isinstance(returned.method, wire.BasicReturn)
    assert (returned.method.reply_code, returned.method.reply_text) == (312, "NO_ROUTE")
    assert (returned.method.exchange, returned.method.routing_key) == ("amq.direct", "no way")
    assert (returned.properties, returned.body) == (sent, b"body")
    channel.confirmed(1)


def test_row_31_an_alternate_exchange_is_a_way(channel: Channel, queue: str, new_name: NewName) -> None:
    first, second = new_name(), new_name()
    channel.exchange(second, "fanout", auto_delete=True)
    channel.exchange(first, "direct", auto_delete=True, arguments={"alternate-exchange": second})
    channel.bind(queue, second)
    channel.confirm_select()
    channel.publish(first, "nobody", b"m", mandatory=True)
    channel.confirmed(1)
    assert channel.bodies(queue) == [b"m"]


def test_row_32_confirms_count_from_the_select_on(channel: Channel, queue: str) -> None:
    channel.publish("", queue, b"before")
    channel.confirm_select()
    for number in range(20):
        channel.publish("", queue, b"%d" % number, PERSISTENT)
    channel.publish("amq.direct", "no way", b"unroutable is confirmed, too")
    channel.confirmed(21)
    assert channel.count(queue) == 21


def test_row_32_a_queue_deleted_before_the_confirm_is_an_ack(channel: Channel, new_name: NewName) -> None:
    name = new_name()
    channel.queue(name, exclusive=True)
    channel.confirm_select()
    channel.publish("", name, b"m", PERSISTENT)
    channel.send(wire.QueueDelete(queue=name))
    kinds = {type(channel.next_thing()) for _ in range(2)}
    assert kinds == {wire.BasicAck, wire.QueueDeleteOk}


def test_row_32_what_a_queue_refuses_is_a_nack(channel: Channel, new_name: NewName) -> None:
    name = new_name()
    channel.queue(name, exclusive=True, arguments={"x-max-length": 1, "x-overflow": "reject-publish"})
    channel.confirm_select()
    channel.publish("", name, b"fits")
    channel.confirmed(1)
    channel.publish("", name, b"does not")
    nack = channel.expect(wire.BasicNack)
    assert nack.delivery_tag == 2
    assert channel.bodies(name) == [b"fits"]


def test_row_32_confirms_and_transactions_do_not_mix(client: Client) -> None:
    one, two = client.channel(1), client.channel(2)
    one.confirm_select()
    with refused(406):
        one.call(wire.TxSelect(), wire.TxSelectOk)
    two.call(wire.TxSelect(), wire.TxSelectOk)
    with refused(406):
        two.confirm_select()


def test_row_33_immediate_is_540(client: Client, channel: Channel, queue: str) -> None:
    channel.publish("", queue, b"m", immediate=True)
    client.expect_close(540)


def test_row_33_publishing_to_nowhere_is_404(channel: Channel) -> None:
    channel.publish("missing", "", b"m")
    with refused(404, "no exchange 'missing' in vhost '/'"):
        channel.next_thing()


def test_row_33_publishing_to_an_internal_exchange_is_403(channel: Channel, new_name: NewName) -> None:
    name = new_name()
    channel.exchange(name, auto_delete=True, internal=True)
    channel.publish(name, "", b"m")
    with refused(403):
        channel.next_thing()


def test_a_delayed_message_comes_when_its_time_is_over(channel: Channel, queue: str, new_name: NewName) -> None:
    name = new_name()
    channel.exchange(name, "x-delayed-message", auto_delete=True, arguments={"x-delayed-type": "direct"})
    channel.bind(queue, name, "key")
    channel.consume(queue, no_ack=True)
    channel.publish(name, "key", b"later", Properties(headers={"x-delay": 300}))
    channel.publish(name, "key", b"at once")
    assert [each.body for each in channel.deliveries(2)] == [b"at once", b"later"]


def test_row_33_a_message_beyond_the_limit_is_406_and_the_connection_stays(client: Client, queue: str) -> None:
    channel = client.channel(2)
    channel.publish("", queue, bytes((16 << 20) + 1))
    with refused(406, "larger"):
        channel.next_thing()
    client.channel(3).publish("", queue, b"fits")
    assert client.channel(4).got(queue).body == b"fits"


@pytest.mark.parametrize("text", ["abc", "-1", "", "1.5", "99999999999999"])
def test_row_34_an_expiration_is_a_number_of_milliseconds(channel: Channel, queue: str, text: str) -> None:
    channel.publish("", queue, b"m", Properties(expiration=text))
    with refused(406, "expiration"):
        channel.next_thing()


def test_row_34_zero_still_reaches_who_waits(channel: Channel, queue: str) -> None:
    channel.consume(queue, no_ack=True)
    channel.publish("", queue, b"now", Properties(expiration="0"))
    assert channel.delivered().body == b"now"


def test_row_34_zero_gives_one_chance_only(channel: Channel, queue: str) -> None:
    channel.consume(queue)
    channel.publish("", queue, b"now", Properties(expiration="0"))
    channel.nack(channel.delivered().tag)
    assert channel.count(queue) == 0
    channel.quiet()


def test_row_35_somebody_elses_user_id_is_406(channel: Channel, queue: str) -> None:
    channel.publish("", queue, b"m", Properties(user_id="root"))
    with refused(406, "user_id"):
        channel.next_thing()


def test_row_35_copies_go_by_further_keys_and_blind_ones_stay_unseen(channel: Channel, new_name: NewName) -> None:
    names = [new_name() for _ in range(3)]
    for name in names:
        channel.queue(name, exclusive=True)
    channel.publish("", names[0], b"m", Properties(headers={"CC": [names[1]], "BCC": [names[2]], "other": 1}))
    for name in names:
        assert channel.got(name).properties.headers == {"CC": [names[1]], "other": 1}


@pytest.mark.parametrize("value", ["text", [1], {"a": 1}])
def test_row_35_copies_are_an_array_of_texts(channel: Channel, queue: str, value: object) -> None:
    channel.publish("", queue, b"m", Properties(headers={"CC": value}))
    with refused(406):
        channel.next_thing()


def test_row_35_there_may_be_a_thousand_further_keys(channel: Channel, queue: str) -> None:
    channel.publish("", queue, b"m", Properties(headers={"CC": ["nowhere"] * 1000}))
    assert channel.got(queue).body == b"m"
    channel.publish("", queue, b"m", Properties(headers={"CC": ["nowhere"] * 1000, "BCC": ["nowhere"]}))
    with refused(406, "1000 keys"):
        channel.next_thing()


def test_row_36_a_transaction_holds_64_mib(client: Client, channel: Channel, queue: str) -> None:
    channel.call(wire.TxSelect(), wire.TxSelectOk)
    with refused(406, "a transaction may hold"):
        for _ in range(5):
            channel.publish("", queue, bytes(13 << 20))
        channel.call(wire.TxCommit(), wire.TxCommitOk)
    assert client.channel(2).get(queue) is None


def test_row_36_a_transaction_is_unseen_until_it_is_committed(client: Client, channel: Channel, queue: str) -> None:
    other = client.channel(2)
    channel.call(wire.TxSelect(), wire.TxSelectOk)
    channel.publish("", queue, b"rolled back", PERSISTENT)
    channel.call(wire.TxRollback(), wire.TxRollbackOk)
    channel.publish("", queue, b"committed", PERSISTENT)
    channel.quiet()
    assert other.count(queue) == 0
    channel.call(wire.TxCommit(), wire.TxCommitOk)
    assert other.bodies(queue) == [b"committed"]


def test_row_36_rolling_back_leaves_deliveries_where_they_are(client: Client, channel: Channel, queue: str) -> None:
    other = client.channel(2)
    channel.published("", queue, b"a", b"b")
    channel.call(wire.TxSelect(), wire.TxSelectOk)
    first, second = channel.got(queue, no_ack=False), channel.got(queue, no_ack=False)
    channel.ack(first.tag)
    channel.nack(second.tag)
    channel.call(wire.TxRollback(), wire.TxRollbackOk)
    assert other.get(queue) is None
    channel.ack(first.tag)
    channel.nack(second.tag)
    assert other.get(queue) is None
    channel.call(wire.TxCommit(), wire.TxCommitOk)
    message = other.got(queue)
    assert (message.body, message.method.redelivered) == (b"b", True)
    assert other.get(queue) is None


def test_row_36_returns_come_before_the_commit_is_answered(channel: Channel) -> None:
    channel.call(wire.TxSelect(), wire.TxSelectOk)
    channel.publish("", "nowhere at all", b"m", mandatory=True)
    channel.send(wire.TxCommit())
    assert channel.expect(Message).method.reply_code == 312
    channel.expect(wire.TxCommitOk)


@pytest.mark.parametrize("method", [wire.TxCommit(), wire.TxRollback()])
def test_row_36_without_a_select_there_is_nothing_to_commit(channel: Channel, method: wire.TxCommit) -> None:
    channel.send(method)
    with refused(406):
        channel.next_thing()
