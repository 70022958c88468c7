"""Quotas: how much a user, a client id or an address may ask of the broker."""

from __future__ import annotations

from typing import Any

from twinlog.base import Refused
from twinlog.cluster import QuotaWanted
from twinlog.cluster.kinds.quotas import QUOTAS, Entity
from twinlog.kafka.quota_rules import ADDRESS, CLIENT, USER, check_value, checked_entity
from twinlog.servers.http.api.topics import asked, kafka_refusal
from twinlog.servers.http.bodies import body_of, table
from twinlog.servers.http.message import Request, Response, bad_request, no_content, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import ADMINISTRATOR, MONITOR, Routes

routes = Routes("quotas")

NAMES = {"user": USER, "client_id": CLIENT, "address": ADDRESS}
EVERYBODY = "*"
QUOTA_BODY = (
    ("user", "name, or * for everybody without a quota of his own"),
    ("client_id", "likewise"),
    ("address", "likewise; not with the other two"),
    (
        "values",
        "object: producer_byte_rate, consumer_byte_rate, request_percentage, connection_creation_rate; null lifts",
    ),
)


@routes.get("/api/quotas", MONITOR, "All quotas.")
def quotas(managed: Managed, request: Request) -> Response:
    return ok([{**told(each.entity), "values": dict(each.values)} for each in managed.image.part(QUOTAS).values()])


def told(entity: Entity) -> dict[str, str]:
    words = {kind: word for word, kind in NAMES.items()}
    return {words[kind]: EVERYBODY if name is None else name for kind, name in entity}


@routes.put("/api/quotas", ADMINISTRATOR, "Sets quotas of one user, client id, both, or address.", body=QUOTA_BODY)
async def put_quotas(managed: Managed, request: Request) -> Response:
    body = body_of(request)
    values = table(body, "values")
    pairs: list[tuple[str, str | None]] = []
    for word, kind in NAMES.items():
        name = body.get(word)
        if name is None:
            continue
        if not isinstance(name, str):
            raise bad_request(f"{word} must be text")
        pairs.append((kind, None if name == EVERYBODY else name))
    try:
        entity = checked_entity(pairs)
        for name, value in values.items():
            check_value(entity, name, 1 if value is None else number(name, value))
    except Refused as refused:
        raise kafka_refusal(refused) from None
    wanted = QuotaWanted(
        entity,
        {name: number(name, value) for name, value in values.items() if value is not None},
        tuple(name for name, value in values.items() if value is None),
    )
    await asked(managed, lambda done: managed.broker.controller.alter_quotas([wanted], done))
    return no_content()


def number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise bad_request(f"{name} must be a number")
    return float(value)
