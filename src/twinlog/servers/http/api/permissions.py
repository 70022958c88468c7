"""What users may do in vhosts: regular expressions over names."""

from __future__ import annotations

from twinlog.cluster.kinds.users import PERMISSIONS, TOPIC_PERMISSIONS, PermissionPut, TopicPermissionPut
from twinlog.servers.http.bodies import body_of, text
from twinlog.servers.http.message import Request, Response, created, no_content, not_found, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import ADMINISTRATOR, Routes
from twinlog.servers.http.views import permission_view, topic_permission_view
from twinlog.servers.http.waiting import outcome_of

routes = Routes("permissions")


@routes.get("/api/permissions", ADMINISTRATOR, "All permissions.")
def permissions(managed: Managed, request: Request) -> Response:
    return ok([permission_view(each) for each in managed.image.part(PERMISSIONS).values()])


@routes.get("/api/permissions/{vhost}/{user}", ADMINISTRATOR, "What one user may do in one vhost.")
def permission(managed: Managed, request: Request) -> Response:
    known = managed.image.part(PERMISSIONS).get((request.parameters["vhost"], request.parameters["user"]))
    if known is None:
        raise not_found()
    return ok(permission_view(known))


@routes.put(
    "/api/permissions/{vhost}/{user}",
    ADMINISTRATOR,
    "Lets a user into a vhost.",
    body=(("configure", "pattern"), ("write", "pattern"), ("read", "pattern")),
    answers=201,
)
async def put_permission(managed: Managed, request: Request) -> Response:
    body = body_of(request)
    vhost, user = request.parameters["vhost"], request.parameters["user"]
    known = (vhost, user) in managed.image.part(PERMISSIONS)
    wanted = PermissionPut(vhost, user, text(body, "configure"), text(body, "write"), text(body, "read"))
    await outcome_of(managed.tasks, lambda done: managed.administration.put_permission(wanted, done))
    return no_content() if known else created()


@routes.delete("/api/permissions/{vhost}/{user}", ADMINISTRATOR, "Keeps a user out of a vhost.")
async def delete_permission(managed: Managed, request: Request) -> Response:
    vhost, user = request.parameters["vhost"], request.parameters["user"]
    await outcome_of(managed.tasks, lambda done: managed.administration.delete_permission(vhost, user, done))
    return no_content()


@routes.get("/api/topic-permissions", ADMINISTRATOR, "All limits on keys of topic exchanges.")
def topic_permissions(managed: Managed, request: Request) -> Response:
    return ok([topic_permission_view(each) for each in managed.image.part(TOPIC_PERMISSIONS).values()])


@routes.get("/api/topic-permissions/{vhost}/{user}", ADMINISTRATOR, "One user's limits in one vhost.")
def topic_permission(managed: Managed, request: Request) -> Response:
    key = (request.parameters["vhost"], request.parameters["user"])
    found = [each for each in managed.image.part(TOPIC_PERMISSIONS).values() if (each.vhost, each.user) == key]
    if not found:
        raise not_found()
    return ok([topic_permission_view(each) for each in found])


@routes.put(
    "/api/topic-permissions/{vhost}/{user}",
    ADMINISTRATOR,
    "Limits the keys that a user may publish and bind with at one exchange.",
    body=(("exchange", "name"), ("write", "pattern"), ("read", "pattern")),
    answers=201,
)
async def put_topic_permission(managed: Managed, request: Request) -> Response:
    body = body_of(request)
    vhost, user, exchange = request.parameters["vhost"], request.parameters["user"], text(body, "exchange")
    known = (vhost, user, exchange) in managed.image.part(TOPIC_PERMISSIONS)
    wanted = TopicPermissionPut(vhost, user, exchange, text(body, "write"), text(body, "read"))
    await outcome_of(managed.tasks, lambda done: managed.administration.put_permission(wanted, done))
    return no_content() if known else created()


@routes.delete(
    "/api/topic-permissions/{vhost}/{user}/{exchange}", ADMINISTRATOR, "Takes a user's limits at one exchange away."
)
async def delete_topic_permission(managed: Managed, request: Request) -> Response:
    vhost, user, exchange = (request.parameters[name] for name in ("vhost", "user", "exchange"))
    if (vhost, user, exchange) not in managed.image.part(TOPIC_PERMISSIONS):
        raise not_found()
    administration = managed.administration
    await outcome_of(managed.tasks, lambda done: administration.delete_topic_permissions(vhost, user, done, exchange))
    return no_content()


@routes.delete("/api/topic-permissions/{vhost}/{user}", ADMINISTRATOR, "Takes a user's limits away.")
async def delete_topic_permissions(managed: Managed, request: Request) -> Response:
    vhost, user = request.parameters["vhost"], request.parameters["user"]
    await outcome_of(managed.tasks, lambda done: managed.administration.delete_topic_permissions(vhost, user, done))
    return no_content()
