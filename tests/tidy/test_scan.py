"""The scanner finds what it should, and only that: a rule that cannot fail keeps nothing tidy."""

from __future__ import annotations

import pytest

from tests.tidy.scan import is_machine, is_pure, scan


@pytest.mark.parametrize(
    "source",
    [
        "import asyncio",
        "import os.path",
        "from time import monotonic",
        "def f():\n    import random\n",
    ],
)
def test_a_pure_room_may_not_import_the_machine(source: str) -> None:
    assert len(scan("kafka/partition.py", source)) >= 1
    assert scan("app/node.py", source) == []


@pytest.mark.parametrize(
    "source",
    [
        "import time\ntime.time()",
        "from time import time as now\nnow()",
        "import random as dice\ndice.randint(1, 6)",
        "from datetime import datetime\ndatetime.now()",
        "import os\nos.environ.get('HOME')",
        "print('x')",
        "import asyncio as a\na.create_task(f())",
    ],
)
def test_banned_calls_are_found_under_any_name(source: str) -> None:
    (finding,) = scan("storage/log.py", source)
    assert "is banned; use" in finding.text
    assert scan("host/local/clock.py", source) == []


def test_a_method_or_own_function_of_a_banned_name_is_fine() -> None:
    assert scan("storage/log.py", "def open(x): ...\nopen(1)\nself.disk.open('a')\nself.print()") == []


def test_rooms_are_told_apart() -> None:
    assert is_pure("wire/kafka/api.py")
    assert is_pure("cluster/core/controller.py")
    assert not is_pure("cluster/log.py")
    assert is_machine("host/local/disk.py")
    assert not is_machine("host/disk.py")
