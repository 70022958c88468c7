"""A driver killed at any moment: what a committed reader finds is the recomputed result, each record once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.spark.test_source import fill
from twinlog.client import Client, Consumer
from twinlog.client.blocking import EARLIEST, LATEST
from twinlog.client.lookup import offsets_of
from twinlog.testing.broker import Broker

RECORDS = 3000
ROUNDS = int(os.environ.get("ROUNDS", "50"))


def copied(client: Client, topic: str) -> Counter[bytes]:
    """Every value that a committed reader finds."""
    client.topic(topic)
    places = [(topic, partition) for partition in range(2)]
    starts = offsets_of(client, dict.fromkeys(places, EARLIEST))
    ends = offsets_of(client, dict.fromkeys(places, LATEST), committed=True)
    consumer = Consumer(client, wait_ms=100, committed_only=True)
    consumer.assign(topic, {partition: starts[topic, partition] for partition in range(2)})
    found: Counter[bytes] = Counter()
    while any(consumer.positions[place] < ends[place] for place in places):
        found.update(record.value or b"" for record in consumer.poll())
    return found


def begin(bootstrap: str, source: str, sink: str, checkpoint: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.spark.copier", bootstrap, source, sink, str(checkpoint)]
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


def check_round(
    client: Client, broker: Broker, topic: Callable[..., str], home: Path, seed: int, kills: int, *, broker_too: bool
) -> None:
    chance = random.Random(seed)
    source, sink = topic(3), topic(2)
    fill(client, source, RECORDS)
    checkpoint = home / f"c{seed}"
    for number in range(kills):
        process = begin(broker.kafka, source, sink, checkpoint)
        if broker_too and number == 0:
            while process.poll() is None and not batches(checkpoint, "offsets"):
                time.sleep(0.002)
            time.sleep(chance.random() * 0.6)
            broker.kill()
            broker.start()
        if not kill_somewhere(process, checkpoint, chance):
            break
    last = begin(broker.kafka, source, sink, checkpoint)
    assert last.wait() == 0, f"seed {seed}: the query did not end well"
    client.close()
    found = copied(client, sink)
    expected = Counter(b"made-value-%d" % number for number in range(RECORDS))
    assert found == expected, f"seed {seed}: {(found - expected).total()} too many, {(expected - found).total()} lost"


@pytest.mark.timeout(600)
def test_a_killed_driver_leaves_each_record_once(
    client: Client, broker: Broker, topic: Callable[..., str], tmp_path: Path
) -> None:
    check_round(client, broker, topic, tmp_path, seed=1, kills=1, broker_too=False)


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_killed_drivers_and_brokers_leave_each_record_once(topic: Callable[..., str], tmp_path: Path) -> None:
    from pyspark_twinlog.door import SparkDoor
    from twinlog.base.address import parse_address

    for seed in range(ROUNDS):
        with Broker() as own, Client([parse_address(own.kafka)], SparkDoor()) as client:
            numbers = iter(range(100))

            def make(partitions: int, client: Client = client, numbers=numbers, seed: int = seed) -> str:
                name = f"s{seed}-{next(numbers)}"
                client.create_topic(name, partitions, configs={"retention.ms": "-1"})
                client.topic(name)
                return name

            check_round(client, own, make, tmp_path, seed, kills=2, broker_too=seed % 2 == 1)
