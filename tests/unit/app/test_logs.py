"""Log lines are harmless, short and limited, whatever peers put into them."""

from __future__ import annotations

import json

import pytest

from twinlog.app.logs import LineLog
from twinlog.app.settings import LogLineSettings


class Clock:
    now = 1_700_000_000_123

    def now_ms(self) -> int:
        return self.now

    def monotonic_us(self) -> int:
        return self.now * 1000


def log_to(lines: list[str], **settings: object) -> tuple[LineLog, Clock]:
    clock = Clock()
    return LineLog(clock, lines.append, LogLineSettings(**settings)), clock  # type: ignore[arg-type]


def test_a_line_names_time_level_event_and_fields() -> None:
    lines: list[str] = []
    log, _ = log_to(lines)
    log.warning("closed a connection", peer=("10.0.0.9", 4711), reason="too long", size=12)
    assert lines == [
        '2023-11-14T22:13:20.123Z warning closed a connection peer=10.0.0.9:4711 reason="too long" size=12\n'
    ]


def test_json_lines_are_json() -> None:
    lines: list[str] = []
    log, _ = log_to(lines, format="json")
    log.info("ready", port=1, name='a"b\n')
    assert json.loads(lines[0]) == {
        "time": "2023-11-14T22:13:20.123Z",
        "level": "info",
        "event": "ready",
        "port": 1,
        "name": 'a"b\\n',
    }


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    "evil", ["a\r\nforged line", "\x1b[2Jgone", "\u202egnp.exe", "\x00", "\u2028", "\x85", "\ud800", "x" * 100_000]
)
def test_nothing_of_a_peer_can_end_or_repaint_a_line(form: str, evil: str) -> None:
    lines: list[str] = []
    log, _ = log_to(lines, format=form)
    log.info("odd name", name=evil, raw=evil.encode("utf-8", "surrogatepass"))
    (line,) = lines
    assert line.endswith("\n")
    assert line[:-1].isprintable()
    assert len(line) <= 1200
    line.encode()


def test_lines_below_the_level_are_left_out() -> None:
    lines: list[str] = []
    log, _ = log_to(lines, level="warning")
    log.debug("a")
    log.info("b")
    log.error("c")
    assert len(lines) == 1


def test_one_peer_cannot_flood_the_log_and_the_rest_is_counted() -> None:
    lines: list[str] = []
    log, clock = log_to(lines, peer_lines_max=3)
    for port in range(50):
        log.warning("refused", peer=("10.0.0.1", port))
    log.warning("refused", peer=("10.0.0.2", 1))
    log.warning("our own")
    assert len(lines) == 5
    clock.now += 10_000
    log.warning("refused", peer=("10.0.0.1", 99))
    assert "lines_left_out=47" in lines[-1]
    log.warning("refused", peer=("10.0.0.1", 99))
    assert "lines_left_out" not in lines[-1]


def test_many_peers_do_not_grow_the_memory() -> None:
    lines: list[str] = []
    log, _ = log_to(lines)
    for number in range(3000):
        log.info("seen", peer=f"10.0.{number // 256}.{number % 256}")
    assert len(lines) == 3000
    assert len(log._peers) <= 1024
