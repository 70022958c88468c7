"""``twinlog exchange``."""

from __future__ import annotations

from typing import Annotated

import typer

from twinlog.cli.api import HTTP_DEFAULT, USER_DEFAULT, As, Vhost, Where, asking, path
from twinlog.cli.ending import fail
from twinlog.cli.nouns.shared import (
    VHOST_DEFAULT,
    Arguments,
    Name,
    add_delete,
    add_list,
    app_of,
    arguments_of,
    cell,
    harmless,
    show_one,
)
from twinlog.cli.options import Json, print_json, print_table

exchange = app_of("exchanges")

add_list(
    exchange,
    "exchanges",
    "Show exchanges.",
    (("EXCHANGE", "name"), ("VHOST", "vhost"), ("TYPE", "type"), ("DURABLE", "durable")),
    "There are no exchanges.",
)


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


add_delete(exchange, "exchanges", "Delete an exchange and its bindings.", "Delete exchange {} with its bindings?")


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
