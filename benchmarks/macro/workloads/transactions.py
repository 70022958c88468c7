"""Transactions: how many commits a second, how long each takes, and what reading only committed data costs.

    python -m benchmarks.macro.workloads.transactions HOST:PORT SERVER_PID

One producer, 100 records of 100 bytes a transaction over 6 partitions, with confluent-kafka; then the topic is read by
both kinds of readers in turn, several times, and the server's CPU is compared.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

TRANSACTIONS = 1000
RECORDS = 100
VALUE = b"x" * 100
PARTITIONS = 6
READ_ROUNDS = 10
TICKS_PER_S = 100


def run(bootstrap: str, server_pid: int, transactions: int = TRANSACTIONS) -> dict[str, Any]:
    topic = f"bench-txn-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, PARTITIONS)])[topic].result(30)
    try:
        result = write(bootstrap, server_pid, topic, transactions)
        return result | read_both(bootstrap, server_pid, topic, transactions * RECORDS)
    finally:
        admin.delete_topics([topic])[topic].result(30)


def write(bootstrap: str, server_pid: int, topic: str, transactions: int) -> dict[str, Any]:
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": topic, "linger.ms": 0})
    producer.init_transactions(30)
    one_transaction(producer, topic)  # connections and metadata
    commits, cpu_before, begun = [], cpu_s(server_pid), time.perf_counter()
    for _ in range(transactions):
        commits.append(one_transaction(producer, topic))
    seconds = time.perf_counter() - begun
    cpu = cpu_s(server_pid) - cpu_before
    quantiles = statistics.quantiles(commits, n=100)
    return {
        "transactions": transactions,
        "commits_per_s": round(transactions / seconds, 1),
        "commit_p50_ms": round(quantiles[49] * 1000, 2),
        "commit_p99_ms": round(quantiles[98] * 1000, 2),
        "server_cpu_ms_per_transaction": round(cpu * 1000 / transactions, 3),
    }


def one_transaction(producer: Producer, topic: str) -> float:
    """How long its commit took, in seconds."""
    producer.begin_transaction()
    for number in range(RECORDS):
        producer.produce(topic, VALUE, partition=number % PARTITIONS)
    begun = time.perf_counter()
    producer.commit_transaction(30)
    return time.perf_counter() - begun


def read_both(bootstrap: str, server_pid: int, topic: str, count: int) -> dict[str, Any]:
    """The extra cost is that of both ends together, in CPU: rates swing with everything else on the machine."""
    levels = ("read_uncommitted", "read_committed")
    server_s = dict.fromkeys(levels, 0.0)
    client_s = dict.fromkeys(levels, 0.0)
    seconds: dict[str, list[float]] = {level: [] for level in levels}
    for turn in range(READ_ROUNDS):
        for level in levels if turn % 2 else reversed(levels):
            server_before, client_before, begun = cpu_s(server_pid), time.process_time(), time.perf_counter()
            read(bootstrap, topic, count, level)
            seconds[level].append(time.perf_counter() - begun)
            server_s[level] += cpu_s(server_pid) - server_before
            client_s[level] += time.process_time() - client_before
    result: dict[str, Any] = {}
    for level in levels:
        result[f"{level}_records_per_s"] = round(count / statistics.median(seconds[level]))
        result[f"{level}_server_cpu_s_per_million"] = round(server_s[level] / READ_ROUNDS / count * 1e6, 3)
        result[f"{level}_client_cpu_s_per_million"] = round(client_s[level] / READ_ROUNDS / count * 1e6, 3)
    open_s, committed_s = (server_s[level] + client_s[level] for level in levels)
    result["read_committed_extra_percent"] = round((committed_s / open_s - 1) * 100, 1)
    return result


def read(bootstrap: str, topic: str, count: int, level: str) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": uuid.uuid4().hex,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "isolation.level": level,
        }
    )
    try:
        consumer.assign([TopicPartition(topic, partition, 0) for partition in range(PARTITIONS)])
        seen = 0
        while seen < count:
            for message in consumer.consume(10_000, 5.0):
                if message.error():
                    raise KafkaException(message.error())
                seen += 1
    finally:
        consumer.close()


def cpu_s(pid: int) -> float:
    """User and system time of a process, from /proc; 0 when there is no such process here."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], int(sys.argv[2]))))
