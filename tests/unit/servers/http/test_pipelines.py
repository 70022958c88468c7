"""What anybody may write to the pipelines' topic becomes a report with known fields, or nothing."""

from __future__ import annotations

import json

import pytest

from twinlog.servers.http.pipelines import PLACES_MAX, REPORT_BYTES_MAX, name_of, report_of


def test_a_report_is_read_field_by_field() -> None:
    told = report_of(
        json.dumps(
            {
                "name": "ignored: the key names it",
                "run_id": "r-1",
                "state": "running",
                "started_ms": 1,
                "reported_ms": 2,
                "batch_id": 3,
                "rows_per_second": 4.5,
                "input_rows": 5,
                "output_rows": 6,
                "batch_ms": 7,
                "lag": {"total": 8, "topics": {"orders": 8}},
                "sources": ["topic orders", {"delta": "/tables/a"}],
                "sinks": ["topic totals"],
                "last_error": None,
                "master": "local[2]",
                "of a later release": True,
            }
        ).encode()
    )
    assert told == {
        "run_id": "r-1",
        "state": "running",
        "started_ms": 1,
        "reported_ms": 2,
        "batch_id": 3,
        "rows_per_second": 4.5,
        "input_rows": 5,
        "output_rows": 6,
        "batch_ms": 7,
        "lag": 8,
        "lag_by_topic": {"orders": 8},
        "sources": ["topic orders", '{"delta":"/tables/a"}'],
        "sinks": ["topic totals"],
        "last_error": None,
        "master": "local[2]",
    }


def test_what_has_the_wrong_type_is_left_out() -> None:
    told = report_of(
        b'{"state": "failed", "input_rows": "many", "batch_ms": true, "started_ms": 1e300, "lag": 7, '
        b'"lag_by_topic": {"a": 1, "b": null}, "sources": "x", "rows_per_second": [], "last_error": "it broke"}'
    )
    assert told is not None
    assert (told["lag"], told["lag_by_topic"], told["last_error"]) == (7, {"a": 1}, "it broke")
    empty = ("input_rows", "batch_ms", "started_ms", "rows_per_second")
    assert [told[name] for name in empty] == [None] * len(empty)
    assert told["sources"] == []


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"state": "dancing"}',
        b'{"state": ["running"]}',
        b'{"state": "running"',
        b'{"state": "running", "state": "failed"}',
        b'{"a": ' * 100_000,
        b"\xff",
        b'{"state": "running", "run_id": "' + b"x" * REPORT_BYTES_MAX + b'"}',
    ],
)
def test_what_is_no_report_is_none(value: bytes) -> None:
    assert report_of(value) is None


def test_long_lists_and_texts_are_cut() -> None:
    told = report_of(json.dumps({"state": "running", "run_id": "x" * 9000, "sinks": ["s"] * 500}).encode())
    assert told is not None
    assert len(told["sinks"]) == PLACES_MAX
    assert len(told["run_id"]) == 4000


def test_names_are_text_of_some_length() -> None:
    assert name_of("daily é".encode()) == "daily é"
    assert [name_of(key) for key in (None, b"", b"\xff", b"x" * 256)] == [None] * 4
