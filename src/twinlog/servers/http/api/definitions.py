"""Definitions: everything that is declared, as one JSON document that RabbitMQ reads, too.

Import adds, and never deletes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from typing import Any, Final

from twinlog.amqp.ports import Caller
from twinlog.amqp.topology.rules import PREDECLARED_NAMES
from twinlog.amqp.topology.twins import SUPER_STREAM
from twinlog.base import Refused
from twinlog.cluster.kinds.policies import POLICIES
from twinlog.cluster.kinds.users import PERMISSIONS, TOPIC_PERMISSIONS, USERS, PermissionPut, TopicPermissionPut
from twinlog.cluster.kinds.vhosts import VHOSTS, VhostPut
from twinlog.servers.http.api.overview import RABBITMQ_VERSION
from twinlog.servers.http.api.policies import wanted_policy
from twinlog.servers.http.api.things import NO_CONNECTION
from twinlog.servers.http.api.users import wanted_user
from twinlog.servers.http.bodies import body_of, flag, number, table, text, texts
from twinlog.servers.http.message import HttpError, Request, Response, bad_request, no_content, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import ADMINISTRATOR, LARGE, POLICYMAKER, Routes
from twinlog.servers.http.views import (
    binding_view,
    exchange_view,
    permission_view,
    plain,
    policy_view,
    topic_permission_view,
    user_view,
)
from twinlog.servers.http.waiting import outcome_of

routes = Routes("definitions")

LIMIT_MAX: Final = 2**31 - 1
SECTIONS: Final = (
    ("users", "name, password_hash, hashing_algorithm, tags"),
    ("vhosts", "name, description, tags, default_queue_type"),
    ("permissions", "user, vhost, configure, write, read"),
    ("topic_permissions", "user, vhost, exchange, write, read"),
    ("policies", "vhost, name, pattern, apply-to, definition, priority"),
    ("exchanges", "vhost, name, type, durable, auto_delete, internal, arguments"),
    ("queues", "vhost, name, durable, auto_delete, arguments"),
    ("bindings", "vhost, source, destination, destination_type, routing_key, arguments"),
    ("parameters", "only vhost-limits and user limits are taken over; others are refused"),
    ("global_parameters", "ignored"),
)


@routes.get("/api/definitions", ADMINISTRATOR, "Everything that is declared.")
def export(managed: Managed, request: Request) -> Response:
    image = managed.image
    content: dict[str, Any] = {
        "rabbit_version": RABBITMQ_VERSION,
        "rabbitmq_version": RABBITMQ_VERSION,
        "product_name": "Twinlog",
        "product_version": managed.version,
        "users": [user_view(each, with_hash=True) for each in image.part(USERS).values()],
        "vhosts": [vhost_definition(each) for each in image.part(VHOSTS).values()],
        "permissions": [permission_view(each) for each in image.part(PERMISSIONS).values()],
        "topic_permissions": [topic_permission_view(each) for each in image.part(TOPIC_PERMISSIONS).values()],
        "parameters": [],
        "global_parameters": [{"name": "cluster_name", "value": f"twinlog@{image.cluster_id}"}],
    }
    content |= topology_definitions(managed, None)
    return download(content, "definitions")


@routes.get("/api/definitions/{vhost}", POLICYMAKER, "What is declared in a vhost.")
def export_vhost(managed: Managed, request: Request) -> Response:
    vhost = request.parameters["vhost"]
    known = managed.image.part(VHOSTS).get(vhost)
    if known is None:
        raise HttpError(404, "Object Not Found", "Not Found")
    content: dict[str, Any] = {"rabbit_version": RABBITMQ_VERSION, "rabbitmq_version": RABBITMQ_VERSION}
    content["metadata"] = {key: value for key, value in vhost_definition(known).items() if key != "name"}
    content["parameters"] = []
    for section, entries in topology_definitions(managed, vhost).items():
        content[section] = [{key: value for key, value in each.items() if key != "vhost"} for each in entries]
    return download(content, "vhost")


def download(content: dict[str, Any], name: str) -> Response:
    response = ok(content)
    response.headers.append(("Content-Disposition", f'attachment; filename="twinlog-{name}.json"'))
    return response


def vhost_definition(vhost: VhostPut) -> dict[str, Any]:
    definition: dict[str, Any] = {
        "name": vhost.name,
        "description": vhost.description,
        "tags": list(vhost.tags),
        "limits": [{"name": name, "value": value} for name, value in vhost.limits.items()],
    }
    if vhost.default_queue_type:
        definition["default_queue_type"] = vhost.default_queue_type
    return definition


def topology_definitions(managed: Managed, vhost: str | None) -> dict[str, list[dict[str, Any]]]:
    """What is durable; what goes with its connection or process is nobody's definition."""
    queues, exchanges, bindings = [], [], []
    for part in managed.topology.graph:
        if vhost is not None and part.name != vhost:
            continue
        for info in part.queues.values():
            if info.durable:
                arguments = plain(info.arguments)
                queues.append(
                    {
                        "name": info.name,
                        "vhost": part.name,
                        "type": info.type,
                        "durable": True,
                        "auto_delete": info.auto_delete,
                        "arguments": arguments,
                    }
                )
        for node in part.exchanges.values():
            if node.info.durable and node.info.name not in PREDECLARED_NAMES:
                view = exchange_view(managed, node.info)
                for name in ("policy", "user_who_performed_action"):
                    del view[name]
                exchanges.append(view)
        for binding, edge in part.edges.items():
            durable_target = (
                part.queues[binding.destination].durable
                if binding.to_queue
                else part.exchanges[binding.destination].info.durable
            )
            if edge.source.info.durable and durable_target:
                view = binding_view(binding, edge.arguments)
                del view["properties_key"]
                bindings.append(view)
    policies = [
        policy_view(each)
        for each in managed.image.part(POLICIES).values()
        if not each.operator and vhost in (None, each.vhost)
    ]
    return {"policies": policies, "queues": queues, "exchanges": exchanges, "bindings": bindings}


@routes.post(
    "/api/definitions", ADMINISTRATOR, "Adds what a document declares.", body=SECTIONS, body_size=LARGE, answers=204
)
async def import_all(managed: Managed, request: Request) -> Response:
    await import_document(managed, request.user, body_of(request), None)
    return no_content()


@routes.post(
    "/api/definitions/{vhost}",
    POLICYMAKER,
    "Adds what a document declares, in one vhost.",
    body=SECTIONS[4:8],
    body_size=LARGE,
    answers=204,
)
async def import_vhost(managed: Managed, request: Request) -> Response:
    vhost = request.parameters["vhost"]
    if not managed.topology.has_vhost(vhost):
        raise HttpError(404, "Object Not Found", "Not Found")
    content = body_of(request)
    assert request.asker is not None
    if entries_of(content, "parameters") and "administrator" not in request.asker.tags:
        raise HttpError(401, "not_authorized", "Not administrator user: limits of a vhost are set by those")
    await import_document(managed, request.user, content, vhost)
    return no_content()


async def import_document(managed: Managed, user: str, content: dict[str, Any], vhost: str | None) -> None:
    """In the order in which things need one another. The first that cannot be ends it; what came before stays."""
    sections = {section: entries_of(content, section) for section, _ in SECTIONS}
    if vhost is None:
        for entry in sections["users"]:
            name = text(entry, "name")
            known = managed.image.part(USERS).get(name)
            wanted = wanted_user(managed, name, {"tags": [], **entry}, known)
            await put(managed, f"user {name}", partial(managed.administration.put_user, wanted))
        for entry in sections["vhosts"]:
            await import_one_vhost(managed, user, entry)
        for entry in sections["permissions"]:
            permission = PermissionPut(*(text(entry, name) for name in ("vhost", "user", "configure", "write", "read")))
            await put(
                managed,
                f"permission of {permission.user}",
                partial(managed.administration.put_permission, permission),
            )
        for entry in sections["topic_permissions"]:
            limit = TopicPermissionPut(*(text(entry, name) for name in ("vhost", "user", "exchange", "write", "read")))
            await put(
                managed,
                f"topic permission of {limit.user}",
                partial(managed.administration.put_permission, limit),
            )
    for entry in sections["parameters"]:
        await import_parameter(managed, entry, vhost)
    for entry in sections["policies"]:
        place, name = vhost or text(entry, "vhost"), text(entry, "name")
        policy = wanted_policy(place, name, entry, operator=False)
        await put(managed, f"policy {name}", partial(managed.administration.put_policy, policy))
    # Whoever may import may declare; the user's patterns count for single requests.
    for entry in sections["exchanges"]:
        streams = streams_of(entry, sections)
        if len(streams) > 1:
            await import_super_stream(managed, user, entry, streams, vhost)
        else:
            await import_exchange(managed, user, entry, vhost)
    for entry in sections["queues"]:
        await import_queue(managed, user, entry, vhost)
    for entry in sections["bindings"]:
        await import_binding(managed, user, entry, vhost)


def entries_of(content: dict[str, Any], section: str) -> list[dict[str, Any]]:
    entries = content.get(section, [])
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise bad_request(f"{section} must be a list of objects")
    return entries


async def put(managed: Managed, what: str, begin: Callable[[Callable[[Any], None]], object]) -> None:
    try:
        await outcome_of(managed.tasks, begin)
    except Refused as refusal:
        raise bad_request(f"{what}: {refusal}") from None


async def import_one_vhost(managed: Managed, user: str, entry: dict[str, Any]) -> None:
    name = text(entry, "name")
    known = managed.image.part(VHOSTS).get(name)
    metadata = table(entry, "metadata")
    limits = dict(known.limits) if known else {}
    for limit in entries_of(entry, "limits"):
        limits[text(limit, "name")] = number(limit, "value", -1, -LIMIT_MAX, LIMIT_MAX)
    default_type = text({**metadata, **entry}, "default_queue_type", known.default_queue_type if known else "")
    tags = entry.get("tags", metadata.get("tags", list(known.tags) if known else []))
    wanted = VhostPut(
        name,
        text({**metadata, **entry}, "description", known.description if known else ""),
        tuple(texts(tags, "tags")),
        "" if default_type == "undefined" else default_type,
        limits,
    )
    await put(
        managed,
        f"vhost {name}",
        lambda done: managed.administration.put_vhost(wanted, done, creator=user),
    )


async def import_parameter(managed: Managed, entry: dict[str, Any], vhost: str | None) -> None:
    component = text(entry, "component")
    if component != "vhost-limits":
        raise bad_request(f"there is no component {component} that takes parameters")
    place = vhost or text(entry, "vhost")
    limits = table(entry, "value")
    await put(managed, "vhost-limits", lambda done: managed.administration.set_vhost_limits(place, limits, done))


async def import_exchange(managed: Managed, user: str, entry: dict[str, Any], vhost: str | None) -> None:
    name = text(entry, "name")
    if name in PREDECLARED_NAMES:
        return
    caller = Caller(user, vhost or text(entry, "vhost"), NO_CONNECTION)
    await put(
        managed,
        f"exchange {name}",
        lambda done: managed.topology.declare_exchange(
            caller,
            name,
            text(entry, "type", "direct"),
            passive=False,
            durable=flag(entry, "durable", True),
            auto_delete=flag(entry, "auto_delete"),
            internal=flag(entry, "internal"),
            arguments=table(entry, "arguments"),
            done=done,
        ),
    )


def streams_of(exchange: dict[str, Any], sections: Mapping[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The streams of a super stream, in the order of their partitions; none if they are not what a topic would have."""
    if table(exchange, "arguments").get(SUPER_STREAM) is not True:
        return []
    name, place = text(exchange, "name"), exchange.get("vhost")
    queues = {text(each, "name"): each for each in sections["queues"] if each.get("vhost") == place}
    bound = {
        str(each.get("destination")): each.get("routing_key")
        for each in sections["bindings"]
        if each.get("vhost") == place and each.get("source") == name
    }
    streams: list[dict[str, Any]] = []
    for index in count():
        stream = f"{name}-{index}"
        if bound.get(stream) != str(index) or stream not in queues:
            return streams
        streams.append(queues[stream])
    return []


async def import_super_stream(
    managed: Managed, user: str, entry: dict[str, Any], streams: list[dict[str, Any]], vhost: str | None
) -> None:
    name = text(entry, "name")
    caller = Caller(user, vhost or text(entry, "vhost"), NO_CONNECTION)
    await put(
        managed,
        f"super stream {name}",
        lambda done: managed.topology.declare_super_stream(
            caller, name, len(streams), table(streams[0], "arguments"), done
        ),
    )


async def import_queue(managed: Managed, user: str, entry: dict[str, Any], vhost: str | None) -> None:
    name = text(entry, "name")
    caller = Caller(user, vhost or text(entry, "vhost"), NO_CONNECTION)
    arguments = table(entry, "arguments")
    kind = text(entry, "type", "classic")
    if kind != "classic":
        arguments = {"x-queue-type": kind, **arguments}
    await put(
        managed,
        f"queue {name}",
        lambda done: managed.topology.declare_queue(
            caller,
            name,
            passive=False,
            durable=flag(entry, "durable", True),
            exclusive=False,
            auto_delete=flag(entry, "auto_delete"),
            arguments=arguments,
            server_named=name.startswith("amq."),
            done=done,
        ),
    )


async def import_binding(managed: Managed, user: str, entry: dict[str, Any], vhost: str | None) -> None:
    source, destination = text(entry, "source"), text(entry, "destination")
    if source == "":
        return  # the bindings that every queue has by itself
    caller = Caller(user, vhost or text(entry, "vhost"), NO_CONNECTION)
    kind = text(entry, "destination_type")
    if kind not in ("queue", "exchange"):
        raise bad_request("destination_type must be queue or exchange")
    bind = managed.topology.bind_queue if kind == "queue" else managed.topology.bind_exchange
    key, arguments = text(entry, "routing_key", ""), table(entry, "arguments")
    await put(
        managed,
        f"binding of {destination} to {source}",
        lambda done: bind(caller, destination, source, key, arguments, done),
    )
