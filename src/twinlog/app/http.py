"""The HTTP side, plugged to one node. What it needs of the rooms is loaded when its first connection comes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final

from twinlog import __version__
from twinlog.app.machine import BuiltFiles, LocalMachine
from twinlog.app.sides import AmqpSide, KafkaSide
from twinlog.base.metrics import Histogram
from twinlog.servers.http.figures import Figures
from twinlog.servers.http.pipelines import Pipelines
from twinlog.servers.http.ports import ChannelFacts, ConnectionFacts, ConsumerFacts, Managed
from twinlog.servers.kafka.server import KafkaServer

if TYPE_CHECKING:
    from twinlog.app.node import Node
    from twinlog.servers.amqp.connection import AmqpConnection

STATES: Final = {4: "running", 5: "closing"}


def managed_node(node: Node) -> Managed:
    """``node.sides`` is looked at when somebody asks: this one may be open before the others are."""
    rooms = node.amqp
    clock = node.host.clock
    managed = Managed(
        version=__version__,
        node_id=node.node_id,
        settings=node.settings.http,
        broker=node.broker,
        topology=rooms.topology,
        rights=rooms.rights,
        administration=rooms.administration,
        router=rooms.router,
        machine=LocalMachine(),
        static=BuiltFiles(),
        tasks=node.host.tasks,
        chance=node.host.chance.fork("http sessions"),
        log=node.log,
        now_ms=clock.now_ms,
        monotonic_us=clock.monotonic_us,
        addresses=lambda: node.addresses,
        kafka_connections=lambda: kafka_connections(node),
        kafka_requests=lambda: kafka_figures(node),
        kafka_broken_off=lambda: sum(each.broken_off_count for each in kafka_servers(node)),
        memory=node.host.network.memory,
        admission=node.admission,
        connections_memory_max_bytes=node.alarm_watch.connections_max_bytes if node.alarm_watch else 0,
        counts=rooms.broker.counts,
        messages=rooms.messages if rooms.is_open else None,
        clients=AmqpClients(node),
        started_ms=clock.now_ms(),
        connections_max=node.settings.amqp.connections_max,
        memory_alarm_bytes=node.settings.amqp.memory_alarm_bytes,
        disk_free_min_bytes=node.settings.amqp.disk_free_min_bytes,
    )
    managed.figures = Figures(managed)
    managed.pipelines = Pipelines(managed)
    return managed


def kafka_servers(node: Node) -> list[KafkaServer]:
    return [side.server for side in node.sides if isinstance(side, KafkaSide)]


def kafka_figures(node: Node) -> Mapping[int, Histogram]:
    servers = kafka_servers(node)
    return servers[0].figures if servers else {}


def kafka_connections(node: Node) -> Iterator[ConnectionFacts]:
    for each in chain.from_iterable(kafka_servers(node)):
        yield ConnectionFacts(
            name=f"{each.peer[0]}:{each.peer[1]} -> {each.local[0]}:{each.local[1]} kafka",
            protocol="Kafka",
            user=each.principal.removeprefix("User:"),
            vhost="",
            peer=each.peer,
            local=each.local,
            state="running",
            connected_ms=each.connected_ms,
            received_bytes=each.received_bytes,
            client={"client_id": each.client_id or ""},
            requests=each.request_count,
            held_bytes=each.held_bytes,
            close=lambda reason, each=each: each.close(),  # type: ignore[misc]
        )


class AmqpClients:
    """The AMQP connections of a node as the HTTP side shows them."""

    def __init__(self, node: Node) -> None:
        self._node = node

    @property
    def _open(self) -> Iterator[AmqpConnection]:
        return chain.from_iterable(side.server for side in self._node.sides if isinstance(side, AmqpSide))

    def connections(self) -> Iterator[ConnectionFacts]:
        for each in self._open:
            yield connection_facts(each)

    def channels(self) -> Iterator[ChannelFacts]:
        for each in self._open:
            facts = connection_facts(each)
            for number, channel in each.channels.items():
                yield ChannelFacts(
                    connection=facts,
                    number=number,
                    traffic=channel.traffic,
                    consumers=len(channel.consumers),
                    unacked=channel.outstanding.count,
                    unconfirmed=channel.confirms.waiting,
                    prefetch=channel.consumer_prefetch,
                    global_prefetch=channel.prefetch,
                    confirms=channel.confirms.is_on,
                    transactional=channel.transaction is not None,
                )

    def consumers(self) -> Iterator[ConsumerFacts]:
        for each in self._open:
            facts = connection_facts(each)
            for number, channel in each.channels.items():
                of_channel = ChannelFacts(connection=facts, number=number)
                for consumer in channel.consumers.values():
                    yield ConsumerFacts(
                        channel=of_channel,
                        tag=consumer.tag,
                        queue=consumer.queue.info,
                        no_ack=consumer.no_ack,
                        exclusive=consumer.exclusive,
                        prefetch=consumer.prefetch,
                        active=True,
                        priority=consumer.priority,
                        arguments=consumer.arguments,
                    )

    def totals(self) -> Mapping[str, int]:
        return self._node.amqp.broker.counts.told()

    def alarms(self) -> Sequence[str]:
        return list(self._node.amqp.broker.alarms.active)


def connection_facts(each: AmqpConnection) -> ConnectionFacts:
    return ConnectionFacts(
        name=f"{each.peer[0]}:{each.peer[1]} -> {each.local[0]}:{each.local[1]}",
        protocol="AMQP 0-9-1",
        user=each.caller.user,
        vhost=each.caller.vhost,
        peer=each.peer,
        local=each.local,
        state="blocked" if each.blocked_because else STATES.get(each.state, "running"),
        connected_ms=each.connected_ms,
        received_bytes=each.received_bytes,
        sent_bytes=each.sent_bytes,
        held_bytes=each.held_bytes,
        channels=len(each.channels),
        channel_max=each.channel_max,
        frame_max=each.frame_max,
        heartbeat_s=each.heartbeat_s,
        client=each.client_properties if isinstance(each.client_properties, dict) else {},
        traffic=each.traffic,
        close=lambda reason: each.close(320, f"CONNECTION_FORCED - {reason}"),
    )
