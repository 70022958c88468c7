"""Progress of long work, for a person who looks: drawn on standard error, and only when it takes more than a second."""

from __future__ import annotations

import sys
import time
from typing import Any, Final

DRAWN_AFTER_S: Final = 1.0


class Bar:
    """``with Bar("moving", total=500) as bar: bar.advance(10)``. ``total`` 0: nobody knows."""

    def __init__(self, told: str, *, total: int = 0, in_bytes: bool = False, wanted: bool = True) -> None:
        self._told = told
        self._total = total
        self._in_bytes = in_bytes
        self._wanted = wanted and sys.stderr.isatty()
        self._began_s = time.monotonic()
        self._done = 0
        self._bar: Any = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        self._wanted = False
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def advance(self, more: int) -> None:
        self.reach(self._done + more)

    def reach(self, done: int, total: int = 0) -> None:
        self._done = done
        self._total = total or self._total
        if not self._wanted:
            return
        if self._bar is None and time.monotonic() - self._began_s > DRAWN_AFTER_S:
            self._bar = self._begin()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done, total=self._total or None)

    def _begin(self) -> Any:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        amounts = (DownloadColumn(), TransferSpeedColumn()) if self._in_bytes else (MofNCompleteColumn(),)
        words = TextColumn("{task.description}")
        bar = Progress(
            words, BarColumn(), *amounts, TimeRemainingColumn(), console=Console(stderr=True), transient=True
        )
        bar.add_task(self._told, total=self._total or None)
        bar.start()
        return bar
