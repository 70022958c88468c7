"""Cost of Kafka requests inside the broker, without sockets: ``python benchmarks/micro/kafka_request.py [name part]``.

One JSON line a case: microseconds for a request from its bytes in the read buffer to the parts of its answer. Writes to
the page cache are included, syncs are not. Best of several rounds, because what disturbs one only makes it slower.
"""

import json
import platform
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.unit.servers.harness import Client, Node, batch, fetch, produce
from twinlog.wire.kafka.api import encode_request
from twinlog.wire.kafka.message import Message
from twinlog.wire.kafka.messages.api_versions import ApiVersionsRequest
from twinlog.wire.kafka.messages.metadata import MetadataRequest, MetadataRequestTopic

ROUNDS = 7
ROUND_SECONDS = 0.05
CORRELATION_ID = 1


class Sink(Client):
    """A peer that takes everything and looks at nothing."""

    def send(self, parts: Sequence[object]) -> None:
        self.sent_parts = len(parts)


def measure_us(node: Node, client: Client, data: bytes) -> float:
    on_bytes, settle = client.connection.on_bytes, node.tasks.settle
    calls, best = 1, float("inf")
    for _ in range(ROUNDS):
        while True:
            buffers = [bytearray(data) for _ in range(min(calls, 64))]
            begun = time.perf_counter()
            for number in range(calls):
                buffer = buffers[number % 64]
                on_bytes(buffer, 0, len(buffer))
                settle()
            spent = time.perf_counter() - begun
            if spent >= ROUND_SECONDS / 2:
                break
            calls *= 2
        best = min(best, spent / calls)
    return best * 1e6


def frame(message: Message, version: int) -> bytes:
    return encode_request(message.KEY, version, CORRELATION_ID, "bench", message)


def cases(node: Node) -> Iterator[tuple[str, bytes]]:
    for acks in (1, -1):
        for count, size in ((1, 100), (100, 100), (100, 1000)):
            data = produce("t", batch(*[b"x" * size] * count), acks=acks)
            yield f"produce {count} x {size} B, acks={acks}", frame(data, 9)
        six = produce("t", *[batch(b"x" * 100)] * 6, acks=acks)
        yield f"produce 6 partitions x 100 B, acks={acks}", frame(six, 9)
    idempotent = batch(b"x" * 100, producer_id=1, producer_epoch=0, base_sequence=0)
    yield "produce 1 x 100 B, a duplicate", frame(produce("t", idempotent), 9)
    yield "fetch 1 partition with data", frame(fetch("t", 0), 12)
    yield "fetch 6 partitions with data", frame(fetch("t", *[0] * 6), 12)
    partition = node.broker.partitions.get("quiet", 0)
    assert partition is not None
    yield "fetch 1 partition, nothing new", frame(fetch("quiet", 0), 12)
    yield "fetch 100 partitions, nothing new", frame(fetch("quiet", *[0] * 100), 12)
    hello = ApiVersionsRequest(client_software_name="bench", client_software_version="1")
    yield "api versions", frame(hello, 3)
    yield "metadata of 1 topic", frame(MetadataRequest(topics=[MetadataRequestTopic(name="t")]), 9)


def main() -> None:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    with tempfile.TemporaryDirectory() as place:
        node = Node(f"{place}/data")
        node.topic("t", 6)
        node.topic("quiet", 100)
        client = Sink(node)
        for name, data in cases(node):
            if wanted in name:
                result = {"benchmark": "kafka_request", "case": name, "us": round(measure_us(node, client, data), 2)}
                print(json.dumps(result | {"python": platform.python_version(), "machine": platform.machine()}))


main()
