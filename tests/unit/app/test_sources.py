"""Settings come from four sources, the later wins, and every complaint names its source and what would do."""

from __future__ import annotations

from pathlib import Path

import pytest

from twinlog.app.settings import ENTRIES, FLAGS, NodeSettings
from twinlog.app.sources import SettingsError, choose


def chosen(tmp_path: Path, toml: str = "", environment: dict[str, str] | None = None, **more: object):
    file = tmp_path / "twinlog.toml"
    file.write_text(toml)
    return choose(
        file=str(file), environment=environment or {}, flags=more.get("flags", {}), assignments=more.get("sets", [])
    )


def test_without_any_source_the_defaults_hold() -> None:
    choice = choose(file=None, environment={"HOME": "/nowhere"}, flags={})
    assert choice.settings() == NodeSettings()
    assert set(choice.sources.values()) == {"default"}


def test_the_later_source_wins_and_is_remembered(tmp_path: Path) -> None:
    toml = '[node]\nid = 2\ndata_dir = "a"\n[kafka]\nlisten = "127.0.0.1:1"\n'
    environment = {"TWINLOG_NODE_DATA_DIR": "b", "TWINLOG_KAFKA_LISTEN": "127.0.0.1:2"}
    choice = chosen(tmp_path, toml, environment, flags={"--kafka": "off"}, sets=["log.format=json"])
    settings = choice.settings()
    assert (settings.identity.id, settings.identity.data_dir, settings.kafka_listen.listen) == (2, "b", "off")
    assert settings.log_lines.format == "json"
    assert choice.sources["node.id"] == f"file {tmp_path / 'twinlog.toml'}"
    assert choice.sources["node.data_dir"] == "environment TWINLOG_NODE_DATA_DIR"
    assert choice.sources["kafka.listen"] == "command line --kafka"
    assert choice.sources["log.format"] == "command line --set"
    assert choice.sources["log.level"] == "default"


def test_the_file_may_be_named_by_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text("[node]\nid = 7\n")
    assert choose(file=None, environment={"TWINLOG_SETTINGS": str(file)}, flags={}).values["node.id"] == 7


@pytest.mark.parametrize(
    ("toml", "complaint"),
    [
        (
            "[node]\nid = -1",
            r"file .*twinlog.toml: node.id: -1 will not do; it must be a whole number from 0 to 1000000",
        ),
        ('[node]\nid = "1"', "node.id: '1' will not do"),
        ("[node]\nidd = 1", "there is no setting node.idd; did you mean node.id"),
        ("id = 1", "stands outside a section"),
        ("[node", "is not TOML"),
        ('[kafka]\nlisten = "9092"', "it must be HOST:PORT, or off"),
        ("[log]\nlevel = 'loud'", "one of debug, info, warning, error"),
    ],
)
def test_a_bad_file_is_refused_with_the_reason(tmp_path: Path, toml: str, complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        chosen(tmp_path, toml)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"absent.toml: cannot be read: No such file"):
        choose(file=str(tmp_path / "absent.toml"), environment={}, flags={})


def test_bad_values_elsewhere_name_their_source() -> None:
    with pytest.raises(SettingsError, match=r"^environment TWINLOG_NODE_ID: node.id: 'x' will not do"):
        choose(file=None, environment={"TWINLOG_NODE_ID": "x"}, flags={})
    with pytest.raises(SettingsError, match=r"^command line --kafka: kafka.listen: ':1' will not do"):
        choose(file=None, environment={}, flags={"--kafka": ":1"})
    with pytest.raises(SettingsError, match=r"write it as section.name=value"):
        choose(file=None, environment={}, flags={}, assignments=["node.id"])
    with pytest.raises(SettingsError, match=r"there is no setting node.ids; did you mean node.id"):
        choose(file=None, environment={}, flags={}, assignments=["node.ids=1"])


def test_a_variable_that_is_no_setting_is_told_but_stops_nothing() -> None:
    # Container platforms add such variables for a service that is called twinlog.
    choice = choose(file=None, environment={"TWINLOG_SERVICE_HOST": "10.0.0.1", "TWINLOG_NODE_IDD": "1"}, flags={})
    assert len(choice.warnings) == 2
    assert "did you mean TWINLOG_NODE_ID" in choice.warnings[0]


def test_every_setting_is_reachable_and_says_what_it_does() -> None:
    variables = [entry.variable for entry in ENTRIES.values()]
    assert len(set(variables)) == len(variables)
    assert set(FLAGS.values()) <= set(ENTRIES)
    for key, entry in ENTRIES.items():
        assert entry.setting.doc.endswith("."), key
        assert entry.setting.check(entry.setting.default) == entry.setting.default, key
        named_unit = key.rsplit("_", 1)[-1]
        if named_unit in ("ms", "bytes"):
            assert entry.setting.unit == named_unit, key
