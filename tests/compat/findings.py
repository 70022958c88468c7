"""The allow-list: what a client cannot do. FINDINGS.md is the list itself, so that page and tests cannot differ."""

from __future__ import annotations

from pathlib import Path

import pytest

PAGE = Path(__file__).with_name("FINDINGS.md")


def left_out() -> dict[tuple[str, str], str]:
    """(client, case) -> reason, read from the page's table."""
    found = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3 and cells[0] not in ("client", "---"):
            found[cells[0], cells[1]] = cells[2]
    return found


LEFT_OUT = left_out()


def can(client: str, case: str) -> bool:
    """Whether the client is expected to manage this case."""
    return (client, case) not in LEFT_OUT


def skip_unless(client: str, case: str) -> None:
    if not can(client, case):
        pytest.skip(f"FINDINGS: {client}, {case}: {LEFT_OUT[client, case]}")
