"""The allow-list names only clients that exist and cases that some test asks about."""

from __future__ import annotations

from pathlib import Path

from tests.compat.clients import CLIENT_NAMES
from tests.compat.findings import LEFT_OUT

TESTS = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))


def test_every_finding_belongs_to_a_known_client() -> None:
    assert {client for client, _ in LEFT_OUT} <= set(CLIENT_NAMES)


def test_every_finding_names_a_case_that_a_test_asks_about() -> None:
    assert [case for _, case in LEFT_OUT if f'"{case}"' not in TESTS] == []


def test_every_finding_has_a_reason() -> None:
    assert [finding for finding, reason in LEFT_OUT.items() if len(reason) < 20] == []
