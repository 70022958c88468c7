"""What partitions and connections cost: resident memory for each of 5,000 and 2,000, and idle CPU with all of them."""

from __future__ import annotations

import socket
import struct
import time
import uuid
from typing import Any, Final

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.macro.workloads.metering import connect, cpu_s, frame
from twinlog.wire.kafka.messages.api_versions import ApiVersionsRequest

PARTITIONS: Final = 5000
TOPICS: Final = 5
CONNECTIONS: Final = 2000
IDLE_S: Final = 20


def run(bootstrap: str, server_pid: int) -> dict[str, Any]:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    names = [f"bench-scale-{uuid.uuid4().hex[:8]}-{number}" for number in range(TOPICS)]
    begun_kb, begun = resident_kb(server_pid), time.monotonic()
    for created in admin.create_topics([NewTopic(name, PARTITIONS // TOPICS) for name in names]).values():
        created.result(60)
    create_s = time.monotonic() - begun
    created_kb = resident_kb(server_pid)
    write_to_each(bootstrap, names)
    written_kb = resident_kb(server_pid)
    connections = connections_of(bootstrap)
    connected_kb = resident_kb(server_pid)
    cpu_before = cpu_s(server_pid)
    time.sleep(IDLE_S)
    idle_cpu_s = cpu_s(server_pid) - cpu_before
    for connection in connections:
        connection.close()
    for deleted in admin.delete_topics(names).values():
        deleted.result(60)
    return {
        "partitions": PARTITIONS,
        "connections": CONNECTIONS,
        "create_all_s": round(create_s, 3),
        "kb_a_partition_created": round((created_kb - begun_kb) / PARTITIONS, 2),
        "kb_a_partition_written": round((written_kb - begun_kb) / PARTITIONS, 2),
        "kb_a_connection": round((connected_kb - written_kb) / CONNECTIONS, 2),
        "idle_cpu_s_per_minute": round(idle_cpu_s * 60 / IDLE_S, 2),
        "server_rss_mb": round(connected_kb / 1000),
    }


def write_to_each(bootstrap: str, names: list[str]) -> None:
    failed: list[object] = []
    producer = Producer(
        {"bootstrap.servers": bootstrap, "linger.ms": 50, "queue.buffering.max.messages": 2 * PARTITIONS}
    )
    for name in names:
        for partition in range(PARTITIONS // TOPICS):
            producer.produce(
                name, b"x" * 100, partition=partition, on_delivery=lambda error, _: error and failed.append(error)
            )
    if producer.flush(120) or failed:
        raise SystemExit(f"scale: not everything was written: {failed[:1]}")


def connections_of(bootstrap: str) -> list[socket.socket]:
    """Connections that asked once and then keep still."""
    connections = [connect(bootstrap, number) for number in range(CONNECTIONS)]
    for connection in connections:
        connection.sendall(frame(ApiVersionsRequest(), 0))
    for connection in connections:
        size = struct.unpack(">i", connection.recv(4, socket.MSG_WAITALL))[0]
        connection.recv(size, socket.MSG_WAITALL)
    return connections


def resident_kb(pid: int) -> int:
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
