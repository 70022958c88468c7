"""What the commands that move messages over AMQP share: where the broker is, and how errors end a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

import typer

from twinlog.base.address import parse_address
from twinlog.cli.door import SocketDoor
from twinlog.cli.ending import fail
from twinlog.client import ClientError, ConnectionLost
from twinlog.client.amqp import AmqpClient, AmqpRefused

AMQP_DEFAULT: Final = "127.0.0.1:5672"
Amqp = Annotated[
    str, typer.Option("--amqp", metavar="HOST:PORT", envvar="TWINLOG_AMQP", help="Where the broker speaks AMQP.")
]
HINTS: Final[dict[int, str]] = {
    403: "Name the right user by --user NAME:PASSWORD; `twinlog permission list` shows what each may do.",
    404: "`twinlog queue list` and `twinlog exchange list` name what there is.",
    405: "It belongs to another connection as long as that is open.",
    530: "`twinlog vhost list` names the vhosts, `twinlog permission list` who may enter them.",
}


@contextmanager
def amqp_client(amqp: str, user: str, vhost: str, *, timeout_ms: int = 30_000) -> Iterator[AmqpClient]:
    """A connection for the length of a command; what goes wrong ends the command with a next step."""
    try:
        address = parse_address(amqp)
    except ValueError as wrong:
        fail(f"--amqp: {wrong}", f"Write it like {AMQP_DEFAULT}.", code=2)
    name, colon, password = user.partition(":")
    if not colon:
        fail(f"--user {user}: write it as NAME:PASSWORD", code=2)
    try:
        with AmqpClient(
            address, SocketDoor(), user=name, password=password, vhost=vhost, timeout_ms=timeout_ms
        ) as client:
            yield client
    except AmqpRefused as refused:
        fail(str(refused), HINTS.get(refused.code, ""))
    except ConnectionLost as lost:
        fail(str(lost), "Start a broker with `twinlog serve`, or name another by --amqp HOST:PORT.")
    except ClientError as wrong:
        fail(str(wrong))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
