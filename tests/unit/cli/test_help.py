"""The command line explains itself: help fits a screen, errors say what to do next."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

COMMANDS = ["", "serve", "produce", "consume", "topic", "topic create", "topic list", "topic describe", "topic alter"]
COMMANDS += ["topic delete", "config", "config show", "config explain"]
COMMANDS += ["quota", "quota set", "quota describe", "quota remove", "log", "log inspect", "doctor"]
COMMANDS += ["init", "top", "queue", "queue list", "queue create", "exchange create", "user create", "policy create"]
COMMANDS += ["group", "group list", "group describe", "group reset-offsets", "group delete"]


def twinlog(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TWINLOG_")}
    environment |= {"COLUMNS": "80", "NO_COLOR": "1", **variables}
    command = [sys.executable, "-m", "twinlog", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=60)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_screen(command: str) -> None:
    said = twinlog(*command.split(), "--help")
    assert said.returncode == 0, said.stderr
    lines = said.stdout.splitlines()
    assert 3 < len(lines) <= 45
    assert max(map(len, lines)) <= 100


def test_the_version_is_told() -> None:
    assert twinlog("--version").stdout == "twinlog 0.1.0\n"


def test_no_broker_is_said_with_what_to_do_next() -> None:
    said = twinlog("topic", "list", "--bootstrap", "127.0.0.1:1")
    assert said.returncode == 1
    assert "no connection to 127.0.0.1:1" in said.stderr
    assert "twinlog serve" in said.stderr
    assert "Traceback" not in said.stderr


def test_a_bad_setting_stops_the_start_and_names_its_source() -> None:
    said = twinlog("serve", "--set", "node.id=-1")
    assert said.returncode == 2
    assert "command line --set: node.id: '-1' will not do; it must be a whole number from 0 to 1000000" in said.stderr
    said = twinlog("serve", TWINLOG_KAFKA_LISTEN="nowhere")
    assert said.returncode == 2
    assert "environment TWINLOG_KAFKA_LISTEN" in said.stderr


def test_settings_are_shown_with_their_source() -> None:
    said = twinlog("config", "show", TWINLOG_NODE_ID="4")
    assert said.returncode == 0
    (line,) = [line for line in said.stdout.splitlines() if line.startswith("node.id ")]
    assert line.split() == ["node.id", "4", "environment", "TWINLOG_NODE_ID"]
    assert "node.id" in twinlog("config", "show", "--changed", "--json", TWINLOG_NODE_ID="4").stdout
    assert "from 0 to 1000000" in twinlog("config", "explain", "node.id").stdout
    assert twinlog("config", "explain", "node.idd").returncode == 2


def test_a_node_does_not_run_without_its_asserts() -> None:
    said = twinlog("serve", "--kafka", "127.0.0.1:0", PYTHONOPTIMIZE="1")
    assert said.returncode != 0
    assert "assert statements" in said.stderr
