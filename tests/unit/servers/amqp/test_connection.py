"""One connection whose metadata log, disk, clock and socket stand still until a test moves them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import pytest

from tests.kit.cluster import SeededChance
from tests.kit.messages import MemoryMessages
from tests.kit.topology import World
from tests.unit.servers.harness import Lines, ManualTasks
from twinlog.amqp.alarms import DISK
from twinlog.amqp.broker import AmqpBroker
from twinlog.amqp.settings import AmqpSettings
from twinlog.base import HostFault
from twinlog.client.amqp_core import AmqpCore, Content
from twinlog.host.network import QUEUE_HIGH_BYTES
from twinlog.servers.amqp.server import AmqpServer
from twinlog.wire.amqp import HEARTBEAT, Method, Properties, encode_method
from twinlog.wire.amqp import methods as wire

PERSISTENT = Properties(delivery_mode=2)
CAPABILITIES = {"consumer_cancel_notify": True, "connection.blocked": True}


class Node:
    """What a listener is made of. Metadata is durable when ``sync`` says so, messages when ``messages.sync`` does."""

    def __init__(self, **settings: Any) -> None:
        self.tasks = ManualTasks()
        self.world = World()
        self.messages = MemoryMessages(self.tasks.soon)
        self.messages.remove_queue = lambda info: self.world.topology.remove_queue(info, "unused")
        self.world.topology.keeper = self.messages
        self.log = Lines()
        self.broker = AmqpBroker(
            topology=self.world.topology,
            router=self.world.router,
            messages=self.messages,
            keeper=self.messages,
            rights=self.world.rights,
            chance=SeededChance(1),
            now_ms=self.tasks.now_ms,
            settings=AmqpSettings(**settings),
        )
        self.server = AmqpServer(
            broker=self.broker, clock=self.tasks, tasks=self.tasks, log=self.log, cluster_name=lambda: "test"
        )

    def sync(self) -> None:
        """Metadata that waits is durable now."""
        self.world.metadata.journal.sync()
        self.tasks.settle()


class Client:
    """Our end of a connection: a ``Stream`` for the server, bytes and methods for the test."""

    def __init__(self, node: Node, heartbeat: int = 0, peer: str = "127.0.0.1") -> None:
        self.node = node
        self.peer = (peer, 50_000)
        self.local = ("127.0.0.1", 5672)
        self.peer_certificate = None
        self.queued_bytes = 0
        self.queue_high_bytes = QUEUE_HIGH_BYTES
        self.kept_bytes = 0
        self.received_bytes = 0
        self.paused = False
        self.is_closed = False
        self.incoming = bytearray()
        self.core = AmqpCore()
        self.came: deque[tuple[int, Method | Content]] = deque()
        self.raw = b""
        self.connection = node.server.accept()
        self.connection.on_open(self)
        if self.is_closed:
            return
        self.give(b"AMQP\0\0\x09\x01")
        assert isinstance(self.take(), wire.ConnectionStart)
        self.say(
            0,
            wire.ConnectionStartOk(
                client_properties={"capabilities": CAPABILITIES}, mechanism="PLAIN", response=b"\0guest\0guest"
            ),
        )
        if peer == "127.0.0.1":
            self.take()
            self.say(0, wire.ConnectionTuneOk(channel_max=10, frame_max=131_072, heartbeat=heartbeat))
            self.say(0, wire.ConnectionOpen(virtual_host="/"))
            assert isinstance(self.take(), wire.ConnectionOpenOk)

    # What the server sees.

    def send(self, parts: Sequence[bytes]) -> None:
        for part in parts:
            self.raw += part
            self.came.extend(self.core.receive(part))

    def keep(self, by_bytes: int) -> None:
        self.kept_bytes += by_bytes

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False
        self.node.tasks.soon(self._deliver)

    def expect(self, size: int) -> None:
        """Only a hint."""

    def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self.node.tasks.soon(self.connection.on_closed, None)

    abort = close

    # What the test does.

    def _deliver(self) -> None:
        if self.incoming and not self.paused and not self.is_closed:
            end = self.connection.on_bytes(self.incoming, 0, len(self.incoming))
            del self.incoming[:end]

    def give(self, data: bytes) -> None:
        self.incoming += data
        self.received_bytes += len(data)
        self._deliver()
        self.node.tasks.settle()

    def say(self, channel: int, *methods: Method) -> None:
        self.give(b"".join(encode_method(channel, method) for method in methods))

    def publish(self, key: str, body: bytes = b"m", properties: Properties = PERSISTENT) -> None:
        self.give(self.core.publish(1, wire.BasicPublish(routing_key=key), properties, body))

    def take(self) -> Any:
        return self.came.popleft()[1]

    def kinds(self) -> list[str]:
        """What came, by name."""
        came, self.came = self.came, deque()
        return [type(thing.method if isinstance(thing, Content) else thing).__name__ for _, thing in came]

    def take_queued(self) -> None:
        self.queued_bytes = 0
        self.connection.on_writable()
        self.node.tasks.settle()


@pytest.fixture
def node() -> Node:
    return Node()


@pytest.fixture
def client(node: Node) -> Client:
    client = Client(node)
    client.say(1, wire.ChannelOpen())
    assert client.kinds() == ["ChannelOpenOk"]
    return client


def test_what_follows_a_declaration_waits_for_it_and_nothing_more_is_read(node: Node, client: Client) -> None:
    client.say(1, wire.QueueDeclare(queue="q", durable=True), wire.BasicQos(), wire.ConfirmSelect())
    assert (client.kinds(), client.paused) == ([], True)
    node.sync()
    assert client.kinds() == ["QueueDeclareOk", "BasicQosOk", "ConfirmSelectOk"]
    assert not client.paused


def test_other_channels_do_not_wait(node: Node, client: Client) -> None:
    client.say(2, wire.ChannelOpen())
    client.give(
        encode_method(1, wire.QueueDeclare(queue="q", durable=True))
        + encode_method(1, wire.BasicQos())
        + encode_method(2, wire.BasicQos())
    )
    assert client.kinds() == ["ChannelOpenOk", "BasicQosOk"]


def test_closing_waits_for_what_was_asked_before(node: Node, client: Client) -> None:
    client.say(1, wire.QueueDeclare(queue="q", durable=True))
    client.publish("q")
    client.say(0, wire.ConnectionClose(reply_code=200))
    assert client.kinds() == []
    node.sync()
    assert client.kinds() == ["QueueDeclareOk", "ConnectionCloseOk"]
    (info,) = node.messages.queues
    assert node.messages.counts(info).ready == 1


def test_closing_is_answered_also_when_what_was_asked_before_is_refused(node: Node, client: Client) -> None:
    for durable in (True, False):
        client.say(1, wire.QueueDeclare(queue="q", durable=durable))
    client.say(0, wire.ConnectionClose(reply_code=200))
    node.sync()
    assert client.kinds() == ["QueueDeclareOk", "ChannelClose", "ConnectionCloseOk"]


def test_a_channel_closed_by_both_sides_at_once_is_closed(node: Node, client: Client) -> None:
    for durable in (True, False):
        client.say(1, wire.QueueDeclare(queue="q", durable=durable))
    client.say(1, wire.ChannelClose(reply_code=200))
    node.sync()
    assert client.kinds() == ["QueueDeclareOk", "ChannelClose", "ChannelCloseOk"]
    client.say(1, wire.ChannelCloseOk())
    client.say(1, wire.ChannelOpen())
    assert client.kinds() == ["ChannelOpenOk"]


def test_confirms_wait_for_the_disk_and_leave_together(node: Node, client: Client) -> None:
    client.say(1, wire.QueueDeclare(queue="q", durable=True), wire.ConfirmSelect())
    node.sync()
    client.kinds()
    node.messages.is_held = True
    client.publish("q")
    client.publish("q")
    assert client.kinds() == []
    node.messages.sync()
    assert [each.delivery_tag for _, each in client.came] == [1, 2]  # type: ignore[union-attr]


def test_who_publishes_faster_than_the_disk_is_not_read_for_a_while() -> None:
    node = Node(unsynced_max_bytes=1000)
    client = Client(node)
    client.say(1, wire.ChannelOpen(), wire.QueueDeclare(queue="q", durable=True))
    node.sync()
    node.messages.is_held = True
    client.publish("q", bytes(2000))
    assert client.paused
    node.messages.sync()
    assert not client.paused


def test_a_disk_that_fails_is_a_nack_with_confirms_and_the_end_without(node: Node, client: Client) -> None:
    client.say(1, wire.QueueDeclare(queue="q", durable=True), wire.ConfirmSelect())
    node.sync()
    client.kinds()
    node.messages.fault = HostFault("queues", "broken")
    client.publish("q")
    assert client.kinds() == ["BasicNack"]
    other = Client(node)
    other.say(1, wire.ChannelOpen())
    other.publish("q")
    assert other.kinds() == ["ChannelOpenOk", "ConnectionClose"]


def test_an_alarm_blocks_who_publishes_until_it_is_over(node: Node, client: Client) -> None:
    quiet = Client(node)
    node.broker.alarms.raise_alarm(DISK, "full")
    assert not client.paused
    client.publish("nowhere")
    assert (client.kinds(), client.paused) == (["ConnectionBlocked"], True)
    assert (quiet.kinds(), quiet.paused) == ([], False)
    node.broker.alarms.clear(DISK)
    assert client.kinds() == ["ConnectionUnblocked"]
    assert not client.paused


def test_deliveries_stop_while_the_client_takes_nothing(node: Node, client: Client) -> None:
    client.say(1, wire.QueueDeclare(queue="q", exclusive=True), wire.BasicConsume(queue="q", no_ack=True))
    client.kinds()
    client.queued_bytes = QUEUE_HIGH_BYTES + 1
    other = Client(node)
    other.say(1, wire.ChannelOpen())
    other.publish("q")
    node.tasks.settle()
    assert client.kinds() == []
    client.take_queued()
    assert client.kinds() == ["BasicDeliver"]


def test_answers_stop_while_the_client_takes_nothing(node: Node, client: Client) -> None:
    client.queued_bytes = QUEUE_HIGH_BYTES + 1
    client.say(1, wire.BasicQos(), wire.BasicQos())
    assert (client.kinds(), client.paused) == ([], True)
    client.take_queued()
    assert client.kinds() == ["BasicQosOk", "BasicQosOk"]


def test_a_client_that_never_takes_what_waits_is_cut_off() -> None:
    node = Node(send_stalled_max_ms=4000)
    client = Client(node)
    client.queued_bytes = 10
    node.tasks.pass_time(9000)
    assert client.is_closed


def test_heartbeats_come_at_half_time_and_a_silent_client_is_dropped(node: Node) -> None:
    client = Client(node, heartbeat=2)
    client.raw = b""
    node.tasks.pass_time(1100)
    assert client.raw == HEARTBEAT
    node.tasks.pass_time(2500)
    assert not client.is_closed
    node.tasks.pass_time(2500)
    assert client.is_closed


def test_guest_from_elsewhere_is_refused_like_a_wrong_password(node: Node) -> None:
    client = Client(node, peer="10.0.0.9")
    assert client.kinds() == []
    node.tasks.pass_time(node.broker.settings.login_failure_delay_ms + 1)
    assert client.is_closed


def test_deliveries_that_are_never_acknowledged_close_their_channel() -> None:
    node = Node(delivery_timeout_ms=60_000)
    client = Client(node)
    client.say(1, wire.ChannelOpen(), wire.QueueDeclare(queue="q", exclusive=True), wire.BasicConsume(queue="q"))
    client.publish("q")
    client.kinds()
    node.tasks.pass_time(200_000)
    assert "ChannelClose" in client.kinds()


def test_the_end_of_the_node_is_told_and_answered(node: Node, client: Client) -> None:
    node.server.drain_all()
    node.server.close_all()
    assert client.kinds() == ["ConnectionClose"]
    client.say(0, wire.ConnectionCloseOk())
    assert node.server.connection_count == 0


def test_a_client_that_does_not_agree_to_the_end_is_left(node: Node, client: Client) -> None:
    node.server.close_all()
    node.tasks.pass_time(node.broker.settings.close_wait_ms + 1)
    assert client.is_closed


def test_handshakes_that_take_too_long_and_too_many_of_them_are_ended() -> None:
    node = Node(handshakes_per_address_max=1, handshake_max_ms=1000)

    class Silent(Client):
        def __init__(self) -> None:
            self.node, self.peer, self.local = node, ("10.0.0.9", 1), ("127.0.0.1", 5672)
            self.queued_bytes = self.received_bytes = 0
            self.is_closed = self.paused = False
            self.connection = node.server.accept()
            self.connection.on_open(self)

    one, two = Silent(), Silent()
    assert (one.is_closed, two.is_closed) == (False, True)
    node.tasks.pass_time(1001)
    assert one.is_closed


def test_who_publishes_to_many_queues_has_a_turn_only_until_enough_of_them_took_something(
    node: Node, client: Client
) -> None:
    names = [f"q{number}" for number in range(600)]
    for name in names:
        client.say(1, wire.QueueDeclare(queue=name), wire.QueueBind(queue=name, exchange="amq.fanout"))
    node.sync()
    publishes = b"".join(
        client.core.publish(1, wire.BasicPublish(exchange="amq.fanout", routing_key=key), Properties(), b"m")
        for key in "abcdef"
    )
    (queue,) = (queue for info, queue in node.messages.queues.items() if info.name == names[-1])
    client.incoming += publishes
    client._deliver()
    assert (len(queue.ready), client.paused) == (2, True)
    node.tasks.settle()
    assert (len(queue.ready), client.paused) == (6, False)


@pytest.mark.parametrize(("reaches", "delivered"), [(False, 1), (True, 3)])
def test_a_new_prefetch_count_reaches_running_consumers_if_the_node_says_so(reaches: bool, delivered: int) -> None:
    node = Node(qos_reaches_running_consumers=reaches)
    client = Client(node)
    client.say(1, wire.ChannelOpen(), wire.QueueDeclare(queue="q"), wire.BasicQos(prefetch_count=1))
    client.say(1, wire.BasicConsume(queue="q"))
    for _ in range(3):
        client.publish("q")
    client.say(1, wire.BasicQos(prefetch_count=3))
    assert client.kinds().count("BasicDeliver") == delivered
