"""kill -9 under load with three real clients: what each was told to be stored is there, once, in its order."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from tests.compat.clients import PYTHON_CLIENTS, ClientRefused, Clients, record
from tests.faults.wire_load import everything_in
from twinlog.testing import Broker

RECORDS = 1500
KILLS_FEW = 2


def storm(kills: int, seed: int, home: Path) -> tuple[int, int]:
    """Returns how many records were confirmed, and how many were refused or unknown."""
    chance = random.Random(seed)
    confirmed: dict[tuple[str, int, int], bytes] = {}
    sent: dict[str, list[bytes]] = {name: [] for name in PYTHON_CLIENTS}
    unknown = 0
    with Broker() as broker:
        clients = Clients(broker.kafka, home)
        try:
            for name in PYTHON_CLIENTS:
                clients[name].create_topic(topic=name, partitions=1)
            for round_ in range(kills):
                batches = {}
                for name in PYTHON_CLIENTS:
                    values = [b"%d-%d " % (round_, number) + b"." * 50 for number in range(RECORDS)]
                    batches[name] = values
                    sent[name] += values
                    clients[name].ask(
                        "produce",
                        topic=name,
                        partition=0,
                        records=[record(value) for value in values],
                        idempotent=True,
                        producer=f"round {round_}",
                    )
                time.sleep(chance.choice([0.01, 0.1, 0.4]) * chance.random())
                broker.kill()
                broker.start()
                for name in PYTHON_CLIENTS:
                    try:
                        placed = clients[name].hear("produce")
                    except ClientRefused:
                        unknown += RECORDS
                        continue
                    for value, (partition, offset, _) in zip(batches[name], placed, strict=True):
                        confirmed[name, partition, offset] = value
        finally:
            clients.close()
        for name in PYTHON_CLIENTS:
            found = everything_in(broker.kafka, name, partitions=1)
            for (client, partition, offset), value in confirmed.items():
                if client == name:
                    assert found.get((partition, offset)) == value, f"{name}: {value!r} at {offset} is not there"
            values = [found[place] for place in sorted(found)]
            assert len(values) == len(set(values)), f"{name}: something is there twice"
            place_of = {value: number for number, value in enumerate(sent[name])}
            order = [place_of[value] for value in values]
            assert order == sorted(order), f"{name}: the order of sending was lost"
    return len(confirmed), unknown


def test_three_clients_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    confirmed, _ = storm(KILLS_FEW, seed=5, home=tmp_path)
    assert confirmed >= RECORDS


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_storm_of_kills(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kills = int(os.environ.get("KILLS", "30"))
    confirmed, unknown = storm(kills, seed=6, home=tmp_path)
    with capsys.disabled():
        print(f"\n{kills} kills: {confirmed} confirmed of which 0 lost and 0 doubled, {unknown} unknown")
