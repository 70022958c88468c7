"""``twinlog quota``: set, describe, remove."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from twinlog.cli.ending import fail
from twinlog.cli.options import BOOTSTRAP_DEFAULT, Bootstrap, Json, connected, pairs, print_json, print_table
from twinlog.client.quota_requests import Entity, Quota

app = typer.Typer(help="Limit what users, clients and addresses may use.", no_args_is_help=True)

EVERYBODY: Final = "*"
SHORT: Final = {
    "produce": "producer_byte_rate",
    "fetch": "consumer_byte_rate",
    "time": "request_percentage",
    "mutations": "controller_mutation_rate",
    "connections": "connection_creation_rate",
}
LONG: Final = {name: short for short, name in SHORT.items()}

User = Annotated[str, typer.Option("--user", "-u", help="A user; * for all without a quota of their own.")]
ClientId = Annotated[str, typer.Option("--client", "-c", help="A client id, or *.")]
Address = Annotated[str, typer.Option("--ip", help="An address, or *.")]


@app.command("set")
def set_quota(
    values: Annotated[
        list[str],
        typer.Argument(
            metavar="QUOTA=VALUE...",
            help="produce and fetch in bytes a second, time in percent of a core, mutations (partitions made or "
            "deleted) and connections a second.",
            show_default=False,
        ),
    ],
    user: User = "",
    client: ClientId = "",
    ip: Address = "",
    bootstrap: Bootstrap = BOOTSTRAP_DEFAULT,
) -> None:
    """Limit somebody: twinlog quota set produce=1000000 --user ann."""
    put: dict[str, float] = {}
    for name, text in pairs(values, "quota").items():
        try:
            put[long_name(name)] = float(text)
        except ValueError:
            fail(f"{name}={text}: it is no number", code=2)
    who = entity(user, client, ip, needed=True)
    with connected(bootstrap) as broker:
        broker.alter_quota(who, put)
        print(f"Set for {words(who)}: {shown(put)}.")


@app.command()
def describe(
    user: User = "",
    client: ClientId = "",
    ip: Address = "",
    json: Json = False,
    bootstrap: Bootstrap = BOOTSTRAP_DEFAULT,
) -> None:
    """Show all quotas, or those of one."""
    with connected(bootstrap) as broker:
        found = broker.quotas(entity(user, client, ip))
        if json:
            print_json([{"of": dict(each.entity), "quotas": each.values} for each in found])
        elif found:
            print_table(("QUOTA OF", "QUOTA", "VALUE"), [row for each in found for row in rows(each)])
        else:
            print("Nothing is limited: `twinlog quota set` limits somebody.")


@app.command()
def remove(
    quotas: Annotated[
        list[str], typer.Argument(metavar="[QUOTA...]", help="Which; none named: all.", show_default=False)
    ] = [],  # noqa: B006
    user: User = "",
    client: ClientId = "",
    ip: Address = "",
    bootstrap: Bootstrap = BOOTSTRAP_DEFAULT,
) -> None:
    """Lift somebody's limits."""
    who = entity(user, client, ip, needed=True)
    with connected(bootstrap) as broker:
        names = [long_name(name) for name in quotas] or [name for each in broker.quotas(who) for name in each.values]
        if not names:
            fail(f"{words(who)} has no quota", "See `twinlog quota describe`.")
        broker.alter_quota(who, {}, names)
        print(f"Lifted for {words(who)}: {', '.join(LONG.get(name, name) for name in names)}.")


def entity(user: str, client: str, ip: str, *, needed: bool = False) -> Entity:
    named = (("user", user), ("client-id", client), ("ip", ip))
    found = tuple((kind, None if name == EVERYBODY else name) for kind, name in named if name)
    if needed and not found:
        fail("whose quota?", "Give --user, --client, both, or --ip; * means everybody else.", code=2)
    return found


def long_name(name: str) -> str:
    if name not in SHORT and name not in LONG:
        fail(f"there is no quota {name}", f"There are {', '.join(SHORT)}.", code=2)
    return SHORT.get(name, name)


def words(entity: Entity) -> str:
    return ", ".join(f"{kind} {EVERYBODY if name is None else name}" for kind, name in entity)


def shown(values: dict[str, float]) -> str:
    return ", ".join(f"{LONG.get(name, name)}={value:g}" for name, value in values.items())


def rows(quota: Quota) -> list[tuple[str, str, str]]:
    return [(words(quota.entity), LONG.get(name, name), f"{value:.15g}") for name, value in quota.values.items()]
