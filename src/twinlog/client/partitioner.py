"""Which partition a record goes to, as the Java client chooses it: equal keys meet in one partition."""

from __future__ import annotations


def murmur2(data: bytes) -> int:
    """MurmurHash2 with Kafka's seed, as an unsigned 32-bit number."""
    size = len(data)
    value = 0x9747B28C ^ size
    whole = size & ~3
    for at in range(0, whole, 4):
        part = int.from_bytes(data[at : at + 4], "little") * 0x5BD1E995 & 0xFFFFFFFF
        part = (part ^ part >> 24) * 0x5BD1E995 & 0xFFFFFFFF
        value = (value * 0x5BD1E995 & 0xFFFFFFFF) ^ part
    if size != whole:
        value = (value ^ int.from_bytes(data[whole:], "little")) * 0x5BD1E995 & 0xFFFFFFFF
    value = (value ^ value >> 13) * 0x5BD1E995 & 0xFFFFFFFF
    return value ^ value >> 15


def partition_for_key(key: bytes, partition_count: int) -> int:
    return (murmur2(key) & 0x7FFFFFFF) % partition_count
