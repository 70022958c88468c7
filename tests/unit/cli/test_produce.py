"""Lines are cut as they come, and none waits for the next when nothing more is there."""

from __future__ import annotations

import os

import pytest

from twinlog.cli.produce import chunks_of_lines, split_key


def lines_of(*writes: bytes) -> list[tuple[list[bytes], bool]]:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as source:
        chunks = chunks_of_lines(source)
        seen = []
        for data in writes:
            os.write(writing, data)
            seen.append(next(chunks))
        os.close(writing)
        return [*seen, *chunks]


def test_lines_arrive_whole_and_the_last_needs_no_end() -> None:
    assert lines_of(b"a\nb", b"c\n\nd") == [([b"a"], True), ([b"bc", b""], True), ([b"d"], True)]


def test_no_input_is_no_line() -> None:
    assert lines_of() == []


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [(b"k:v:w", b"k", b"v:w"), (b"no key", None, b"no key"), (b":v", b"", b"v")],
)
def test_the_first_separator_ends_the_key(line: bytes, key: bytes | None, value: bytes) -> None:
    assert split_key(line, b":") == (key, value)
    assert split_key(line, b"") == (None, line)
