"""Speed of the Kafka codec, kio beside it, one JSON line a figure: ``python benchmarks/micro/codec.py [name part]``.

Times are microseconds of one call. Each case runs in rounds of about a twentieth of a second; the best round counts,
because everything that disturbs a round only makes it slower.
"""

from __future__ import annotations

import io
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from kio.index import load_payload_module
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType

from twinlog._kernel import Schema
from twinlog.wire.kafka import APIS, Message, decode_request, encode_response
from twinlog.wire.kafka import messages as m

ROUNDS = 7
ROUND_SECONDS = 0.05
GROUP = "orders-service"
MEMBER = "consumer-orders-service-1-3b6e0c5e-6a52-4f0e-9c7b-0f6a2a3c8d11"


def measure_us(run: Callable[[], object]) -> float:
    """Microseconds of one call, best round."""
    calls = 1
    best = float("inf")
    for _ in range(ROUNDS):
        while True:
            begun = time.perf_counter()
            for _ in range(calls):
                run()
            spent = time.perf_counter() - begun
            if spent >= ROUND_SECONDS / 2:
                break
            calls *= 2
        best = min(best, spent / calls)
    return best * 1e6


def metadata_response() -> Message:
    nodes = [1, 2, 3]
    topics = [
        m.MetadataResponseTopic(
            name=f"topic-{number:04}",
            topic_id=number.to_bytes(16, "big"),
            partitions=[
                m.MetadataResponsePartition(
                    partition_index=index, leader_id=1, leader_epoch=5, replica_nodes=nodes, isr_nodes=nodes
                )
                for index in range(6)
            ],
        )
        for number in range(100)
    ]
    brokers = [m.MetadataResponseBroker(node_id=node, host=f"broker-{node}.example", port=9092) for node in nodes]
    return m.MetadataResponse(brokers=brokers, cluster_id="cluster", controller_id=1, topics=topics)


def join_group_response() -> Message:
    members = [m.JoinGroupResponseMember(member_id=MEMBER, metadata=bytes(60)) for _ in range(2)]
    return m.JoinGroupResponse(
        generation_id=3,
        protocol_type="consumer",
        protocol_name="range",
        leader=MEMBER,
        member_id=MEMBER,
        members=members,
    )


def offset_commit_request() -> Message:
    partitions = [
        m.OffsetCommitRequestPartition(partition_index=index, committed_offset=10_000 + index) for index in range(50)
    ]
    topics = [m.OffsetCommitRequestTopic(name="orders", partitions=partitions)]
    return m.OffsetCommitRequest(group_id=GROUP, generation_id_or_member_epoch=3, member_id=MEMBER, topics=topics)


def fetch_request(count: int) -> Message:
    partitions = [
        m.FetchRequestPartition(partition=index, fetch_offset=10_000 + index, partition_max_bytes=1 << 20)
        for index in range(count)
    ]
    topics = [m.FetchRequestTopic(topic_id=b"i" * 16, partitions=partitions)]
    return m.FetchRequest(max_wait_ms=500, min_bytes=1, topics=topics, rack_id="r1")


def fetch_response(count: int) -> Message:
    partitions = [
        m.FetchResponsePartitionData(partition_index=index, high_watermark=10_000, records=b"r" * 100)
        for index in range(count)
    ]
    return m.FetchResponse(responses=[m.FetchableTopicResponse(topic_id=b"i" * 16, partitions=partitions)])


def produce_response() -> Message:
    partition = m.PartitionProduceResponse(index=1, base_offset=10_000, log_start_offset=0)
    topic = m.TopicProduceResponse(name="orders", partition_responses=[partition])
    return m.ProduceResponse(responses=[topic])


def every_case() -> Iterator[tuple[str, int, int, Message]]:
    """(what it is, key, version, message)."""
    yield "Metadata response, 100 topics of 6", 3, 12, metadata_response()
    yield "JoinGroup response, 2 members", 11, 9, join_group_response()
    yield "Heartbeat request", 12, 4, m.HeartbeatRequest(group_id=GROUP, generation_id=3, member_id=MEMBER)
    yield "Heartbeat response", 12, 4, m.HeartbeatResponse()
    yield "OffsetCommit request, 50 partitions", 8, 8, offset_commit_request()
    yield "Fetch request, 1 partition", 1, 16, fetch_request(1)
    yield "Fetch request, 100 partitions", 1, 16, fetch_request(100)
    yield "Fetch response, 1 partition", 1, 16, fetch_response(1)
    yield "Fetch response, 100 partitions", 1, 16, fetch_response(100)
    yield "Produce response, 1 partition", 0, 9, produce_response()


def report(case: str, figure: str, value: float, **more: object) -> None:
    line = {
        "benchmark": "codec",
        "case": case,
        "figure": figure,
        "value": round(value, 3),
        "unit": "us",
        **more,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }
    print(json.dumps(line), flush=True)


def compare(case: str, key: int, version: int, message: Message) -> None:
    schema = Schema(type(message), version, version >= message.FLEXIBLE_FROM)
    wire = schema.encode(message)
    kind = EntityType.request if type(message) is APIS[key].request else EntityType.response
    theirs_class: Any = getattr(load_payload_module(key, version, kind), type(message).__name__)
    read, write = entity_reader(theirs_class), entity_writer(theirs_class)
    theirs, _ = read(wire, 0)

    def write_theirs() -> None:
        write(io.BytesIO(), theirs)

    size = {"size_bytes": len(wire), "version": version}
    report(case, "decode", measure_us(lambda: schema.decode(wire)), by="twinlog", **size)
    report(case, "decode", measure_us(lambda: read(wire, 0)), by="kio", **size)
    report(case, "encode", measure_us(lambda: schema.encode(message)), by="twinlog", **size)
    report(case, "encode", measure_us(write_theirs), by="kio", **size)


def measure_front_door() -> None:
    request = m.HeartbeatRequest(group_id=GROUP, generation_id=3, member_id=MEMBER)
    wire = Schema(m.HeartbeatRequest, 4, True).encode(request)
    response = m.HeartbeatResponse()
    report("Heartbeat, front door", "decode_request", measure_us(lambda: decode_request(12, 4, wire, 0, len(wire))))
    report("Heartbeat, front door", "encode_response", measure_us(lambda: encode_response(12, 4, 7, response)))
    # what a handler pays for the objects it answers with
    report("Metadata response, 100 topics of 6", "objects made in Python", measure_us(metadata_response))


def measure_set_up() -> None:
    program = (
        "import time; begun = time.perf_counter(); {}; print(time.perf_counter() - begun);"
        "from twinlog.wire.kafka import APIS; from twinlog._kernel import Schema;"
        "classes = [(c, v) for a in APIS.values() for c in (a.request, a.response)"
        " for v in range(a.version_min, a.version_max + 1)];"
        "begun = time.perf_counter(); [Schema(c, v, v >= c.FLEXIBLE_FROM) for c, v in classes];"
        "print((time.perf_counter() - begun) / len(classes))"
    )
    for figure, statement in (
        ("import of the front door", "import twinlog.wire.kafka"),
        (
            "import of all messages",
            "from twinlog.wire.kafka import APIS; [(a.request, a.response) for a in APIS.values()]",
        ),
    ):
        run = subprocess.run(
            [sys.executable, "-c", program.format(statement)], capture_output=True, text=True, check=True
        )
        spent, schema = (float(line) * 1e6 for line in run.stdout.split())
        report("set-up", figure, spent)
    report("set-up", "one message in one version", schema)


def main() -> None:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    for case in every_case():
        if wanted in case[0]:
            compare(*case)
    if not wanted:
        measure_front_door()
        measure_set_up()


if __name__ == "__main__":
    main()
