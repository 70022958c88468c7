"""How exactly quotas of bytes are kept: four clients with one each, for half a minute, all at once.

librdkafka and Kafka's own Java tools produce and fetch as fast as they are let. Produced bytes are what the log grew
by, fetched bytes what the consumers counted. Figures are shares of the quota: 1 is exactly what was allowed.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from benchmarks.macro.workloads.compaction import Writer, size_of
from benchmarks.macro.workloads.metering import call, connect, new_topic
from twinlog.wire.kafka.messages import alter_client_quotas

QUOTA_BYTES_PER_S: Final = 4_000_000
WINDOW_S: Final = 30.0
START_S: Final = 3.0  # until both have begun, and used what they may at once
RECORD_BYTES: Final = 10_000
READ_BYTES: Final = 200_000_000  # more than a fetcher gets to see
LINE: Final = re.compile(r"^\d[^,]*, \d+, (?P<mb>[\d.]+),")


def limit(bootstrap: str, client_id: str, quota: str) -> None:
    entity = [alter_client_quotas.AlterClientQuotasRequestEntityData(entity_type="client-id", entity_name=client_id)]
    operation = alter_client_quotas.OpData(key=quota, value=float(QUOTA_BYTES_PER_S))
    entry = alter_client_quotas.AlterClientQuotasRequestEntryData(entity=entity, ops=[operation])
    with connect(bootstrap) as to:
        (answer,) = call(to, alter_client_quotas.AlterClientQuotasRequest(entries=[entry]), 1).entries
    assert answer.error_code == 0, answer.error_message


class Produced:
    """What a log grows by."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._now = lambda: size_of(bootstrap, topic)

    def total(self) -> float:
        return self._now()


class OwnProducer(threading.Thread):
    def __init__(self, bootstrap: str, topic: str, client_id: str) -> None:
        super().__init__()
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "client.id": client_id,
                "linger.ms": 20,
                "queue.buffering.max.kbytes": 8192,
            }
        )
        self._topic = topic
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.is_set():
            try:
                self._producer.produce(self._topic, bytes(RECORD_BYTES))
            except BufferError:
                self._producer.poll(0.05)
        self._producer.purge()


class OwnConsumer(threading.Thread):
    def __init__(self, bootstrap: str, topic: str, client_id: str) -> None:
        super().__init__()
        options = {"bootstrap.servers": bootstrap, "client.id": client_id, "group.id": client_id}
        self._consumer = Consumer(options)
        self._consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        self._total = 0
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.is_set():
            for message in self._consumer.consume(1000, 0.05):
                assert message.error() is None, message.error()
                self._total += len(message.value())
        self._consumer.close()

    def total(self) -> float:
        return self._total


class JavaTool:
    """A tool of Kafka's as a process, whose lines may say how much it has read."""

    def __init__(self, main: str, *arguments: str) -> None:
        libraries = Path(os.environ.get("BENCH_HOME") or Path(tempfile.gettempdir()) / "twinlog-bench-kafka") / "libs"
        command = ["java", "-Xmx256M", "-cp", f"{libraries}/*", main, *arguments]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self._mb = 0.0
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found = LINE.match(line)
            if found:
                self._mb = float(found["mb"])

    def total(self) -> float:
        return self._mb * (1 << 20)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._listener.join()


def java_producer(bootstrap: str, topic: str, client_id: str) -> JavaTool:
    return JavaTool(
        "org.apache.kafka.tools.ProducerPerformance",
        *("--topic", topic, "--num-records", "100000000", "--record-size", str(RECORD_BYTES), "--throughput", "-1"),
        *("--producer-props", f"bootstrap.servers={bootstrap}", f"client.id={client_id}", "buffer.memory=8000000"),
    )


@contextlib.contextmanager
def java_consumer(bootstrap: str, topic: str, client_id: str) -> Iterator[JavaTool]:
    with tempfile.NamedTemporaryFile("w", suffix=".properties") as config:
        config.write(f"client.id={client_id}\nmax.poll.records=10\nauto.offset.reset=earliest\n")
        config.flush()
        tool = JavaTool(
            "org.apache.kafka.tools.ConsumerPerformance",
            *("--bootstrap-server", bootstrap, "--topic", topic, "--messages", "100000000", "--timeout", "60000"),
            *("--consumer.config", config.name, "--reporting-interval", "250", "--show-detailed-stats"),
        )
        try:
            yield tool
        finally:
            tool.end()


def shares(totals: dict[str, Callable[[], float]]) -> dict[str, float]:
    """Of what the quota allows in the window, by name."""
    before = {name: (time.monotonic(), total()) for name, total in totals.items()}
    time.sleep(WINDOW_S)
    found = {}
    for name, total in totals.items():
        at, count = before[name]
        now, count_now = time.monotonic(), total()
        found[name] = round((count_now - count) / (now - at) / QUOTA_BYTES_PER_S, 3)
    return found


def run(bootstrap: str, server_pid: int) -> dict[str, Any]:
    ours, theirs, read = (new_topic(bootstrap, 1) for _ in range(3))
    rows = [(int(time.time() * 1000), None, bytes(RECORD_BYTES), None)] * 90
    with Writer(bootstrap, read) as writer:
        for _ in range(READ_BYTES // (RECORD_BYTES * len(rows))):
            writer.write(rows)
    run_id = uuid.uuid4().hex[:8]
    names = {key: f"{key}-{run_id}" for key in ("rdk-p", "rdk-f", "java-p", "java-f")}
    for key, client_id in names.items():
        limit(bootstrap, client_id, "producer_byte_rate" if key.endswith("p") else "consumer_byte_rate")
    producer = OwnProducer(bootstrap, ours, names["rdk-p"])
    consumer = OwnConsumer(bootstrap, read, names["rdk-f"])
    with java_consumer(bootstrap, read, names["java-f"]) as java_reader:
        java_writer = java_producer(bootstrap, theirs, names["java-p"])
        try:
            producer.start()
            consumer.start()
            written, java_written = Produced(bootstrap, ours), Produced(bootstrap, theirs)
            deadline = time.monotonic() + 60
            while not (java_reader.total() and java_written.total() and written.total() and consumer.total()):
                assert time.monotonic() < deadline, "somebody never began"
                time.sleep(0.1)
            time.sleep(START_S)
            return shares(
                {
                    "librdkafka_produce": written.total,
                    "librdkafka_fetch": consumer.total,
                    "java_produce": java_written.total,
                    "java_fetch": java_reader.total,
                }
            )
        finally:
            for each in (producer, consumer):
                each.over.set()
                each.join()
            java_writer.end()
