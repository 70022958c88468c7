"""Record batches, written and read by hand: independent of our own codec, and able to be wrong on purpose."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import cramjam
import lz4.frame
from crc32c import crc32c

# offset, size, epoch, magic, crc, attributes, last delta, first time, last time, producer, its epoch, sequence, count
HEADER = struct.Struct(">qiibIhiqqqhii")
CRC_AT = 21  # the checksum covers what follows the checksum field
CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
LOG_APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20


@dataclass
class Record:
    value: bytes | None = b"v"
    key: bytes | None = b"k"
    timestamp: int = 0
    headers: list[tuple[str, bytes | None]] = field(default_factory=list)
    offset: int = -1  # when read


@dataclass
class Batch:
    """What a batch says about itself, as read."""

    base_offset: int
    size: int
    leader_epoch: int
    magic: int
    crc: int
    crc_holds: bool
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int
    records: list[Record]


def varint(number: int) -> bytes:
    number = (number << 1) ^ (number >> 63)
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def sized(data: bytes | None) -> bytes:
    return varint(-1) if data is None else varint(len(data)) + data


def record_bytes(record: Record, offset_delta: int, base_timestamp: int, trailing: bytes = b"") -> bytes:
    body = b"\0" + varint(record.timestamp - base_timestamp) + varint(offset_delta)
    body += sized(record.key) + sized(record.value) + varint(len(record.headers))
    for name, value in record.headers:
        body += sized(name.encode()) + sized(value)
    body += trailing
    return varint(len(body)) + body


def compressed(codec: int, data: bytes) -> bytes:
    if codec == 0:
        return data
    squeeze = {
        1: cramjam.gzip.compress,
        2: cramjam.snappy.compress_raw,
        3: lambda data: lz4.frame.compress(data, block_linked=False),  # Java reads no linked blocks
        4: cramjam.zstd.compress,
    }
    return bytes(squeeze[codec](data))


def batch(records: Sequence[Record] | None = None, **wrong: Any) -> bytes:
    """A batch of these records. ``wrong`` names header fields to write otherwise, and some parts of the body:

    ``codec``, ``attributes``, ``producer_id``, ``producer_epoch``, ``base_sequence``, ``base_offset``,
    ``leader_epoch``, ``magic``, ``crc``, ``size``, ``count``, ``last_offset_delta``, ``base_timestamp``,
    ``max_timestamp``, ``offset_deltas`` (of the records), ``trailing`` (bytes behind the last record),
    ``record_trailing`` (bytes inside each record, behind its headers), ``payload`` (instead of the records' bytes,
    compressed already).
    """
    records = [Record()] if records is None else list(records)
    codec = wrong.get("codec", 0)
    base_timestamp = wrong.get("base_timestamp", records[0].timestamp if records else 0)
    deltas = wrong.get("offset_deltas", range(len(records)))
    body = b"".join(
        record_bytes(record, delta, base_timestamp, wrong.get("record_trailing", b""))
        for record, delta in zip(records, deltas, strict=True)
    )
    payload = wrong.get("payload", compressed(codec, body + wrong.get("trailing", b"")))
    tail = struct.pack(
        ">hiqqqhii",
        wrong.get("attributes", 0) | codec,
        wrong.get("last_offset_delta", len(records) - 1),
        base_timestamp,
        wrong.get("max_timestamp", max((record.timestamp for record in records), default=-1)),
        wrong.get("producer_id", -1),
        wrong.get("producer_epoch", -1),
        wrong.get("base_sequence", -1),
        wrong.get("count", len(records)),
    )
    covered = tail + payload
    head = struct.pack(
        ">qiibI",
        wrong.get("base_offset", 0),
        wrong.get("size", 9 + len(covered)),
        wrong.get("leader_epoch", -1),
        wrong.get("magic", 2),
        wrong.get("crc", crc32c(covered)),
    )
    return head + covered


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    number, shift = 0, 0
    while True:
        number |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return (number >> 1) ^ -(number & 1), at
        shift += 7


def read_sized(data: bytes, at: int) -> tuple[bytes | None, int]:
    size, at = read_varint(data, at)
    return (None, at) if size < 0 else (data[at : at + size], at + size)


def expanded(codec: int, data: bytes) -> bytes:
    if codec == 0:
        return data
    if codec == 2:
        return bytes(cramjam.snappy.decompress_raw(data))
    unpack = {1: cramjam.gzip.decompress, 3: cramjam.lz4.decompress, 4: cramjam.zstd.decompress}
    return bytes(unpack[codec](data))


def read_records(header: tuple[int, ...], payload: bytes) -> list[Record]:
    base_offset, attributes, base_timestamp, count = header[0], header[5], header[7], header[12]
    data, at, found = expanded(attributes & 7, payload), 0, []
    for _ in range(count):
        _, at = read_varint(data, at)
        timestamp_delta, at = read_varint(data, at + 1)
        offset_delta, at = read_varint(data, at)
        key, at = read_sized(data, at)
        value, at = read_sized(data, at)
        header_count, at = read_varint(data, at)
        headers = []
        for _ in range(header_count):
            name, at = read_sized(data, at)
            content, at = read_sized(data, at)
            headers.append(((name or b"").decode(), content))
        found.append(Record(value, key, base_timestamp + timestamp_delta, headers, base_offset + offset_delta))
    return found


def read_batches(data: bytes | None) -> list[Batch]:
    """Every whole batch in ``data``; a cut one at the end is left out, as a reader must."""
    found: list[Batch] = []
    data = data or b""
    at = 0
    while at + HEADER.size <= len(data):
        header = HEADER.unpack_from(data, at)
        end = at + 12 + header[1]
        if end > len(data):
            break
        holds = crc32c(data[at + CRC_AT : end]) == header[4]
        records = read_records(header, data[at + HEADER.size : end])
        found.append(Batch(*header[:5], holds, *header[5:], records))
        at = end
    return found
