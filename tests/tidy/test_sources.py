"""The sources keep the house rules: pure rooms are pure, the machine is reached by one door, files stay readable."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.tidy.rules import GENERATED_MARK, LINES_MAX, LONG_FILES
from tests.tidy.scan import scan, sources
from twinlog import __version__

ROOT = Path(__file__).parents[2]
CODE = (".py", ".pyi", ".rs", ".sh")
TEXT = (*CODE, ".md", ".toml", ".txt", ".yml", ".yaml", ".json", ".jsonl", ".java", ".go", "Makefile", "run")


def tracked() -> Iterator[tuple[str, str]]:
    """Files of the repository (kept ones and new ones, not ignored ones) with their text."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in sorted(set(listed.splitlines())):
        path = ROOT / name
        if name.endswith(TEXT) and path.is_file():
            yield name, path.read_text(errors="replace")


def test_banned_modules_and_calls_stay_out() -> None:
    findings = [str(finding) for name, text in sources(ROOT) for finding in scan(name, text)]
    assert findings == []


def test_every_module_opens_with_what_it_promises() -> None:
    bare = [name for name, text in sources(ROOT) if text.strip() and ast.get_docstring(ast.parse(text)) is None]
    assert bare == []


def test_no_file_outgrows_its_reader() -> None:
    lengths = {
        name: text.count("\n") for name, text in tracked() if name.endswith(CODE) and GENERATED_MARK not in text[:500]
    }
    long = {name for name, lines in lengths.items() if lines > LINES_MAX}
    assert sorted(long - set(LONG_FILES)) == []
    assert sorted(set(LONG_FILES) - long) == [], "these are short enough now: take them off the list"


def test_no_drawer_for_everything() -> None:
    drawers = re.compile(r"(^|/)(utils?|helpers?|misc|common)(\.py|\.rs|/)")
    assert [name for name, _ in tracked() if drawers.search(name)] == []


def test_no_promise_left_in_a_comment() -> None:
    left = re.compile(r"(#|//|\"\"\").*\b(TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b")
    found = [
        f"{name}:{number}"
        for name, text in tracked()
        if name.endswith(CODE)
        for number, line in enumerate(text.splitlines(), 1)
        if left.search(line)
    ]
    assert found == []


def test_no_path_of_one_machine() -> None:
    """Home folders and absolute work folders exist on one machine only."""
    paths = re.compile(r"(?<![\w.$}])/(home|root|Users|work|opt)/[\w.-]+")
    found = [
        f"{name}:{number}: {line.strip()[:80]}"
        for name, text in tracked()
        for number, line in enumerate(text.splitlines(), 1)
        if paths.search(line)
    ]
    assert found == []


def test_requirements_pin_exact_versions_and_name_no_addresses() -> None:
    pin = re.compile(r"^[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.+!-]*(; .+)?$")
    for path in sorted((ROOT / "requirements").glob("*.txt")):
        lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
        assert lines, path.name
        assert [line for line in lines if not pin.match(line)] == [], path.name


def test_the_crate_pins_exact_versions() -> None:
    cargo = (ROOT / "kernel" / "Cargo.toml").read_text()
    dependencies = cargo.split("[dependencies]")[1].split("\n[")[0]
    versions = re.findall(r'"([=^~<>]*\d[^"]*)"', dependencies)
    assert versions
    assert [version for version in versions if not version.startswith("=")] == []


def test_package_crate_and_program_say_the_same_version() -> None:
    pyproject = (ROOT / "pyproject.toml").read_text()
    assert f'\nversion = "{__version__}"\n' in pyproject
    assert f'\nversion = "{__version__}"\n' in (ROOT / "kernel" / "Cargo.toml").read_text()
