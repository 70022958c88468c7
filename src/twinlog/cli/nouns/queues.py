"""``twinlog queue``."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from twinlog.cli.api import HTTP_DEFAULT, USER_DEFAULT, As, Vhost, Where, asking, path
from twinlog.cli.nouns.shared import (
    VHOST_DEFAULT,
    Arguments,
    Name,
    Yes,
    add_delete,
    add_describe,
    add_list,
    app_of,
    arguments_of,
    harmless,
    sure,
)
from twinlog.cli.options import Json, print_json
from twinlog.cli.progress import Bar

queue = app_of("queues")

MOVED_AT_A_TIME: Final = 1000

add_list(
    queue,
    "queues",
    "Show queues with what is in them.",
    (
        ("QUEUE", "name"),
        ("VHOST", "vhost"),
        ("TYPE", "type"),
        ("READY", "messages_ready"),
        ("UNACKED", "messages_unacknowledged"),
        ("CONSUMERS", "consumers"),
    ),
    "There are no queues yet: `twinlog queue create NAME` makes one.",
)
add_describe(
    queue,
    "queues",
    "Show one queue.",
    (
        "name",
        "vhost",
        "type",
        "durable",
        "auto_delete",
        "arguments",
        "policy",
        "messages_ready",
        "messages_unacknowledged",
        "message_bytes",
        "consumers",
    ),
)


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


add_delete(queue, "queues", "Delete a queue and its messages.", "Delete queue {} with its messages?")


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
    count: Annotated[int, typer.Option("--count", "-n", min=0, help="At most so many; 0: all that are ready.")] = 0,
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Move messages to another queue, or dead letters back."""
    destination = {"destination": to} if to else {}
    with asking(http, user) as api:
        ready = api.get(path("queues", vhost, name))["messages_ready"]
        left = wanted = min(count, ready) if count else ready
        moved = stayed = 0
        with Bar("moving", total=wanted) as bar:
            while left > 0 and not stayed:
                step = min(left, MOVED_AT_A_TIME)
                told = api.post(path("queues", vhost, name, "move"), {**destination, "count": step})
                moved, stayed = moved + told["moved"], stayed + told["stayed"]
                left = left - step if told["moved"] == step else 0
                bar.reach(moved)
        print(f"{moved} moved" + (f", {stayed} could not be stored there" if stayed else ""))
