"""Who is connected: connections of both protocols, channels, consumers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from twinlog.servers.http.listing import QUERY, listed
from twinlog.servers.http.message import Asker, HttpError, Request, Response, no_content, not_found, ok
from twinlog.servers.http.ports import ChannelFacts, ConnectionFacts, ConsumerFacts, Managed
from twinlog.servers.http.router import ADMINISTRATOR, USER, VHOST, Routes
from twinlog.servers.http.views import message_stats, plain, rate, visible_vhosts

routes = Routes("clients")


def connection_view(managed: Managed, facts: ConnectionFacts) -> dict[str, Any]:
    client = plain(facts.client)
    rates = managed.figures.rates_of(("connection", facts.name))
    return {
        "auth_mechanism": "PLAIN",
        "channel_max": facts.channel_max,
        "channels": facts.channels,
        "client_properties": client,
        "connected_at": facts.connected_ms,
        "frame_max": facts.frame_max,
        "host": facts.local[0],
        "memory": facts.held_bytes,
        "name": facts.name,
        "node": managed.node_name,
        "peer_host": facts.peer[0],
        "peer_port": facts.peer[1],
        "port": facts.local[1],
        "protocol": facts.protocol,
        "recv_oct": facts.received_bytes,
        "recv_oct_details": rate(rates.get("recv_oct", 0.0)),
        "requests": facts.requests,
        "requests_details": rate(rates.get("requests", 0.0)),
        "send_oct": facts.sent_bytes,
        "send_oct_details": rate(rates.get("send_oct", 0.0)),
        "ssl": False,
        "state": facts.state,
        "timeout": facts.heartbeat_s,
        "type": "network",
        "user": facts.user,
        "user_provided_name": str(client.get("connection_name", "")) if isinstance(client, dict) else "",
        "vhost": facts.vhost,
    } | message_stats(facts.traffic().told(), rates)


def channel_name(facts: ChannelFacts) -> str:
    return f"{facts.connection.name} ({facts.number})"


def channel_view(managed: Managed, facts: ChannelFacts) -> dict[str, Any]:
    connection = facts.connection
    return {
        "acks_uncommitted": 0,
        "confirm": facts.confirms,
        "connection_details": {
            "name": connection.name,
            "peer_host": connection.peer[0],
            "peer_port": connection.peer[1],
        },
        "consumer_count": facts.consumers,
        "global_prefetch_count": facts.global_prefetch,
        "messages_unacknowledged": facts.unacked,
        "messages_uncommitted": 0,
        "messages_unconfirmed": facts.unconfirmed,
        "name": channel_name(facts),
        "node": managed.node_name,
        "number": facts.number,
        "prefetch_count": facts.prefetch,
        "state": facts.state,
        "transactional": facts.transactional,
        "user": connection.user,
        "vhost": connection.vhost,
    } | message_stats(facts.traffic.told(), managed.figures.rates_of(("channel", connection.name, str(facts.number))))


def consumer_view(facts: ConsumerFacts) -> dict[str, Any]:
    connection = facts.channel.connection
    return {
        "ack_required": not facts.no_ack,
        "active": facts.active,
        "activity_status": "up" if facts.active else "waiting",
        "arguments": plain(facts.arguments),
        "channel_details": {
            "connection_name": connection.name,
            "name": channel_name(facts.channel),
            "node": "",
            "number": facts.channel.number,
            "peer_host": connection.peer[0],
            "peer_port": connection.peer[1],
            "user": connection.user,
        },
        "consumer_tag": facts.tag,
        "consumer_timeout": 1_800_000,
        "exclusive": facts.exclusive,
        "prefetch_count": facts.prefetch,
        "priority": facts.priority,
        "queue": {"name": facts.queue.name, "vhost": facts.queue.vhost},
    }


def all_connections(managed: Managed) -> Iterable[ConnectionFacts]:
    return chain(managed.clients.connections() if managed.clients else (), managed.kafka_connections())


def seen_connections(managed: Managed, asker: Asker) -> list[ConnectionFacts]:
    """One's own, or all for those who watch over the node."""
    if asker.tags & {"administrator", "monitoring"}:
        return list(all_connections(managed))
    return [each for each in all_connections(managed) if each.user == asker.user]


async def show(managed: Managed, request: Request, found: Sequence[ConnectionFacts]) -> Response:
    managed.figures.look()
    return await listed(
        managed.tasks, request, found, lambda each: each.name, lambda each: connection_view(managed, each)
    )


@routes.get("/api/connections", USER, "Connections of AMQP and Kafka clients.", query=QUERY)
async def connections(managed: Managed, request: Request) -> Response:
    assert request.asker is not None
    return await show(managed, request, seen_connections(managed, request.asker))


@routes.get("/api/vhosts/{vhost}/connections", VHOST, "Connections to a vhost.", query=QUERY)
async def connections_of_vhost(managed: Managed, request: Request) -> Response:
    assert request.asker is not None
    found = seen_connections(managed, request.asker)
    return await show(managed, request, [each for each in found if each.vhost == request.parameters["vhost"]])


@routes.get("/api/connections/username/{user}", ADMINISTRATOR, "A user's connections.")
async def connections_of_user(managed: Managed, request: Request) -> Response:
    found = [each for each in all_connections(managed) if each.user == request.parameters["user"]]
    return await show(managed, request, found)


@routes.delete("/api/connections/username/{user}", ADMINISTRATOR, "Closes a user's connections.")
def close_connections_of_user(managed: Managed, request: Request) -> Response:
    for each in list(all_connections(managed)):
        if each.user == request.parameters["user"]:
            each.close(reason_of(request))
    return no_content()


def known_connection(managed: Managed, request: Request) -> ConnectionFacts:
    assert request.asker is not None
    for each in seen_connections(managed, request.asker):
        if each.name == request.parameters["name"]:
            return each
    raise not_found()


@routes.get("/api/connections/{name}", USER, "One connection.")
def connection(managed: Managed, request: Request) -> Response:
    return ok(connection_view(managed, known_connection(managed, request)))


@routes.delete("/api/connections/{name}", USER, "Closes a connection; an X-Reason header is told to the client.")
def close_connection(managed: Managed, request: Request) -> Response:
    facts = known_connection(managed, request)
    assert request.asker is not None
    if facts.user != request.user and "administrator" not in request.asker.tags:
        raise HttpError(401, "not_authorized", "Not administrator user")
    facts.close(reason_of(request))
    return no_content()


def reason_of(request: Request) -> str:
    reason = request.headers.get("x-reason", "")[:200]
    return "".join(sign for sign in reason if sign.isprintable()) or "Closed via management API"


@routes.get("/api/connections/{name}/channels", USER, "Channels of a connection.")
async def channels_of_connection(managed: Managed, request: Request) -> Response:
    name = known_connection(managed, request).name
    return await show_channels(managed, request, lambda each: each.connection.name == name)


async def show_channels(managed: Managed, request: Request, wanted: Any) -> Response:
    assert request.asker is not None
    managed.figures.look()
    sees_all = bool(request.asker.tags & {"administrator", "monitoring"})
    found = [
        each
        for each in (managed.clients.channels() if managed.clients else ())
        if wanted(each) and (sees_all or each.connection.user == request.user)
    ]
    return await listed(managed.tasks, request, found, channel_name, lambda each: channel_view(managed, each))


@routes.get("/api/channels", USER, "Channels of AMQP clients.", query=QUERY)
async def channels(managed: Managed, request: Request) -> Response:
    return await show_channels(managed, request, lambda each: True)


@routes.get("/api/vhosts/{vhost}/channels", VHOST, "Channels in a vhost.", query=QUERY)
async def channels_of_vhost(managed: Managed, request: Request) -> Response:
    return await show_channels(managed, request, lambda each: each.connection.vhost == request.parameters["vhost"])


@routes.get("/api/channels/{name}", USER, "One channel.")
async def channel(managed: Managed, request: Request) -> Response:
    for each in managed.clients.channels() if managed.clients else ():
        if channel_name(each) == request.parameters["name"]:
            return ok(channel_view(managed, each) | {"consumer_details": [], "deliveries": [], "publishes": []})
    raise not_found()


@routes.get("/api/consumers", USER, "Consumers in all vhosts that the user may see.", query=QUERY)
async def consumers(managed: Managed, request: Request) -> Response:
    assert request.asker is not None
    return await show_consumers(managed, request, {part.name for part in visible_vhosts(managed, request.asker)})


@routes.get("/api/consumers/{vhost}", VHOST, "Consumers in a vhost.", query=QUERY)
async def consumers_of_vhost(managed: Managed, request: Request) -> Response:
    return await show_consumers(managed, request, {request.parameters["vhost"]})


async def show_consumers(managed: Managed, request: Request, vhosts: set[str]) -> Response:
    found = [each for each in (managed.clients.consumers() if managed.clients else ()) if each.queue.vhost in vhosts]
    return await listed(managed.tasks, request, found, lambda each: each.tag, consumer_view)
