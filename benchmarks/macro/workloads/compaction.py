"""Compaction of one log: ten million records of 100 bytes over a million keys, and what it does to others meanwhile.

The records are written while the topic only deletes; then its policy becomes compact, and the server's CPU is taken
until the log has its final size. A slow stream of records with ``acks=all`` to another topic is timed before and
meanwhile. What starts the cleaner is up to the server (Kafka looks every ``log.cleaner.backoff.ms``), so look at CPU
rather than at time.
"""

from __future__ import annotations

import random
import statistics
import threading
import time
from typing import Any, Final

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from benchmarks.macro.workloads.metering import Meter, call, connect, new_topic
from twinlog.wire.kafka.messages import describe_log_dirs

RECORD_BYTES: Final = 100
SEGMENT_BYTES: Final = 100 * 1024 * 1024
QUIET_S: Final = 8.0
STEADY_S: Final = 6.0
PATIENCE_S: Final = 240.0


class Stream:
    """A record every few milliseconds, each timed from its sending to its confirmation."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        options = {"bootstrap.servers": bootstrap, "linger.ms": 0, "acks": "all"}
        self._producer = Producer(options)
        self._topic = topic
        self._waits: list[float] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            began = time.perf_counter()
            told = threading.Event()
            self._producer.produce(self._topic, b"x" * 100, on_delivery=lambda error, message, told=told: told.set())
            while not told.is_set():
                self._producer.poll(0.5)
            self._waits.append(time.perf_counter() - began)
            time.sleep(0.004)

    def take(self) -> dict[str, float]:
        waits, self._waits = self._waits, []
        cuts = statistics.quantiles(waits, n=100)
        return {"p50_ms": round(cuts[49] * 1000, 2), "p99_ms": round(cuts[98] * 1000, 2), "records": len(waits)}

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()


def fill(bootstrap: str, topic: str, records: int, keys: int) -> None:
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "linger.ms": 20,
            "batch.size": 256 * 1024,
            "queue.buffering.max.messages": 500_000,
            "acks": 1,
        }
    )
    chance = random.Random(1)
    value = bytes(RECORD_BYTES - 10)
    for _ in range(records):
        key = b"%010d" % chance.randrange(keys)
        while True:
            try:
                producer.produce(topic, value, key)
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush()


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


def run(bootstrap: str, server_pid: int, records: int = 10_000_000, keys: int = 1_000_000) -> dict[str, Any]:
    topic, other = new_topic(bootstrap, 1), new_topic(bootstrap, 1)
    alter(bootstrap, topic, segment_bytes=str(SEGMENT_BYTES), file_delete_delay_ms="0")
    fill(bootstrap, topic, records, keys)
    before = size_of(bootstrap, topic)
    stream = Stream(bootstrap, other)
    time.sleep(QUIET_S)
    with Meter(server_pid) as idle:
        stream.take()
        time.sleep(QUIET_S)
        quiet = stream.take()
    alter(bootstrap, topic, cleanup_policy="compact", min_cleanable_dirty_ratio="0.01")
    began = time.monotonic()
    with Meter(server_pid) as meter:
        sizes: list[tuple[float, int]] = []
        while True:
            sizes.append((time.monotonic() - began, size_of(bootstrap, topic)))
            last = sizes[-1][1]
            steady = [at for at, size in sizes if size == last]
            if last < before * 0.7 and sizes[-1][0] - steady[0] > STEADY_S:
                break
            assert sizes[-1][0] < PATIENCE_S, "it was never compacted"
            time.sleep(0.1)
        busy = stream.take()
    stream.stop()
    own_cpu_s = meter.server_cpu_s - idle.server_cpu_s * meter.wall_s / idle.wall_s
    shrunk = next(at for at, size in sizes if size == sizes[-1][1])
    return {
        "records": records,
        "keys": keys,
        "mb_before": round(before / 1e6),
        "mb_after": round(sizes[-1][1] / 1e6),
        "until_final_size_s": round(shrunk, 2),
        "compaction_cpu_s": round(own_cpu_s, 2),
        "mb_per_cpu_s": round(before / 1e6 / own_cpu_s, 1),
        "produce_quiet": quiet,
        "produce_meanwhile": busy,
        "p99_ratio": round(busy["p99_ms"] / quiet["p99_ms"], 2),
    }


if __name__ == "__main__":
    import json
    import sys

    where, pid, *more = sys.argv[1:]
    print(json.dumps(run(where, int(pid), *map(int, more))))
