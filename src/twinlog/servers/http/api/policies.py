"""Policies, and those of operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twinlog.cluster.kinds.policies import POLICIES, PolicyPut
from twinlog.servers.http.bodies import body_of, number, table, text
from twinlog.servers.http.listing import QUERY, listed
from twinlog.servers.http.message import Request, Response, created, no_content, not_found, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import ADMINISTRATOR, POLICYMAKER, USER, VHOST, Routes
from twinlog.servers.http.views import policy_view, visible_vhosts
from twinlog.servers.http.waiting import outcome_of

routes = Routes("policies")

PRIORITY_MAX = 2**31 - 1
POLICY_BODY = (
    ("pattern", "regular expression over names"),
    ("definition", "what holds for whatever it names"),
    ("priority", "the greatest counts; 0 when it is not told"),
    ("apply-to", "queues, classic_queues, quorum_queues, streams, exchanges or all"),
)


def wanted_policy(vhost: str, name: str, body: dict[str, Any], *, operator: bool) -> PolicyPut:
    return PolicyPut(
        vhost,
        operator,
        name,
        text(body, "pattern"),
        text(body, "apply-to", "queues" if operator else "all"),
        number(body, "priority", 0, -PRIORITY_MAX, PRIORITY_MAX),
        table(body, "definition"),
    )


def add_routes(word: str, told: str, *, operator: bool, needs: str) -> None:
    """The same six for users' policies and for operators'."""

    @routes.get(f"/api/{word}", USER, f"All {told}.", query=QUERY)
    async def all_policies(managed: Managed, request: Request) -> Response:
        assert request.asker is not None
        seen = {part.name for part in visible_vhosts(managed, request.asker)}
        return await show(managed, request, lambda policy: policy.vhost in seen)

    @routes.get(f"/api/{word}/{{vhost}}", VHOST, f"{told} of a vhost.".capitalize(), query=QUERY)
    async def of_vhost(managed: Managed, request: Request) -> Response:
        return await show(managed, request, lambda policy: policy.vhost == request.parameters["vhost"])

    async def show(managed: Managed, request: Request, wanted: Callable[[PolicyPut], bool]) -> Response:
        found = [each for each in managed.image.part(POLICIES).values() if each.operator == operator and wanted(each)]
        return await listed(managed.tasks, request, found, lambda each: each.name, policy_view)

    @routes.get(f"/api/{word}/{{vhost}}/{{name}}", VHOST, f"One of the {told}.")
    def one(managed: Managed, request: Request) -> Response:
        key = (request.parameters["vhost"], operator, request.parameters["name"])
        known = managed.image.part(POLICIES).get(key)
        if known is None:
            raise not_found()
        return ok(policy_view(known))

    @routes.put(f"/api/{word}/{{vhost}}/{{name}}", needs, f"Sets one of the {told}.", body=POLICY_BODY, answers=201)
    async def put(managed: Managed, request: Request) -> Response:
        vhost, name = request.parameters["vhost"], request.parameters["name"]
        known = (vhost, operator, name) in managed.image.part(POLICIES)
        wanted = wanted_policy(vhost, name, body_of(request), operator=operator)
        await outcome_of(managed.tasks, lambda done: managed.administration.put_policy(wanted, done))
        return no_content() if known else created()

    @routes.delete(f"/api/{word}/{{vhost}}/{{name}}", needs, f"Deletes one of the {told}.")
    async def delete(managed: Managed, request: Request) -> Response:
        vhost, name = request.parameters["vhost"], request.parameters["name"]
        await outcome_of(
            managed.tasks, lambda done: managed.administration.delete_policy(vhost, name, done, operator=operator)
        )
        return no_content()


add_routes("policies", "policies", operator=False, needs=POLICYMAKER)
add_routes("operator-policies", "operators' policies", operator=True, needs=ADMINISTRATOR)
