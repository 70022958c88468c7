"""The Go client's own integration tests, from its module, against a broker of ours."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from tests.compat.clients import CACHE

MODULE = "github.com/rabbitmq/amqp091-go@v1.16.0"
# Closing connections from outside needs the management port where that client looks for it; TLS is not served yet.
LEFT_OUT = "TLS|Cluster|ConnectionRecovery"
OUTCOME = re.compile(r"^--- (PASS|FAIL|SKIP): (\w+)", re.MULTILINE)
WORDS = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}


def outcomes(address: str) -> tuple[dict[str, str], str]:
    """Of every test: passed, failed or skipped; and what was said. Skips where the module cannot be had."""
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    home = CACHE / "go-amqp"
    home.mkdir(parents=True, exist_ok=True)
    (home / "go.mod").write_text("module suite\n\ngo 1.20\n")
    fetched = subprocess.run(["go", "mod", "download", "-json", MODULE], cwd=home, capture_output=True, text=True)
    if fetched.returncode:
        pytest.skip(f"{MODULE} cannot be fetched: {fetched.stderr[-300:]}")
    where = next(line.split('"')[3] for line in fetched.stdout.splitlines() if '"Dir"' in line)
    copy = home / "source"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(where, copy)
    for path in [copy, *copy.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    command = ["go", "test", "-v", "-tags", "integration", "-timeout", "600s", "-skip", LEFT_OUT, "."]
    environment = {**os.environ, "AMQP_URL": f"amqp://guest:guest@{address}/"}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
    said = done.stdout + done.stderr
    return {test: WORDS[outcome] for outcome, test in OUTCOME.findall(said)}, said
