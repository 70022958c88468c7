"""``twinlog group``: list, describe, reset-offsets, delete."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from twinlog.cli.ending import fail
from twinlog.cli.options import BOOTSTRAP_DEFAULT, Bootstrap, Json, connected, print_json, print_table
from twinlog.cli.reset import Target, new_offsets, places_of
from twinlog.client import BrokerError, Client, Groups, GroupView
from twinlog.client.blocking import LATEST
from twinlog.client.groups import Committed, Place
from twinlog.wire.kafka.errors import ErrorCode

app = typer.Typer(help="List, describe, reset and delete consumer groups.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The group.", show_default=False)]


@app.command("list")
def list_groups(json: Json = False, bootstrap: Bootstrap = BOOTSTRAP_DEFAULT) -> None:
    """Name all groups."""
    with connected(bootstrap) as client:
        groups = Groups(client).list()
        if json:
            print_json(
                [{"group": g.name, "state": g.state, "type": g.type, "protocol_type": g.protocol_type} for g in groups]
            )
        elif groups:
            print_table(("GROUP", "STATE", "TYPE"), [(g.name, g.state, g.type) for g in groups])
        else:
            print("There are no groups yet: a consumer that subscribes with a group makes one.")


@app.command()
def describe(name: Name, json: Json = False, bootstrap: Bootstrap = BOOTSTRAP_DEFAULT) -> None:
    """Show members, what they own, and how far the group is behind."""
    with connected(bootstrap) as client:
        groups = Groups(client)
        group = groups.describe(name)
        told = description(client, group, groups.offsets(name))
        if json:
            print_json(told)
            return
        assignor = f"  assignor {group.assignor}" if group.assignor else ""
        print(f"{group.name}  {group.state}  type {group.type}{assignor}  coordinator {group.coordinator}")
        if told["members"]:
            print()
            print_table(
                ("MEMBER", "CLIENT", "HOST", "PARTITIONS"),
                [(shown_name(each), each["client"], each["host"], len(each["partitions"])) for each in told["members"]],
            )
        if told["partitions"]:
            print()
            print_table(
                ("TOPIC", "PARTITION", "COMMITTED", "END", "LAG", "MEMBER"),
                [
                    (
                        each["topic"],
                        each["partition"],
                        or_dash(each["committed"]),
                        or_dash(each["end"]),
                        or_dash(each["lag"]),
                        or_dash(each["member"]),
                    )
                    for each in told["partitions"]
                ],
            )


@app.command("reset-offsets")
def reset_offsets(
    name: Name,
    topics: Annotated[
        list[str],
        typer.Option("--topic", "-t", metavar="NAME[:0,1,...]", help="Only these; else all that the group committed."),
    ] = [],  # noqa: B006 (typer copies it)
    to_earliest: Annotated[bool, typer.Option("--to-earliest", help="To the first record there is.")] = False,
    to_latest: Annotated[bool, typer.Option("--to-latest", help="To the end: skip what is there.")] = False,
    to_datetime: Annotated[
        str, typer.Option("--to-datetime", metavar="TIME", help="To the first record at or after 2026-01-31T12:00.")
    ] = "",
    shift_by: Annotated[
        int | None, typer.Option("--shift-by", metavar="N", help="So many records forward, or back with -N.")
    ] = None,
    to_offset: Annotated[int | None, typer.Option("--to-offset", metavar="N", help="To this offset.", min=0)] = None,
    execute: Annotated[bool, typer.Option("--execute", help="Do it; without, only show what would be done.")] = False,
    json: Json = False,
    bootstrap: Bootstrap = BOOTSTRAP_DEFAULT,
) -> None:
    """Set how far a group has come. Shows the new offsets; --execute sets them."""
    target = Target.of(to_earliest, to_latest, to_datetime, shift_by, to_offset)
    with connected(bootstrap) as client:
        groups = Groups(client)
        check_empty(groups, name, needs_group=not topics)
        committed = groups.offsets(name)
        offsets = new_offsets(client, places_of(client, topics, committed), committed, target)
        if execute:
            groups.commit(name, dict(offsets))
        rows = [(topic, partition, before(committed, (topic, partition)), to) for (topic, partition), to in offsets]
        if json:
            print_json(
                {
                    "group": name,
                    "executed": execute,
                    "partitions": [
                        {"topic": topic, "partition": partition, "committed": was, "new": to}
                        for topic, partition, was, to in rows
                    ],
                }
            )
            return
        print_table(
            ("TOPIC", "PARTITION", "COMMITTED", "NEW"),
            [(topic, partition, or_dash(was), to) for topic, partition, was, to in rows],
        )
        if execute:
            print(f"Set the offsets of group {name}.")
        else:
            print("Nothing was changed: --execute sets these offsets.")


@app.command()
def delete(
    names: Annotated[list[str], typer.Argument(help="The groups.", show_default=False)],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    bootstrap: Bootstrap = BOOTSTRAP_DEFAULT,
) -> None:
    """Delete groups without members, with their offsets."""
    listed = ", ".join(names)
    if not yes and not typer.confirm(f"Delete {listed} with all offsets?"):
        fail("nothing was deleted")
    with connected(bootstrap) as client:
        groups = Groups(client)
        for name in names:
            groups.delete(name)
            print(f"Deleted {name}.")


def description(client: Client, group: GroupView, committed: dict[Place, Committed]) -> dict[str, Any]:
    owners = {place: member for member in group.members for place in member.assignment}
    places = sorted({*committed, *owners})
    ends = end_offsets(client, places)
    partitions = []
    for place in places:
        was, end, owner = before(committed, place), ends.get(place), owners.get(place)
        partitions.append(
            {
                "topic": place[0],
                "partition": place[1],
                "committed": was,
                "end": end,
                "lag": max(0, end - was) if end is not None and was is not None else None,
                "member": owner.member_id if owner is not None else None,
                "metadata": committed[place].metadata if place in committed else "",
            }
        )
    return {
        "group": group.name,
        "state": group.state,
        "type": group.type,
        "assignor": group.assignor,
        "coordinator": group.coordinator,
        "members": [
            {
                "member": each.member_id,
                "instance": each.instance_id,
                "client": each.client_id,
                "host": each.host.removeprefix("/"),
                "partitions": [{"topic": topic, "partition": partition} for topic, partition in each.assignment],
            }
            for each in group.members
        ],
        "partitions": partitions,
    }


def end_offsets(client: Client, places: list[Place]) -> dict[Place, int]:
    """Where the partitions end; those of topics that are gone are missing."""
    topics = dict.fromkeys(topic for topic, _ in places)
    known = client.refresh(topics).topics if topics else {}
    found: dict[Place, int] = {}
    for topic in topics:
        view = known.get(topic)
        if view is None or view.error:
            continue
        asked = [partition for name, partition in places if name == topic and partition < len(view.partitions)]
        found |= {(topic, partition): end for partition, end in client.offsets(topic, asked, LATEST).items()}
    return found


def check_empty(groups: Groups, name: str, *, needs_group: bool) -> None:
    """Members would go on from where they are and commit over it, so there must be none."""
    try:
        group = groups.describe(name)
    except BrokerError as wrong:
        if wrong.code != ErrorCode.GROUP_ID_NOT_FOUND or needs_group:
            raise
        return  # offsets may be set before the group's first member comes
    if group.members:
        raise BrokerError(
            ErrorCode.NON_EMPTY_GROUP, f"resetting offsets of group {name}", f"it has {len(group.members)} members"
        )


def before(committed: dict[Place, Committed], place: Place) -> int | None:
    return committed[place].offset if place in committed else None


def or_dash(value: object) -> object:
    return "-" if value is None else value


def shown_name(member: dict[str, Any]) -> str:
    return f"{member['instance']} ({member['member']})" if member["instance"] else str(member["member"])
