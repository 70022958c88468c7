"""Exchanges: where messages come in, and where they go from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twinlog.amqp.ports import Caller
from twinlog.amqp.routing.graph import ExchangeNode, VhostGraph
from twinlog.servers.http.api.things import add_lists, caller_of, declared, vhost_of
from twinlog.servers.http.bodies import body_of, flag, table, text
from twinlog.servers.http.listing import listed
from twinlog.servers.http.message import Request, Response, no_content, not_found, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import VHOST, Routes
from twinlog.servers.http.views import bindings_from, bindings_to_exchange, exchange_view
from twinlog.servers.http.waiting import outcome_of
from twinlog.wire.amqp import Properties

routes = Routes("exchanges")


async def show(managed: Managed, request: Request, parts: list[VhostGraph]) -> Response:
    managed.figures.look()
    found = [node.info for part in parts for node in part.exchanges.values()]
    return await listed(
        managed.tasks, request, found, lambda info: info.name, lambda info: exchange_view(managed, info)
    )


add_lists(routes, "exchanges", "Exchanges", show)


def known_exchange(managed: Managed, request: Request, name: str = "name") -> tuple[VhostGraph, ExchangeNode]:
    part = vhost_of(managed, request)
    exchange = request.parameters[name]
    node = part.exchanges.get("" if exchange == "amq.default" else exchange)
    if node is None:
        raise not_found()
    return part, node


@routes.get("/api/exchanges/{vhost}/{name}", VHOST, "One exchange.")
def exchange(managed: Managed, request: Request) -> Response:
    _, node = known_exchange(managed, request)
    managed.figures.look()
    return ok(exchange_view(managed, node.info) | {"incoming": [], "outgoing": []})


@routes.put(
    "/api/exchanges/{vhost}/{name}",
    VHOST,
    "Declares an exchange.",
    body=(
        ("type", "direct, fanout, topic, headers, x-consistent-hash"),
        ("durable", "true when it is not told"),
        ("auto_delete", "goes with its last binding"),
        ("internal", "takes no messages from clients"),
        ("arguments", "object"),
    ),
    answers=201,
)
async def put_exchange(managed: Managed, request: Request) -> Response:
    def declare(caller: Caller, name: str, body: dict[str, Any], done: Callable[[Any], None]) -> None:
        managed.topology.declare_exchange(
            caller,
            name,
            text(body, "type", "direct"),
            passive=False,
            durable=flag(body, "durable", True),
            auto_delete=flag(body, "auto_delete"),
            internal=flag(body, "internal"),
            arguments=table(body, "arguments"),
            done=done,
        )

    return await declared(managed, request, managed.topology.find_exchange, declare)


@routes.delete(
    "/api/exchanges/{vhost}/{name}", VHOST, "Deletes an exchange.", query=(("if-unused", "true: not while bound"),)
)
async def delete_exchange(managed: Managed, request: Request) -> Response:
    known_exchange(managed, request)
    caller, name = caller_of(request), request.parameters["name"]
    await outcome_of(
        managed.tasks,
        lambda done: managed.topology.delete_exchange(caller, name, if_unused=request.flag("if-unused"), done=done),
    )
    return no_content()


@routes.get("/api/exchanges/{vhost}/{name}/bindings/source", VHOST, "Bindings from the exchange.")
def bindings_of_source(managed: Managed, request: Request) -> Response:
    part, node = known_exchange(managed, request)
    return ok(list(bindings_from(part, node)))


@routes.get("/api/exchanges/{vhost}/{name}/bindings/destination", VHOST, "Bindings to the exchange.")
def bindings_of_destination(managed: Managed, request: Request) -> Response:
    _, node = known_exchange(managed, request)
    return ok(list(bindings_to_exchange(node)))


@routes.post(
    "/api/exchanges/{vhost}/{name}/route",
    VHOST,
    "Where a message would go, without sending one: the queues, and the way to each.",
    body=(("routing_key", "text"), ("headers", "object")),
)
def route_test(managed: Managed, request: Request) -> Response:
    part, node = known_exchange(managed, request)
    body = body_of(request)
    key, headers = text(body, "routing_key", ""), table(body, "headers")
    properties = Properties(headers=headers or None)
    found = managed.router.route(part.name, node.info.name, key, properties)
    return ok({"queues": [info.name for info in found], "hops": hops(part, node, key, properties)})


def hops(part: VhostGraph, start: ExchangeNode, key: str, properties: Properties) -> list[dict[str, Any]]:
    """Every binding that the message passes, in the order of the walk."""
    steps: list[dict[str, Any]] = []
    if start.info.name == "":
        if key in part.queues:
            steps.append({"source": "", "destination": key, "destination_type": "queue", "routing_key": key})
        return steps
    seen, ahead = {start}, [start]
    for node in ahead:
        edges = list(node.matcher.match(key, properties))
        for edge in edges:
            steps.append(
                {
                    "source": node.info.name,
                    "destination": edge.binding.destination,
                    "destination_type": "queue" if edge.binding.to_queue else "exchange",
                    "routing_key": edge.binding.key,
                }
            )
            target = edge.target
            if isinstance(target, ExchangeNode) and target not in seen:
                seen.add(target)
                ahead.append(target)
        alternate = part.exchanges.get(node.alternate) if node.alternate is not None and not edges else None
        if alternate is not None and alternate not in seen:
            steps.append(
                {
                    "source": node.info.name,
                    "destination": alternate.info.name,
                    "destination_type": "exchange",
                    "routing_key": "(alternate)",
                }
            )
            seen.add(alternate)
            ahead.append(alternate)
    return steps
