"""The guide does what it says: the marked examples of each page are run in order, and print what the page shows.

An example is a block opened by ```` ```sh id=NAME ```` or ```` ```python id=NAME ````; what it prints stands in a later
block ```` ```text of=NAME ````. Each page has a broker of its own, and names the default address, which can be copied.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from twinlog.testing import Broker

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
BLOCK = re.compile(r"^```(\w+) (id|of)=(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Pages that tell how things are rather than what to type.
WITHOUT_EXAMPLES: tuple[str, ...] = ("console.md",)
EXAMPLE_S = 300  # some of them start Spark


class Example(NamedTuple):
    language: str
    code: str
    prints: str


def examples(page: Path) -> dict[str, Example]:
    blocks = BLOCK.findall(page.read_text())
    prints = {name: text for _, kind, name, text in blocks if kind == "of"}
    found = {
        name: Example(language, text, prints.get(name, "")) for language, kind, name, text in blocks if kind == "id"
    }
    assert set(prints) <= set(found), f"{page.name} shows output of nothing"
    return found


def run(example: Example, broker: Broker, folder: Path) -> str:
    code = example.code.replace("127.0.0.1:9092", broker.kafka).replace("127.0.0.1:5672", broker.amqp)
    code = code.replace(".venv/bin/twinlog", f"{sys.executable} -m twinlog")
    command = [sys.executable, "-c", code] if example.language == "python" else ["bash", "-euo", "pipefail", "-c", code]
    addresses = {"TWINLOG_BOOTSTRAP": broker.kafka, "TWINLOG_AMQP": broker.amqp, "TWINLOG_HTTP": broker.http}
    environment = {**os.environ, **addresses, "TZ": "UTC", "NO_COLOR": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=EXAMPLE_S, cwd=folder)
    assert done.returncode == 0, f"{example.code}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("name", sorted(path.name for path in GUIDE.glob("*.md")))
def test_every_example_prints_what_the_page_shows(name: str, tmp_path: Path) -> None:
    found = examples(GUIDE / name)
    assert bool(found) != (name in WITHOUT_EXAMPLES)
    with Broker(settings={"amqp.listen": "127.0.0.1:0", "http.listen": "127.0.0.1:0"}) as broker:
        for example_name, example in found.items():
            assert run(example, broker, tmp_path) == example.prints, example_name
