"""The whole job: fills the source, keeps copiers running, kills them and the broker by chance, and counts the copy."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from twinlog.testing import Broker

SOURCE, TARGET, GROUP = "source", "target", "copiers"
PARTITIONS = 4
READ_S = 60.0
EARLY_MAX = 10
LIFE_S = 40.0  # of one copier; those that are well end long before


@dataclass
class Outcome:
    """What was killed how often, and what is wrong with the copy."""

    copiers_killed: int = 0
    brokers_killed: int = 0
    copiers_failed: int = 0
    copiers_stuck: int = 0
    ended_early: int = 0  # every copier found nothing to read for a while, and there was something
    seconds: float = 0.0
    missing: int = 0
    doubled: int = 0
    strange: int = 0
    unstable: list[str] = field(default_factory=list)

    @property
    def is_exact(self) -> bool:
        return not (self.missing or self.doubled or self.strange or self.unstable)


class CopyJob:
    def __init__(
        self, home: Path, *, records: int, batch: int, copiers: int, kills: int, every_s: tuple[float, float], seed: int
    ) -> None:
        self.home = home
        self.records = records
        self.batch = batch
        self.copiers = copiers
        self.kills = kills
        self.every_s = every_s
        self.chance = random.Random(seed)
        self.running: dict[int, subprocess.Popen[bytes]] = {}
        self.started_s: dict[int, float] = {}
        self.outcome = Outcome()
        self.broker = Broker(data_dir=home / "data", settings={"groups.session_timeout_min_ms": 1000})

    def run(self) -> Outcome:
        begun = time.monotonic()
        with self.broker:
            self.fill()
            try:
                self.copy()
            finally:
                for copier in self.running.values():
                    copier.kill()
                    copier.wait()
            self.count()
        self.outcome.seconds = round(time.monotonic() - begun, 1)
        return self.outcome

    def fill(self) -> None:
        admin = AdminClient({"bootstrap.servers": self.broker.kafka})
        for future in admin.create_topics([NewTopic(SOURCE, PARTITIONS), NewTopic(TARGET, PARTITIONS)]).values():
            future.result(30)
        producer = Producer(
            {
                "bootstrap.servers": self.broker.kafka,
                "enable.idempotence": True,
                "queue.buffering.max.messages": 200_000,
            }
        )
        for number in range(self.records):
            producer.produce(SOURCE, b"%d" % number, b"%d" % number)
        assert producer.flush(60) == 0

    # ---- while it runs ------------------------------------------------------------------------------------------

    def copy(self) -> None:
        next_kill_s = time.monotonic() + self.chance.uniform(*self.every_s)
        left = self.kills
        finished: set[int] = set()
        while left or len(finished) < self.copiers or not self.is_read():
            if not left and len(finished) == self.copiers:
                # On a slow machine a restart and the clients' patience with it take longer than a copier's own.
                self.outcome.ended_early += 1
                assert self.outcome.ended_early < EARLY_MAX, self.outcome
                finished.clear()
                self.running.clear()
            for number in range(self.copiers):
                self.keep(number, finished, more_to_come=left > 0)
            if left and time.monotonic() >= next_kill_s:
                left -= 1
                self.kill_one()
                finished.clear()
                next_kill_s = time.monotonic() + self.chance.uniform(*self.every_s)
            time.sleep(0.05)

    def is_read(self) -> bool:
        """Whether the group has committed the end of the source, which holds nothing but its records."""
        consumer = Consumer({"bootstrap.servers": self.broker.kafka, "group.id": GROUP})
        try:
            found = consumer.committed([TopicPartition(SOURCE, partition) for partition in range(PARTITIONS)], READ_S)
        finally:
            consumer.close()
        return sum(max(place.offset, 0) for place in found) == self.records

    def keep(self, number: int, finished: set[int], *, more_to_come: bool) -> None:
        copier = self.running.get(number)
        if copier is not None and copier.poll() is None:
            if time.monotonic() - self.started_s[number] < LIFE_S:
                return
            # Whatever a client library waits for, the copy is to be judged (tests/compat/FINDINGS.md).
            self.outcome.copiers_stuck += 1
            copier.kill()
            copier.wait()
        if copier is not None and copier.returncode == 0 and not more_to_come:
            finished.add(number)
            return
        if copier is not None and copier.returncode > 0:
            self.outcome.copiers_failed += 1
        names = [SOURCE, TARGET, GROUP, f"copier-{number}", str(self.batch)]
        self.started_s[number] = time.monotonic()
        with (self.home / "copiers.errors").open("ab") as errors:
            self.running[number] = subprocess.Popen(
                [sys.executable, "-m", "tests.faults.copy_job.copier", self.broker.kafka, *names], stderr=errors
            )

    def kill_one(self) -> None:
        if self.chance.random() < 0.5:
            self.outcome.brokers_killed += 1
            self.broker.kill()
            self.broker.start()
            return
        alive = [copier for copier in self.running.values() if copier.poll() is None]
        if alive:
            self.outcome.copiers_killed += 1
            self.chance.choice(alive).kill()

    # ---- afterwards ---------------------------------------------------------------------------------------------

    def count(self) -> None:
        admin = AdminClient({"bootstrap.servers": self.broker.kafka})
        seen: Counter[bytes | None] = Counter()
        for partition in range(PARTITIONS):
            seen.update(self.values_of(admin, TopicPartition(TARGET, partition)))
        wanted = {b"%d" % number for number in range(self.records)}
        self.outcome.missing = len(wanted - seen.keys())
        self.outcome.strange = len(seen.keys() - wanted)
        self.outcome.doubled = sum(1 for count in seen.values() if count > 1)

    def values_of(self, admin: AdminClient, place: TopicPartition) -> list[bytes | None]:
        """Everything committed, up to an end that has to be stable: no transaction may hang."""
        (future,) = admin.list_offsets({place: OffsetSpec.latest()}).values()
        end = future.result(30).offset
        consumer = Consumer(
            {
                "bootstrap.servers": self.broker.kafka,
                "group.id": "judge",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
                "auto.offset.reset": "earliest",
            }
        )
        values: list[bytes | None] = []
        try:
            consumer.assign([TopicPartition(place.topic, place.partition, 0)])
            deadline = time.monotonic() + READ_S
            while time.monotonic() < deadline:
                for message in consumer.consume(5000, 0.5):
                    if message.error() is None:
                        values.append(message.value())
                    elif message.error().fatal():
                        raise KafkaException(message.error())
                (position,) = consumer.position([TopicPartition(place.topic, place.partition)])
                if position.offset >= end:
                    return values
        finally:
            consumer.close()
        self.outcome.unstable.append(f"{place.topic}-{place.partition} below {end}")
        return values
