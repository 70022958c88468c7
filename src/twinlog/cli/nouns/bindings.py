"""``twinlog binding``: a binding has no name of its own, its two ends and its key name it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from twinlog.cli.api import HTTP_DEFAULT, USER_DEFAULT, Api, As, Vhost, Where, asking, path
from twinlog.cli.ending import fail
from twinlog.cli.nouns.shared import VHOST_DEFAULT, Arguments, add_list, app_of, arguments_of, show
from twinlog.cli.options import Json

binding = app_of("bindings")

COLUMNS = (
    ("FROM", "source"),
    ("TO", "destination"),
    ("KIND", "destination_type"),
    ("KEY", "routing_key"),
    ("ARGUMENTS", "arguments"),
)
Source = Annotated[str, typer.Argument(help="The exchange.", show_default=False)]
Destination = Annotated[str, typer.Argument(help="The queue, or exchange.", show_default=False)]
ToExchange = Annotated[bool, typer.Option("--to-exchange", help="The destination is an exchange.")]
Key = Annotated[str, typer.Option("--key", "-k", help="The routing key.")]

add_list(binding, "bindings", "Show bindings.", COLUMNS, "There are no bindings.")


def between(vhost: str, source: str, destination: str, to_exchange: bool) -> str:
    return path("bindings", vhost, "e", source, "e" if to_exchange else "q", destination)


def found_between(api: Api, where: str, vhost: str, key: str | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [each for each in api.get(where) if key in (None, each["routing_key"])]
    if not found:
        fail("there is no such binding", f"See `twinlog binding list --vhost {vhost}`.")
    return found


@binding.command("describe")
def describe_binding(
    source: Source,
    destination: Destination,
    to_exchange: ToExchange = False,
    vhost: Vhost = VHOST_DEFAULT,
    json: Json = False,
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Show all bindings between two."""
    with asking(http, user) as api:
        found = found_between(api, between(vhost, source, destination, to_exchange), vhost, None)
        show(found, COLUMNS, json, "")


@binding.command("create")
def create_binding(
    source: Source,
    destination: Destination,
    key: Key = "",
    to_exchange: ToExchange = False,
    vhost: Vhost = VHOST_DEFAULT,
    argument: Arguments = [],  # noqa: B006
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Bind a queue or an exchange to an exchange."""
    with asking(http, user) as api:
        body = {"routing_key": key, "arguments": arguments_of(argument)}
        api.post(between(vhost, source, destination, to_exchange), body)


@binding.command("delete")
def delete_binding(
    source: Source,
    destination: Destination,
    key: Key = "",
    to_exchange: ToExchange = False,
    vhost: Vhost = VHOST_DEFAULT,
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Take a binding away."""
    with asking(http, user) as api:
        where = between(vhost, source, destination, to_exchange)
        for each in found_between(api, where, vhost, key):
            api.delete(f"{where}{path(each['properties_key']).removeprefix('/api')}")
