"""``kill -9`` again and again under real clients of both protocols, and what became of everything they were told.

confluent-kafka, kafka-python and aiokafka write with idempotence, each its own topic, with producers that live
through the kills; a confluent-kafka member of a group reads and commits; pika publishes under confirm and consumes.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.compat.clients import PYTHON_CLIENTS, Client, ClientRefused, Clients, record, start_client
from tests.faults.kill.commits import committed
from tests.faults.kill.pika_load import PikaLoad
from tests.faults.queue_load import Ledger, declare
from tests.faults.wire_load import everything_in
from twinlog.testing import Broker

RECORDS = 1000  # a client and kill
MEMBER_OF = "confluent"  # whose topic the member of the group reads
GROUP = "storm"
POLL_MS = 300
PATIENCE_S = 60
SETTINGS = {
    "amqp.listen": "127.0.0.1:0",
    "groups.offsets_partitions": 3,
    "groups.session_timeout_min_ms": 1000,
    "queues.journal_file_bytes": 65536,
    "queues.journal_files_max": 2,
    "queues.segment_bytes": 16384,
}


@dataclass
class Toll:
    """What a storm counted; nothing of it was lost, doubled or out of order, else it would have raised."""

    kills: int = 0
    confirmed: int = 0
    unknown: int = 0
    commits: int = 0
    commits_unknown: int = 0
    queue_confirmed: int = 0
    queue_acknowledged: int = 0

    def __str__(self) -> str:
        return (
            f"{self.kills} kills: {self.confirmed} records confirmed of which 0 lost, 0 doubled, {self.unknown} "
            f"unknown; {self.commits} commits confirmed, 0 lost, 0 back, {self.commits_unknown} unknown; "
            f"{self.queue_confirmed} messages confirmed, 0 lost, {self.queue_acknowledged} acknowledged"
        )


class Writer:
    """One client library with its topic. A producer that gave up is followed by a new one."""

    def __init__(self, client: Client, name: str) -> None:
        self.name = name
        self.placed: dict[int, bytes] = {}  # confirmed: by offset
        self.sent: dict[bytes, int] = {}  # the order of sending
        self.unknown = 0
        self._client = client
        self._producer = 0
        self._batch: list[bytes] = []

    def begin(self) -> None:
        first = len(self.sent)
        self._batch = [b"%d " % number + b"." * 50 for number in range(first, first + RECORDS)]
        self.sent.update((value, first + number) for number, value in enumerate(self._batch))
        self._client.ask(
            "produce",
            topic=self.name,
            partition=0,
            records=[record(value) for value in self._batch],
            idempotent=True,
            producer=f"producer {self._producer}",
        )

    def end(self) -> None:
        try:
            placed = self._client.hear("produce")
        except ClientRefused:
            self.unknown += RECORDS
            self._producer += 1
            return
        for value, (_, offset, _) in zip(self._batch, placed, strict=True):
            assert self.placed.setdefault(offset, value) == value, f"{self.name}: two records were put at {offset}"

    def judge(self, bootstrap: str) -> None:
        found = {offset: value for (_, offset), value in everything_in(bootstrap, self.name, partitions=1).items()}
        for offset, value in self.placed.items():
            assert found.get(offset) == value, f"{self.name}: {value[:20]!r} at {offset} is not there"
        values = [found[offset] for offset in sorted(found)]
        assert len(values) == len(set(values)), f"{self.name}: something is there twice"
        order = [self.sent[value] for value in values]
        assert order == sorted(order), f"{self.name}: the order of sending was lost"


class Reader:
    """A member of a group that reads and commits. What was committed never goes back."""

    def __init__(self, client: Client) -> None:
        self.commits = self.unknown = 0
        self.read_to = 0  # the next offset it will read
        self._client = client
        self._floor = 0
        client.subscribe(group=GROUP, topic=MEMBER_OF)

    def begin(self) -> None:
        self._client.ask("poll_group", ms=POLL_MS)
        self._client.ask("commit_group")

    def end(self) -> None:
        position = self._hear_poll()
        try:
            self._client.hear("commit_group")
        except ClientRefused:
            self.unknown += 1
            return
        if position is not None:
            self.commits += 1
            self._floor = max(self._floor, position)

    def _hear_poll(self) -> int | None:
        """Where it stands, if it read anything this time."""
        try:
            records: list[list[Any]] = self._client.hear("poll_group")["records"]
        except ClientRefused:
            return None
        position = None
        for _, offset, _ in records:
            position = offset + 1
            self.read_to = max(self.read_to, position)
        return position

    def judge(self, bootstrap: str) -> None:
        offset, _ = committed(bootstrap, GROUP, 0, MEMBER_OF)
        assert offset >= self._floor, f"committed was {self._floor}, found is {offset}"
        assert offset <= self.read_to, f"{offset} is committed, and nobody read beyond {self.read_to}"
        self._floor = offset


def storm(kills: int, seed: int, home: Path, tell: Callable[[int], None] = lambda kills: None) -> Toll:
    chance = random.Random(seed)
    ledger = Ledger()
    toll = Toll()
    with Broker(settings=SETTINGS) as broker:
        clients = Clients(broker.kafka, home)
        member = start_client(MEMBER_OF, broker.kafka, home / "member.errors")
        try:
            declare(broker.amqp)
            writers = [Writer(clients[name], name) for name in PYTHON_CLIENTS]
            for writer in writers:
                clients[writer.name].create_topic(topic=writer.name, partitions=1)
            reader = Reader(member)
            deadline_s = time.monotonic() + PATIENCE_S
            while not reader.commits:  # a group that has begun
                assert time.monotonic() < deadline_s, "the member read nothing"
                for load in (*writers, reader):
                    load.begin()
                for load in (*writers, reader):
                    load.end()
            for kill in range(kills):
                queue_load = PikaLoad(broker.amqp, ledger, kill)
                for load in (*writers, reader):
                    load.begin()
                while not kill and not queue_load.confirmed:  # at least once in a storm
                    assert time.monotonic() < deadline_s, "pika published nothing"
                    time.sleep(0.01)
                time.sleep(chance.choice([0.02, 0.1, 0.4, 1.5]) * chance.random())
                broker.kill()
                queue_load.end()
                broker.start()
                for load in (*writers, reader):
                    load.end()
                reader.judge(broker.kafka)
                toll.kills += 1
                tell(toll.kills)
            for writer in writers:
                writer.judge(broker.kafka)
                toll.confirmed += len(writer.placed)
                toll.unknown += writer.unknown
        finally:
            member.close()
            clients.close()
        ledger.drain(broker.amqp)
        assert "Traceback" not in broker.log, broker.log[-4000:]
    assert ledger.broken == []
    assert ledger.lost() == set()
    toll.commits, toll.commits_unknown = reader.commits, reader.unknown
    toll.queue_confirmed, toll.queue_acknowledged = len(ledger.confirmed), len(ledger.acknowledged)
    return toll
