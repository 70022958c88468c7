"""``twinlog log``: looks at the files of a log."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from twinlog.base import HostFault
from twinlog.cli.ending import fail
from twinlog.cli.options import Json, print_json
from twinlog.cli.progress import Bar
from twinlog.host.local.disk import LocalDisk
from twinlog.storage.inspection import SeenBatch, SegmentReading

app = typer.Typer(help="Look at the files of a log.", no_args_is_help=True)

SHOWN_BYTES = 60


@app.callback()
def logs() -> None:
    """Look at the files of a log. Nothing is changed, and the node may be running."""


@app.command()
def inspect(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Segment files.", show_default=False)],
    batches: Annotated[bool, typer.Option("--batches", help="A line for each batch.")] = False,
    records: Annotated[bool, typer.Option("--records", help="And one for each record.")] = False,
    json: Json = False,
) -> None:
    """Check segment files batch by batch, with their indexes; print what is in them."""
    told = []
    damaged = False
    for path in files:
        try:
            reading = SegmentReading(LocalDisk(None), str(path))  # type: ignore[arg-type]  # it syncs nothing
            lines: list[dict[str, Any]] = []
            with Bar(path.name, total=reading.size, in_bytes=True, wanted=json or not (batches or records)) as bar:
                for seen in reading:
                    bar.reach(seen.position)
                    if json and (batches or records):
                        lines.append(batch_facts(seen, records))
                    elif batches or records:
                        show_batch(seen, records)
        except (HostFault, ValueError) as wrong:
            fail(str(wrong), "Name a file like logs/<topic id>-0/00000000000000000000.log.")
        damaged |= bool(reading.faults)
        summary = {
            "file": str(path),
            "size": reading.size,
            "first_offset": reading.segment.offset_base,
            "end_offset": reading.segment.offset_end,
            "batches": reading.batches,
            "records": reading.records,
            "compacted": reading.segment.is_compacted,
            "faults": reading.faults,
        }
        if json:
            told.append(summary | ({"content": lines} if lines else {}))
            continue
        print(
            f"{path}: offsets {summary['first_offset']} to {summary['end_offset']}, {reading.batches} batches, "
            f"{reading.records} records, {reading.size} bytes{', compacted' if summary['compacted'] else ''}"
        )
        for fault in reading.faults:
            print(f"  WRONG  {fault}")
    if json:
        print_json(told)
    if damaged:
        fail("a segment is damaged", "Keep the files; `twinlog doctor` says what a start would make of them.")


def batch_facts(seen: SeenBatch, records: bool) -> dict[str, Any]:
    _, size, base, delta, count, _, _, max_timestamp, producer, epoch, sequence, leader_epoch = seen.batch
    facts: dict[str, Any] = {
        "position": seen.position,
        "size": size,
        "first_offset": base,
        "last_offset": base + delta,
        "records": count,
        "kind": seen.kind,
        "max_timestamp": max_timestamp,
        "leader_epoch": leader_epoch,
    }
    if producer >= 0:
        facts |= {"producer": producer, "producer_epoch": epoch, "sequence": sequence}
    if records:
        facts["content"] = [
            {"offset": offset, "timestamp": timestamp, "key": text(key), "value": text(value)}
            for offset, timestamp, key, value, _ in seen.records()
        ]
    return facts


def show_batch(seen: SeenBatch, records: bool) -> None:
    facts = batch_facts(seen, False)
    producer = f"  producer {facts['producer']} sequence {facts['sequence']}" if "producer" in facts else ""
    print(
        f"{facts['position']:>12}  {facts['first_offset']}-{facts['last_offset']}  {facts['records']} records  "
        f"{facts['size']} bytes  {facts['kind']}  {moment(facts['max_timestamp'])}{producer}"
    )
    if records:
        for offset, timestamp, key, value, headers in seen.records():
            shown = "".join(f"  {name}={text(each)}" for name, each in headers)
            print(f"{'':>12}  {offset}  {moment(timestamp)}  {text(key)}: {text(value)}{shown}")


def text(data: bytes | None) -> str | None:
    if data is None:
        return None
    shown = data[:SHOWN_BYTES].decode("utf-8", "backslashreplace")
    shown = shown if shown.isprintable() else ascii(shown)[1:-1]
    return shown if len(data) <= SHOWN_BYTES else f"{shown}... ({len(data)} bytes)"


def moment(timestamp_ms: int) -> str:
    try:
        return datetime.fromtimestamp(timestamp_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    except (OverflowError, ValueError, OSError):
        return str(timestamp_ms)
