"""What a server's process spends while a workload runs, and a socket to talk to it."""

from __future__ import annotations

import os
import socket
import struct
import time
import uuid
from pathlib import Path
from typing import Any, Final

from twinlog.wire.kafka import APIS, Message, decode_response, encode_request
from twinlog.wire.kafka.messages import create_topics, find_coordinator

TICKS_A_SECOND: Final = os.sysconf("SC_CLK_TCK")
PATIENCE_S: Final = 120.0


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / TICKS_A_SECOND


class Meter:
    """``with Meter(pid) as meter: ...``; then its figures."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.wall_s = self.server_cpu_s = 0.0

    def __enter__(self) -> Meter:
        self._wall, self._cpu = time.monotonic(), cpu_s(self.pid)
        return self

    def __exit__(self, *_: object) -> None:
        self.wall_s = time.monotonic() - self._wall
        self.server_cpu_s = cpu_s(self.pid) - self._cpu

    def figures(self) -> dict[str, Any]:
        return {"wall_s": round(self.wall_s, 2), "server_cpu_s": round(self.server_cpu_s, 2)}


def connect(bootstrap: str, number: int = 0) -> socket.socket:
    """``number`` spreads many connections over addresses: a broker takes only so many from one."""
    host, _, port = bootstrap.rpartition(":")
    found = socket.create_connection((host, int(port)), PATIENCE_S, (f"127.0.1.{1 + number % 20}", 0))
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found


def frame(message: Message, version: int | None = None) -> bytes:
    version = APIS[message.KEY].version_max if version is None else version
    return bytes(encode_request(message.KEY, version, 1, "benchmark", message))


def call(to: socket.socket, message: Message, version: int | None = None) -> Any:
    version = APIS[message.KEY].version_max if version is None else version
    to.sendall(frame(message, version))
    data = b""
    while len(data) < 4 or len(data) < struct.unpack_from(">i", data)[0] + 4:
        data += to.recv(1 << 20)
    return decode_response(message.KEY, version, data[4:])[1]


def new_topic(bootstrap: str, partitions: int) -> str:
    name = f"benchmark-{uuid.uuid4()}"
    topic = create_topics.CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
    with connect(bootstrap) as to:
        (made,) = call(to, create_topics.CreateTopicsRequest(topics=[topic], timeout_ms=60_000), 7).topics
    assert not made.error_code, made.error_message
    return name


def wait_for_coordinator(to: socket.socket, group: str) -> None:
    """Until there is one that has read its log."""
    asked = find_coordinator.FindCoordinatorRequest(key_type=0, coordinator_keys=[group])
    deadline = time.monotonic() + PATIENCE_S
    while call(to, asked, 4).coordinators[0].error_code:
        assert time.monotonic() < deadline, "no coordinator"
        time.sleep(0.05)
