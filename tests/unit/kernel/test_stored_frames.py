"""Stored frames: u32 size, u32 checksum, payload."""

import struct

import crc32c as crc32c_oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlog import _kernel

payloads = st.lists(st.binary(min_size=1, max_size=200), max_size=8)


@given(payloads)
def test_frames_are_what_the_format_page_says(contents: list[bytes]) -> None:
    expected = b"".join(struct.pack("<II", len(one), crc32c_oracle.crc32c(one)) + one for one in contents)
    assert _kernel.frame_build(contents) == expected


@given(payloads, st.binary(max_size=20), st.data())
def test_a_scan_gives_back_every_frame_that_is_whole(contents: list[bytes], before: bytes, data: st.DataObject) -> None:
    stored = before + _kernel.frame_build(contents)
    end = data.draw(st.integers(len(before), len(stored)))
    found, valid_end, reason = _kernel.frame_scan(stored, len(before), end)
    whole = [stored[offset : offset + size] for offset, size in found]
    assert whole == contents[: len(whole)]
    assert valid_end == len(before) + len(_kernel.frame_build(whole))
    assert reason == ("" if valid_end == end else "short")


def test_damage_and_zeroed_disk_have_their_own_reasons() -> None:
    stored = bytearray(_kernel.frame_build([b"one", b"two"]))
    assert _kernel.frame_scan(stored + bytes(40), 0, len(stored) + 40) == ([(8, 3), (19, 3)], 22, "length")
    stored[20] ^= 1
    assert _kernel.frame_scan(stored, 0, len(stored)) == ([(8, 3)], 11, "crc")


def test_an_empty_payload_cannot_be_stored() -> None:
    with pytest.raises(ValueError, match="empty"):
        _kernel.frame_build([b"one", b""])


@given(st.binary(max_size=100_000))
def test_the_checksum_agrees_with_another_library(content: bytes) -> None:
    assert _kernel.crc32c(content) == crc32c_oracle.crc32c(content)
