"""Writes docs/operate/commands.md, made from the commands themselves: ``python -m twinlog.cli.reference DOCS``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import typer

from twinlog.cli.commands import app
from twinlog.cli.serve import parser

PAGE: Final = "operate/commands.md"
HEAD: Final = """# Commands

Made from the program by `make docs`: change the commands, not this page.

Every command explains itself: `twinlog COMMAND --help`. What lists or describes takes `--json`. The Kafka side is
reached by `--bootstrap` (or `TWINLOG_BOOTSTRAP`), the rest by `--http` and `--user` (or `TWINLOG_HTTP` and
`TWINLOG_USER`).
`twinlog --install-completion` teaches your shell the words.
"""


def page() -> str:
    command = typer.main.get_command(app)
    return HEAD + "".join(told(command, ("twinlog",)))


def told(command: Any, words: tuple[str, ...]) -> Iterator[str]:
    inner = getattr(command, "commands", None)
    if inner:
        for name in sorted(inner):
            yield from told(inner[name], (*words, name))
        return
    yield f"\n## {' '.join(words)}\n\n{first_line(command.help)}\n"
    if words[1:] == ("serve",):
        rows = [(", ".join(each.option_strings), each.help or "") for each in parser()._actions]
    else:
        rows = [(names_of(each), getattr(each, "help", "") or "") for each in command.params]
    if rows:
        yield "\n| | |\n| --- | --- |\n"
        for names, text in rows:
            yield f"| `{names}` | {text.replace('|', '&#124;').replace('<', '&lt;')} |\n"


def names_of(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.name).upper()
    return ", ".join(parameter.opts)


def first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


def main() -> None:
    (docs,) = sys.argv[1:] or ["docs"]
    path = Path(docs) / PAGE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page())


if __name__ == "__main__":
    main()
