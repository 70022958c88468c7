"""Bindings between exchanges and queues."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any
from urllib.parse import quote, unquote_plus

from twinlog.amqp.routing.graph import Edge, VhostGraph
from twinlog.servers.http.api.things import caller_of
from twinlog.servers.http.bodies import body_of, table, text
from twinlog.servers.http.listing import QUERY, listed
from twinlog.servers.http.message import Request, Response, no_content, not_found, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import USER, VHOST, Routes
from twinlog.servers.http.views import (
    binding_view,
    bindings_of_vhost,
    default_binding_view,
    properties_key,
    visible_vhosts,
)
from twinlog.servers.http.waiting import outcome_of

routes = Routes("bindings")

BINDING_BODY = (("routing_key", "text"), ("arguments", "object"))


@routes.get("/api/bindings", USER, "Bindings of all vhosts that the user may see.", query=QUERY)
async def bindings(managed: Managed, request: Request) -> Response:
    assert request.asker is not None
    return await show(managed, request, visible_vhosts(managed, request.asker))


@routes.get("/api/bindings/{vhost}", VHOST, "Bindings of a vhost.", query=QUERY)
async def bindings_in_vhost(managed: Managed, request: Request) -> Response:
    return await show(managed, request, [managed.topology.graph.vhosts[request.parameters["vhost"]]])


async def show(managed: Managed, request: Request, parts: Iterable[VhostGraph]) -> Response:
    found = list(chain.from_iterable(bindings_of_vhost(part) for part in parts))
    return await listed(managed.tasks, request, found, lambda view: str(view["destination"]), lambda view: view)


def edges_between(managed: Managed, request: Request, *, to_queue: bool) -> tuple[VhostGraph, list[Edge]]:
    part = managed.topology.graph.vhosts[request.parameters["vhost"]]
    source = request.parameters["source"]
    destination = request.parameters["destination"]
    node = part.exchanges.get("" if source == "amq.default" else source)
    known = destination in (part.queues if to_queue else part.exchanges)
    if node is None or not known:
        raise not_found()
    return part, [
        edge for edge in node.edges if edge.binding.to_queue == to_queue and edge.binding.destination == destination
    ]


def views_of(part: VhostGraph, request: Request, edges: list[Edge], *, to_queue: bool) -> list[dict[str, Any]]:
    if to_queue and request.parameters["source"] == "amq.default":
        return [default_binding_view(part.queues[request.parameters["destination"]])]
    return [binding_view(edge.binding, edge.arguments) for edge in edges]


def add_routes(letter: str, word: str, *, to_queue: bool) -> None:
    path = f"/api/bindings/{{vhost}}/e/{{source}}/{letter}/{{destination}}"

    @routes.get(path, VHOST, f"Bindings between an exchange and {word}.")
    def between(managed: Managed, request: Request) -> Response:
        part, edges = edges_between(managed, request, to_queue=to_queue)
        return ok(views_of(part, request, edges, to_queue=to_queue))

    @routes.post(path, VHOST, f"Binds {word} to an exchange.", body=BINDING_BODY, answers=201)
    async def bind(managed: Managed, request: Request) -> Response:
        body = body_of(request)
        key, arguments = text(body, "routing_key", ""), table(body, "arguments")
        part, _ = edges_between(managed, request, to_queue=to_queue)
        await change(managed, request, key, arguments, to_queue=to_queue, bind=True)
        _, edges = edges_between(managed, request, to_queue=to_queue)
        made = [each for each in edges if each.binding.key == key and dict(each.arguments) == arguments]
        name = properties_key(made[-1].binding) if made else "~"
        where = "/".join(
            quote(each, safe="")
            for each in (part.name, "e", request.parameters["source"], letter, request.parameters["destination"], name)
        )
        return Response(201, headers=[("Location", f"/api/bindings/{where}")])

    @routes.get(path + "/{properties}", VHOST, "One binding.")
    def one(managed: Managed, request: Request) -> Response:
        part, edges = edges_between(managed, request, to_queue=to_queue)
        for view in views_of(part, request, edges, to_queue=to_queue):
            if is_named(view["properties_key"], request.parameters["properties"]):
                return ok(view)
        raise not_found()

    @routes.delete(path + "/{properties}", VHOST, "Takes a binding away.")
    async def unbind(managed: Managed, request: Request) -> Response:
        _, edges = edges_between(managed, request, to_queue=to_queue)
        for edge in edges:
            if is_named(properties_key(edge.binding), request.parameters["properties"]):
                await change(managed, request, edge.binding.key, dict(edge.arguments), to_queue=to_queue, bind=False)
                return no_content()
        raise not_found()


def is_named(name: str, wanted: str) -> bool:
    """Tools name a binding by its ``properties_key``, encoded once more or not at all."""
    return wanted in (name, unquote_plus(name))


async def change(
    managed: Managed, request: Request, key: str, arguments: dict[str, Any], *, to_queue: bool, bind: bool
) -> None:
    topology = managed.topology
    methods: dict[tuple[bool, bool], Callable[..., None]] = {
        (True, True): topology.bind_queue,
        (True, False): topology.unbind_queue,
        (False, True): topology.bind_exchange,
        (False, False): topology.unbind_exchange,
    }
    method = methods[to_queue, bind]
    source, destination = request.parameters["source"], request.parameters["destination"]
    await outcome_of(managed.tasks, lambda done: method(caller_of(request), destination, source, key, arguments, done))


add_routes("q", "a queue", to_queue=True)
add_routes("e", "an exchange", to_queue=False)
