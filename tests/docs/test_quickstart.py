"""The quickstart does what it says: its commands are run in its order against a broker, and print what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from twinlog.testing import Broker

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guide" / "quickstart.md"
BLOCK = re.compile(r"^```(\w+) (id|of)=(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    language: str
    code: str
    prints: str


def examples() -> dict[str, Example]:
    blocks = BLOCK.findall(PAGE.read_text())
    prints = {name: text for _, kind, name, text in blocks if kind == "of"}
    return {
        name: Example(language, text, prints.get(name, "")) for language, kind, name, text in blocks if kind == "id"
    }


def run(example: Example, bootstrap: str) -> str:
    # The page names the default port, so that it can be copied; the test's broker has another.
    code = example.code.replace("127.0.0.1:9092", bootstrap).replace(
        ".venv/bin/twinlog", f"{sys.executable} -m twinlog"
    )
    command = [sys.executable, "-c", code] if example.language == "python" else ["bash", "-euo", "pipefail", "-c", code]
    environment = {**os.environ, "TWINLOG_BOOTSTRAP": bootstrap}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_example_of_the_quickstart_prints_what_the_page_shows() -> None:
    found = examples()
    serve = found.pop("serve")
    assert list(found) == ["cli", "confluent", "kafka_python", "testing"]
    with Broker() as broker:
        for name, example in found.items():
            assert run(example, broker.kafka) == example.prints, name
        words = serve.code.split()
    assert words[:2] == [".venv/bin/twinlog", "serve"]
    accepted = subprocess.run(
        [sys.executable, "-m", "twinlog", *words[1:], "--help"], capture_output=True, text=True, check=False
    )
    assert accepted.returncode == 0
