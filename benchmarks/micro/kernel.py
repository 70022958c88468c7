"""Speed of the kernel's loops, one JSON line a case: ``python benchmarks/micro/kernel.py [name part]``.

Each case runs in rounds of about a tenth of a second; the best round counts, because everything that disturbs a round
only makes it slower.
"""

import json
import platform
import random
import struct
import sys
import time
from collections.abc import Callable, Iterator

from twinlog import _kernel

ROUNDS = 7
ROUND_SECONDS = 0.1
INFLATED_MAX = 64 * 1024 * 1024
CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}

Case = tuple[str, dict[str, object], int, Callable[[], object]]


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


def text_like(size: int, seed: int) -> bytes:
    """Bytes that compress about as well as JSON events do."""
    chance = random.Random(seed)
    words = [f'"{chance.randrange(10**6)}":' for _ in range(300)]
    return "".join(chance.choice(words) for _ in range(size // 4)).encode()[:size]


def batch(record_count: int, value_size: int, codec: int) -> bytes:
    values = text_like(record_count * value_size, 1)
    records = [
        (1_700_000_000_000 + at, None, values[at * value_size : (at + 1) * value_size], ())
        for at in range(record_count)
    ]
    return _kernel.build_batch(records, codec=codec)


def produce_request(records: bytes) -> bytes:
    topic = b"events"
    head = struct.pack(">hhi", -1, -1, 30_000) + struct.pack(">i", 1) + struct.pack(">h", len(topic)) + topic
    return head + struct.pack(">iii", 1, 0, len(records)) + records


def kafka_cases() -> Iterator[Case]:
    for record_count, value_size in ((1, 100), (100, 100), (560, 100), (1000, 1000)):
        for codec_name, codec in CODECS.items():
            if codec and record_count == 1:
                continue
            request = bytearray(produce_request(batch(record_count, value_size, codec)))
            settings: dict[str, object] = {
                "records": record_count,
                "value_bytes": value_size,
                "codec": codec_name,
                "bytes": len(request),
            }

            def run(request: bytearray = request) -> object:
                return _kernel.parse_produce(request, 0, len(request), 8, INFLATED_MAX)

            yield "parse_produce", settings, len(request), run
    payload = bytes(65_536)
    yield "crc32c", {"bytes": len(payload)}, len(payload), lambda: _kernel.crc32c(payload)
    scanned = b"".join(batch(100, 100, 0) for _ in range(100))
    yield "scan_batches", {"bytes": len(scanned)}, len(scanned), lambda: _kernel.scan_batches(scanned, 0, len(scanned))
    header = struct.pack(">hhih7s", 0, 8, 1, 7, b"a-guest")
    frame = struct.pack(">i", len(header)) + header
    stream = frame * 100
    flexible_from = b"\xff" * 94
    yield (
        "kafka_split",
        {"requests": 100},
        len(stream),
        lambda: _kernel.kafka_split(stream, 0, len(stream), 1_000_000, flexible_from),
    )


def codec_cases() -> Iterator[Case]:
    plain = text_like(1024 * 1024, 2)
    for codec_name, codec in CODECS.items():
        if not codec:
            continue
        packed = _kernel.compress(codec, plain)
        settings: dict[str, object] = {"codec": codec_name, "bytes": len(plain), "packed_bytes": len(packed)}

        def inflate(codec: int = codec, packed: bytes = packed) -> object:
            return _kernel.decompress(codec, packed, len(plain))

        def deflate(codec: int = codec) -> object:
            return _kernel.compress(codec, plain)

        yield "decompress", settings, len(plain), inflate
        yield "compress", settings, len(plain), deflate


def amqp_frame(kind: int, content: bytes) -> bytes:
    return struct.pack(">BHI", kind, 1, len(content)) + content + b"\xce"


def publish(key: bytes, body: bytes) -> bytes:
    """basic.publish to the default exchange, persistent, with the properties PerfTest sets."""
    method = struct.pack(">HHHBB", 60, 40, 0, 0, len(key)) + key + b"\0"
    header = struct.pack(">HHQHB", 60, 0, len(body), 0x1000, 2)
    return amqp_frame(1, method) + amqp_frame(2, header) + amqp_frame(3, body)


def amqp_cases() -> Iterator[Case]:
    for body_size in (100, 10_000):
        body = text_like(body_size, 3)
        for messages, run_length in ((1, 1), (10, 10), (100, 100), (500, 500), (100, 1)):
            if body_size > 100 and messages > 10:
                continue
            stream = bytearray(b"".join(publish(b"queue-%d" % (at // run_length % 2), body) for at in range(messages)))
            parser = _kernel.AmqpParser(frame_max=131_072)
            settings: dict[str, object] = {"messages": messages, "run_length": run_length, "body_bytes": body_size}

            def parse(parser: _kernel.AmqpParser = parser, stream: bytearray = stream) -> object:
                return parser.parse(stream, 0, len(stream))

            yield "amqp_parse", settings, len(stream), parse
            if run_length < messages:
                continue
            blob = parser.parse(stream, 0, len(stream))[1][0][6]

            def encode(blob: bytes = blob, messages: int = messages) -> object:
                return _kernel.encode_run(blob, 0, messages, 1, "consumer-tag", 1, False, 131_072)

            yield "amqp_encode_run", settings, len(stream), encode
    acks = b"".join(amqp_frame(1, struct.pack(">HHQB", 60, 80, tag, 0)) for tag in range(1, 101))
    parser = _kernel.AmqpParser()
    yield "amqp_parse_acks", {"messages": 100}, len(acks), lambda: parser.parse(acks, 0, len(acks))


def main(wanted: str) -> None:
    machine = {"machine": platform.machine(), "python": platform.python_version(), "system": platform.system()}
    for cases in (kafka_cases, codec_cases, amqp_cases):
        for name, settings, size_bytes, run in cases():
            if wanted not in name:
                continue
            call_us = measure_us(run)
            result = {
                "benchmark": f"kernel.{name}",
                **settings,
                "call_us": round(call_us, 3),
                "mb_per_s": round(size_bytes / call_us, 1),
                **machine,
            }
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
