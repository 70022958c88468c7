"""The nouns of RabbitMQ's side: ``queue``, ``exchange``, ``binding``, ``vhost``, ``user``, ``permission``, ``policy``,
``connection``. Each has ``list``, and what else makes sense for it; all go through the HTTP API."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Sequence
from typing import Annotated, Any, Final

import typer

from twinlog.cli.api import HTTP_DEFAULT, USER_DEFAULT, Api, As, Vhost, Where, asking, path
from twinlog.cli.ending import fail
from twinlog.cli.options import Json, print_json, print_table

Name = Annotated[str, typer.Argument(show_default=False)]
Everywhere = Annotated[str, typer.Option("--vhost", "-v", help="Only this vhost; else all.")]
Arguments = Annotated[
    list[str], typer.Option("--argument", "-a", metavar="NAME=VALUE", help="Like x-message-ttl=60000. May be repeated.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

VHOST_DEFAULT: Final = "/"


def app_of(noun: str) -> typer.Typer:
    return typer.Typer(help=f"List and manage {noun}.", no_args_is_help=True)


queue, exchange, binding = app_of("queues"), app_of("exchanges"), app_of("bindings")
vhost, user, permission = app_of("vhosts"), app_of("users"), app_of("permissions")
policy, connection, definitions = app_of("policies"), app_of("connections"), app_of("definitions")

APPS: Final = {
    "queue": queue,
    "exchange": exchange,
    "binding": binding,
    "vhost": vhost,
    "user": user,
    "permission": permission,
    "policy": policy,
    "connection": connection,
    "definitions": definitions,
}


# ---- shown ----------------------------------------------------------------------------------------------------------


def show(rows: Sequence[dict[str, Any]], columns: Sequence[tuple[str, str]], json: bool, none: str) -> None:
    if json:
        print_json(list(rows))
    elif rows:
        print_table([title for title, _ in columns], [[cell(row.get(field)) for _, field in columns] for row in rows])
    else:
        print(none)


def cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return value
    if isinstance(value, (dict, list)):
        return json_module.dumps(value, ensure_ascii=True) if value else "-"
    return harmless(str(value)) if value not in (None, "") else "-"


def harmless(text: str) -> str:
    return text if text.isprintable() else text.encode("unicode_escape", "surrogatepass").decode()


def show_one(found: dict[str, Any], fields: Sequence[str], json: bool) -> None:
    if json:
        print_json(found)
        return
    width = max(map(len, fields))
    for field in fields:
        print(f"{field:<{width}}  {cell(found.get(field))}")


def arguments_of(texts: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            fail(f"--argument {text}: write it as name=value", code=2)
        try:
            found[name] = json_module.loads(value)
        except ValueError:
            found[name] = value
    return found


def sure(question: str, yes: bool) -> None:
    if not yes and sys.stdin.isatty() and not typer.confirm(question):
        raise typer.Exit(1)


def listed(api: Api, noun: str, where: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get(path(noun, where) if where else path(noun))
    return found


# ---- queues ---------------------------------------------------------------------------------------------------------


@queue.command("list")
def list_queues(
    vhost: Everywhere = "", json: Json = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT
) -> None:
    """Show queues with what is in them."""
    with asking(http, user) as api:
        columns = (("QUEUE", "name"), ("VHOST", "vhost"), ("TYPE", "type"), ("READY", "messages_ready"),
                   ("UNACKED", "messages_unacknowledged"), ("CONSUMERS", "consumers"))  # fmt: skip
        show(listed(api, "queues", vhost), columns, json, "There are no queues yet.")


@queue.command("describe")
def describe_queue(
    name: Name, vhost: Vhost = VHOST_DEFAULT, json: Json = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT
) -> None:
    """Show one queue."""
    with asking(http, user) as api:
        fields = ("name", "vhost", "type", "durable", "auto_delete", "arguments", "policy", "messages_ready",
                  "messages_unacknowledged", "message_bytes", "consumers")  # fmt: skip
        show_one(api.get(path("queues", vhost, name)), fields, json)


@queue.command("create")
def create_queue(
    name: Name,
    vhost: Vhost = VHOST_DEFAULT,
    type: Annotated[str, typer.Option("--type", help="classic or stream.")] = "classic",
    transient: Annotated[bool, typer.Option("--transient", help="Does not survive a restart.")] = False,
    argument: Arguments = [],  # noqa: B006
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Declare a queue."""
    arguments = arguments_of(argument)
    if type != "classic":
        arguments.setdefault("x-queue-type", type)
    with asking(http, user) as api:
        api.put(path("queues", vhost, name), {"durable": not transient, "arguments": arguments})
        print(f"queue {harmless(name)} is there")


@queue.command("delete")
def delete_queue(
    name: Name, vhost: Vhost = VHOST_DEFAULT, yes: Yes = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT
) -> None:
    """Delete a queue and its messages."""
    sure(f"Delete queue {harmless(name)} with its messages?", yes)
    with asking(http, user) as api:
        api.delete(path("queues", vhost, name))


@queue.command("purge")
def purge_queue(
    name: Name, vhost: Vhost = VHOST_DEFAULT, yes: Yes = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT
) -> None:
    """Drop the messages that are ready."""
    sure(f"Drop the ready messages of {harmless(name)}?", yes)
    with asking(http, user) as api:
        api.delete(path("queues", vhost, name, "contents"))


@queue.command("peek")
def peek_queue(
    name: Name,
    vhost: Vhost = VHOST_DEFAULT,
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=1000, help="How many.")] = 1,
    json: Json = False,
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Look at the first messages; they go back to their places, marked as redelivered."""
    with asking(http, user) as api:
        found = api.post(path("queues", vhost, name, "get"), {"count": count, "ackmode": "ack_requeue_true"})
        if json:
            print_json(found)
        else:
            for each in found:
                print(harmless(each["payload"]))


@queue.command("move")
def move_queue(
    name: Name,
    to: Annotated[str, typer.Option("--to", help="The queue; none: dead letters go back to where they died.")] = "",
    vhost: Vhost = VHOST_DEFAULT,
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Move messages to another queue, or dead letters back."""
    with asking(http, user) as api:
        told = api.post(path("queues", vhost, name, "move"), {"destination": to} if to else {})
        print(f"{told['moved']} moved" + (f", {told['stayed']} could not be stored there" if told["stayed"] else ""))


# ---- exchanges and bindings -----------------------------------------------------------------------------------------


@exchange.command("list")
def list_exchanges(
    vhost: Everywhere = "", json: Json = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT
) -> None:
    """Show exchanges."""
    with asking(http, user) as api:
        columns = (("EXCHANGE", "name"), ("VHOST", "vhost"), ("TYPE", "type"), ("DURABLE", "durable"))
        show(listed(api, "exchanges", vhost), columns, json, "There are no exchanges.")


@exchange.command("describe")
def describe_exchange(
    name: Name, vhost: Vhost = VHOST_DEFAULT, json: Json = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT
) -> None:
    """Show one exchange and its bindings."""
    with asking(http, user) as api:
        found = api.get(path("exchanges", vhost, name))
        found["bindings"] = api.get(path("exchanges", vhost, name, "bindings", "source"))
        show_one(found, ("name", "vhost", "type", "durable", "auto_delete", "internal", "arguments", "policy"), json)
        if not json and found["bindings"]:
            print()
            print_table(
                ("TO", "KEY"), [(cell(each["destination"]), cell(each["routing_key"])) for each in found["bindings"]]
            )


@exchange.command("create")
def create_exchange(
    name: Name,
    type: Annotated[str, typer.Option("--type", help="direct, fanout, topic, headers, x-consistent-hash.")] = "direct",
    vhost: Vhost = VHOST_DEFAULT,
    argument: Arguments = [],  # noqa: B006
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Declare an exchange."""
    with asking(http, user) as api:
        api.put(path("exchanges", vhost, name), {"type": type, "durable": True, "arguments": arguments_of(argument)})
        print(f"exchange {harmless(name)} is there")


@exchange.command("delete")
def delete_exchange(
    name: Name, vhost: Vhost = VHOST_DEFAULT, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT
) -> None:
    """Delete an exchange."""
    with asking(http, user) as api:
        api.delete(path("exchanges", vhost, name))


@exchange.command("route")
def route(
    name: Name,
    key: Annotated[str, typer.Argument(help="The routing key.")] = "",
    vhost: Vhost = VHOST_DEFAULT,
    json: Json = False,
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Tell where a message with this key would go, without sending one."""
    with asking(http, user) as api:
        told = api.post(path("exchanges", vhost, name, "route"), {"routing_key": key})
        if json:
            print_json(told)
        elif told["queues"]:
            for each in told["queues"]:
                print(harmless(each))
        else:
            fail("no queue would get it", f"`twinlog binding list --vhost {vhost}` shows which keys are bound.")


@binding.command("list")
def list_bindings(
    vhost: Everywhere = "", json: Json = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT
) -> None:
    """Show bindings."""
    with asking(http, user) as api:
        columns = (("FROM", "source"), ("TO", "destination"), ("KIND", "destination_type"), ("KEY", "routing_key"),
                   ("ARGUMENTS", "arguments"))  # fmt: skip
        show(listed(api, "bindings", vhost), columns, json, "There are no bindings.")


@binding.command("create")
def create_binding(
    source: Annotated[str, typer.Argument(help="The exchange.")],
    destination: Annotated[str, typer.Argument(help="The queue, or exchange.")],
    key: Annotated[str, typer.Option("--key", "-k", help="The routing key.")] = "",
    to_exchange: Annotated[bool, typer.Option("--to-exchange", help="The destination is an exchange.")] = False,
    vhost: Vhost = VHOST_DEFAULT,
    argument: Arguments = [],  # noqa: B006
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Bind a queue or an exchange to an exchange."""
    with asking(http, user) as api:
        body = {"routing_key": key, "arguments": arguments_of(argument)}
        api.post(path("bindings", vhost, "e", source, "e" if to_exchange else "q", destination), body)


@binding.command("delete")
def delete_binding(
    source: Annotated[str, typer.Argument(help="The exchange.")],
    destination: Annotated[str, typer.Argument(help="The queue, or exchange.")],
    key: Annotated[str, typer.Option("--key", "-k", help="The routing key.")] = "",
    to_exchange: Annotated[bool, typer.Option("--to-exchange", help="The destination is an exchange.")] = False,
    vhost: Vhost = VHOST_DEFAULT,
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Take a binding away."""
    with asking(http, user) as api:
        between = path("bindings", vhost, "e", source, "e" if to_exchange else "q", destination)
        found = [each for each in api.get(between) if each["routing_key"] == key]
        if not found:
            fail("there is no such binding", f"See `twinlog binding list --vhost {vhost}`.")
        for each in found:
            api.delete(f"{between}{path(each['properties_key']).removeprefix('/api')}")


# ---- vhosts, users, permissions -------------------------------------------------------------------------------------


@vhost.command("list")
def list_vhosts(json: Json = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT) -> None:
    """Show vhosts."""
    with asking(http, user) as api:
        columns = (("VHOST", "name"), ("DESCRIPTION", "description"), ("MESSAGES", "messages"))
        show(api.get(path("vhosts")), columns, json, "There are no vhosts that you may see.")


@vhost.command("describe")
def describe_vhost(name: Name, json: Json = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT) -> None:
    """Show one vhost."""
    with asking(http, user) as api:
        fields = ("name", "description", "tags", "default_queue_type", "messages_ready", "messages_unacknowledged")
        show_one(api.get(path("vhosts", name)), fields, json)


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


@vhost.command("delete")
def delete_vhost(name: Name, yes: Yes = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT) -> None:
    """Delete a vhost with everything in it."""
    sure(f"Delete vhost {harmless(name)} with all its queues and messages?", yes)
    with asking(http, user) as api:
        api.delete(path("vhosts", name))


@user.command("list")
def list_users(json: Json = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT) -> None:
    """Show users and their tags."""
    with asking(http, user) as api:
        shown = [
            {"name": each["name"], "tags": each["tags"], "limits": each["limits"]} for each in api.get(path("users"))
        ]
        show(shown, (("USER", "name"), ("TAGS", "tags"), ("LIMITS", "limits")), json, "There are no users.")


@user.command("describe")
def describe_user(name: Name, json: Json = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT) -> None:
    """Show a user and what it may do."""
    with asking(http, user) as api:
        found = api.get(path("users", name))
        found.pop("password_hash", None)
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


@user.command("delete")
def delete_user(name: Name, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT) -> None:
    """Delete a user."""
    with asking(http, user) as api:
        api.delete(path("users", name))


@permission.command("list")
def list_permissions(json: Json = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT) -> None:
    """Show who may do what where."""
    with asking(http, user) as api:
        columns = (
            ("USER", "user"),
            ("VHOST", "vhost"),
            ("CONFIGURE", "configure"),
            ("WRITE", "write"),
            ("READ", "read"),
        )
        show(api.get(path("permissions")), columns, json, "Nobody may do anything.")


@permission.command("create")
def create_permission(
    name: Annotated[str, typer.Argument(help="The user.")],
    vhost: Vhost = VHOST_DEFAULT,
    configure: Annotated[str, typer.Option("--configure", help="Pattern of names.")] = ".*",
    write: Annotated[str, typer.Option("--write", help="Pattern of names.")] = ".*",
    read: Annotated[str, typer.Option("--read", help="Pattern of names.")] = ".*",
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Let a user into a vhost."""
    with asking(http, user) as api:
        api.put(path("permissions", vhost, name), {"configure": configure, "write": write, "read": read})


@permission.command("delete")
def delete_permission(
    name: Annotated[str, typer.Argument(help="The user.")],
    vhost: Vhost = VHOST_DEFAULT,
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Keep a user out of a vhost."""
    with asking(http, user) as api:
        api.delete(path("permissions", vhost, name))


# ---- policies, connections, definitions -----------------------------------------------------------------------------


@policy.command("list")
def list_policies(
    vhost: Everywhere = "", json: Json = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT
) -> None:
    """Show policies."""
    with asking(http, user) as api:
        columns = (("POLICY", "name"), ("VHOST", "vhost"), ("PATTERN", "pattern"), ("FOR", "apply-to"),
                   ("PRIORITY", "priority"), ("DEFINITION", "definition"))  # fmt: skip
        show(listed(api, "policies", vhost), columns, json, "There are no policies.")


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


@policy.command("delete")
def delete_policy(
    name: Name, vhost: Vhost = VHOST_DEFAULT, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT
) -> None:
    """Delete a policy."""
    with asking(http, user) as api:
        api.delete(path("policies", vhost, name))


@connection.command("list")
def list_connections(json: Json = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT) -> None:
    """Show who is connected, by either protocol."""
    with asking(http, user) as api:
        columns = (("CONNECTION", "name"), ("PROTOCOL", "protocol"), ("USER", "user"), ("STATE", "state"),
                   ("CHANNELS", "channels"))  # fmt: skip
        show(api.get(path("connections")), columns, json, "Nobody is connected.")


@connection.command("close")
def close_connection(name: Name, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT) -> None:
    """Close a connection; most clients come back by themselves."""
    with asking(http, user) as api:
        api.delete(path("connections", name))


@definitions.command("export")
def export_definitions(
    vhost: Annotated[str, typer.Option("--vhost", "-v", help="Only this vhost.")] = "",
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Print everything that is declared, as a document that RabbitMQ reads, too."""
    with asking(http, user) as api:
        print_json(api.get(path("definitions", vhost) if vhost else path("definitions")))


@definitions.command("import")
def import_definitions(
    file: Annotated[typer.FileText, typer.Argument(help="The document; - is standard input.")],
    vhost: Annotated[str, typer.Option("--vhost", "-v", help="Into this vhost.")] = "",
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Add what a document declares; nothing is deleted."""
    try:
        content = json_module.load(file)
    except ValueError as wrong:
        fail(f"the document is not JSON: {wrong}", code=2)
    with asking(http, user) as api:
        api.post(path("definitions", vhost) if vhost else path("definitions"), content)
        told = {name: len(each) for name, each in content.items() if isinstance(each, list)}
        print(", ".join(f"{count} {name}" for name, count in told.items() if count) or "nothing was in it")
