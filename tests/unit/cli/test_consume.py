"""Records are printed the way the reader asked for, and never repaint a terminal."""

from __future__ import annotations

import json

import pytest

from twinlog.cli.consume import chosen_partitions, formatter, harmless, json_line, starting_offsets
from twinlog.client import Record
from twinlog.client.blocking import EARLIEST, LATEST

RECORD = Record("t", 2, 7, 1_700_000_000_123, b"key", b"v\x1b[2J", [("a", b"1"), ("b", None)])


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (r"%s\n", b"v\x1b[2J\n"),
        (r"%t-%p@%o %T %k\t%h%%", b"t-2@7 1700000000123 key\ta=1,b=%"),
        ("plain", b"plain"),
        (r"\\n", b"\\n"),
    ],
)
def test_a_format_puts_fields_where_they_are_asked_for(text: str, printed: bytes) -> None:
    assert formatter(text, safe=False)(RECORD) == printed


@pytest.mark.parametrize("text", ["%x", "%", "a%"])
def test_an_unknown_field_ends_the_command(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        formatter(text, safe=False)
    assert ended.value.code == 2
    assert "is no field" in capsys.readouterr().err


def test_a_terminal_sees_no_control_characters() -> None:
    assert formatter("%s", safe=True)(RECORD) == rb"v\x1b[2J"
    assert harmless("tab\tline\nümlaut".encode()) == "tab\tline\nümlaut".encode()
    assert harmless(b"\xff\x00") == rb"\xff\x00"


def test_json_keeps_what_is_not_text() -> None:
    told = json.loads(json_line(RECORD._replace(key=None, value=b"\xff")))
    assert told["key"] is None
    assert told["value_base64"] == "/w=="
    assert told["timestamp"] == "2023-11-14T22:13:20.123+00:00"
    assert told["headers"] == [{"name": "a", "value": "1"}, {"name": "b", "value": None}]


class Offsets:
    """Stands for the client: partition 0 holds 10 to 20, partition 1 holds 0 to 3."""

    def offsets(self, topic: str, partitions: list[int], timestamp: int) -> dict[int, int]:
        known = {EARLIEST: {0: 10, 1: 0}, LATEST: {0: 20, 1: 3}}.get(timestamp, {0: timestamp // 1000 % 100, 1: 1})
        return {partition: known[partition] for partition in partitions}


@pytest.mark.parametrize(
    ("start", "offsets"),
    [
        ("beginning", {0: 10, 1: 0}),
        ("end", {0: 20, 1: 3}),
        ("15", {0: 15, 1: 15}),
        ("-5", {0: 15, 1: 0}),
        ("2023-11-14T22:13:20Z", {0: 0, 1: 1}),
    ],
)
def test_reading_starts_where_it_is_told(start: str, offsets: dict[int, int]) -> None:
    assert starting_offsets(Offsets(), "t", [0, 1], start) == offsets  # type: ignore[arg-type]


def test_a_start_that_is_no_place_ends_the_command() -> None:
    with pytest.raises(SystemExit):
        starting_offsets(Offsets(), "t", [0, 1], "yesterday")  # type: ignore[arg-type]


def test_partitions_are_chosen_among_those_there_are() -> None:
    assert chosen_partitions("", [0, 1, 2]) == [0, 1, 2]
    assert chosen_partitions("2,0,2", [0, 1, 2]) == [0, 2]
    for text in ("3", "a", "0;1"):
        with pytest.raises(SystemExit):
            chosen_partitions(text, [0, 1, 2])
