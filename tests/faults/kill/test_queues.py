"""``kill -9`` while publishers wait for confirms and a consumer acknowledges: what was confirmed is there."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.compat.target import Server
from tests.faults.queue_load import Ledger, QueueLoad, declare

# Small files: they move, and go, all the time.
SETTINGS = {
    "amqp.listen": "127.0.0.1:0",
    "kafka.listen": "off",
    "queues.journal_file_bytes": 65536,
    "queues.journal_files_max": 2,
    "queues.segment_bytes": 16384,
}
CONFIRMED_A_LIFE = 300


def kills(home: Path, rounds: int) -> Ledger:
    ledger = Ledger()
    with Server(home / "data", settings=SETTINGS) as server:
        declare(server.amqp)
        for life in range(rounds):
            load = QueueLoad(server.amqp, ledger, life)
            enough = CONFIRMED_A_LIFE * (1 + life % 4)
            deadline = time.monotonic() + 30
            while any(each.confirmed < enough for each in load.publishers) and time.monotonic() < deadline:
                time.sleep(0.005)
            server.kill()
            load.end()
            server.start()
        ledger.drain(server.amqp)
    assert ledger.broken == []
    assert ledger.lost() == set()
    assert len(ledger.confirmed) >= CONFIRMED_A_LIFE * rounds
    assert ledger.over
    return ledger


def test_what_was_confirmed_survives_being_killed(tmp_path: Path) -> None:
    kills(tmp_path, 3)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_storm_of_kills_of_queues(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rounds = int(os.environ.get("ROUNDS", "50"))
    ledger = kills(tmp_path, rounds)
    with capsys.disabled():
        print(
            f"\n{rounds} kills: {len(ledger.confirmed)} confirmed of which 0 lost, {len(ledger.over)} settled for good"
        )


def test_the_ledger_sees_what_must_not_be() -> None:
    ledger = Ledger()
    for number in range(1, 4):
        ledger.deliver(b"p:%d" % number, False)
    ledger.deliver(b"p:2", True)
    ledger.confirmed.update({b"p:1", b"p:9"})
    ledger.acknowledged.add(b"p:1")
    ledger.over.add(b"p:1")
    assert ledger.broken == [] and ledger.lost() == {b"p:9"}
    ledger.deliver(b"p:3", False)
    ledger.deliver(b"p:1", True)
    assert [each.partition(" ")[2] for each in ledger.broken] == [
        "came a second time without a mark",
        "came after b'p:3'",
        "came back, and its acknowledgement was stored",
    ]
