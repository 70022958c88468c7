"""Compaction of one log: ten million records of 100 bytes over a million keys, and what it does to others meanwhile.

The records are written while the topic only deletes; then its policy becomes compact, and the server's CPU is taken
until the log has its final size, less what it takes for the same time without. At the same moment another topic loses
all its segments to retention. A slow stream of records with ``acks=all`` to a third topic is timed before and
meanwhile. At the end everybody who rebuilds the table from the start has to read about as many records as there are
keys.

What starts the cleaner is up to the server, so look at CPU rather than at time. The suite starts Kafka with settings
that let its cleaner begin at once and read and write in large pieces; a first small log warms the JVM up.
"""

from __future__ import annotations

import random
import socket
import statistics
import struct
import threading
import time
from pathlib import Path
from typing import Any, Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from benchmarks.macro.workloads.metering import TICKS_A_SECOND, Meter, call, connect, frame, new_topic
from twinlog import _kernel
from twinlog.wire.kafka import decode_response
from twinlog.wire.kafka.messages import describe_log_dirs, produce

RECORDS: Final = 10_000_000
KEYS: Final = 1_000_000
VALUE_BYTES: Final = 90  # and a key of ten
BATCH_RECORDS: Final = 1000
WINDOW: Final = 8  # requests under way while a log is filled
SEGMENT_BYTES: Final = 100 * 1024 * 1024
WARM_UP: Final = 10  # its part of the size
DOOMED_BYTES: Final = 512 * 1024 * 1024
DOOMED_RECORD_BYTES: Final = 900_000
DOOMED_SEGMENT_BYTES: Final = 16 * 1024 * 1024
QUIET_S: Final = 10.0
STEADY_S: Final = 6.0
PATIENCE_S: Final = 240.0
CLEANER_THREAD: Final = "kafka-log-clean"
KAFKA_SETTINGS: Final = (
    "log.cleaner.backoff.ms=500",
    "log.cleaner.io.buffer.size=8388608",
    "log.retention.check.interval.ms=1000",
)


class Stream:
    """A record every few milliseconds, each timed from its sending to its confirmation."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        options = {"bootstrap.servers": bootstrap, "linger.ms": 0, "acks": "all"}
        self._producer = Producer(options)
        self._topic = topic
        self._waits: list[tuple[float, float]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            began = time.monotonic()
            told = threading.Event()
            self._producer.produce(self._topic, b"x" * 100, on_delivery=lambda error, message, told=told: told.set())
            while not told.is_set():
                self._producer.poll(0.5)
            self._waits.append((began, time.monotonic() - began))
            time.sleep(0.004)

    def between(self, begin: float, end: float) -> dict[str, float]:
        waits = [wait for at, wait in list(self._waits) if begin <= at <= end]
        cuts = statistics.quantiles(waits, n=100)
        return {"p50_ms": round(cuts[49] * 1000, 2), "p99_ms": round(cuts[98] * 1000, 2), "records": len(waits)}

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()


class Writer:
    """Sends batches that our own kernel made: a client library would take most of the time."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._socket = connect(bootstrap)
        self._topic = topic
        self._under_way = 0

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        while self._under_way:
            self._take_answer()
        self._socket.close()

    def write(self, rows: list[tuple[int, bytes | None, bytes, None]]) -> None:
        data = produce.PartitionProduceData(index=0, records=_kernel.build_batch(rows))
        topics = [produce.TopicProduceData(name=self._topic, partition_data=[data])]
        self._socket.sendall(frame(produce.ProduceRequest(acks=1, timeout_ms=30_000, topic_data=topics), 9))
        self._under_way += 1
        if self._under_way == WINDOW:
            self._take_answer()

    def _take_answer(self) -> None:
        size = struct.unpack(">i", self._socket.recv(4, socket.MSG_WAITALL))[0]
        data = self._socket.recv(size, socket.MSG_WAITALL)
        (answer,) = decode_response(produce.ProduceResponse.KEY, 9, data)[1].responses[0].partition_responses
        assert answer.error_code == 0, answer.error_message
        self._under_way -= 1


def fill(bootstrap: str, topic: str, records: int, keys: int) -> None:
    chance = random.Random(1)
    value = bytes(VALUE_BYTES)
    now_ms = int(time.time() * 1000)
    with Writer(bootstrap, topic) as writer:
        for number in range(0, records, BATCH_RECORDS):
            count = min(BATCH_RECORDS, records - number)
            writer.write([(now_ms, b"%010d" % chance.randrange(keys), value, None) for _ in range(count)])


def fill_doomed(bootstrap: str, topic: str) -> None:
    """Half a gigabyte of records that age will take."""
    rows = [(int(time.time() * 1000), None, bytes(DOOMED_RECORD_BYTES), None)]
    with Writer(bootstrap, topic) as writer:
        for _ in range(DOOMED_BYTES // DOOMED_RECORD_BYTES):
            writer.write(rows)


def size_of(bootstrap: str, topic: str) -> int:
    asked = describe_log_dirs.DescribeLogDirsRequest(
        topics=[describe_log_dirs.DescribableLogDirTopic(topic=topic, partitions=[0])]
    )
    with connect(bootstrap) as to:
        answer = call(to, asked, 2)
    return max(
        (each.partition_size for dir_ in answer.results for t in dir_.topics for each in t.partitions), default=0
    )


def alter(bootstrap: str, topic: str, **configs: str) -> None:
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    for name, value in configs.items():
        entry = ConfigEntry(name.replace("_", "."), value, incremental_operation=AlterConfigOpType.SET)
        resource.add_incremental_config(entry)
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.incremental_alter_configs([resource])[resource].result(30)


def records_to_rebuild(bootstrap: str, topic: str) -> tuple[int, int]:
    """How many records somebody reads who begins at the start, and how many keys he has then."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "rebuild", "enable.partition.eof": True})
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    count, keys = 0, set()
    while True:
        for message in consumer.consume(10_000, 1):
            if message.error() is not None:
                assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                consumer.close()
                return count, len(keys)
            count += 1
            keys.add(message.key())


def cleaner_cpu_s(pid: int) -> float:
    """Of Kafka's cleaner threads alone; 0 for a server that has none of that name."""
    ticks = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        head, _, rest = (task / "stat").read_text().rpartition(")")
        if CLEANER_THREAD in head:
            ticks += sum(map(int, rest.split()[11:13]))
    return ticks / TICKS_A_SECOND


def memory_kb(pid: int, name: str) -> int:
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name))


def until_final_size(bootstrap: str, topic: str, before: int) -> tuple[float, int]:
    """When the log had the size that it kept, and that size."""
    sizes: list[tuple[float, int]] = []
    began = time.monotonic()
    while True:
        sizes.append((time.monotonic(), size_of(bootstrap, topic)))
        at, last = sizes[-1]
        since = next(at for at, size in sizes if size == last)
        if last < before * 0.7 and at - since > STEADY_S:
            return since, last
        assert at - began < PATIENCE_S, "it was never compacted"
        time.sleep(0.1)


def compact(bootstrap: str, topic: str) -> None:
    alter(bootstrap, topic, cleanup_policy="compact", min_cleanable_dirty_ratio="0.01")


def run(bootstrap: str, server_pid: int, records: int = RECORDS, keys: int = KEYS) -> dict[str, Any]:
    small, topic, doomed, other = (new_topic(bootstrap, 1) for _ in range(4))
    for each, size in ((small, SEGMENT_BYTES // WARM_UP), (topic, SEGMENT_BYTES), (doomed, DOOMED_SEGMENT_BYTES)):
        alter(bootstrap, each, segment_bytes=str(size), file_delete_delay_ms="0")
    fill(bootstrap, small, records // WARM_UP, keys // WARM_UP)
    compact(bootstrap, small)
    until_final_size(bootstrap, small, size_of(bootstrap, small))
    fill(bootstrap, topic, records, keys)
    fill_doomed(bootstrap, doomed)
    before = size_of(bootstrap, topic)
    stream = Stream(bootstrap, other)
    time.sleep(QUIET_S / 2)
    quiet_from = time.monotonic()
    with Meter(server_pid) as idle:
        time.sleep(QUIET_S)
    quiet = stream.between(quiet_from, time.monotonic())
    Path(f"/proc/{server_pid}/clear_refs").write_text("5")  # the peak begins anew
    resident_kb, cleaner_before_s = memory_kb(server_pid, "VmRSS"), cleaner_cpu_s(server_pid)
    began = time.monotonic()
    with Meter(server_pid) as meter:
        compact(bootstrap, topic)
        alter(bootstrap, doomed, retention_ms="1")
        final_at, after = until_final_size(bootstrap, topic, before)
    busy = stream.between(began, final_at)
    stream.stop()
    own_cpu_s = meter.server_cpu_s - idle.server_cpu_s * meter.wall_s / idle.wall_s
    assert size_of(bootstrap, doomed) < DOOMED_BYTES / 10, "nothing was deleted meanwhile"
    read, found = records_to_rebuild(bootstrap, topic)
    result = {
        "records": records,
        "keys": keys,
        "mb_before": round(before / 1e6),
        "mb_after": round(after / 1e6),
        "until_final_size_s": round(final_at - began, 2),
        "compaction_cpu_s": round(own_cpu_s, 2),
        "mb_per_cpu_s": round(before / 1e6 / own_cpu_s, 1),
        "records_per_cpu_s": round(records / own_cpu_s),
        "memory_more_mb": round((memory_kb(server_pid, "VmHWM") - resident_kb) / 1000),
        "produce_quiet": quiet,
        "produce_meanwhile": busy,
        "p99_ratio": round(busy["p99_ms"] / quiet["p99_ms"], 2),
        "keys_found": found,
        "records_read_for_a_key": round(read / found, 2),
    }
    cleaner_s = cleaner_cpu_s(server_pid) - cleaner_before_s
    if cleaner_s:
        result["cleaner_thread_mb_per_cpu_s"] = round(before / 1e6 / cleaner_s, 1)
    return result


if __name__ == "__main__":
    import json
    import sys

    where, pid, *more = sys.argv[1:]
    print(json.dumps(run(where, int(pid), *map(int, more))))
