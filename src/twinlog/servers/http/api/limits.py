"""Limits of vhosts and users, and RabbitMQ's runtime parameters, of which there are none."""

from __future__ import annotations

from typing import Any

from twinlog.cluster.kinds.users import USERS, UserPut
from twinlog.cluster.kinds.vhosts import VHOSTS
from twinlog.servers.http.bodies import body_of, number
from twinlog.servers.http.message import Request, Response, bad_request, no_content, not_found, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import ADMINISTRATOR, POLICYMAKER, USER, VHOST, Routes
from twinlog.servers.http.views import visible_vhosts
from twinlog.servers.http.waiting import outcome_of

routes = Routes("limits")

LIMIT_MAX = 2**31 - 1
VALUE_BODY = (("value", "the limit; below 0 is none"),)


@routes.get("/api/vhost-limits", USER, "Limits of the vhosts that the user may see.")
def vhost_limits(managed: Managed, request: Request) -> Response:
    assert request.asker is not None
    seen = {part.name for part in visible_vhosts(managed, request.asker)}
    found = managed.image.part(VHOSTS).values()
    return ok([{"vhost": each.name, "value": dict(each.limits)} for each in found if each.name in seen and each.limits])


@routes.get("/api/vhost-limits/{vhost}", VHOST, "Limits of one vhost.")
def limits_of_vhost(managed: Managed, request: Request) -> Response:
    each = managed.image.part(VHOSTS)[request.parameters["vhost"]]
    return ok([{"vhost": each.name, "value": dict(each.limits)}] if each.limits else [])


@routes.put("/api/vhost-limits/{vhost}/{limit}", ADMINISTRATOR, "Sets max-connections or max-queues.", body=VALUE_BODY)
async def put_vhost_limit(managed: Managed, request: Request) -> Response:
    value = number(body_of(request), "value", -1, -LIMIT_MAX, LIMIT_MAX)
    return await change_vhost(managed, request, value)


@routes.delete("/api/vhost-limits/{vhost}/{limit}", ADMINISTRATOR, "Takes a limit away.")
async def delete_vhost_limit(managed: Managed, request: Request) -> Response:
    return await change_vhost(managed, request, None)


async def change_vhost(managed: Managed, request: Request, value: int | None) -> Response:
    vhost, limits = request.parameters["vhost"], {request.parameters["limit"]: value}
    await outcome_of(managed.tasks, lambda done: managed.administration.set_vhost_limits(vhost, limits, done))
    return no_content()


@routes.get("/api/user-limits", ADMINISTRATOR, "Limits of users.")
def user_limits(managed: Managed, request: Request) -> Response:
    found = managed.image.part(USERS).values()
    return ok([{"user": each.name, "value": dict(each.limits)} for each in found if each.limits])


@routes.get("/api/user-limits/{user}", ADMINISTRATOR, "Limits of one user.")
def limits_of_user(managed: Managed, request: Request) -> Response:
    each = managed.image.part(USERS).get(request.parameters["user"])
    if each is None:
        raise not_found()
    return ok([{"user": each.name, "value": dict(each.limits)}] if each.limits else [])


@routes.put("/api/user-limits/{user}/{limit}", ADMINISTRATOR, "Sets max-connections or max-channels.", body=VALUE_BODY)
async def put_user_limit(managed: Managed, request: Request) -> Response:
    value = number(body_of(request), "value", -1, -LIMIT_MAX, LIMIT_MAX)
    return await change_user(managed, request, value)


@routes.delete("/api/user-limits/{user}/{limit}", ADMINISTRATOR, "Takes a user's limit away.")
async def delete_user_limit(managed: Managed, request: Request) -> Response:
    return await change_user(managed, request, -1)


async def change_user(managed: Managed, request: Request, value: int) -> Response:
    user = managed.image.part(USERS).get(request.parameters["user"])
    if user is None:
        raise not_found()
    limits: dict[str, Any] = {**user.limits, request.parameters["limit"]: value}
    if value < 0:
        del limits[request.parameters["limit"]]
    wanted = UserPut(user.name, user.password_hash, user.hashing, user.tags, limits)
    await outcome_of(managed.tasks, lambda done: managed.administration.put_user(wanted, done))
    return no_content()


@routes.get("/api/parameters", POLICYMAKER, "Runtime parameters of RabbitMQ's plug-ins: none.")
def parameters(managed: Managed, request: Request) -> Response:
    return ok([])


@routes.get("/api/parameters/{component}", POLICYMAKER, "Runtime parameters of a plug-in: none.")
def parameters_of_component(managed: Managed, request: Request) -> Response:
    return ok([])


@routes.get("/api/parameters/{component}/{vhost}", POLICYMAKER, "Runtime parameters of a plug-in in a vhost: none.")
def parameters_of_vhost(managed: Managed, request: Request) -> Response:
    return ok([])


@routes.get("/api/parameters/{component}/{vhost}/{name}", POLICYMAKER, "One runtime parameter: there is none.")
def parameter(managed: Managed, request: Request) -> Response:
    raise not_found()


@routes.delete("/api/parameters/{component}/{vhost}/{name}", POLICYMAKER, "Deletes a runtime parameter: there is none.")
def delete_parameter(managed: Managed, request: Request) -> Response:
    raise not_found()


@routes.put("/api/parameters/{component}/{vhost}/{name}", POLICYMAKER, "Refused: there are no such plug-ins.")
def put_parameter(managed: Managed, request: Request) -> Response:
    raise bad_request(f"there is no component {request.parameters['component']} that takes parameters")


@routes.get("/api/global-parameters", POLICYMAKER, "Parameters of the cluster.")
def global_parameters(managed: Managed, request: Request) -> Response:
    return ok([{"name": "cluster_name", "value": f"twinlog@{managed.image.cluster_id}"}])


@routes.get("/api/global-parameters/{name}", POLICYMAKER, "One parameter of the cluster.")
def global_parameter(managed: Managed, request: Request) -> Response:
    if request.parameters["name"] != "cluster_name":
        raise not_found()
    return ok({"name": "cluster_name", "value": f"twinlog@{managed.image.cluster_id}"})


@routes.put("/api/global-parameters/{name}", ADMINISTRATOR, "Refused: the cluster takes no parameters.")
def put_global_parameter(managed: Managed, request: Request) -> Response:
    raise bad_request("this cluster takes no global parameters")


@routes.delete("/api/global-parameters/{name}", ADMINISTRATOR, "Deletes a parameter of the cluster: there is none.")
def delete_global_parameter(managed: Managed, request: Request) -> Response:
    if request.parameters["name"] == "cluster_name":
        raise bad_request("the cluster's name is given once, when its first node starts")
    raise not_found()
