"""What several commands share: where the broker is, name=value pairs, tables, and how errors end a command."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, Final

import typer

from twinlog.base.address import Address, parse_address
from twinlog.cli.door import SocketDoor
from twinlog.cli.ending import fail
from twinlog.client import BrokerError, Client, ClientError, ConnectionLost
from twinlog.wire.kafka.errors import ErrorCode

BOOTSTRAP_VARIABLE: Final = "TWINLOG_BOOTSTRAP"

Bootstrap = Annotated[
    str,
    typer.Option("--bootstrap", "-b", metavar="HOST:PORT", envvar=BOOTSTRAP_VARIABLE, help="Where a broker listens."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
BOOTSTRAP_DEFAULT: Final = "127.0.0.1:9092"

NEXT_STEPS: Final[dict[int, str]] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "See `twinlog topic list`, or make it with `twinlog topic create NAME`.",
    ErrorCode.TOPIC_ALREADY_EXISTS: "`twinlog topic describe NAME` shows it, `twinlog topic alter NAME` changes it.",
    ErrorCode.OFFSET_OUT_OF_RANGE: "See the offsets there are with `twinlog topic describe NAME`.",
    ErrorCode.INVALID_CONFIG: "See the configs of a topic with `twinlog topic describe NAME --configs`.",
    ErrorCode.INVALID_PARTITIONS: "A topic can only get more partitions than it has, not fewer.",
    ErrorCode.MESSAGE_TOO_LARGE: "Raise it with `twinlog topic alter NAME --config max.message.bytes=...`.",
    ErrorCode.GROUP_ID_NOT_FOUND: "See the groups there are with `twinlog group list`.",
    ErrorCode.NON_EMPTY_GROUP: "Stop its members first; `twinlog group describe NAME` names them.",
    ErrorCode.TRANSACTIONAL_ID_NOT_FOUND: "See the transactional ids there are with `twinlog txn list`.",
    ErrorCode.KAFKA_STORAGE_ERROR: "The broker's disk failed or is nearly full: `twinlog doctor` there says more.",
}


def addresses(text: str) -> list[Address]:
    try:
        return [parse_address(part) for part in text.split(",")]
    except ValueError as wrong:
        fail(f"--bootstrap: {wrong}", f"Write it like {BOOTSTRAP_DEFAULT}.", code=2)


@contextmanager
def connected(bootstrap: str, *, timeout_ms: int = 30_000) -> Iterator[Client]:
    """A client for the length of a command; what goes wrong with the broker ends the command with a next step."""
    where = addresses(bootstrap)
    try:
        with Client(where, SocketDoor(), client_id="twinlog-cli", timeout_ms=timeout_ms) as client:
            yield client
    except BrokerError as wrong:
        fail(str(wrong), NEXT_STEPS.get(wrong.code, ""))
    except ConnectionLost as wrong:
        fail(str(wrong), "Start a broker with `twinlog serve`, or name another by --bootstrap HOST:PORT.")
    except ClientError as wrong:
        fail(str(wrong), "Is the broker busy, or its disk full? Its log says more.")
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read our output has had enough. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def pairs(texts: Iterable[str], option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            fail(f"{option} {text}: write it as name=value", code=2)
        found[name] = value
    return found


def moment(text: str, option: str, is_what: str = "no time") -> int:
    """A time in milliseconds."""
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        fail(
            f"{option} {text}: it is {is_what}",
            "Write a time like 2026-01-31T12:00 (this machine's zone) or 2026-01-31T12:00Z.",
            code=2,
        )


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


def print_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Aligned columns, numbers to the right: the same in a terminal, a pipe and a mail."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(line[at]) for line in [list(head), *texts]) for at in range(len(head))]
    right = [bool(rows) and all(isinstance(row[at], int) for row in rows) for at in range(len(head))]
    for line in [list(head), *texts]:
        cells = [
            text.rjust(width) if to_right else text.ljust(width) for text, width, to_right in zip(line, widths, right)
        ]
        print("  ".join(cells).rstrip())
