"""``twinlog config``: what a node would be told, and by whom."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from twinlog.app.settings import ENTRIES
from twinlog.app.sources import DEFAULT, SettingsError, choose
from twinlog.cli.ending import fail
from twinlog.cli.options import Json, print_json, print_table

app = typer.Typer(help="Show a node's settings.", no_args_is_help=True)


@app.command()
def show(
    settings: Annotated[
        str, typer.Option("--settings", metavar="FILE", help="Read settings from this TOML file.")
    ] = "",
    assign: Annotated[list[str], typer.Option("--set", metavar="NAME=VALUE", help="As `serve --set` would.")] = [],  # noqa: B006
    changed: Annotated[bool, typer.Option("--changed", help="Only what is not the default.")] = False,
    json: Json = False,
) -> None:
    """Show every setting with its value and where that comes from, as `twinlog serve` would see it."""
    try:
        choice = choose(file=settings or None, environment=os.environ, flags={}, assignments=assign)
    except SettingsError as wrong:
        fail(str(wrong), "Correct it there, then look again.", code=2)
    rows = [
        (key, entry.setting.show(choice.values[key]), choice.sources[key])
        for key, entry in ENTRIES.items()
        if not changed or choice.sources[key] != DEFAULT
    ]
    if json:
        print_json([{"setting": key, "value": value, "source": source} for key, value, source in rows])
    else:
        print_table(("SETTING", "VALUE", "SOURCE"), rows)


@app.command()
def explain(name: Annotated[str, typer.Argument(help="The setting, like node.id.")], json: Json = False) -> None:
    """Say what a setting does and which values it takes."""
    entry = ENTRIES.get(name)
    if entry is None:
        fail(f"there is no setting {name}", "See `twinlog config show`.", code=2)
    setting = entry.setting
    if json:
        told = {"setting": name, "doc": setting.doc, "allowed": setting.allowed, "live": setting.live}
        print_json(told | {"default": setting.show(setting.default), "variable": entry.variable})
        return
    print(f"{name}: {setting.doc}")
    print(f"  It must be {setting.allowed}. Default: {setting.show(setting.default) or 'nothing'}.")
    print(f"  {'Counts while the node runs' if setting.live else 'Counts after a restart'}. Variable: {entry.variable}")
