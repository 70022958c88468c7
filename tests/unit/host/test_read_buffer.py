"""The read buffer grows with what came, never with what was declared, and gives memory back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from twinlog.host.read_buffer import TAIL_MOVED_AT_ONCE_BYTES, ReadBuffer


def fill(buffer: ReadBuffer, data: bytes) -> int:
    """Reads as much of ``data`` as there is room for."""
    room = buffer.room()
    count = min(len(room), len(data))
    room[:count] = data[:count]
    buffer.took(count)
    return count


def consume(count: int) -> Callable[[bytearray, int, int], int]:
    return lambda data, start, end: start + count


def consume_all(data: bytearray, start: int, end: int) -> int:
    return end


def rest(buffer: ReadBuffer) -> bytes:
    return bytes(buffer.data[buffer.start : buffer.end])


def test_what_was_consumed_is_forgotten_and_the_rest_kept() -> None:
    buffer = ReadBuffer(size_min=16, size_max=16)
    fill(buffer, b"abcdef")
    buffer.deliver(consume(2))
    assert rest(buffer) == b"cdef"
    fill(buffer, b"gh")
    assert rest(buffer) == b"cdefgh"
    buffer.deliver(consume_all)
    assert (buffer.start, buffer.end) == (0, 0)


def test_there_is_always_room() -> None:
    buffer = ReadBuffer(size_min=16, size_max=64)
    wire = bytes(range(256)) * 20
    taken, place = bytearray(), 0
    while place < len(wire):
        count = fill(buffer, wire[place:])
        assert count > 0
        place += count

        def take_some(data: bytearray, start: int, end: int) -> int:
            count = (end - start) * 2 // 3 or end - start
            taken.extend(data[start : start + count])
            return start + count

        buffer.deliver(take_some)
    assert bytes(taken) + rest(buffer) == wire


def test_it_grows_fourfold_when_filled_up_to_its_most() -> None:
    buffer = ReadBuffer(size_min=16, size_max=100)
    sizes = []
    for _ in range(4):
        fill(buffer, bytes(1000))
        buffer.deliver(consume_all)
        buffer.room()
        sizes.append(len(buffer.data))
    assert sizes == [64, 100, 100, 100]


def test_it_does_not_grow_when_reads_leave_room() -> None:
    buffer = ReadBuffer(size_min=16, size_max=100)
    for _ in range(100):
        fill(buffer, bytes(15))
        buffer.deliver(consume_all)
    assert len(buffer.data) == 16


def test_a_declared_size_costs_nothing_until_the_bytes_come() -> None:
    buffer = ReadBuffer(size_min=16, size_max=64)
    fill(buffer, bytes(10))
    buffer.deliver(consume(0))
    buffer.expected = 1 << 40
    buffer.room()
    assert len(buffer.data) == 16
    received = 10
    for _ in range(6):
        received += fill(buffer, bytes(1 << 20))
        assert len(buffer.data) <= received * 4


def test_an_expected_frame_fits_exactly_and_is_shown_once() -> None:
    buffer = ReadBuffer(size_min=16, size_max=64)
    fill(buffer, bytes(16))
    buffer.deliver(consume(6))
    buffer.expected = 1000
    looks = 0
    for _ in range(200):
        room = buffer.room()
        count = min(10, 1000 - (buffer.end - buffer.start), len(room))
        if buffer.took(count):
            looks += 1
            assert len(rest(buffer)) == 1000
            buffer.deliver(consume_all)
            break
    assert looks == 1
    assert buffer.expected == 0
    assert len(buffer.data) <= 1024


def test_a_full_buffer_that_nobody_reads_is_a_bug() -> None:
    buffer = ReadBuffer(size_min=16, size_max=64)
    with pytest.raises(AssertionError, match="neither consumed nor expected"):
        for _ in range(10):
            fill(buffer, bytes(100))
            buffer.deliver(consume(0))


def test_a_handler_cannot_consume_what_is_not_there() -> None:
    for count in (-1, 4):
        buffer = ReadBuffer()
        fill(buffer, b"abc")
        with pytest.raises(AssertionError):
            buffer.deliver(consume(count))


def test_large_tails_stay_where_they_are_while_there_is_room() -> None:
    buffer = ReadBuffer(size_min=1 << 16, size_max=1 << 16)
    fill(buffer, bytes(50_000))
    buffer.deliver(consume(50_000 - TAIL_MOVED_AT_ONCE_BYTES))
    assert buffer.start == 0
    fill(buffer, bytes(30_000))
    buffer.deliver(consume(1))
    assert buffer.start == 1


def test_it_shrinks_when_empty_only() -> None:
    buffer = ReadBuffer(size_min=16, size_max=64)
    for _ in range(3):
        fill(buffer, bytes(100))
        buffer.deliver(consume_all)
    fill(buffer, b"ab")
    buffer.deliver(consume(1))
    buffer.shrink()
    assert len(buffer.data) == 64
    buffer.deliver(consume_all)
    buffer.shrink()
    assert len(buffer.data) == 16


def test_a_reader_may_still_hold_the_room_when_the_buffer_grows() -> None:
    buffer = ReadBuffer(size_min=16, size_max=64)
    held = buffer.room()
    fill(buffer, bytes(16))
    buffer.deliver(consume_all)
    buffer.room()
    buffer.shrink()
    assert len(held) == 16
