"""The directions of docs and code hold: import-linter reads them from pyproject.toml."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_import_contracts_of_pyproject_hold() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    environment = {**os.environ, "PYTHONPATH": "src", "COLUMNS": "200"}
    done = subprocess.run(
        [*command, "--no-cache"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout
