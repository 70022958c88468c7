"""``twinlog consume``: records in, text out."""

from __future__ import annotations

import base64
import json
import sys
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import typer

from twinlog.cli.ending import fail
from twinlog.cli.options import BOOTSTRAP_DEFAULT, Bootstrap, connected, moment
from twinlog.cli.progress import Bar
from twinlog.client import Client, Consumer, Membership, Record
from twinlog.client.blocking import EARLIEST, LATEST

COMMIT_EVERY_S: Final = 1.0
VALUE_ONLY: Final = r"%s\n"
ESCAPES: Final = {"n": b"\n", "t": b"\t", "r": b"\r", "0": b"\0", "\\": b"\\"}


def consume(
    topic: Annotated[str, typer.Argument(help="The topic.")],
    start: Annotated[
        str,
        typer.Option(
            "--from",
            "-f",
            metavar="WHERE",
            help="beginning, end, an offset, -N (the last N), or a time like 2026-01-31T12:00.",
        ),
    ] = "beginning",
    partitions: Annotated[str, typer.Option("--partitions", "-p", metavar="0,1,...", help="Only these.")] = "",
    count: Annotated[int, typer.Option("--count", "-n", help="Stop after so many records; 0: do not stop.", min=0)] = 0,
    exit_at_end: Annotated[bool, typer.Option("--exit", "-e", help="Stop at what is now the end.")] = False,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            "-o",
            help=r"%s value, %k key, %t topic, %p partition, %o offset, %T time in ms, %h headers, \n \t.",
        ),
    ] = VALUE_ONLY,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a record.")] = False,
    committed: Annotated[bool, typer.Option("--committed", help="Only records of finished transactions.")] = False,
    group: Annotated[
        str, typer.Option("--group", "-g", help="Share the topic with this group, and commit what was printed.")
    ] = "",
    bootstrap: Bootstrap = BOOTSTRAP_DEFAULT,
) -> None:
    """Print records as they come. Ctrl-C stops."""
    # A terminal obeys control characters, and records come from strangers; a pipe gets every byte as it is.
    render = json_line if as_json else formatter(format, safe=sys.stdout.isatty())
    if group:
        if partitions or start not in ("beginning", "end"):
            fail(
                "a group's members are assigned their partitions, and go on where the group is",
                "With --group, --from may be beginning or end: for what the group has not read yet.",
                code=2,
            )
        with connected(bootstrap) as client:
            policy = EARLIEST if start == "beginning" else LATEST
            member = Membership(client, group, topic, str(uuid.uuid4()), start=policy, committed_only=committed)
            run_member(member, count, exit_at_end, render)
        return
    with connected(bootstrap) as client:
        known = [each.index for each in client.topic(topic).partitions]
        chosen = chosen_partitions(partitions, known)
        starts = starting_offsets(client, topic, chosen, start)
        ends = client.offsets(topic, chosen, LATEST) if exit_at_end else {}
        consumer = Consumer(client, committed_only=committed)
        consumer.assign(topic, starts)
        try:
            with bar_for(count or sum(max(0, ends[each] - starts[each]) for each in ends)) as bar:
                run(consumer, topic, ends, count, render, bar)
        except KeyboardInterrupt:
            sys.stdout.flush()


def bar_for(total: int) -> Bar:
    """Only where the records go elsewhere, and there is an end to them."""
    return Bar("reading", total=total, wanted=bool(total) and not sys.stdout.isatty())


def run(
    consumer: Consumer, topic: str, ends: dict[int, int], count: int, render: Callable[[Record], bytes], bar: Bar
) -> None:
    """Prints until ``count`` records were printed or every partition reached its end; without both, for ever."""
    output = sys.stdout.buffer
    printed = 0
    stop_at_ends(consumer, topic, ends)
    while consumer.positions:
        for record in consumer.poll():
            if ends and record.offset >= ends[record.partition]:
                continue
            output.write(render(record))
            printed += 1
            if printed == count:
                output.flush()
                return
        output.flush()
        bar.reach(printed)
        stop_at_ends(consumer, topic, ends)


def run_member(member: Membership, count: int, exit_at_end: bool, render: Callable[[Record], bytes]) -> None:
    """The same as a member of a group; what was printed is committed once a second and at the end."""
    output = sys.stdout.buffer
    printed = 0
    commit_at = time.monotonic() + COMMIT_EVERY_S
    try:
        while not (count and printed == count) and not (exit_at_end and member.is_at_end):
            for record in member.poll():
                output.write(render(record))
                member.done(record)
                printed += 1
                if printed == count:
                    break
            output.flush()
            if time.monotonic() >= commit_at:
                member.commit()
                commit_at = time.monotonic() + COMMIT_EVERY_S
    except KeyboardInterrupt:
        output.flush()
    member.leave()


def stop_at_ends(consumer: Consumer, topic: str, ends: dict[int, int]) -> None:
    for partition, end in ends.items():
        if consumer.positions.get((topic, partition), -1) >= end:
            consumer.stop(topic, partition)


def chosen_partitions(text: str, known: list[int]) -> list[int]:
    if not text:
        return known
    try:
        chosen = sorted({int(part) for part in text.split(",")})
    except ValueError:
        fail(f"--partitions {text}: write numbers with commas between, like 0,2", code=2)
    for partition in chosen:
        if partition not in known:
            fail(f"--partitions {text}: the topic has the partitions 0 to {len(known) - 1}", code=2)
    return chosen


def starting_offsets(client: Client, topic: str, partitions: list[int], start: str) -> dict[int, int]:
    """The first offset to read, for each partition."""
    if start == "beginning":
        return client.offsets(topic, partitions, EARLIEST)
    if start == "end":
        return client.offsets(topic, partitions, LATEST)
    if start.isdecimal():
        return dict.fromkeys(partitions, int(start))
    if start.startswith("-") and start[1:].isdecimal():
        first = client.offsets(topic, partitions, EARLIEST)
        ends = client.offsets(topic, partitions, LATEST)
        return {partition: max(first[partition], ends[partition] - int(start[1:])) for partition in partitions}
    return client.offsets(
        topic, partitions, moment(start, "--from", "neither beginning, end, an offset, -N nor a time")
    )


def formatter(text: str, *, safe: bool) -> Callable[[Record], bytes]:
    """A function that prints a record the way ``text`` says; ``safe`` takes control characters out of the data."""
    fields: dict[str, Callable[[Record], bytes]] = {
        "s": lambda record: record.value or b"",
        "k": lambda record: record.key or b"",
        "t": lambda record: record.topic.encode(),
        "p": lambda record: str(record.partition).encode(),
        "o": lambda record: str(record.offset).encode(),
        "T": lambda record: str(record.timestamp_ms).encode(),
        "h": lambda record: b",".join(name.encode() + b"=" + (value or b"") for name, value in record.headers),
        "%": lambda record: b"%",
    }
    parts: list[bytes | Callable[[Record], bytes]] = []
    at = 0
    while at < len(text):
        sign, after = text[at], text[at + 1 : at + 2]
        if sign == "%" and after in fields:
            parts.append(fields[after])
        elif sign == "%":
            fail(f"--format {text}: %{after} is no field", "See `twinlog consume --help`.", code=2)
        elif sign == "\\" and after in ESCAPES:
            parts.append(ESCAPES[after])
        else:
            parts.append(sign.encode())
            at -= 1
        at += 2

    def render(record: Record) -> bytes:
        shown = [
            part if isinstance(part, bytes) else (harmless(part(record)) if safe else part(record)) for part in parts
        ]
        return b"".join(shown)

    return render


def harmless(data: bytes) -> bytes:
    text = data.decode(errors="backslashreplace")
    if text.isprintable():
        return data
    return "".join(
        sign if sign.isprintable() or sign in "\t\n" else sign.encode("unicode_escape").decode() for sign in text
    ).encode()


def json_line(record: Record) -> bytes:
    moment = datetime.fromtimestamp(record.timestamp_ms / 1000, UTC).isoformat(timespec="milliseconds")
    told: dict[str, Any] = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": moment,
        **as_text("key", record.key),
        **as_text("value", record.value),
    }
    if record.headers:
        told["headers"] = [{"name": name, **as_text("value", value)} for name, value in record.headers]
    return json.dumps(told, ensure_ascii=False).encode() + b"\n"


def as_text(name: str, data: bytes | None) -> dict[str, str | None]:
    """Text where it is text, else base64 under another name, so that nothing is lost."""
    if data is None:
        return {name: None}
    try:
        return {name: data.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(data).decode()}
