"""``twinlog policy``."""

from __future__ import annotations

import json as json_module
from typing import Annotated

import typer

from twinlog.cli.api import HTTP_DEFAULT, USER_DEFAULT, As, Vhost, Where, asking, path
from twinlog.cli.ending import fail
from twinlog.cli.nouns.shared import VHOST_DEFAULT, Name, add_delete, add_describe, add_list, app_of

policy = app_of("policies")

add_list(
    policy,
    "policies",
    "Show policies.",
    (
        ("POLICY", "name"),
        ("VHOST", "vhost"),
        ("PATTERN", "pattern"),
        ("FOR", "apply-to"),
        ("PRIORITY", "priority"),
        ("DEFINITION", "definition"),
    ),
    "There are no policies.",
)
add_describe(policy, "policies", "Show one policy.", ("name", "vhost", "pattern", "apply-to", "priority", "definition"))


@policy.command("create")
def create_policy(
    name: Name,
    pattern: Annotated[str, typer.Option("--pattern", help="Expression over names.")],
    definition: Annotated[str, typer.Option("--definition", help='JSON, like {"max-length": 1000}.')],
    apply_to: Annotated[str, typer.Option("--apply-to", help="queues, exchanges, all and so on.")] = "queues",
    priority: Annotated[int, typer.Option("--priority", help="The greatest counts.")] = 0,
    vhost: Vhost = VHOST_DEFAULT,
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Set a policy."""
    try:
        wanted = json_module.loads(definition)
    except ValueError as wrong:
        fail(f"--definition: it is not JSON: {wrong}", 'Write it like {"max-length": 1000}.', code=2)
    with asking(http, user) as api:
        body = {"pattern": pattern, "definition": wanted, "apply-to": apply_to, "priority": priority}
        api.put(path("policies", vhost, name), body)


add_delete(policy, "policies", "Delete a policy.", "Delete policy {}?")
