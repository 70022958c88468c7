"""The commands of RabbitMQ's side, against a real broker: create, list, describe, delete; errors say what to do."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from tests.unit.cli.test_help import twinlog
from twinlog.app.settings import ENTRIES
from twinlog.cli.commands import app
from twinlog.testing import Broker


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker(settings={"http.listen": "127.0.0.1:0", "amqp.listen": "127.0.0.1:0"}) as broker:
        yield broker


class Commands:
    """In this process: starting one for each command would take most of the time."""

    def __init__(self, broker: Broker) -> None:
        self._variables = {"TWINLOG_HTTP": broker.http, "TWINLOG_BOOTSTRAP": broker.kafka}

    def run(self, line: str, *more: str) -> Result:
        return CliRunner().invoke(app, [*line.split(), *more], env=self._variables)

    def ok(self, line: str, *more: str) -> str:
        said = self.run(line, *more)
        assert said.exit_code == 0, (line, said.stdout, said.stderr)
        return said.stdout

    def json(self, line: str, *more: str) -> Any:
        return json.loads(self.ok(line, *more, "--json"))


@pytest.fixture
def commands(broker: Broker) -> Commands:
    return Commands(broker)


def test_queues_exchanges_and_bindings_live_and_die(commands: Commands) -> None:
    commands.ok("queue create mail -a x-max-length=5 -a x-dead-letter-exchange=dead")
    commands.ok("exchange create events --type topic")
    commands.ok("binding create events mail --key eu.#")
    assert commands.json("queue describe mail")["arguments"] == {"x-max-length": 5, "x-dead-letter-exchange": "dead"}
    assert "mail" in commands.ok("queue list")
    assert [each["routing_key"] for each in commands.json("binding list") if each["source"] == "events"] == ["eu.#"]
    assert commands.ok("exchange route events eu.order") == "mail\n"
    nowhere = commands.run("exchange route events us.order")
    assert (nowhere.exit_code, "binding list" in nowhere.stderr) == (1, True)
    assert "eu.#" in commands.ok("exchange describe events")
    commands.ok("binding delete events mail --key eu.#")
    commands.ok("queue purge mail --yes")
    assert commands.ok("queue peek mail") == ""
    commands.ok("queue delete mail --yes")
    commands.ok("exchange delete events")
    missing = commands.run("queue describe mail")
    assert (missing.exit_code, "Traceback" in missing.stderr) == (1, False)
    assert "shows what there is" in missing.stderr


def test_people_and_rules_live_and_die(commands: Commands, tmp_path: Path) -> None:
    commands.ok("vhost create shop --description tea")
    commands.ok("user create bob --tags monitoring --password secret")
    commands.ok("permission create bob --vhost shop --configure ^bob-")
    commands.ok("policy create short --vhost shop --pattern ^q --definition", '{"max-length": 3}')
    assert commands.json("vhost describe shop")["description"] == "tea"
    assert commands.json("user describe bob")["permissions"][0]["configure"] == "^bob-"
    assert {each["user"] for each in commands.json("permission list")} == {"guest", "bob"}
    assert commands.json("policy list --vhost shop")[0]["definition"] == {"max-length": 3}
    file = tmp_path / "definitions.json"
    file.write_text(commands.ok("definitions export"))
    commands.ok("policy delete short --vhost shop")
    assert "policies" in commands.ok("definitions import", str(file))
    assert commands.json("policy list --vhost shop")
    refused = commands.run("queue create q --user bob:wrong")
    assert (refused.exit_code, "--user NAME:PASSWORD" in refused.stderr) == (1, True)
    commands.ok("permission delete bob --vhost shop")
    commands.ok("user delete bob")
    commands.ok("vhost delete shop --yes")


def test_what_the_broker_does_is_shown(commands: Commands) -> None:
    commands.ok("queue create deep")
    assert "deep" in commands.ok("top --once")
    assert {"overview", "topics", "queues"} == set(commands.json("top"))
    assert isinstance(commands.json("connection list"), list)
    commands.ok("queue delete deep --yes")


def test_no_broker_is_said_with_what_to_do_next() -> None:
    said = twinlog("queue", "list", "--http", "127.0.0.1:1")
    assert (said.returncode, "twinlog serve" in said.stderr) == (1, True)


def test_a_settings_file_is_written_with_every_setting_in_it(tmp_path: Path) -> None:
    file = tmp_path / "twinlog.toml"
    assert twinlog("init", str(file)).returncode == 0
    lines = file.read_text().splitlines()
    bare = [line.removeprefix("# ") if " = " in line and line.startswith("# ") else line for line in lines]
    settings = [line for line in bare if not line.startswith("#")]
    told = tomllib.loads("\n".join(settings))
    assert {f"{section}.{name}" for section, values in told.items() for name in values} == set(ENTRIES)
    assert twinlog("config", "show", "--settings", str(file)).returncode == 0
    again = twinlog("init", str(file))
    assert (again.returncode, "--force" in again.stderr) == (1, True)


def test_a_broker_to_try_things_with_keeps_nothing() -> None:
    said = twinlog("serve", "--dev", "--data-dir", "x")
    assert (said.returncode, "keeps no data" in said.stderr) == (2, True)
