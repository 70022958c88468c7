"""Queues: declared, listed, deleted, purged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twinlog.amqp.ports import Caller, Messages, QueueInfo
from twinlog.amqp.routing.graph import VhostGraph
from twinlog.servers.http.api.clients import consumer_view
from twinlog.servers.http.api.things import add_lists, caller_of, declared, vhost_of
from twinlog.servers.http.bodies import flag, table
from twinlog.servers.http.listing import QUERY, listed
from twinlog.servers.http.message import HttpError, Request, Response, no_content, not_found, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import VHOST, Routes
from twinlog.servers.http.views import bindings_to_queue, queue_view
from twinlog.servers.http.waiting import outcome_of

routes = Routes("queues")


async def show(managed: Managed, request: Request, parts: list[VhostGraph]) -> Response:
    managed.figures.look()
    streams = request.query.get("streams") != "false"
    found = [info for part in parts for info in part.queues.values() if streams or info.twin is None]
    return await listed(managed.tasks, request, found, lambda info: info.name, lambda info: queue_view(managed, info))


STREAMS = ("streams", "false: without streams, which are topics and listed there")
add_lists(routes, "queues", "Queues", show, "/api/queues/detailed", query=(*QUERY, STREAMS))


def known_queue(managed: Managed, request: Request, name: str = "name") -> tuple[VhostGraph, QueueInfo]:
    part = vhost_of(managed, request)
    info = part.queues.get(request.parameters[name])
    if info is None:
        raise not_found()
    return part, info


@routes.get("/api/queues/{vhost}/{name}", VHOST, "One queue.")
def queue(managed: Managed, request: Request) -> Response:
    _, info = known_queue(managed, request)
    managed.figures.look()
    consumers = [
        consumer_view(each) for each in (managed.clients.consumers() if managed.clients else ()) if each.queue is info
    ]
    more = {"consumer_details": consumers, "deliveries": [], "incoming": []}
    return ok(queue_view(managed, info) | more)


@routes.get("/api/queues/{vhost}/{name}/figures", VHOST, "The queue's depth, and what went in and out, over time.")
def queue_figures(managed: Managed, request: Request) -> Response:
    _, info = known_queue(managed, request)
    return ok(managed.figures.watch(("queue", info.vhost, info.name)).view())


@routes.put(
    "/api/queues/{vhost}/{name}",
    VHOST,
    "Declares a queue.",
    body=(
        ("durable", "true when it is not told"),
        ("auto_delete", "goes with its last consumer"),
        ("arguments", "object, like x-queue-type or x-message-ttl"),
        ("node", "ignored"),
    ),
    answers=201,
)
async def put_queue(managed: Managed, request: Request) -> Response:
    def declare(caller: Caller, name: str, body: dict[str, Any], done: Callable[[Any], None]) -> None:
        managed.topology.declare_queue(
            caller,
            name,
            passive=False,
            durable=flag(body, "durable", True),
            exclusive=False,
            auto_delete=flag(body, "auto_delete"),
            arguments=table(body, "arguments"),
            server_named=False,
            done=done,
        )

    return await declared(managed, request, managed.topology.find_queue, declare)


@routes.delete(
    "/api/queues/{vhost}/{name}",
    VHOST,
    "Deletes a queue and what is in it.",
    query=(("if-empty", "true: not while it holds messages"), ("if-unused", "true: not while it has consumers")),
)
async def delete_queue(managed: Managed, request: Request) -> Response:
    known_queue(managed, request)
    caller, name = caller_of(request), request.parameters["name"]
    await outcome_of(
        managed.tasks,
        lambda done: managed.topology.delete_queue(
            caller, name, if_unused=request.flag("if-unused"), if_empty=request.flag("if-empty"), done=done
        ),
    )
    return no_content()


@routes.get("/api/queues/{vhost}/{name}/bindings", VHOST, "Bindings to the queue.")
def bindings_of_queue(managed: Managed, request: Request) -> Response:
    part, info = known_queue(managed, request)
    return ok(list(bindings_to_queue(part, info)))


@routes.delete("/api/queues/{vhost}/{name}/contents", VHOST, "Drops what is ready in the queue.")
def purge(managed: Managed, request: Request) -> Response:
    _, info = known_queue(managed, request)
    check_read(managed, request, info)
    messages_of(managed).queue(info).purge()
    return no_content()


@routes.post(
    "/api/queues/{vhost}/{name}/actions",
    VHOST,
    "RabbitMQ's actions on mirrors and leaders: nothing to do on one node.",
    body=(("action", "sync, cancel_sync"),),
    answers=204,
)
def action(managed: Managed, request: Request) -> Response:
    known_queue(managed, request)
    return no_content()


def check_read(managed: Managed, request: Request, info: QueueInfo) -> None:
    managed.rights.check(request.user, info.vhost, "read", info.name)
    if info.exclusive_owner is not None:
        raise HttpError(400, "bad_request", "the queue is exclusive to a connection")


def messages_of(managed: Managed) -> Messages:
    if managed.messages is None:
        raise HttpError(503, "unavailable", "this node serves no messages of queues: its AMQP listener is off")
    return managed.messages
