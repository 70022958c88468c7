"""``twinlog serve`` on a machine that a test can turn: ``python -m twinlog.testing.serve DESCRIPTOR WORDS...``.

The descriptor is one end of a socket pair. Each line that comes in is a JSON object, and is answered by one:
``{"disk_delay_ms": 50}`` slows the disk, ``{"advance_ms": 3600000}`` moves the broker's time on and answers when what
was due has run. It lives as long as the other end does: a test that dies takes its broker along.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import sys

from twinlog.app.process import NodeProcess, raise_descriptor_limit, refuse_without_asserts
from twinlog.app.sources import choose
from twinlog.host import Host
from twinlog.host.local import run
from twinlog.testing.machine import TurnableMachine


async def obey(machine: TurnableMachine, descriptor: int) -> None:
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=descriptor))
    while line := await reader.readline():
        asked = json.loads(line)
        if "disk_delay_ms" in asked:
            machine.disk.delay_ms = float(asked["disk_delay_ms"])
        now_ms = await machine.advance(asked.get("advance_ms", 0))
        writer.write(json.dumps({"now_ms": now_ms}).encode() + b"\n")
        await writer.drain()
    os._exit(1)


def main() -> int:
    refuse_without_asserts()
    parser = argparse.ArgumentParser()
    parser.add_argument("descriptor", type=int)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--ready-file", required=True)
    parser.add_argument("--set", action="append", default=[])
    words = parser.parse_args()
    flags = {"--data-dir": words.data_dir}
    choice = choose(file=None, environment=os.environ, flags=flags, assignments=words.set)
    raise_descriptor_limit()

    async def serve(host: Host) -> int:
        machine = TurnableMachine(host)
        host.tasks.start(obey(machine, words.descriptor), "obey the test")
        process = NodeProcess(machine.host, choice.settings(), lambda node: None, words.ready_file)
        return await process.run(tuple(choice.warnings))

    return run(serve)


if __name__ == "__main__":
    sys.exit(main())
