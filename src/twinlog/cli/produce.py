"""``twinlog produce``: lines in, records out."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, BinaryIO, Final

import typer

from twinlog.cli.ending import fail
from twinlog.cli.options import BOOTSTRAP_DEFAULT, Bootstrap, connected, pairs
from twinlog.cli.progress import Bar
from twinlog.client import Producer
from twinlog.client.outbox import CODECS, Headers

READ_BYTES: Final = 256 * 1024
LINE_BYTES_MAX: Final = 64 * 1024 * 1024
ACKS: Final = {"all": -1, "1": 1, "0": 0}


def produce(
    topic: Annotated[str, typer.Argument(help="The topic; made when missing, if the broker allows.")],
    file: Annotated[Path | None, typer.Argument(help="Read from here instead of standard input.")] = None,
    key_separator: Annotated[
        str, typer.Option("--key-separator", "-k", metavar="TEXT", help="What stands between key and value in a line.")
    ] = "",
    header: Annotated[
        list[str], typer.Option("--header", "-H", metavar="NAME=VALUE", help="Put on every record.")
    ] = [],  # noqa: B006
    partition: Annotated[int, typer.Option("--partition", "-p", help="-1: by key, or spread.")] = -1,
    compression: Annotated[str, typer.Option("--compression", "-z", help=", ".join(CODECS) + ".")] = "none",
    acks: Annotated[str, typer.Option(help="Who confirms: all, 1 or 0.")] = "all",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No report, no progress.")] = False,
    bootstrap: Bootstrap = BOOTSTRAP_DEFAULT,
) -> None:
    """Write each line as a record. Ends with the input; everything is confirmed by then."""
    if compression not in CODECS:
        fail(f"--compression {compression}: it must be one of {', '.join(CODECS)}", code=2)
    if acks not in ACKS:
        fail(f"--acks {acks}: it must be one of {', '.join(ACKS)}", code=2)
    headers: Headers = [(name, value.encode()) for name, value in pairs(header, "--header").items()]
    separator = key_separator.encode()
    try:
        source = file.open("rb", buffering=0) if file else nullcontext(sys.stdin.buffer)
    except OSError as fault:
        fail(f"{file}: {fault.strerror}")
    size = file.stat().st_size if file else 0
    started = time.monotonic()
    # Whoever types sees what is sent without a bar.
    progress = Bar(
        "sending", total=size, in_bytes=True, wanted=not quiet and (file is not None or not sys.stdin.isatty())
    )
    with connected(bootstrap) as client, source as opened, progress as bar:
        producer = Producer(client, acks=ACKS[acks], codec=compression)
        for lines, idle in chunks_of_lines(opened):
            for line in lines:
                key, value = split_key(line, separator)
                producer.add(topic, value, key, headers=headers, partition=partition)
            if idle:
                producer.flush()  # somebody types, or a pipe pauses: what came must not wait for more
            bar.advance(sum(map(len, lines)) + len(lines))
        producer.flush()
    if not quiet:
        report(producer, time.monotonic() - started)


def split_key(line: bytes, separator: bytes) -> tuple[bytes | None, bytes]:
    if separator:
        key, found, value = line.partition(separator)
        if found:
            return key, value
    return None, line


def chunks_of_lines(source: BinaryIO) -> Iterator[tuple[list[bytes], bool]]:
    """Whole lines without their ends, as they come, and whether nothing more is there right now."""
    descriptor = source.fileno()
    rest = b""
    while data := os.read(descriptor, READ_BYTES):
        lines = (rest + data).split(b"\n")
        rest = lines.pop()
        if len(rest) > LINE_BYTES_MAX:
            fail(f"a line is longer than {LINE_BYTES_MAX} bytes")
        yield lines, not select.select([descriptor], [], [], 0)[0]
    if rest:
        yield [rest], True


def report(producer: Producer, seconds: float) -> None:
    rate = producer.confirmed_records / max(seconds, 1e-9)
    megabytes = producer.confirmed_bytes / 1e6
    print(
        f"{producer.confirmed_records:,} records, {megabytes:,.1f} MB in {seconds:.2f} s ({rate:,.0f} records/s)",
        file=sys.stderr,
    )
