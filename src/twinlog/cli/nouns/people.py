"""``twinlog vhost``, ``user`` and ``permission``."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from twinlog.cli.api import HTTP_DEFAULT, USER_DEFAULT, As, Vhost, Where, asking, path
from twinlog.cli.nouns.shared import (
    VHOST_DEFAULT,
    Name,
    add_plain_delete,
    add_plain_describe,
    add_plain_list,
    app_of,
    show_one,
)
from twinlog.cli.options import Json

vhost, user, permission = app_of("vhosts"), app_of("users"), app_of("permissions")

WhoseName = Annotated[str, typer.Argument(help="The user.", show_default=False)]
PERMISSION_COLUMNS = (
    ("USER", "user"),
    ("VHOST", "vhost"),
    ("CONFIGURE", "configure"),
    ("WRITE", "write"),
    ("READ", "read"),
)

# ---- vhosts ---------------------------------------------------------------------------------------------------------

add_plain_list(
    vhost,
    "vhosts",
    "Show vhosts.",
    (("VHOST", "name"), ("DESCRIPTION", "description"), ("MESSAGES", "messages")),
    "There are no vhosts that you may see.",
)
add_plain_describe(
    vhost,
    "vhosts",
    "Show one vhost.",
    ("name", "description", "tags", "default_queue_type", "messages_ready", "messages_unacknowledged"),
)


@vhost.command("create")
def create_vhost(
    name: Name,
    description: Annotated[str, typer.Option("--description", help="What it is for.")] = "",
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Create a vhost; you may do everything in it."""
    with asking(http, user) as api:
        api.put(path("vhosts", name), {"description": description})


add_plain_delete(
    vhost, "vhosts", "Delete a vhost with everything in it.", "Delete vhost {} with all its queues and messages?"
)

# ---- users ----------------------------------------------------------------------------------------------------------


def without_secrets(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name not in ("password_hash", "hashing_algorithm")}


add_plain_list(
    user,
    "users",
    "Show users and their tags.",
    (("USER", "name"), ("TAGS", "tags"), ("LIMITS", "limits")),
    "There are no users.",
    without_secrets,
)


@user.command("describe")
def describe_user(name: Name, json: Json = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT) -> None:
    """Show a user and what it may do."""
    with asking(http, user) as api:
        found = without_secrets(api.get(path("users", name)))
        found["permissions"] = api.get(path("users", name, "permissions"))
        show_one(found, ("name", "tags", "limits", "permissions"), json)


@user.command("create")
def create_user(
    name: Name,
    tags: Annotated[str, typer.Option("--tags", help="administrator, monitoring, policymaker, management.")] = "",
    password: Annotated[str, typer.Option("--password", help="Better left out: it is asked for.")] = "",
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Create a user, or give one a new password."""
    if not password:
        if sys.stdin.isatty():
            password = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
        else:
            password = sys.stdin.readline().rstrip("\n")
    with asking(http, user) as api:
        api.put(path("users", name), {"password": password, "tags": tags})


add_plain_delete(user, "users", "Delete a user; its connections end.", "Delete user {}?")

# ---- permissions ----------------------------------------------------------------------------------------------------

add_plain_list(permission, "permissions", "Show who may do what where.", PERMISSION_COLUMNS, "Nobody may do anything.")


@permission.command("describe")
def describe_permission(
    name: WhoseName,
    vhost: Vhost = VHOST_DEFAULT,
    json: Json = False,
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Show what a user may do in a vhost."""
    with asking(http, user) as api:
        show_one(api.get(path("permissions", vhost, name)), [field for _, field in PERMISSION_COLUMNS], json)


@permission.command("create")
def create_permission(
    name: WhoseName,
    vhost: Vhost = VHOST_DEFAULT,
    configure: Annotated[str, typer.Option("--configure", help="Pattern of names.")] = ".*",
    write: Annotated[str, typer.Option("--write", help="Pattern of names.")] = ".*",
    read: Annotated[str, typer.Option("--read", help="Pattern of names.")] = ".*",
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Let a user into a vhost, and say what it may do there."""
    with asking(http, user) as api:
        api.put(path("permissions", vhost, name), {"configure": configure, "write": write, "read": read})


@permission.command("delete")
def delete_permission(
    name: WhoseName, vhost: Vhost = VHOST_DEFAULT, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT
) -> None:
    """Keep a user out of a vhost."""
    with asking(http, user) as api:
        api.delete(path("permissions", vhost, name))
