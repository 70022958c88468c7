"""Drivers, tasks and brokers killed at any moment: a committed reader finds the recomputed result, each record once."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from pyspark_twinlog.door import SparkDoor
from tests.spark.records import values_of
from tests.spark.test_source import fill
from twinlog.base.address import parse_address
from twinlog.client import BrokerError, Client
from twinlog.client.blocking import LATEST
from twinlog.client.lookup import offsets_of
from twinlog.testing.broker import Broker

RECORDS = 3000
ROUNDS = int(os.environ.get("ROUNDS", "50"))
FIRST = int(os.environ.get("FIRST", "0"))
DECISIONS = "twinlog-spark-decisions"


def copied(client: Client, topic: str) -> Counter[bytes]:
    """Every value that a committed reader finds."""
    return Counter(values_of(client, topic, raw=True))


def begin(bootstrap: str, source: str, sink: str, checkpoint: Path, seed: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.spark.copier", bootstrap, source, sink, str(checkpoint), str(seed)]
    return subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_tree(process: subprocess.Popen[bytes]) -> None:
    """The driver with its Java and its Python workers, at once."""
    try:
        doomed = [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]
    except psutil.NoSuchProcess:
        doomed = []
    for each in doomed:
        try:
            each.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            continue
    process.wait()


def batches(checkpoint: Path, what: str) -> int:
    folder = checkpoint / what
    return sum(1 for path in folder.iterdir() if path.name.isdecimal()) if folder.is_dir() else 0


def kill_somewhere(process: subprocess.Popen[bytes], checkpoint: Path, chance: random.Random) -> bool:
    """Waits until another batch is planned, then a little longer; False when the query was done before."""
    planned = batches(checkpoint, "offsets")
    while process.poll() is None and batches(checkpoint, "offsets") <= planned:
        time.sleep(0.002)
    wait_s = chance.random() * 0.6
    try:
        process.wait(wait_s)
    except subprocess.TimeoutExpired:
        kill_tree(process)
        return True
    return False


def kill_in_a_commit(process: subprocess.Popen[bytes], client: Client, broker: Broker, chance: random.Random) -> bool:
    """The broker, as soon as another decision can be read: the transactions it names are being ended. False when the
    query was done before."""
    before = decided(client)
    while decided(client) <= before:
        if process.poll() is not None:
            return False
        time.sleep(0.001)
    time.sleep(chance.random() * 0.01)
    broker.kill()
    client.close()
    broker.start()
    return True


def decided(client: Client) -> int:
    """How far the decisions go; 0 before there are any."""
    place = (DECISIONS, 0)
    try:
        client.refresh({DECISIONS})
        return offsets_of(client, {place: LATEST}, committed=True)[place]
    except BrokerError:
        return 0


def check_round(
    client: Client, broker: Broker, topic: Callable[..., str], home: Path, seed: int, kills: int, *, broker_too: bool
) -> Counter[str]:
    """What was done to the query, by kind."""
    chance, did = random.Random(seed), Counter[str]()
    source, sink = topic(3), topic(2)
    fill(client, source, RECORDS)
    checkpoint = home / f"c{seed}"
    for _ in range(kills):
        process = begin(broker.kafka, source, sink, checkpoint, seed)
        if broker_too:
            did["brokers killed in a commit"] += kill_in_a_commit(process, client, broker, chance)
        if not kill_somewhere(process, checkpoint, chance):
            break
        did["drivers killed"] += 1
    last = begin(broker.kafka, source, sink, checkpoint, seed)
    assert last.wait() == 0, f"seed {seed}: the query did not end well"
    client.close()
    found = copied(client, sink)
    expected = Counter(b"made-value-%d" % number for number in range(RECORDS))
    assert found == expected, f"seed {seed}: {(found - expected).total()} too many, {(expected - found).total()} lost"
    return did


@pytest.mark.timeout(600)
def test_a_killed_driver_leaves_each_record_once(
    client: Client, broker: Broker, topic: Callable[..., str], tmp_path: Path
) -> None:
    check_round(client, broker, topic, tmp_path, seed=1, kills=1, broker_too=False)


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_killed_drivers_brokers_and_tasks_leave_each_record_once(tmp_path: Path) -> None:
    """``make sparkfaults ROUNDS=50``, or a part of it: FIRST says with which seed to begin."""
    did = Counter[str]()
    for seed in range(FIRST, FIRST + ROUNDS):
        with Broker() as own, Client([parse_address(own.kafka)], SparkDoor()) as client:
            numbers = itertools.count()

            def make(partitions: int, client: Client = client, numbers: Any = numbers, seed: int = seed) -> str:
                name = f"s{seed}-{next(numbers)}"
                client.create_topic(name, partitions, configs={"retention.ms": "-1"})
                client.topic(name)
                return name

            done = check_round(client, own, make, tmp_path, seed, kills=2, broker_too=seed % 2 == 1)
        did += done
        print(f"seed {seed}: {dict(done)}: {RECORDS} records, each once", flush=True)
    print(f"{ROUNDS} rounds: {dict(did)}; no record lost, none twice", flush=True)
