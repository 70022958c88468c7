"""What PerfTest does not do, or is too dear a client for: cheap clients, rotating keys, a queue of ten million."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from benchmarks.macro.workloads.metering import TICKS_A_SECOND
from benchmarks.micro.amqp_flood import (
    BATCH,
    Client,
    Flood,
    delivery_size,
    publish,
    resident_mib,
    short,
    steady,
)
from twinlog.testing import Broker

BODY: Final = b"x" * 100
LONG_QUEUE: Final = 10_000_000
KEYS: Final = 10_000
TOPICS: Final = b"bench-rotating"


def tree_cpu_s(root: int) -> float:
    """Of a process and all its descendants: RabbitMQ is several."""
    spent, children = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        spent[int(name)] = sum(map(int, fields[11:15]))
        children.setdefault(int(fields[1]), []).append(int(name))
    found, todo = 0, [root]
    while todo:
        process = todo.pop()
        found += spent.get(process, 0)
        todo += children.get(process, ())
    return found / TICKS_A_SECOND


def figures(found: dict[str, float]) -> dict[str, Any]:
    messages = min(found["confirmed"], found["delivered"])
    return {
        "rate": round(messages / found["seconds"]),
        "server_cpu_s": round(found["cpu"], 2),
        "cpu_s_per_M": round(found["cpu"] / messages * 1e6, 2),
        "rate_a_core": round(messages / found["cpu"]) if found["cpu"] else None,
    }


def flood(address: str, pid: int, seconds: float) -> dict[str, Any]:
    """Batches of 100, published, synced, confirmed, delivered, acknowledged."""
    port = int(address.rpartition(":")[2])
    queue = b"bench-flood"
    running = Flood(port, queue, [publish(b"", queue, BODY, True) * BATCH], delivery_size(b"", queue, BODY))
    return figures(measured(running, seconds, pid))


def topic_rotating(address: str, pid: int, seconds: float) -> dict[str, Any]:
    """As topic_1000, with 10,000 keys in turn. Each reaches the queue by one or more of a thousand bindings."""
    port = int(address.rpartition(":")[2])
    queue = b"bench-rotating"
    admin = Client(port)
    declared = b"\x00\x00" + short(TOPICS) + short(b"topic") + b"\x02\x00\x00\x00\x00"
    admin.call(1, (40, 10), declared, (40, 11))
    admin.call(1, (50, 10), b"\x00\x00" + short(queue) + b"\x02\x00\x00\x00\x00", (50, 11))
    for pattern in patterns():
        bound = b"\x00\x00" + short(queue) + short(TOPICS) + short(pattern) + b"\x00\x00\x00\x00\x00"
        admin.call(1, (50, 20), bound, (50, 21))
    # All keys are equally long, so that deliveries can be counted by their bytes.
    keys = [b"site.%03d.host%03d.error" % (100 + n % 234, 100 + n // 234 % 232) for n in range(KEYS)]
    batches = [b"".join(publish(TOPICS, key, BODY, True) for key in keys[n : n + BATCH]) for n in range(0, KEYS, BATCH)]
    running = Flood(port, queue, batches, delivery_size(TOPICS, keys[0], BODY), window=3000)
    found = figures(measured(running, seconds, pid))
    admin.call(1, (40, 20), b"\x00\x00" + short(TOPICS) + b"\x00", (40, 21))
    return found


def patterns() -> Iterator[bytes]:
    """Those of topic_1000."""
    for number in range(334):
        yield b"site.%d.*.error" % number
        yield b"*.%d.#" % number
    for number in range(332):
        yield b"#.host%d.#" % number


def measured(running: Flood, seconds: float, pid: int) -> dict[str, float]:
    found = steady(running, seconds, lambda: tree_cpu_s(pid))
    running.publisher.socket.setblocking(True)
    running.publisher.call(1, (50, 40), b"\x00\x00" + short(running.queue) + b"\x00", (50, 41))
    return found


def long_queue() -> dict[str, Any]:
    """Ten million messages in a queue of a broker of its own: filled, started anew, drained."""
    with Broker(settings={"amqp.listen": "127.0.0.1:0", "kafka.listen": "off"}) as broker:
        port = int(broker.amqp.rpartition(":")[2])
        short_queue = flood(broker.amqp, broker.pid, 5)
        queue = b"bench-long"
        batches = [publish(b"", queue, BODY, True) * BATCH]
        filling = Flood(port, queue, batches, delivery_size(b"", queue, BODY))
        fill_s = timed(lambda: fill(filling, LONG_QUEUE))
        found: dict[str, Any] = {"messages": LONG_QUEUE, "fill_rate": round(LONG_QUEUE / fill_s)}
        found["full_rss_mib"] = resident_mib(broker.pid)
        filling.publisher.socket.close()
        broker.kill()
        found["start_s"] = round(timed(broker.start), 2)
        found["started_rss_mib"] = resident_mib(broker.pid)
        draining = Flood(port, queue, batches, delivery_size(b"", queue, BODY))
        draining.published = LONG_QUEUE
        drain_s = timed(lambda: drain(draining))
        found |= {"drain_rate": round(LONG_QUEUE / drain_s), "drained_rss_mib": resident_mib(broker.pid)}
        return found | {
            "short_rate": short_queue["rate"],
            "drain_to_short": round(LONG_QUEUE / drain_s / short_queue["rate"], 2),
        }


def fill(running: Flood, count: int) -> None:
    while running.confirmed < count:
        running.turn(running.published < count or bool(len(running.unsent)))


def drain(running: Flood) -> None:
    running.consume()
    while running.delivered < running.published:
        running.turn(False)


def timed(work: Callable[[], object]) -> float:
    begun = time.monotonic()
    work()
    return time.monotonic() - begun
