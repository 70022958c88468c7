"""The node's log lines on standard error.

A line is a fixed event and its fields. Whatever a peer can put into a field is escaped (no control
character, line break or text-direction sign reaches the terminal), shortened, and limited in number per peer; what
the limit leaves out is counted and told with the next line about that peer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from twinlog.app.settings import LogLineSettings
from twinlog.base import TwinlogError
from twinlog.host import Clock

LEVELS: Final = {"debug": 0, "info": 1, "warning": 2, "error": 3}
FIELD_CHARACTERS_MAX: Final = 300
LINE_CHARACTERS_MAX: Final = 1024
WINDOW_MS: Final = 10_000
PEERS_MAX: Final = 1024


class LineLog:
    """A ``base.logs.Log`` that writes lines through ``write`` (one call a line, ending in a line feed)."""

    def __init__(self, clock: Clock, write: Callable[[str], object], settings: LogLineSettings) -> None:
        self._clock = clock
        self._write = write
        self._settings = settings
        self._level_least = LEVELS[settings.level]
        self._render = as_json if settings.format == "json" else as_text
        self._peers: dict[str, list[int]] = {}  # peer -> [start of its window, lines in it, lines left out]

    def debug(self, event: str, /, **fields: object) -> None:
        self._line("debug", event, fields)

    def info(self, event: str, /, **fields: object) -> None:
        self._line("info", event, fields)

    def warning(self, event: str, /, **fields: object) -> None:
        self._line("warning", event, fields)

    def error(self, event: str, /, **fields: object) -> None:
        self._line("error", event, fields)

    def _line(self, level: str, event: str, fields: dict[str, object]) -> None:
        if LEVELS[level] < self._level_least:
            return
        now_ms = self._clock.now_ms()
        peer = fields.get("peer")
        if peer is not None:
            left_out = self._take_turn(peer, now_ms)
            if left_out is None:
                return
            if left_out:
                fields["lines_left_out"] = left_out
        self._write(self._render(now_ms, level, event, {name: plain(value) for name, value in fields.items()}))

    def _take_turn(self, peer: object, now_ms: int) -> int | None:
        """None: this line is one too many. Else how many lines were left out before it."""
        name = str(peer[0] if isinstance(peer, tuple) else peer)  # by address: a new port is the same peer
        turn = self._peers.get(name)
        if turn is None:
            if len(self._peers) >= PEERS_MAX:
                self._peers.pop(next(iter(self._peers)))
            self._peers[name] = [now_ms, 1, 0]
            return 0
        if not 0 <= now_ms - turn[0] < WINDOW_MS:
            left_out = turn[2]
            turn[:] = [now_ms, 1, 0]
            return left_out
        turn[1] += 1
        if turn[1] > self._settings.peer_lines_max:
            turn[2] += 1
            return None
        return 0


def plain(value: object) -> str | int | float | bool | None:
    """A field's value as one harmless, short piece of text; numbers stay numbers."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        text = bytes(value[:FIELD_CHARACTERS_MAX]).hex()
    elif isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], int):
        text = f"{value[0]}:{value[1]}"
    elif isinstance(value, BaseException) and not isinstance(value, TwinlogError):
        text = f"{type(value).__name__}: {value}"
    else:
        text = str(value)
    if len(text) > FIELD_CHARACTERS_MAX:
        text = text[:FIELD_CHARACTERS_MAX] + f"... ({len(text)} characters)"
    return text if text.isprintable() else escaped(text)


def escaped(text: str) -> str:
    """Every character that is not printable (line breaks, ANSI's escape, direction marks) in backslash form."""
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape", "surrogatepass").decode("ascii") for sign in text
    )


def as_text(now_ms: int, level: str, event: str, fields: dict[str, str | int | float | bool | None]) -> str:
    parts = [timestamp(now_ms), f"{level:<7}", event]
    for name, value in fields.items():
        text = str(value)
        if not text or " " in text or '"' in text or "=" in text:
            text = '"' + text.replace('"', '\\"') + '"'
        parts.append(f"{name}={text}")
    return " ".join(parts)[:LINE_CHARACTERS_MAX] + "\n"


def as_json(now_ms: int, level: str, event: str, fields: dict[str, str | int | float | bool | None]) -> str:
    import json

    return json.dumps({"time": timestamp(now_ms), "level": level, "event": event, **fields}) + "\n"


def timestamp(now_ms: int) -> str:
    """UTC in ISO 8601 with milliseconds."""
    import time

    seconds, milliseconds = divmod(now_ms, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{milliseconds:03d}Z"
