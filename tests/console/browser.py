"""A browser that is driven through the console: Debian's Chromium, by the steps of a test.

Screenshots are written to ``.screenshots`` (or to what ``TWINLOG_TEST_SCREENSHOTS`` names).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from twinlog.testing import Broker

ROOT = Path(__file__).parents[2]
DRIVER = Path(__file__).parent / "drive.mjs"
BUILT = ROOT / "src" / "twinlog" / "servers" / "http" / "static" / "index.html"
SHOTS = Path(os.environ.get("TWINLOG_TEST_SCREENSHOTS", ROOT / ".screenshots"))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PLAYWRIGHT = ROOT / "console" / "node_modules" / "playwright-core"

NEEDED = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium"),
    pytest.mark.skipif(not BUILT.exists() or not PLAYWRIGHT.exists(), reason="needs `make console`, which needs npm"),
    pytest.mark.timeout(180),
]

LOGIN = [["open", ""], ["see", "One broker"], ["shoot", "login"], ["login", "guest", "guest"]]


def drive(broker: Broker, folder: Path, steps: list[list[Any]]) -> dict[str, Any]:
    SHOTS.mkdir(parents=True, exist_ok=True)
    plan = folder / "plan.json"
    plan.write_text(json.dumps(steps))
    done = subprocess.run(
        ["node", str(DRIVER), f"http://{broker.http}", str(SHOTS), str(plan)],
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
        env={**os.environ, "CHROMIUM": str(CHROMIUM)},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert "failed" not in seen, seen["failed"]
    assert seen["dialogs"] == []
    assert seen["elsewhere"] == [], "the console needs no internet"
    assert seen["errors"] == [], "no error, and no report of the content security policy"
    answers: dict[str, Any] = seen["answers"]
    return answers
