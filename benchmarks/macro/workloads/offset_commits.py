"""OffsetCommit requests a second: fifty groups on connections of their own, each commit durable before its answer."""

from __future__ import annotations

import selectors
import statistics
import struct
import time
from typing import Any, Final

from benchmarks.macro.workloads.metering import Meter, call, connect, frame, new_topic, wait_for_coordinator
from twinlog.wire.kafka.messages import offset_commit

PARTITIONS: Final = 6  # of each commit
VERSION: Final = 8


def request(topic: str, group: str) -> offset_commit.OffsetCommitRequest:
    places = [
        offset_commit.OffsetCommitRequestPartition(partition_index=index, committed_offset=1_000 + index)
        for index in range(PARTITIONS)
    ]
    named = [offset_commit.OffsetCommitRequestTopic(name=topic, partitions=places)]
    return offset_commit.OffsetCommitRequest(group_id=group, generation_id_or_member_epoch=-1, topics=named)


class Stream:
    """A connection that always has ``window`` commits under way."""

    def __init__(self, bootstrap: str, topic: str, group: str, window: int) -> None:
        self.socket = connect(bootstrap)
        wait_for_coordinator(self.socket, group)
        first = request(topic, group)
        while any(each.error_code for each in call(self.socket, first, VERSION).topics[0].partitions):
            time.sleep(0.05)  # the coordinator still loads
        self.request = frame(first, VERSION)
        self.socket.sendall(self.request)
        self.answer = self.socket.recv(4096)
        assert struct.unpack_from(">i", self.answer)[0] + 4 == len(self.answer)
        self.window = window
        self.left = b""
        self.sent_at: list[float] = []
        self.waits: list[float] = []

    def start(self) -> None:
        self.sent_at = [time.perf_counter()] * self.window
        self.socket.sendall(self.request * self.window)

    def on_readable(self) -> None:
        data = self.left + self.socket.recv(1 << 20)
        count = len(data) // len(self.answer)
        whole = count * len(self.answer)
        assert data[:whole] == self.answer * count, "a commit was refused"
        self.left = data[whole:]
        now = time.perf_counter()
        self.waits.extend(now - at for at in self.sent_at[:count])
        self.sent_at[:count] = []
        self.sent_at.extend([now] * count)
        self.socket.sendall(self.request * count)


def run(
    bootstrap: str, server_pid: int, *, connections: int = 50, window: int = 4, seconds: float = 10.0
) -> dict[str, Any]:
    topic = new_topic(bootstrap, PARTITIONS)
    streams = [Stream(bootstrap, topic, f"{topic}-{number}", window) for number in range(connections)]
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            selector.register(stream.socket, selectors.EVENT_READ, stream)
        with Meter(server_pid) as meter:
            for stream in streams:
                stream.start()
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                for key, _ in selector.select(1):
                    key.data.on_readable()
    waits = sorted(wait for stream in streams for wait in stream.waits)
    for stream in streams:
        stream.socket.close()
    return {
        "connections": connections,
        "window": window,
        "partitions_a_commit": PARTITIONS,
        "requests": len(waits),
        "requests_s": round(len(waits) / meter.wall_s),
        "p50_ms": round(statistics.median(waits) * 1000, 2),
        "p99_ms": round(waits[int(len(waits) * 0.99)] * 1000, 2),
        "server_us_a_request": round(meter.server_cpu_s / len(waits) * 1e6, 1),
        **meter.figures(),
    }
