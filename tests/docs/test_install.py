"""What the installing page names works as far as it can be tried without a container engine or systemd at work."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from twinlog.cli.serve import parser

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
UNIT = ROOT / "ops" / "twinlog.service"
ANALYZE = shutil.which("systemd-analyze")


def test_the_dockerfile_copies_only_what_is_there_and_is_not_kept_out() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE):
        *sources, _ = line.split()
        for source in sources:
            assert (ROOT / source).exists(), line
            assert f"!{source.split('/')[0]}" in ignored, line


def test_what_was_built_here_does_not_get_into_the_image() -> None:
    """A kernel for another machine, or a console of other sources, would be worse than none."""
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert {"src/twinlog/_kernel*", "src/twinlog/servers/http/static", "kernel/target", "console/node_modules"} <= set(
        ignored
    )


def test_the_container_and_the_service_start_the_broker_with_words_that_it_knows() -> None:
    entry = json.loads(re.findall(r"^ENTRYPOINT (\[.*\])$", DOCKERFILE, re.MULTILINE)[0])
    service = shlex.split(re.findall(r"^ExecStart=(.*)$", UNIT.read_text(), re.MULTILINE)[0])
    for command in (entry, service):
        assert Path(command[0]).name == "twinlog"
        assert command[1] == "serve"
        parser().parse_args(command[2:])


@pytest.mark.skipif(ANALYZE is None, reason="needs systemd-analyze")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    assert ANALYZE is not None
    unit = tmp_path / "twinlog.service"
    unit.write_text(re.sub(r"^ExecStart=\S+", f"ExecStart={sys.executable} -m twinlog", UNIT.read_text(), flags=re.M))
    done = subprocess.run([ANALYZE, "verify", str(unit)], capture_output=True, text=True, timeout=60, check=False)
    complaints = [line for line in done.stderr.splitlines() if "twinlog" in line]
    assert (done.returncode, complaints) == (0, []), done.stderr
