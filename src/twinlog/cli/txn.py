"""``twinlog txn``: list, describe, find-hanging, abort."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from twinlog.cli.ending import fail
from twinlog.cli.options import BOOTSTRAP_DEFAULT, Bootstrap, Json, connected, print_json, print_table
from twinlog.client.transactions import OpenTransaction, Transactions

app = typer.Typer(help="List, describe and abort transactions, and find those that hang.", no_args_is_help=True)

HANGING_HEAD = ("TOPIC", "PARTITION", "START OFFSET", "PRODUCER ID", "EPOCH", "LAST WRITE")


@app.command("list")
def list_transactions(
    states: Annotated[
        list[str], typer.Option("--state", metavar="STATE", help="Only in this state, like Ongoing; may be repeated.")
    ] = [],  # noqa: B006 (typer copies it)
    running: Annotated[
        int | None, typer.Option("--running", metavar="SECONDS", help="Only what runs for longer.", min=0)
    ] = None,
    match: Annotated[
        str, typer.Option("--match", metavar="EXPRESSION", help="Only ids that match as a whole, like 'orders-.*'.")
    ] = "",
    json: Json = False,
    bootstrap: Bootstrap = BOOTSTRAP_DEFAULT,
) -> None:
    """Name all transactional ids."""
    with connected(bootstrap) as client:
        found = Transactions(client).listed(
            states=states, running_ms=-1 if running is None else running * 1000, pattern=match or None
        )
        if json:
            print_json([{"id": each.name, "state": each.state, "producer_id": each.producer_id} for each in found])
        elif found:
            print_table(("ID", "STATE", "PRODUCER ID"), found)
        else:
            print("There are none.")


@app.command()
def describe(
    name: Annotated[str, typer.Argument(help="The transactional id.", show_default=False)],
    json: Json = False,
    bootstrap: Bootstrap = BOOTSTRAP_DEFAULT,
) -> None:
    """Show what is open under a transactional id."""
    with connected(bootstrap) as client:
        found = Transactions(client).describe(name)
        if json:
            print_json(
                {
                    "id": found.name,
                    "state": found.state,
                    "producer_id": found.producer_id,
                    "epoch": found.epoch,
                    "timeout_ms": found.timeout_ms,
                    "started": time_of(found.started_ms) if found.started_ms >= 0 else None,
                    "coordinator": found.coordinator,
                    "partitions": [{"topic": topic, "partition": partition} for topic, partition in found.places],
                }
            )
            return
        print(
            f"{found.name}  {found.state}  producer id {found.producer_id}  epoch {found.epoch}"
            f"  timeout {found.timeout_ms} ms  coordinator {found.coordinator}"
        )
        if found.started_ms >= 0 and found.places:
            print(f"started {time_of(found.started_ms)}")
        if found.places:
            print()
            print_table(("TOPIC", "PARTITION"), found.places)


@app.command("find-hanging")
def find_hanging(
    topics: Annotated[list[str], typer.Option("--topic", "-t", help="Only in these topics; may be repeated.")] = [],  # noqa: B006 (typer copies it)
    json: Json = False,
    bootstrap: Bootstrap = BOOTSTRAP_DEFAULT,
) -> None:
    """Find transactions that no coordinator will ever end."""
    with connected(bootstrap) as client:
        found = Transactions(client).hanging(topics or None)
        if json:
            print_json([description(each) for each in found])
        elif found:
            print_table(HANGING_HEAD, [row(each) for each in found])
            print("End one with `twinlog txn abort --topic NAME --partition N --start-offset N`.")
        else:
            print("None hangs.")


@app.command()
def abort(
    name: Annotated[str, typer.Argument(help="A transactional id; its producer is fenced.", show_default=False)] = "",
    topic: Annotated[str, typer.Option("--topic", "-t", help="Where one hangs.", show_default=False)] = "",
    partition: Annotated[int, typer.Option("--partition", help="Where one hangs.", min=0)] = 0,
    start_offset: Annotated[
        int | None, typer.Option("--start-offset", metavar="N", help="Which one: where it begins.", min=0)
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
    bootstrap: Bootstrap = BOOTSTRAP_DEFAULT,
) -> None:
    """Abort what is open under a transactional id, or one that hangs in a partition."""
    if bool(name) == bool(topic) or bool(topic) != (start_offset is not None):
        fail(
            "abort wants a transactional id, or --topic, --partition and --start-offset",
            "`twinlog txn list --state Ongoing` and `twinlog txn find-hanging` name them.",
            code=2,
        )
    with connected(bootstrap) as client:
        transactions = Transactions(client)
        if name:
            transactions.describe(name)  # an id that nobody uses must not come to be by this
            confirm(f"Abort what is open under {name}, and turn its producer away?", yes)
            transactions.abort(name)
            print_json({"aborted": name}) if json else print(f"Aborted {name}.")
            return
        place = f"{topic}-{partition}"
        found = [
            each
            for each in transactions.open_in([topic])
            if (each.partition, each.start_offset) == (partition, start_offset)
        ]
        if not found:
            fail(f"no transaction is open in {place} from offset {start_offset} on")
        if transactions.is_known(found[0]):
            fail(
                f"the one in {place} does not hang: its coordinator will end it",
                "Abort it by its transactional id: `twinlog txn list --state Ongoing` names it.",
            )
        confirm(f"Abort what producer {found[0].producer_id} wrote to {place} from offset {start_offset} on?", yes)
        transactions.abort_in_partition(found[0])
        print_json({"aborted": description(found[0])}) if json else print(f"Aborted it in {place}.")


def confirm(question: str, yes: bool) -> None:
    if not yes and not typer.confirm(question):
        fail("nothing was aborted")


def row(each: OpenTransaction) -> tuple[object, ...]:
    return (each.topic, each.partition, each.start_offset, each.producer_id, each.epoch, time_of(each.last_ms))


def description(each: OpenTransaction) -> dict[str, Any]:
    return {
        "topic": each.topic,
        "partition": each.partition,
        "start_offset": each.start_offset,
        "producer_id": each.producer_id,
        "epoch": each.epoch,
        "last_write": time_of(each.last_ms),
    }


def time_of(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
