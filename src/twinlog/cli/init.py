"""``twinlog init``: a settings file with every setting in it, as it is by default, behind a comment sign."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from twinlog.app.settings import ENTRIES
from twinlog.cli.ending import fail


def init(
    file: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("twinlog.toml"),
    force: Annotated[bool, typer.Option("--force", help="Write over what is there.")] = False,
) -> None:
    """Write a commented settings file."""
    if file.exists() and not force:
        fail(f"{file} is there already", "Name another file, or write over it by --force.")
    try:
        file.write_text("".join(text()))
    except OSError as fault:
        fail(f"{file} cannot be written: {fault.strerror}")
    print(f"Wrote {file}. Change what you need, then: twinlog serve --settings {file}")


def text() -> Iterator[str]:
    yield "# Settings of a Twinlog node. Every line is the default; take the sign away from those you change.\n"
    yield "# `twinlog config show --settings THIS-FILE` tells what a node would make of it.\n"
    for section, entries in groupby(ENTRIES.values(), key=lambda entry: entry.section):
        yield f"\n[{section}]\n"
        for entry in entries:
            setting = entry.setting
            yield f"\n# {setting.doc}\n# It must be {setting.allowed}.\n# {setting.name} = {toml(setting.default)}\n"


def toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(value, tuple):
        return "[" + ", ".join(toml(each) for each in value) + "]"
    return str(value)
