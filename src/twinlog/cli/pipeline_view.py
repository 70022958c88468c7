"""A running pipeline in the terminal: a table that stays in place, or a line a batch where nobody looks."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from twinlog.cli.nouns.shared import harmless


class Lines:
    """A line for every batch of every query."""

    def __init__(self) -> None:
        self._seen: dict[str, Any] = {}
        self._totals: dict[str, tuple[int, int]] = {}
        self._main = ""

    @property
    def rows_in(self) -> int:
        return self._totals.get(self._main, (0, 0))[0]

    @property
    def rows_out(self) -> int:
        return sum(written for _, written in self._totals.values())

    def show(self, status: Any) -> None:
        self._main = status.name
        for query, now in status.progress.items():
            if self._seen.get(query) != now:
                self._seen[query] = now
                read, written = self._totals.get(query, (0, 0))
                self._totals[query] = (read + now.rows_in, written + now.rows_out)
                self.batch(query, now)

    def batch(self, query: str, now: Any) -> None:
        self.say(
            f"{query}: batch {now.batch}, {now.rows_in} rows in {now.batch_ms} ms ({now.rows_a_second:,.0f} rows/s), "
            f"{now.rows_out} written, lag {now.lag_total}"
        )

    def say(self, text: str) -> None:
        print(text, flush=True)

    def close(self) -> None: ...


class Board(Lines):
    """The same as a table that is drawn over and over."""

    def __init__(self, name: str) -> None:
        from rich.live import Live

        super().__init__()
        self._began_s = time.monotonic()
        self._live = Live(get_renderable=self.draw, refresh_per_second=2, transient=False)
        self._status: Any = None
        self._text = name
        self._live.start()

    def show(self, status: Any) -> None:
        self._status = status
        super().show(status)

    def batch(self, query: str, now: Any) -> None: ...

    def say(self, text: str) -> None:
        self._text = text

    def close(self) -> None:
        self._live.stop()

    def draw(self) -> Any:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        status = self._status
        if status is None:
            return Text(f"{self._text} ({time.monotonic() - self._began_s:.0f} s)")
        table = Table(box=None, pad_edge=False)
        for name in ("QUERY", "BATCH", "ROWS/S", "LAG", "BATCH TIME", "READ", "WRITTEN"):
            table.add_column(name, justify="left" if name == "QUERY" else "right")
        for query, now in status.progress.items():
            read, written = self._totals.get(query, (0, 0))
            cells = [str(now.batch), f"{now.rows_a_second:,.0f}", f"{now.lag_total:,}", f"{now.batch_ms:,} ms"]
            table.add_row(harmless(query), *cells, f"{read:,}", f"{written:,}")
        head = (
            f"{status.name}: {status.state} on {status.master or 'Spark'} for {time.monotonic() - self._began_s:.0f} s"
        )
        parts: list[Any] = [Text(head, style="bold"), *([table] if status.progress else [])]
        if status.error:
            parts.append(Text(f"last error: {harmless(status.error)}", style="red"))
        return Group(*parts)


@contextmanager
def pipeline_view(name: str) -> Iterator[Lines]:
    view = Board(name) if sys.stdout.isatty() else Lines()
    try:
        yield view
    finally:
        view.close()
