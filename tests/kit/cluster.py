"""A cluster of one without a disk: a journal in memory whose syncs end when the test says so."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from twinlog.base import HostFault
from twinlog.cluster import (
    Controller,
    ControllerSettings,
    Delta,
    Endpoint,
    Image,
    MetadataLog,
    MetadataLogSettings,
    Topic,
    TopicWanted,
)
from twinlog.host import SyncDone
from twinlog.kafka.rules import KAFKA_RULES

NODE_ID = 1
START_MS = 1_700_000_000_000


class SeededChance:
    """The same draws for the same seed."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def below(self, bound: int) -> int:
        return self._random.randrange(bound)

    def bytes(self, size: int) -> bytes:
        return self._random.randbytes(size)

    def fork(self, label: str) -> SeededChance:
        return SeededChance(self._random.randrange(2**32))


class FixedClock:
    def now_ms(self) -> int:
        return START_MS

    def monotonic_us(self) -> int:
        return 0


class MemoryJournal:
    """Keeps what was appended, counts what was synced, loses the rest at a ``crash``."""

    def __init__(self) -> None:
        self.state: bytes | None = None
        self.entries: list[bytes] = []
        self.size_bytes = 0
        self.synced = 0
        self.snapshots = 0
        self.refuse_with: HostFault | None = None  # what the next append meets
        self.keep_entries = False  # a snapshot is written, but the power goes before old entries are dropped
        self._waiting: list[SyncDone] = []

    def open(self) -> tuple[bytes | None, list[bytes]]:
        return self.state, list(self.entries)

    def append(self, payload: bytes, done: SyncDone) -> None:
        if self.refuse_with is not None:
            raise self.refuse_with
        self.entries.append(payload)
        self.size_bytes += len(payload)
        self._waiting.append(done)

    def sync(self, fault: HostFault | None = None) -> int:
        """One round: everybody who waits hears of it. Returns how many did."""
        waiting, self._waiting = self._waiting, []
        if fault is None:
            self.synced = len(self.entries)
        for done in waiting:
            done(fault)
        return len(waiting)

    def snapshot(self, payload: bytes) -> None:
        assert not self._waiting, "a snapshot while something is not durable"
        if self.refuse_with is not None:
            raise self.refuse_with
        self.state = payload
        self.snapshots += 1
        self.size_bytes = 0
        if not self.keep_entries:
            self.entries = []
            self.synced = 0

    def crash(self) -> None:
        del self.entries[self.synced :]
        self._waiting.clear()

    def close(self) -> None:
        return None


class Metadata:
    """A metadata log with its controller. Calls that wait for the disk end by themselves, unless ``held``."""

    def __init__(
        self,
        journal: MemoryJournal | None = None,
        *,
        registered: bool = True,
        settings: ControllerSettings | None = None,
        log_settings: MetadataLogSettings | None = None,
        seed: int = 0,
    ) -> None:
        self.journal = journal or MemoryJournal()
        self.log = MetadataLog(self.journal, FixedClock(), log_settings)
        self.log.open()
        self.controller = Controller(self.log, SeededChance(seed), KAFKA_RULES, settings)
        self.held = False
        if registered and not self.image.brokers:
            self.controller.form_cluster(START_MS, lambda fault: None)
            self.register(NODE_ID)

    @property
    def image(self) -> Image:
        return self.log.image

    def register(self, node_id: int, *, incarnation: bytes = b"\1" * 16, clean: bool = True) -> int:
        endpoint = Endpoint("PLAINTEXT", f"node{node_id}", 9092, "PLAINTEXT")
        return self.run(
            lambda done: self.controller.register_broker(node_id, incarnation, [endpoint], done, clean=clean)
        )

    def run(self, call: Callable[[Callable[[Any], None]], None]) -> Any:
        """Makes the call, lets a sync round end, and returns what ``done`` got."""
        heard: list[Any] = []
        call(heard.append)
        if not heard:
            self.journal.sync()
        assert len(heard) == 1, "done is called once"
        return heard[0]

    def create(self, *wanted: TopicWanted, validate_only: bool = False) -> list[Any]:
        answers = self.run(lambda done: self.controller.create_topics(wanted, done, validate_only=validate_only))
        assert isinstance(answers, list)
        return answers

    def topic(self, name: str, partition_count: int = 1, **configs: str) -> Topic:
        """Creates a topic that must be possible."""
        values = {config.replace("_", "."): value for config, value in configs.items()}
        (topic,) = self.create(TopicWanted(name, partition_count, configs=values))
        assert isinstance(topic, Topic), topic
        return topic

    def delete(self, *topic_ids: bytes) -> list[Any]:
        answers = self.run(lambda done: self.controller.delete_topics(topic_ids, done))
        assert isinstance(answers, list)
        return answers

    def restarted(self, **arguments: Any) -> Metadata:
        """What a new process finds after the power was cut."""
        self.journal.crash()
        return Metadata(self.journal, **arguments)


class Listened:
    """Remembers what the log told."""

    def __init__(self) -> None:
        self.heard: list[tuple[Image, Delta]] = []

    def __call__(self, image: Image, delta: Delta) -> None:
        self.heard.append((image, delta))

    def names_created(self) -> list[str]:
        return [topic.name for _, delta in self.heard for topic in delta.topics.created]


def codes(outcomes: Sequence[object]) -> list[int]:
    """0 for each success, the code of each refusal."""
    return [getattr(outcome, "code", 0) for outcome in outcomes]
