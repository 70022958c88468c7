"""The Rust extension: loops over bytes."""

from typing_extensions import Buffer

def crc32c(data: Buffer) -> int: ...
