"""Every command there is: its help fits a screen, its nouns have the same verbs, what it lists it can list as JSON."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from tests.unit.cli.test_help import twinlog
from twinlog.cli.commands import app

LINES_MAX = 45
VERBS = ("list", "describe", "create", "delete")
# Verbs that a noun has under another name, or cannot have, and why.
OTHERWISE = {
    "group": {"create": "its first commit makes it"},
    "txn": {"create": "producers make them", "delete": "abort"},
    "quota": {"list": "describe", "create": "set", "delete": "remove"},
    "config": {"list": "show", "describe": "explain", "create": "init writes the file", "delete": "edit the file"},
    "log": dict.fromkeys(VERBS, "files of topics, which are looked at by inspect"),
    "connection": {"create": "clients make them", "delete": "close"},
    "definitions": dict.fromkeys(VERBS, "one document: export and import"),
    "pipeline": dict.fromkeys(VERBS, "files and processes of Spark: see the guide"),
}
# What prints a list of things under another name.
LISTS = ("list", "describe", "find-hanging", "show", "explain", "inspect", "peek", "route", "top", "get", "consume")


@functools.cache
def tree() -> Any:
    return typer.main.get_command(app)


def nouns() -> dict[str, Any]:
    return {name: command for name, command in tree().commands.items() if hasattr(command, "commands")}


def walk(group: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, group
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from walk(command, (*words, name))
        else:
            yield (*words, name), command


EVERYTHING = [(words, command) for words, command in walk(tree()) if words != ("serve",)]


@pytest.mark.parametrize("words", [words for words, _ in EVERYTHING], ids=lambda words: " ".join(words) or "twinlog")
def test_its_help_fits_a_screen_and_says_what_it_does(words: tuple[str, ...]) -> None:
    said = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80", "NO_COLOR": "1"})
    assert said.exit_code == 0
    lines = said.stdout.splitlines()
    assert 3 < len(lines) <= LINES_MAX
    assert max(map(len, lines)) <= 100
    told = [line for line in lines if line.strip() and "Usage:" not in line and "─" not in line]
    assert len(told[0].split()) > 1, "the first line after the usage is a sentence"


def test_every_noun_has_the_same_verbs() -> None:
    missing = [
        f"{noun} {verb}"
        for noun, group in nouns().items()
        for verb in VERBS
        if verb not in group.commands and verb not in OTHERWISE.get(noun, {})
    ]
    assert missing == []


def test_what_is_excused_is_really_not_there() -> None:
    for noun, verbs in OTHERWISE.items():
        group = nouns()[noun]
        if noun != "pipeline":
            assert [verb for verb in verbs if verb in group.commands] == [], noun
        for other in verbs.values():
            assert " " in other or other in group.commands


def test_whatever_shows_things_can_show_them_as_json() -> None:
    without = [
        " ".join(words)
        for words, command in EVERYTHING
        if words and words[-1] in LISTS and words[0] != "pipeline" and not hasattr(command, "commands")
        if "--json" not in [option for each in command.params for option in each.opts]
    ]
    assert without == []


def test_a_short_option_is_the_same_long_option_everywhere() -> None:
    known: dict[str, set[str]] = {}
    for words, command in EVERYTHING:
        for each in command.params:
            if words[:1] != ("pipeline",):
                for option in each.opts:
                    if not option.startswith("--") and option.startswith("-"):
                        known.setdefault(option, set()).update(long for long in each.opts if long.startswith("--"))
    differ = {option: long for option, long in known.items() if len(long) > 1}
    assert differ == {
        "-c": {"--config", "--client"},
        "-e": {"--exit", "--exchange"},  # as kcat has it, as rabbitmqadmin has it
        "-k": {"--key", "--key-separator"},
        "-p": {"--partition", "--partitions"},
    }


@pytest.mark.parametrize(
    ("typed", "offered"), [("que", "queue"), ("queue mo", "move"), ("group reset-offsets --to-l", "--to-latest")]
)
def test_shells_complete_what_is_typed(typed: str, offered: str) -> None:
    line = f"twinlog {typed}"
    told = twinlog(_TWINLOG_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(line.split()) - 1))
    assert offered in told.stdout.split()
