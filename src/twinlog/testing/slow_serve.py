"""``twinlog serve`` with a disk that a test can slow: ``python -m twinlog.testing.slow_serve DELAY-FILE WORDS...``.

The file holds milliseconds as text; none, or no file, is no delay. It is looked at before each sync.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from collections.abc import Sequence
from typing import Any

from twinlog.app.process import NodeProcess, raise_descriptor_limit, refuse_without_asserts
from twinlog.app.sources import choose
from twinlog.host import Disk, File, Host, SyncDone
from twinlog.host.local import run


class SlowDisk:
    """A disk whose syncs take longer by what the file says; everything else is the disk's own."""

    def __init__(self, host: Host, delay_file: str) -> None:
        self._disk = host.disk
        self._tasks = host.tasks
        self._delay_file = delay_file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._disk, name)

    def start_sync(self, files: Sequence[File], directories: Sequence[str], done: SyncDone, **more: Any) -> None:
        delay_ms = self._delay_ms()

        def later(fault: Exception | None) -> None:
            self._tasks.later(delay_ms, done, fault)

        self._disk.start_sync(files, directories, later if delay_ms else done, **more)

    def _delay_ms(self) -> float:
        try:
            with open(self._delay_file) as file:
                return float(file.read() or 0)
        except (OSError, ValueError):
            return 0.0


def slowed(host: Host, delay_file: str) -> Host:
    disk: Disk = SlowDisk(host, delay_file)
    return dataclasses.replace(host, disk=disk)


def main() -> int:
    refuse_without_asserts()
    parser = argparse.ArgumentParser()
    parser.add_argument("delay_file")
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--ready-file", required=True)
    parser.add_argument("--set", action="append", default=[])
    words = parser.parse_args()
    flags = {"--data-dir": words.data_dir}
    choice = choose(file=None, environment=os.environ, flags=flags, assignments=words.set)
    raise_descriptor_limit()
    delay_file = os.path.abspath(words.delay_file)

    async def serve(host: Host) -> int:
        slow = slowed(host, delay_file)
        process = NodeProcess(slow, choice.settings(), lambda node: None, words.ready_file)
        return await process.run(tuple(choice.warnings))

    return run(serve)


if __name__ == "__main__":
    sys.exit(main())
