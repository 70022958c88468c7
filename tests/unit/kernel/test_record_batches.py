"""Record batches: an independent reader agrees with the kernel, and a produced batch is checked."""

import struct
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlog import _kernel

MIB = 1024 * 1024
HEADER = struct.Struct(">qiibIhiqqqhii")
Record = tuple[int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]

timestamps = st.integers(0, 2**45)
maybe_bytes = st.none() | st.binary(max_size=300)
records = st.lists(
    st.tuples(timestamps, maybe_bytes, maybe_bytes, st.lists(st.tuples(st.text(max_size=5), maybe_bytes), max_size=3)),
    min_size=1,
    max_size=80,
)
codecs = st.integers(0, 4)


class Reader:
    """A plain reader of the format, written from docs/formats/record-batch.md only."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def varint(self) -> int:
        raw = shift = 0
        while True:
            byte = self.content[self.at]
            self.at += 1
            raw |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (raw >> 1) ^ -(raw & 1)

    def nullable(self) -> bytes | None:
        size = self.varint()
        if size < 0:
            return None
        self.at += size
        return self.content[self.at - size : self.at]


def read_records(content: bytes, count: int, base_offset: int, base_timestamp: int) -> list[object]:
    reader, out = Reader(content), []
    for _ in range(count):
        size = reader.varint()
        end = reader.at + size
        reader.at += 1
        timestamp = base_timestamp + reader.varint()
        offset = base_offset + reader.varint()
        key, value = reader.nullable(), reader.nullable()
        headers = [((reader.nullable() or b"").decode(), reader.nullable()) for _ in range(reader.varint())]
        assert reader.at == end
        out.append((offset, timestamp, key, value, headers))
    assert reader.at == len(content)
    return out


class Header(NamedTuple):
    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int


def header_of(batch: bytes) -> Header:
    return Header(*HEADER.unpack_from(batch))


@given(records, codecs, st.integers(0, 2**62))
def test_a_built_batch_is_what_the_format_page_says(content: list[Record], codec: int, base_offset: int) -> None:
    batch = _kernel.build_batch(content, codec=codec, base_offset=base_offset, leader_epoch=3)
    header = header_of(batch)
    assert header.length == len(batch) - 12
    assert header.crc == _kernel.crc32c(batch[21:])
    assert (header.magic, header.attributes, header.leader_epoch) == (2, codec, 3)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (-1, -1, -1)
    assert (header.record_count, header.last_offset_delta) == (len(content), len(content) - 1)
    assert header.max_timestamp == max(record[0] for record in content)
    plain = _kernel.decompress(codec, batch[61:], 64 * MIB)
    expected = [(base_offset + at, *record) for at, record in enumerate(content)]
    assert read_records(plain, len(content), base_offset, header.base_timestamp) == expected
    assert _kernel.decode_records(batch, 0, len(batch), 64 * MIB) == expected


@given(records, codecs, st.binary(max_size=9))
def test_a_good_batch_passes_the_check(content: list[Record], codec: int, before: bytes) -> None:
    batch = before + _kernel.build_batch(content, codec=codec)
    error, keyless_at, found = _kernel.check_batch(batch, len(before), len(batch), 64 * MIB)
    header = header_of(batch[len(before) :])
    assert error == 0
    assert keyless_at == next((at for at, record in enumerate(content) if record[1] is None), -1)
    assert found == (
        len(before),
        len(batch) - len(before),
        *(0, len(content) - 1, len(content), codec, header.base_timestamp, header.max_timestamp, -1, -1, -1, -1),
    )


@given(records, codecs, timestamps)
def test_timestamps_are_found_as_a_list_would_find_them(content: list[Record], codec: int, wanted: int) -> None:
    batch = _kernel.build_batch(content, codec=codec, base_offset=50)
    stamps = [(50 + at, record[0]) for at, record in enumerate(content)]
    first = next((pair for pair in stamps if pair[1] >= wanted), None)
    assert _kernel.find_timestamp(batch, 0, len(batch), wanted, 64 * MIB) == first
    highest = max(stamps, key=lambda pair: (pair[1], -pair[0]))
    assert _kernel.max_timestamp_record(batch, 0, len(batch), 64 * MIB) == highest


@given(st.lists(records, max_size=4), st.data())
def test_a_scan_gives_back_every_batch_that_is_whole(contents: list[list[Record]], data: st.DataObject) -> None:
    batches = [_kernel.build_batch(content, base_offset=at * 100) for at, content in enumerate(contents)]
    log = b"".join(batches)
    end = data.draw(st.integers(0, len(log)))
    found, valid_end, reason = _kernel.scan_batches(log, 0, end)
    assert [log[batch[0] : batch[0] + batch[1]] for batch in found] == batches[: len(found)]
    assert valid_end == sum(map(len, batches[: len(found)]))
    assert reason == ("" if valid_end == end else "short")


def test_a_scan_says_why_it_stopped() -> None:
    batch = _kernel.build_batch([(1, b"k", b"v", ())])
    for at, patch, reason in [
        (66, b"\xff", "crc"),
        (16, b"\x01", "magic"),
        (8, b"\0\0\0\x30", "length"),
        (8, b"\x7f", "short"),
    ]:
        damaged = bytearray(batch)
        damaged[at : at + len(patch)] = patch
        log = batch + damaged
        found, valid_end, why = _kernel.scan_batches(log, 0, len(log))
        assert (len(found), valid_end, why) == (1, len(batch), reason)


@pytest.mark.parametrize("codec", range(5))
def test_placing_changes_offset_and_epoch_and_nothing_else(codec: int) -> None:
    batch = _kernel.build_batch([(5, b"k", b"v", ()), (9, None, None, ())], codec=codec)
    placed = bytearray(b"before" + batch + b"behind")
    _kernel.place_batch(placed, 6, 1_000_000_007, 42, -1, max_timestamp=9)
    assert placed[:6] == b"before"
    assert placed[6:] == struct.pack(">q", 1_000_000_007) + batch[8:12] + struct.pack(">i", 42) + batch[16:] + b"behind"


def test_placing_with_append_time_sets_the_time_of_every_record() -> None:
    placed = bytearray(_kernel.build_batch([(5, b"k", b"v", ()), (9, None, None, ())], codec=3))
    _kernel.place_batch(placed, 0, 10, 0, 1_700_000_000_000)
    header = header_of(placed)
    assert (header.attributes, header.max_timestamp) == (3 | 8, 1_700_000_000_000)
    decoded = _kernel.decode_records(placed, 0, len(placed), MIB)
    assert [record[:2] for record in decoded] == [(10, 1_700_000_000_000), (11, 1_700_000_000_000)]


def test_a_header_that_lies_about_the_highest_timestamp_is_put_right() -> None:
    batch = bytearray(_kernel.build_batch([(5, b"k", b"v", ()), (9, None, None, ())]))
    honest = bytes(batch)
    batch[35:43] = struct.pack(">q", 2**60)
    batch[17:21] = struct.pack(">I", _kernel.crc32c(batch[21:]))
    error, _, found = _kernel.check_batch(batch, 0, len(batch), MIB)
    assert error == 0
    assert found is not None
    _kernel.place_batch(batch, 0, 0, -1, -1, max_timestamp=found[7])
    assert bytes(batch) == honest


def test_placing_refuses_what_is_not_a_whole_batch() -> None:
    batch = bytearray(_kernel.build_batch([(5, b"k", b"v", ())]))
    for cut in (0, 11, 60, len(batch) - 1):
        with pytest.raises(_kernel.Malformed):
            _kernel.place_batch(batch[:cut], 0, 1, 1, -1)


def test_decoding_checks_the_checksum_and_ignores_what_follows() -> None:
    batch = bytearray(_kernel.build_batch([(5, b"k", b"v", ())]))
    assert len(_kernel.decode_records(batch + b"next", 0, len(batch) + 4, MIB)) == 1
    batch[-2] ^= 1
    with pytest.raises(_kernel.Malformed, match="checksum"):
        _kernel.decode_records(batch, 0, len(batch), MIB)


def test_a_batch_needs_a_record_and_a_known_codec() -> None:
    with pytest.raises(ValueError, match="needs a record"):
        _kernel.build_batch([])
    with pytest.raises(ValueError, match="unknown codec"):
        _kernel.build_batch([(1, None, None, ())], codec=5)


def test_a_header_key_that_is_not_utf8_can_be_read() -> None:
    batch = bytearray(_kernel.build_batch([(1, None, None, [("ab", None)])]))
    batch[batch.index(b"ab")] = 0xFF
    batch[17:21] = struct.pack(">I", _kernel.crc32c(batch[21:]))
    assert _kernel.decode_records(batch, 0, len(batch), MIB)[0][4] == [("\ufffdb", None)]
