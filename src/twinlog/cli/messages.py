"""``twinlog publish``, ``twinlog get`` and ``twinlog consume-queue``: messages over AMQP."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from twinlog.cli.amqp_options import AMQP_DEFAULT, Amqp, amqp_client
from twinlog.cli.api import USER_DEFAULT, As, Vhost
from twinlog.cli.ending import fail
from twinlog.cli.nouns.shared import arguments_of
from twinlog.cli.options import Json, print_json
from twinlog.client.amqp_core import Content
from twinlog.wire.amqp import Properties

PERSISTENT = 2
Queue = Annotated[str, typer.Argument(help="The queue.", show_default=False)]


def publish(
    body: Annotated[str, typer.Argument(help="The message; - takes each line of standard input as one.")] = "-",
    key: Annotated[str, typer.Option("--key", "-k", help="The routing key; for the default exchange: a queue.")] = "",
    exchange: Annotated[str, typer.Option("--exchange", "-e", help="The exchange.")] = "",
    header: Annotated[list[str], typer.Option("--header", "-H", metavar="NAME=VALUE", help="A header.")] = [],  # noqa: B006
    content_type: Annotated[str, typer.Option("--content-type", help="Like application/json.")] = "",
    priority: Annotated[int, typer.Option("--priority", help="0 to 255.", min=0, max=255)] = 0,
    expires_ms: Annotated[int, typer.Option("--expires-ms", help="Gone after that time; 0 is never.", min=0)] = 0,
    transient: Annotated[bool, typer.Option("--transient", help="Need not survive a restart.")] = False,
    amqp: Amqp = AMQP_DEFAULT,
    user: As = USER_DEFAULT,
    vhost: Vhost = "/",
) -> None:
    """Publish messages; ends when the broker has them on stable storage."""
    properties = Properties(
        content_type=content_type or None,
        headers=arguments_of(header) or None,
        delivery_mode=None if transient else PERSISTENT,
        priority=priority or None,
        expiration=str(expires_ms) if expires_ms else None,
    )
    count = 0
    with amqp_client(amqp, user, vhost) as client:
        bodies = (line.rstrip(b"\n") for line in sys.stdin.buffer) if body == "-" else iter([body.encode()])
        for each in bodies:
            client.publish(exchange, key, each, properties)
            count += 1
    print(f"Published {count} message{'' if count == 1 else 's'}.")


def get(
    queue: Queue,
    count: Annotated[int, typer.Option("--count", "-n", help="At most so many.", min=1)] = 1,
    keep: Annotated[bool, typer.Option("--keep", help="Put them back, marked as redelivered.")] = False,
    json: Json = False,
    amqp: Amqp = AMQP_DEFAULT,
    user: As = USER_DEFAULT,
    vhost: Vhost = "/",
) -> None:
    """Take messages from a queue and print them."""
    with amqp_client(amqp, user, vhost) as client:
        taken: list[Content] = []
        while len(taken) < count and (content := client.get(queue)) is not None:
            taken.append(content)
        if json:
            print_json([described(content) for content in taken])
        else:
            for content in taken:
                show(content)
        sys.stdout.flush()
        for content in taken:
            if keep:
                client.requeue(content.method.delivery_tag)
            else:
                client.ack(content.method.delivery_tag)
    if not taken and not json:
        fail(f"queue {queue} is empty")


def consume_queue(
    queue: Queue,
    count: Annotated[int, typer.Option("--count", "-n", help="End after so many; 0 is never.", min=0)] = 0,
    wait_ms: Annotated[int, typer.Option("--wait-ms", help="End when nothing came for so long.", min=1)] = 3_600_000,
    json: Json = False,
    amqp: Amqp = AMQP_DEFAULT,
    user: As = USER_DEFAULT,
    vhost: Vhost = "/",
) -> None:
    """Print what comes into a queue, and acknowledge it."""
    seen = 0
    with amqp_client(amqp, user, vhost, timeout_ms=wait_ms) as client:
        for content in client.consume(queue, prefetch=min(count, 100) if count else 100):
            if json:
                print_json(described(content))
            else:
                show(content)
            sys.stdout.flush()
            client.ack(content.method.delivery_tag)
            seen += 1
            if seen == count:
                break


def show(content: Content) -> None:
    sys.stdout.buffer.write(content.body + b"\n")


def described(content: Content) -> dict[str, Any]:
    properties = {
        name: getattr(content.properties, name)
        for name in Properties.__slots__
        if getattr(content.properties, name) is not None
    }
    try:
        body, encoding = content.body.decode(), "string"
    except UnicodeDecodeError:
        body, encoding = content.body.hex(), "hex"
    return {
        "exchange": content.method.exchange,
        "routing_key": content.method.routing_key,
        "redelivered": content.method.redelivered,
        "properties": {name: _plain(value) for name, value in properties.items()},
        "body": body,
        "encoding": encoding,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
