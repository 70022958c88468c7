"""``twinlog definitions``: everything that is declared, as one document."""

from __future__ import annotations

import json as json_module
from collections.abc import Iterator
from typing import Annotated, Any, Final

import typer

from twinlog.cli.api import HTTP_DEFAULT, USER_DEFAULT, As, Where, asking, path
from twinlog.cli.ending import fail
from twinlog.cli.nouns.shared import app_of
from twinlog.cli.options import print_json
from twinlog.cli.progress import Bar

definitions = app_of("definitions")

MANY: Final = ("queues", "exchanges", "bindings")
"""What a document may have thousands of, in the order in which they need one another; everything else comes before."""
ITEMS_A_REQUEST: Final = 1000


@definitions.command("export")
def export_definitions(
    vhost: Annotated[str, typer.Option("--vhost", "-v", help="Only this vhost.")] = "",
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Print everything that is declared, as a document that RabbitMQ reads, too."""
    with asking(http, user) as api:
        print_json(api.get(path("definitions", vhost) if vhost else path("definitions")))


@definitions.command("import")
def import_definitions(
    file: Annotated[typer.FileText, typer.Argument(help="The document; - is standard input.")],
    vhost: Annotated[str, typer.Option("--vhost", "-v", help="Into this vhost.")] = "",
    http: Where = HTTP_DEFAULT,
    user: As = USER_DEFAULT,
) -> None:
    """Add what a document declares; nothing is deleted."""
    try:
        content = json_module.load(file)
    except ValueError as wrong:
        fail(f"the document is not JSON: {wrong}", code=2)
    if not isinstance(content, dict):
        fail("the document is no object", "`twinlog definitions export` writes one.", code=2)
    told = {name: len(each) for name, each in content.items() if isinstance(each, list)}
    with asking(http, user) as api, Bar("importing", total=sum(told.values())) as bar:
        for part in parts(content):
            api.post(path("definitions", vhost) if vhost else path("definitions"), part)
            bar.advance(sum(len(each) for each in part.values() if isinstance(each, list)))
    print(", ".join(f"{count} {name}" for name, count in told.items() if count) or "nothing was in it")


def parts(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The document in pieces: each is small enough for one request."""
    yield {name: each for name, each in content.items() if name not in MANY}
    for name in MANY:
        items = content.get(name, [])
        if not isinstance(items, list):
            yield {name: items}  # the broker says what is wrong with it
            continue
        for at in range(0, len(items), ITEMS_A_REQUEST):
            yield {name: items[at : at + ITEMS_A_REQUEST]}
