"""What the tidy tests refuse, each with what to use instead. A rule is data; the tests read the syntax tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# Rooms that only decide: nothing of the machine may be named in them. ``core`` stands for every folder of that name.
PURE: Final = ("base", "wire", "kafka", "amqp", "client")
# Rooms that may open the real machine, or are one.
MACHINE: Final = ("host/local", "app", "cli", "testing", "sim")

BY_HOST: Final = "state a port, or take host.Tasks / host.Network"
BANNED_MODULES_IN_PURE: Final = {
    "asyncio": BY_HOST,
    "uvloop": BY_HOST,
    "selectors": BY_HOST,
    "socket": "host.Network",
    "ssl": "host.Network",
    "os": "host.Disk",
    "io": "bytes, or host.Disk",
    "pathlib": "strings and host.Disk",
    "shutil": "host.Disk",
    "tempfile": "host.Disk",
    "subprocess": "nothing: a core starts no process",
    "time": "a now_ms argument",
    "datetime": "whole milliseconds in a now_ms argument",
    "random": "host.Chance, forked for the component",
    "secrets": "host.Chance.bytes",
    "uuid": "host.Chance.bytes(16)",
    "threading": "nothing: a core is called from one task",
    "concurrent": "host.Tasks.blocking",
    "multiprocessing": "nothing: more cores are more nodes",
    "queue": "collections.deque with a limit",
    "logging": "return what happened, or take base.logs.Log",
    "structlog": "return what happened, or take base.logs.Log",
}

# Names as they are called, after following the module's imports; banned outside MACHINE.
BANNED_CALLS: Final = {
    "time.time": "host.clock.now_ms()",
    "time.time_ns": "host.clock.now_ms()",
    "time.monotonic": "host.clock.monotonic_us()",
    "time.monotonic_ns": "host.clock.monotonic_us()",
    "time.perf_counter": "host.clock.monotonic_us()",
    "time.perf_counter_ns": "host.clock.monotonic_us()",
    "time.sleep": "host.tasks.later",
    "datetime.datetime.now": "host.clock.now_ms()",
    "datetime.datetime.utcnow": "host.clock.now_ms()",
    "datetime.date.today": "host.clock.now_ms()",
    "random.*": "host.chance",
    "secrets.*": "host.chance.bytes",
    "uuid.uuid1": "host.chance.bytes(16)",
    "uuid.uuid4": "host.chance.bytes(16)",
    "os.urandom": "host.chance.bytes",
    "os.getenv": "app.settings",
    "os.environ.get": "app.settings",
    "os.fsync": "storage.Flusher, or host.disk",
    "os.fdatasync": "storage.Flusher, or host.disk",
    "asyncio.sleep": "host.tasks.later",
    "asyncio.create_task": "host.tasks.start: every task has an owner and a name",
    "asyncio.ensure_future": "host.tasks.start: every task has an owner and a name",
    "asyncio.get_event_loop": "host.tasks",
    "asyncio.wait_for": "host.tasks.later: a timer that completes the wait",
    "threading.Thread": "host.tasks.blocking",
    "open": "host.disk.open",
    "print": "base.logs.Log",
    "input": "nothing: a broker asks nobody",
    "eval": "nothing",
    "exec": "nothing",
    "breakpoint": "nothing: remove it",
    "id": "an explicit number: addresses differ from run to run",
    "hash": "zlib.crc32 or murmur2: hash() differs from process to process",
}

# Files that may be longer than LINES_MAX, with the reason. An entry that is no longer needed fails the test.
LINES_MAX: Final = 800
LONG_FILES: Final[dict[str, str]] = {}

GENERATED_MARK: Final = "by codegen/"


@dataclass(frozen=True)
class Finding:
    """A line that breaks a rule."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"
