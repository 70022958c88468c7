"""The command line. ``serve`` goes its own short way; every other command is typer's."""

from __future__ import annotations

import sys


def main() -> None:
    """The entry point ``twinlog``."""
    words = sys.argv[1:]
    if words[:1] == ["serve"]:
        from twinlog.cli.serve import serve_command

        sys.exit(serve_command(words[1:]))
    from twinlog.cli.commands import app

    app(prog_name="twinlog")
