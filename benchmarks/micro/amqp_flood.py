"""The AMQP side's own limit: a client so cheap that the broker is what is measured.

    python benchmarks/micro/amqp_flood.py --port 5672 [--pid PID] [--seconds 5] [--body 100] [--window 10000]
                                          [--transient] [--auto-ack] [--stream] [--fill N [--keep]] [--drain N]

Publishes are prebuilt, a hundred at a time, and written as they are; deliveries of equal size are counted by their
bytes, and acknowledged by one `basic.ack` with `multiple` for every read. One JSON line: messages a second that were
published, confirmed (so synced, when persistent), delivered and acknowledged, and the broker's CPU for each, if its
process is named. `--fill N` publishes N messages without a consumer, then drains them, and tells both; `--keep` leaves
them, for another run with `--drain N`, perhaps after a restart. `--stream` does the same with a stream; who drains it
reads it from its beginning.
"""

from __future__ import annotations

import argparse
import json
import select
import socket
import struct
import time
from collections.abc import Callable, Sequence
from itertools import cycle

HEADER = b"AMQP\x00\x00\x09\x01"
BATCH = 100
LOGIN = b"\x00guest\x00guest"
TAG = b"c"


def short(text: bytes) -> bytes:
    return bytes([len(text)]) + text


def frame(kind: int, channel: int, payload: bytes) -> bytes:
    return struct.pack(">BHI", kind, channel, len(payload)) + payload + b"\xce"


def method(channel: int, class_id: int, method_id: int, arguments: bytes = b"") -> bytes:
    return frame(1, channel, struct.pack(">HH", class_id, method_id) + arguments)


class Client:
    """A connection with one channel."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self.socket.sendall(HEADER)
        self.expect(10, 10)
        start = struct.pack(">I", 0) + short(b"PLAIN") + struct.pack(">I", len(LOGIN)) + LOGIN + short(b"en_US")
        self.socket.sendall(method(0, 10, 11, start))
        tune = self.expect(10, 30)
        channels, frame_max, _ = struct.unpack(">HIH", tune)
        self.socket.sendall(method(0, 10, 31, struct.pack(">HIH", channels, frame_max, 0)))
        self.call(0, (10, 40), short(b"/") + b"\x00\x00", (10, 41))
        self.call(1, (20, 10), b"\x00", (20, 11))

    def expect(self, class_id: int, method_id: int) -> bytes:
        while True:
            while len(self.buffer) < 7 or len(self.buffer) < 8 + struct.unpack(">I", self.buffer[3:7])[0]:
                data = self.socket.recv(1 << 16)
                if not data:
                    raise SystemExit(f"the broker hung up: {self.buffer!r}")
                self.buffer += data
            size = struct.unpack(">I", self.buffer[3:7])[0]
            payload, self.buffer = self.buffer[7 : 7 + size], self.buffer[8 + size :]
            got = struct.unpack(">HH", payload[:4])
            if got == (class_id, method_id):
                return payload[4:]
            raise SystemExit(f"expected {(class_id, method_id)}, got {got}: {payload!r}")

    def call(self, channel: int, ask: tuple[int, int], arguments: bytes, answer: tuple[int, int]) -> bytes:
        self.socket.sendall(method(channel, *ask, arguments))
        return self.expect(*answer)


def publish(exchange: bytes, key: bytes, body: bytes, persistent: bool) -> bytes:
    properties = struct.pack(">HB", 0x1000, 2 if persistent else 1)
    found = method(1, 60, 40, b"\x00\x00" + short(exchange) + short(key) + b"\x00")
    return found + frame(2, 1, struct.pack(">HHQ", 60, 0, len(body)) + properties) + frame(3, 1, body)


def table(name: bytes = b"", kind_and_value: bytes = b"") -> bytes:
    """A field table with one field, or with none."""
    fields = short(name) + kind_and_value if name else b""
    return struct.pack(">I", len(fields)) + fields


def text(value: bytes) -> bytes:
    return b"S" + struct.pack(">I", len(value)) + value


def delivery_size(exchange: bytes, key: bytes, body: bytes, *, is_stream: bool = False) -> int:
    head = 4 + 1 + len(TAG) + 8 + 1 + 1 + len(exchange) + 1 + len(key)
    headers = len(table(b"x-stream-offset", b"l" + bytes(8))) if is_stream else 0
    return (8 + head) + (8 + 12 + 3 + headers) + (8 + len(body))


def cpu_seconds(pid: int | None) -> float:
    if pid is None:
        return 0.0
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def resident_mib(pid: int | None) -> float:
    if pid is None:
        return 0.0
    with open(f"/proc/{pid}/statm") as file:
        return round(int(file.read().split()[1]) * 4096 / (1 << 20), 1)


class Flood:
    """One publisher, one consumer, one queue. ``batches`` are published in turn, ``BATCH`` messages each; all messages
    make deliveries of ``size`` bytes."""

    def __init__(
        self, port: int, queue: bytes, batches: Sequence[bytes], size: int, *,
        durable: bool = True, window: int = 10_000, prefetch: int = 5_000, auto_ack: bool = False, stream: bool = False,
    ) -> None:  # fmt: skip
        self.port = port
        self.queue = queue
        self.size = size
        self.window = window
        self.prefetch = prefetch
        self.auto_ack = auto_ack
        self.offset = b""  # where consumers of a stream begin
        self.publisher = Client(port)
        flags = bytes([2 if durable else 0])
        arguments = table(b"x-queue-type", text(b"stream")) if stream else table()
        self.publisher.call(1, (50, 10), b"\x00\x00" + short(queue) + flags + arguments, (50, 11))
        self.publisher.call(1, (85, 10), b"\x00", (85, 11))
        self.publisher.socket.setblocking(False)
        self.consumer: Client | None = None
        self.published = self.confirmed = self.delivered = 0
        self.delivered_bytes = 0
        self.batches = cycle(batches)
        self.unsent = memoryview(b"")
        self.rest = b""

    def consume(self) -> None:
        self.consumer = Client(self.port)
        if not self.auto_ack:
            self.consumer.call(1, (60, 10), struct.pack(">IHB", 0, self.prefetch, 0), (60, 11))
        flags = 2 if self.auto_ack else 0
        arguments = table(b"x-stream-offset", text(self.offset)) if self.offset else table()
        ask = b"\x00\x00" + short(self.queue) + short(TAG) + bytes([flags]) + arguments
        self.consumer.call(1, (60, 20), ask, (60, 21))
        self.delivered_bytes = len(self.consumer.buffer)
        self.consumer.socket.setblocking(False)

    def turn(self, publish: bool) -> None:
        reading = [self.publisher.socket] + ([self.consumer.socket] if self.consumer else [])
        may_publish = publish and (self.published - self.confirmed < self.window or len(self.unsent))
        readable, writable, _ = select.select(reading, [self.publisher.socket] if may_publish else [], [], 1.0)
        if self.publisher.socket in readable:
            self.take_confirms()
        if self.consumer and self.consumer.socket in readable:
            self.take_deliveries()
        if writable:
            self.publish()

    def publish(self) -> None:
        while True:
            if not len(self.unsent):
                if self.published - self.confirmed >= self.window:
                    return
                self.unsent = memoryview(next(self.batches))
                self.published += BATCH
            try:
                sent = self.publisher.socket.send(self.unsent)
            except BlockingIOError:
                return
            self.unsent = self.unsent[sent:]

    def take_confirms(self) -> None:
        data = self.rest + self.publisher.socket.recv(1 << 16)
        whole = len(data) // 21 * 21
        for at in range(0, whole, 21):
            class_id, method_id, tag = struct.unpack_from(">HHQ", data, at + 7)
            if (class_id, method_id) != (60, 80):
                raise SystemExit(f"expected a confirm, got {(class_id, method_id)}: {data[at : at + 80]!r}")
            self.confirmed = tag
        self.rest = data[whole:]

    def take_deliveries(self) -> None:
        assert self.consumer is not None
        data = self.consumer.socket.recv(1 << 20)
        if not data:
            raise SystemExit("the broker hung up on the consumer")
        self.delivered_bytes += len(data)
        delivered = self.delivered_bytes // self.size
        if delivered > self.delivered:
            self.delivered = delivered
            if not self.auto_ack:
                self.consumer.socket.send(method(1, 60, 80, struct.pack(">QB", delivered, 1)))


def told(name: str, messages: int, seconds: float, cpu: float, **more: object) -> None:
    line = {"benchmark": name, "messages": messages, "per_second": round(messages / seconds), **more}
    if cpu:
        line["broker_cpu_seconds_per_million"] = round(cpu / messages * 1e6, 3)
        line["per_second_of_broker_cpu"] = round(messages / cpu)
    print(json.dumps(line))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--pid", type=int)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--body", type=int, default=100)
    parser.add_argument("--window", type=int, default=10_000)
    parser.add_argument("--prefetch", type=int, default=5_000)
    parser.add_argument("--transient", action="store_true")
    parser.add_argument("--auto-ack", action="store_true")
    parser.add_argument("--stream", action="store_true", help="a stream queue, which is a topic")
    parser.add_argument("--fill", type=int, default=0)
    parser.add_argument("--keep", action="store_true", help="leave what was filled in")
    parser.add_argument("--drain", type=int, default=0, help="take so many that are there")
    arguments = parser.parse_args()
    queue = b"flood-transient" if arguments.transient else b"flood-stream" if arguments.stream else b"flood"
    body = b"x" * arguments.body
    flood = Flood(
        arguments.port, queue, [publish(b"", queue, body, not arguments.transient) * BATCH],
        delivery_size(b"", queue, body, is_stream=arguments.stream),
        durable=not arguments.transient, window=arguments.window, prefetch=arguments.prefetch,
        auto_ack=arguments.auto_ack, stream=arguments.stream,
    )  # fmt: skip
    if arguments.stream and (arguments.fill or arguments.drain):
        flood.offset = b"first"
    flood.published = arguments.drain
    if arguments.fill:
        fill(flood, arguments)
    elif not arguments.drain:
        both(flood, arguments)
        return
    if not arguments.keep:
        drain(flood, arguments)


def steady(flood: Flood, seconds: float, cpu: Callable[[], float]) -> dict[str, float]:
    """What passes once both sides are warm: messages that were confirmed, and delivered and acknowledged."""
    flood.consume()
    warm_until = time.monotonic() + 0.5
    while time.monotonic() < warm_until:
        flood.turn(True)
    confirmed, delivered = flood.confirmed, flood.delivered
    spent, start = cpu(), time.monotonic()
    while time.monotonic() < start + seconds:
        flood.turn(True)
    took, spent = time.monotonic() - start, cpu() - spent
    confirmed, delivered = flood.confirmed - confirmed, flood.delivered - delivered
    while flood.delivered < flood.published or flood.confirmed < flood.published:
        flood.turn(bool(len(flood.unsent)))
    return {"confirmed": confirmed, "delivered": delivered, "seconds": took, "cpu": spent}


def both(flood: Flood, arguments: argparse.Namespace) -> None:
    found = steady(flood, arguments.seconds, lambda: cpu_seconds(arguments.pid))
    messages = min(found["confirmed"], found["delivered"])
    told(
        "flood", int(messages), found["seconds"], found["cpu"],
        confirmed=found["confirmed"], delivered=found["delivered"],
        body=arguments.body, persistent=not arguments.transient, resident_mib=resident_mib(arguments.pid),
    )  # fmt: skip


def fill(flood: Flood, arguments: argparse.Namespace) -> None:
    cpu, start = cpu_seconds(arguments.pid), time.monotonic()
    while flood.confirmed < arguments.fill:
        flood.turn(flood.published < arguments.fill or bool(len(flood.unsent)))
    seconds, cpu = time.monotonic() - start, cpu_seconds(arguments.pid) - cpu
    told("fill", flood.published, seconds, cpu, body=arguments.body, resident_mib=resident_mib(arguments.pid))


def drain(flood: Flood, arguments: argparse.Namespace) -> None:
    cpu, start = cpu_seconds(arguments.pid), time.monotonic()
    flood.consume()
    while flood.delivered < flood.published:
        flood.turn(False)
    seconds, cpu = time.monotonic() - start, cpu_seconds(arguments.pid) - cpu
    told("drain", flood.delivered, seconds, cpu, body=arguments.body, resident_mib=resident_mib(arguments.pid))
    time.sleep(0.2)


if __name__ == "__main__":
    main()
