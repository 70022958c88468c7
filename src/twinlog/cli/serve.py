"""``twinlog serve``: parsed without typer, whose import alone would take a sixth of the time to be ready in."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from twinlog import __version__
from twinlog.app.settings import ENTRIES, FLAGS, OFF
from twinlog.app.sources import Choice, SettingsError, choose
from twinlog.cli.ending import fail
from twinlog.cli.progress import Bar

if TYPE_CHECKING:
    from twinlog.app.node import Node

LABELS = {"kafka": "Kafka", "amqp": "AMQP", "http": "HTTP"}


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="twinlog serve",
        description="Start a broker and serve until Ctrl-C.",
        epilog="Every setting also comes from a file and the environment: see `twinlog config show`.",
        formatter_class=lambda prog: argparse.HelpFormatter(prog, max_help_position=26, width=100),
        allow_abbrev=False,
    )
    for word, key in FLAGS.items():
        setting = ENTRIES[key].setting
        where = "DIR" if word == "--data-dir" else "HOST:PORT|off"
        made.add_argument(word, metavar=where, help=f"{setting.doc} (default {setting.default})")
    add_source_arguments(made)
    made.add_argument(
        "--dev", action="store_true", help="For trying things out: data in a temporary directory that goes at the end."
    )
    made.add_argument("--ready-file", metavar="FILE", help="Write the addresses as JSON there once ready.")
    return made


def add_source_arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--settings", metavar="FILE", help="Read settings from this TOML file.")
    made.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="Change any setting, like --set node.id=2."
    )


def choice_from(arguments: argparse.Namespace) -> Choice:
    """The settings that these words, the environment and the file make; ends the command when they are wrong."""
    words = {word: getattr(arguments, word[2:].replace("-", "_"), None) for word in FLAGS}
    try:
        return choose(
            file=arguments.settings,
            environment=os.environ,
            flags={word: text for word, text in words.items() if text is not None},
            assignments=arguments.set,
        )
    except SettingsError as wrong:
        fail(str(wrong), "See `twinlog config show` for all settings with their ranges.", code=2)


def serve_command(words: Sequence[str]) -> int:
    """The whole command; its exit code."""
    arguments = parser().parse_args(words)
    if not arguments.dev:
        return serve_with(arguments)
    if arguments.data_dir is not None:
        fail("--dev keeps no data, so --data-dir does not go with it", "Leave one of the two out.", code=2)
    import tempfile

    with tempfile.TemporaryDirectory(prefix="twinlog-dev-") as directory:
        arguments.data_dir = directory
        return serve_with(arguments)


def serve_with(arguments: argparse.Namespace) -> int:
    choice = choice_from(arguments)
    from twinlog.app.process import serve

    with Bar("opening logs") as bar:

        def ready(node: Node) -> None:
            bar.end()
            announce(node)

        return serve(
            choice.settings(),
            announce=ready,
            warnings=tuple(choice.warnings),
            ready_file=arguments.ready_file,
            on_log_open=bar.reach,
        )


def announce(node: Node) -> None:
    lines = [f"Twinlog {__version__}, data in {node.settings.identity.data_dir}"]
    for side, address in node.addresses.items():
        lines.append(f"  {LABELS.get(side, side):<7}{address or node.closed_because.get(side, OFF)}")
    lines.append("Ready. Ctrl-C stops it.")
    print("\n".join(lines), flush=True)
