"""Pages made from the program are what the program would make now."""

from __future__ import annotations

from pathlib import Path

import pytest

from twinlog.app.reference import PAGES

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", sorted(PAGES))
def test_the_generated_page_is_current(name: str) -> None:
    assert (DOCS / name).read_text() == PAGES[name](), "run `make docs` and commit the result"
