"""Vhosts: worlds of names."""

from __future__ import annotations

from twinlog.cluster.kinds.users import PERMISSIONS, TOPIC_PERMISSIONS
from twinlog.cluster.kinds.vhosts import VHOSTS, VhostPut
from twinlog.servers.http.bodies import body_of, flag, text, texts
from twinlog.servers.http.listing import QUERY, listed
from twinlog.servers.http.message import Request, Response, created, forbidden, no_content, not_found, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import ADMINISTRATOR, USER, VHOST, Routes
from twinlog.servers.http.views import permission_view, topic_permission_view, vhost_view, visible_vhosts
from twinlog.servers.http.waiting import outcome_of

routes = Routes("vhosts")


@routes.get("/api/vhosts", USER, "The vhosts that the user may see.", query=QUERY)
async def vhosts(managed: Managed, request: Request) -> Response:
    assert request.asker is not None
    records = managed.image.part(VHOSTS)
    items = [records[part.name] for part in visible_vhosts(managed, request.asker) if part.name in records]
    return await listed(managed.tasks, request, items, lambda each: each.name, lambda each: vhost_view(managed, each))


@routes.get("/api/vhosts/{vhost}", VHOST, "One vhost.")
def vhost(managed: Managed, request: Request) -> Response:
    known = managed.image.part(VHOSTS).get(request.parameters["vhost"])
    if known is None:
        raise not_found()
    return ok(vhost_view(managed, known))


@routes.put(
    "/api/vhosts/{vhost}",
    ADMINISTRATOR,
    "Creates a vhost, or changes what is told about it.",
    body=(
        ("description", "text"),
        ("tags", "list of texts"),
        ("default_queue_type", "classic or stream"),
        ("tracing", "ignored"),
    ),
    answers=201,
)
async def put_vhost(managed: Managed, request: Request) -> Response:
    body = body_of(request)
    name = request.parameters["vhost"]
    known = managed.image.part(VHOSTS).get(name)
    flag(body, "tracing")
    default_type = text(body, "default_queue_type", known.default_queue_type if known else "")
    wanted = VhostPut(
        name,
        text(body, "description", known.description if known else ""),
        tuple(texts(body["tags"], "tags")) if "tags" in body else known.tags if known else (),
        "" if default_type == "undefined" else default_type,
        dict(known.limits) if known else {},
    )
    await outcome_of(managed.tasks, lambda done: managed.administration.put_vhost(wanted, done, creator=request.user))
    return no_content() if known else created()


@routes.delete("/api/vhosts/{vhost}", ADMINISTRATOR, "Deletes a vhost with everything in it.")
async def delete_vhost(managed: Managed, request: Request) -> Response:
    name = request.parameters["vhost"]
    if name not in managed.image.part(VHOSTS):
        raise not_found()
    await outcome_of(managed.tasks, lambda done: managed.administration.delete_vhost(name, done))
    return no_content()


@routes.post("/api/vhosts/{vhost}/start/{node}", ADMINISTRATOR, "Vhosts of this broker always run.", answers=204)
def start_vhost(managed: Managed, request: Request) -> Response:
    if request.parameters["vhost"] not in managed.image.part(VHOSTS):
        raise not_found()
    return no_content()


@routes.post(
    "/api/vhosts/{vhost}/deletion/protection", ADMINISTRATOR, "Protection from deletion, which is not there yet."
)
def protect_vhost(managed: Managed, request: Request) -> Response:
    raise forbidden("vhosts cannot be protected from deletion")


@routes.delete("/api/vhosts/{vhost}/deletion/protection", ADMINISTRATOR, "Lifts a protection that there is not.")
def unprotect_vhost(managed: Managed, request: Request) -> Response:
    if request.parameters["vhost"] not in managed.image.part(VHOSTS):
        raise not_found()
    return no_content()


@routes.get("/api/vhosts/{vhost}/permissions", ADMINISTRATOR, "Who may do what in the vhost.")
def vhost_permissions(managed: Managed, request: Request) -> Response:
    name = request.parameters["vhost"]
    if name not in managed.image.part(VHOSTS):
        raise not_found()
    found = managed.image.part(PERMISSIONS).values()
    return ok([permission_view(each) for each in found if each.vhost == name])


@routes.get("/api/vhosts/{vhost}/topic-permissions", ADMINISTRATOR, "Limits on keys of topic exchanges in the vhost.")
def vhost_topic_permissions(managed: Managed, request: Request) -> Response:
    name = request.parameters["vhost"]
    if name not in managed.image.part(VHOSTS):
        raise not_found()
    found = managed.image.part(TOPIC_PERMISSIONS).values()
    return ok([topic_permission_view(each) for each in found if each.vhost == name])
