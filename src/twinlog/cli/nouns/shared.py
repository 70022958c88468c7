"""What the commands of all nouns share: their options, how things are shown, and the commands that are alike."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, TypeAlias

import typer

from twinlog.cli.api import HTTP_DEFAULT, USER_DEFAULT, As, Vhost, Where, asking, path
from twinlog.cli.ending import fail
from twinlog.cli.options import Json, print_json, print_table

Name = Annotated[str, typer.Argument(show_default=False)]
Everywhere = Annotated[str, typer.Option("--vhost", "-v", help="Only this vhost; else all.")]
Arguments = Annotated[
    list[str], typer.Option("--argument", "-a", metavar="NAME=VALUE", help="Like x-message-ttl=60000. May be repeated.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Columns: TypeAlias = Sequence[tuple[str, str]]
"""Title and field."""

VHOST_DEFAULT: Final = "/"


def app_of(nouns: str) -> typer.Typer:
    return typer.Typer(help=f"List and manage {nouns}.", no_args_is_help=True)


# ---- shown ----------------------------------------------------------------------------------------------------------


def show(rows: Sequence[dict[str, Any]], columns: Columns, json: bool, none: str) -> None:
    if json:
        print_json(list(rows))
    elif rows:
        print_table([title for title, _ in columns], [[cell(row.get(field)) for _, field in columns] for row in rows])
    else:
        print(none)


def cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return value
    if isinstance(value, (dict, list)):
        return json_module.dumps(value, ensure_ascii=True) if value else "-"
    return harmless(str(value)) if value not in (None, "") else "-"


def harmless(text: str) -> str:
    return text if text.isprintable() else text.encode("unicode_escape", "surrogatepass").decode()


def show_one(found: dict[str, Any], fields: Sequence[str], json: bool) -> None:
    if json:
        print_json(found)
        return
    width = max(map(len, fields))
    for field in fields:
        print(f"{field:<{width}}  {cell(found.get(field))}")


def arguments_of(texts: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            fail(f"--argument {text}: write it as name=value", code=2)
        try:
            found[name] = json_module.loads(value)
        except ValueError:
            found[name] = value
    return found


def sure(question: str, yes: bool) -> None:
    if not yes and sys.stdin.isatty() and not typer.confirm(question):
        raise typer.Exit(1)


# ---- commands that are alike ----------------------------------------------------------------------------------------

Seen: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]


def all_of_it(found: dict[str, Any]) -> dict[str, Any]:
    return found


def add_list(app: typer.Typer, nouns: str, told: str, columns: Columns, none: str, seen: Seen = all_of_it) -> None:
    """``list`` of things that live in vhosts. ``seen`` leaves out what is not shown of each."""

    def run(vhost: Everywhere = "", json: Json = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT) -> None:
        with asking(http, user) as api:
            found = api.get(path(nouns, vhost) if vhost else path(nouns))
            show([seen(each) for each in found], columns, json, none)

    app.command("list", help=told)(run)


def add_plain_list(
    app: typer.Typer, nouns: str, told: str, columns: Columns, none: str, seen: Seen = all_of_it
) -> None:
    """``list`` of things that live in no vhost, or name theirs."""

    def run(json: Json = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT) -> None:
        with asking(http, user) as api:
            show([seen(each) for each in api.get(path(nouns))], columns, json, none)

    app.command("list", help=told)(run)


def add_describe(app: typer.Typer, nouns: str, told: str, fields: Sequence[str]) -> None:
    def run(
        name: Name,
        vhost: Vhost = VHOST_DEFAULT,
        json: Json = False,
        http: Where = HTTP_DEFAULT,
        user: As = USER_DEFAULT,
    ) -> None:
        with asking(http, user) as api:
            show_one(api.get(path(nouns, vhost, name)), fields, json)

    app.command("describe", help=told)(run)


def add_plain_describe(app: typer.Typer, nouns: str, told: str, fields: Sequence[str], seen: Seen = all_of_it) -> None:
    def run(name: Name, json: Json = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT) -> None:
        with asking(http, user) as api:
            show_one(seen(api.get(path(nouns, name))), fields, json)

    app.command("describe", help=told)(run)


def add_delete(app: typer.Typer, nouns: str, told: str, question: str) -> None:
    """``question`` holds {} for the name."""

    def run(
        name: Name, vhost: Vhost = VHOST_DEFAULT, yes: Yes = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT
    ) -> None:
        sure(question.format(harmless(name)), yes)
        with asking(http, user) as api:
            api.delete(path(nouns, vhost, name))

    app.command("delete", help=told)(run)


def add_plain_delete(app: typer.Typer, nouns: str, told: str, question: str, word: str = "delete") -> None:
    def run(name: Name, yes: Yes = False, http: Where = HTTP_DEFAULT, user: As = USER_DEFAULT) -> None:
        sure(question.format(harmless(name)), yes)
        with asking(http, user) as api:
            api.delete(path(nouns, name))

    app.command(word, help=told)(run)
