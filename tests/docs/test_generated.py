"""Pages made from the program are what the program would make now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from twinlog.app.reference import PAGES as MADE_BY_APP
from twinlog.cli.reference import PAGE, page

PAGES = {**MADE_BY_APP, PAGE: page}

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", sorted(PAGES))
def test_the_generated_page_is_current(name: str) -> None:
    assert (DOCS / name).read_text() == PAGES[name](), "run `make docs` and commit the result"


def test_every_setting_metric_command_and_request_has_its_page() -> None:
    """Told twice over: the pages are made from the same tables as the program, and here each name is looked for."""
    from twinlog.app.settings import ENTRIES
    from twinlog.cli.commands import app
    from twinlog.servers.http.api import ALL_ROUTES
    from twinlog.servers.http.families import FAMILIES

    settings = (DOCS / "operate/settings.md").read_text()
    assert [key for key in ENTRIES if f"### {key}\n" not in settings] == []
    metrics = (DOCS / "operate/metrics.md").read_text()
    assert [name for name in FAMILIES if f"`{name}`" not in metrics] == []
    requests = (DOCS / "operate/http-api.md").read_text()
    told = [f"`{each.method} {each.path}`" for each in ALL_ROUTES if each.group != "console"]
    assert [each for each in told if each not in requests] == []
    commands = (DOCS / "operate/commands.md").read_text()
    names = [each.name or each.callback.__name__ for each in app.registered_commands if each.callback]
    for group in app.registered_groups:
        assert group.typer_instance is not None
        inner = [
            each.name or each.callback.__name__ for each in group.typer_instance.registered_commands if each.callback
        ]
        names += [f"{group.name} {name}" for name in inner]
    assert [name for name in names if f"## twinlog {name}\n" not in commands] == []


def test_the_pages_link_only_to_what_is_there() -> None:
    missing = []
    for file in DOCS.rglob("*.md"):
        for target in re.findall(r"\]\(([^)#\s]+)", file.read_text()):
            if "://" not in target and not (file.parent / target).exists():
                missing.append((file.name, target))
    assert missing == []
