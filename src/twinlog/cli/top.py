"""``twinlog top``: what the broker does, live in the terminal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Any, Final

import typer

from twinlog.cli.api import HTTP_DEFAULT, USER_DEFAULT, Api, As, Where, asking, path
from twinlog.cli.nouns.shared import harmless
from twinlog.cli.options import Json, print_json

ROWS: Final = 12


def top(
    every: Annotated[float, typer.Option("--every", min=0.5, help="Seconds between two looks.")] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Look once, and end.")] = False,
    json: Json = False,
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Show what the broker does, live: rates, busy topics, deep queues."""
    with asking(http, user) as api:
        if json:
            print_json(look(api))
            return
        if once:
            print("\n".join(lines_of(look(api))))
            return
        from rich.live import Live
        from rich.text import Text

        with Live(Text(""), screen=True, auto_refresh=False) as live:
            while True:
                live.update(Text("\n".join(lines_of(look(api)))), refresh=True)
                time.sleep(every)


def look(api: Api) -> dict[str, Any]:
    busiest = "?page=1&page_size=12&sort_reverse=true&sort="
    return {
        "overview": api.get(path("overview")),
        "topics": api.get(path("topics") + busiest + "records_details.rate")["items"],
        "queues": api.get(path("queues") + busiest + "messages")["items"],
    }


def lines_of(seen: dict[str, Any]) -> list[str]:
    overview = seen["overview"]
    own = overview["twinlog"]
    rates, totals = own["rates"], own["totals"]
    head = [
        f"Twinlog {own['version']} on {overview['node']}, up {duration(own['uptime_ms'])}"
        + (f", ALARMS: {', '.join(each['resource'] for each in own['alarms'])}" if own["alarms"] else ""),
        f"records in {rate(rates.get('kafka_records'))}   bytes in {size(rates.get('kafka_bytes', 0))}/s   "
        f"published {rate(rates.get('publish'))}   delivered {rate(rates.get('deliver_get'))}",
        f"topics {own['topics']}   partitions {own['partitions']}   groups {own['groups']}   "
        f"queues {overview['object_totals']['queues']}   "
        f"connections {own['kafka_connections'] + overview['object_totals']['connections']}",
        f"memory {size(totals.get('resident_bytes', 0))}   logs {size(totals.get('log_bytes', 0))}   "
        f"cpu {rates.get('cpu_ms', 0) / 10:.0f} %   syncs {rate(rates.get('sync_rounds'))}   "
        f"loop late {own['stall_us'] / 1000:.1f} ms",
        "",
    ]
    topics = [
        (harmless(each["name"]), rate(each["records_details"]["rate"]), str(each["records"]), size(each["size_bytes"]))
        for each in seen["topics"][:ROWS]
    ]
    queues = [
        (
            harmless(each["name"]),
            str(each["messages_ready"]),
            str(each["messages_unacknowledged"]),
            str(each["consumers"]),
        )
        for each in seen["queues"][:ROWS]
    ]
    return [
        *head,
        *columns(("TOPIC", "IN", "RECORDS", "SIZE"), topics),
        "",
        *columns(("QUEUE", "READY", "UNACKED", "CONSUMERS"), queues),
    ]


def columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(line[at]) for line in [head, *rows]) for at in range(len(head))]
    return [
        "  ".join(text.rjust(widths[at]) if at else text.ljust(widths[at])[:40] for at, text in enumerate(line))
        for line in [head, *rows]
    ]


def rate(value: float | None) -> str:
    return f"{value or 0:.0f}/s"


def size(value: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def duration(ms: int) -> str:
    seconds = ms // 1000
    days, seconds = divmod(seconds, 86_400)
    hours, seconds = divmod(seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    return f"{days} d {hours} h" if days else f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s"
