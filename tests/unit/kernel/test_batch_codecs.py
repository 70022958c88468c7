"""The codecs of record batches against other libraries, and their bounds."""

import gzip
import struct
import zlib
from collections.abc import Callable

import cramjam
import lz4.frame
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlog import _kernel

GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
XERIAL_HEADER = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
MIB = 1024 * 1024


def lz4_as_java_writes_it(content: bytes) -> bytes:
    return lz4.frame.compress(content, block_size=lz4.frame.BLOCKSIZE_MAX64KB, block_linked=False, store_size=False)


def snappy_as_java_reads_it(packed: bytes) -> bytes:
    """The framing of snappy-java: a header, then blocks with their size in front."""
    assert packed.startswith(XERIAL_HEADER)
    at, out = len(XERIAL_HEADER), b""
    while at < len(packed):
        size = int.from_bytes(packed[at : at + 4], "big")
        out += bytes(cramjam.snappy.decompress_raw(packed[at + 4 : at + 4 + size]))
        at += 4 + size
    return out


ours_for_others: dict[int, Callable[[bytes], bytes]] = {
    GZIP: gzip.decompress,
    SNAPPY: snappy_as_java_reads_it,
    LZ4: lz4.frame.decompress,
    ZSTD: lambda packed: bytes(cramjam.zstd.decompress(packed)),
}
others_for_us: list[tuple[int, Callable[[bytes], bytes]]] = [
    (GZIP, gzip.compress),
    (GZIP, lambda content: gzip.compress(content, 9) + gzip.compress(b"")),
    (SNAPPY, lambda content: bytes(cramjam.snappy.compress_raw(content))),
    (LZ4, lz4_as_java_writes_it),
    (LZ4, lambda content: lz4.frame.compress(content, block_linked=False, content_checksum=True, block_checksum=True)),
    (LZ4, lambda content: lz4.frame.compress(content, block_size=7, block_linked=False, compression_level=9)),
    (ZSTD, lambda content: bytes(cramjam.zstd.compress(content))),
    (ZSTD, lambda content: bytes(cramjam.zstd.compress(content, level=19))),
]
contents = st.one_of(
    st.binary(max_size=2_000),
    st.tuples(st.binary(min_size=1, max_size=40), st.integers(0, 8_000)).map(lambda pair: pair[0] * pair[1]),
)


@given(contents)
@pytest.mark.parametrize("codec", ours_for_others)
def test_other_libraries_read_what_we_compress(codec: int, content: bytes) -> None:
    assert ours_for_others[codec](_kernel.compress(codec, content)) == content


@given(contents)
@pytest.mark.parametrize(("codec", "compress"), others_for_us)
def test_we_read_what_other_libraries_compress(codec: int, compress: Callable[[bytes], bytes], content: bytes) -> None:
    assert _kernel.decompress(codec, compress(content), len(content)) == content


def test_streamed_zstd_without_a_content_size_is_read() -> None:
    compressor = cramjam.zstd.Compressor()
    for _ in range(100):
        compressor.compress(b"streamed " * 1_000)
    packed = bytes(compressor.finish())
    assert _kernel.decompress(ZSTD, packed, MIB) == b"streamed " * 100_000


@pytest.mark.parametrize("codec", ours_for_others)
def test_a_bomb_stops_at_the_bound(codec: int) -> None:
    bomb = _kernel.compress(codec, bytes(64 * MIB))
    with pytest.raises(_kernel.Malformed, match="beyond the limit"):
        _kernel.decompress(codec, bomb, MIB)


@pytest.mark.parametrize("codec", ours_for_others)
def test_junk_is_malformed(codec: int) -> None:
    with pytest.raises(_kernel.Malformed, match="damaged"):
        _kernel.decompress(codec, b"\xee" * 100, MIB)


def test_a_gzip_trailer_that_lies_is_damage() -> None:
    packed = gzip.compress(b"content")
    with pytest.raises(_kernel.Malformed, match="damaged"):
        _kernel.decompress(GZIP, packed[:-4] + struct.pack("<I", 2**31), MIB)
    with pytest.raises(_kernel.Malformed, match="damaged"):
        _kernel.decompress(GZIP, zlib.compress(b"content"), MIB)


def test_lz4_with_dependent_blocks_is_refused_as_java_does() -> None:
    content = bytes(range(256)) * 1_000
    with pytest.raises(_kernel.Malformed, match="damaged"):
        _kernel.decompress(LZ4, lz4.frame.compress(content, block_size=4, block_linked=True), MIB)


def test_an_unknown_codec_is_the_callers_mistake() -> None:
    for call in (lambda: _kernel.compress(5, b""), lambda: _kernel.decompress(5, b"", 10)):
        with pytest.raises(ValueError, match="unknown codec"):
            call()
