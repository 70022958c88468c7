"""``twinlog log inspect`` and ``twinlog doctor``: what is right is said to be, what is wrong is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.kit.storage import TOPIC, Machine, append
from twinlog.app.settings import MemorySettings, NodeSettings
from twinlog.cli.commands import app
from twinlog.cli.doctor import NOTE, OK, WRONG, examine, look_at_directory, look_at_memory
from twinlog.storage import LogSettings


def written(tmp_path: Path) -> Path:
    """A log of a simulated machine, put onto this one."""
    machine = Machine()
    store = machine.store(log_settings=LogSettings(segment_bytes=2000, index_interval_bytes=200))
    log = store.log(TOPIC, 0)
    for number in range(20):
        append(log, [b"value %d" % number + b"x" * 100, b"second"], timestamp=1_700_000_000_000)
    machine.close(store)
    for path, data in machine.copy_tree("data").items():
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return tmp_path / "data"


def segments(directory: Path) -> list[Path]:
    return sorted((directory / "logs" / f"{TOPIC.hex()}-0").glob("*.log"))


def inspect(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["log", "inspect", *words])
    return result.exit_code, result.output


def test_a_whole_segment_is_told_batch_by_batch(tmp_path: Path) -> None:
    first, *_ = segments(written(tmp_path))
    code, output = inspect(str(first), "--records")
    assert code == 0
    assert "offsets 0 to " in output and "0-1  2 records" in output
    assert "value 0xxx" in output and "second" in output
    assert "2023-11-14T22:13:20.000Z" in output


def test_json_is_for_programs(tmp_path: Path) -> None:
    files = segments(written(tmp_path))
    code, output = inspect(*map(str, files), "--json", "--batches")
    told = json.loads(output)
    assert code == 0
    assert [each["end_offset"] for each in told[:-1]] == [each["first_offset"] for each in told[1:]]
    assert sum(each["records"] for each in told) == 40
    assert told[0]["content"][0] == {
        "position": 0,
        "size": told[0]["content"][0]["size"],
        "first_offset": 0,
        "last_offset": 1,
        "records": 2,
        "kind": "none",
        "max_timestamp": 1_700_000_000_001,
        "leader_epoch": 0,
    }


def test_every_kind_of_damage_is_found(tmp_path: Path) -> None:
    first = segments(written(tmp_path))[0]
    whole = first.read_bytes()
    for position in (20, 70, len(whole) - 1):
        damaged = bytearray(whole)
        damaged[position] ^= 1
        first.write_bytes(damaged)
        code, output = inspect(str(first))
        assert code == 1
        assert "WRONG" in output
    first.write_bytes(whole[:-1])
    assert "ends inside a batch" in inspect(str(first))[1]
    first.write_bytes(whole)
    index = first.with_suffix(".index")
    index.write_bytes(index.read_bytes()[:-1] + b"?")
    assert "the index is damaged" in inspect(str(first))[1]


@pytest.mark.parametrize("name", ["nothing.txt", "x.log", "00000000000000000009.log"])
def test_what_is_no_segment_is_said_to_be_none(tmp_path: Path, name: str) -> None:
    if name == "x.log":
        (tmp_path / name).write_bytes(b"")
    assert inspect(str(tmp_path / name))[0] == 1


def findings(directory: Path, *, deep: bool = False) -> list[str]:
    found = look_at_directory(str(directory), NodeSettings(), deep=deep)
    return [f"{each.what} {each.advice}" for each in found if each.level == WRONG]


def test_a_directory_that_stopped_clean_is_well(tmp_path: Path) -> None:
    assert findings(written(tmp_path), deep=True) == []


def test_a_flipped_bit_is_found_when_everything_is_read(tmp_path: Path) -> None:
    directory = written(tmp_path)
    first = segments(directory)[0]
    data = bytearray(first.read_bytes())
    data[100] ^= 1
    first.write_bytes(data)
    assert findings(directory) == []
    assert "checksum" in findings(directory, deep=True)[0]


def test_damaged_marks_and_a_foreign_identity_are_found(tmp_path: Path) -> None:
    directory = written(tmp_path)
    (directory / "marks").write_bytes(b"rubbish")
    identity = (directory / "identity").read_text()
    (directory / "identity").write_text(identity.replace("node=1", "node=7"))
    text = " ".join(findings(directory))
    assert "`marks` is damaged" in text
    assert "identity" in text


def test_a_place_that_cannot_be_used_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "is no directory" in findings(tmp_path / "file")[0]
    assert findings(tmp_path / "new") == []


def test_the_command_ends_with_what_it_found(tmp_path: Path) -> None:
    directory = written(tmp_path)
    result = CliRunner().invoke(app, ["doctor", "--data-dir", str(directory), "--json"])
    levels = {each["level"] for each in json.loads(result.output)}
    assert result.exit_code == (1 if WRONG in levels else 0)
    assert list(examine(NodeSettings(), deep=False))


def test_limits_of_memory_that_fit_nothing_are_found() -> None:
    def levels(**memory: int) -> list[str]:
        return [finding.level for finding in look_at_memory(NodeSettings(memory=MemorySettings(**memory)))]

    assert levels() == [OK]
    assert levels(connection_max_bytes=150 << 20) == [WRONG], "a request of 100 MiB has to fit twice"
    assert levels(connections_max_bytes=1 << 50) == [NOTE, OK]
