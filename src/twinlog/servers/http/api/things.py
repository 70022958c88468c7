"""What requests about queues and exchanges have in common: who asks, which vhosts, declared anew or there already."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from twinlog.amqp.ports import Caller
from twinlog.amqp.routing.graph import VhostGraph
from twinlog.servers.http.bodies import body_of, same_name
from twinlog.servers.http.listing import QUERY
from twinlog.servers.http.message import Request, Response, created, no_content
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import USER, VHOST, Routes
from twinlog.servers.http.views import visible_vhosts
from twinlog.servers.http.waiting import outcome_of

NO_CONNECTION: Final = -1
"""What owns nothing exclusive: requests over HTTP."""

Query: TypeAlias = tuple[tuple[str, str], ...]
Show: TypeAlias = Callable[[Managed, Request, list[VhostGraph]], Awaitable[Response]]


def caller_of(request: Request) -> Caller:
    return Caller(request.user, request.parameters["vhost"], NO_CONNECTION)


def vhost_of(managed: Managed, request: Request) -> VhostGraph:
    """Of a path whose vhost was let in."""
    return managed.topology.graph.vhosts[request.parameters["vhost"]]


def add_lists(routes: Routes, word: str, told: str, show: Show, *more: str, query: Query = QUERY) -> None:
    """``/api/<word>`` over all vhosts that the asker may see, ``/api/<word>/{vhost}`` over one. ``more``: further paths
    that say the same as the first."""

    async def everywhere(managed: Managed, request: Request) -> Response:
        assert request.asker is not None
        return await show(managed, request, visible_vhosts(managed, request.asker))

    async def in_vhost(managed: Managed, request: Request) -> Response:
        return await show(managed, request, [vhost_of(managed, request)])

    routes.get(f"/api/{word}", USER, f"{told} of all vhosts that the user may see.", query=query)(everywhere)
    for path in more:
        routes.get(path, USER, f"As /api/{word}.", query=query)(everywhere)
    routes.get(f"/api/{word}/{{vhost}}", VHOST, f"{told} of a vhost.", query=query)(in_vhost)


async def declared(
    managed: Managed,
    request: Request,
    find: Callable[[str, str], object | None],
    declare: Callable[[Caller, str, dict[str, Any], Callable[[Any], None]], None],
) -> Response:
    """201 for what is new, 204 for what was there as it was asked for."""
    body = body_of(request)
    same_name(request, body, "name", "vhost")
    caller, name = caller_of(request), request.parameters["name"]
    known = find(caller.vhost, name) is not None
    await outcome_of(managed.tasks, lambda done: declare(caller, name, body, done))
    return no_content() if known else created()
