"""What the kernel takes for bytes, and what it refuses."""

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

import twinlog
from twinlog import _kernel

BATCH = _kernel.build_batch([(1, b"key", b"value", ())])


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_contiguous_buffer_is_taken(kind: Callable[[bytes], bytes]) -> None:
    assert _kernel.crc32c(kind(b"123456789")) == 0xE3069283
    assert _kernel.scan_batches(kind(BATCH), 0, len(BATCH))[1] == len(BATCH)


def test_an_empty_buffer_is_a_buffer() -> None:
    assert _kernel.crc32c(b"") == 0
    assert _kernel.crc32c(bytearray()) == 0
    assert _kernel.scan_batches(b"", 0, 0) == ([], 0, "")


def test_a_buffer_with_gaps_is_refused() -> None:
    with pytest.raises(BufferError):
        _kernel.crc32c(memoryview(b"123456789")[::2])


def test_only_buffers_are_taken() -> None:
    with pytest.raises(TypeError):
        _kernel.crc32c("text")  # type: ignore[arg-type]


@pytest.mark.parametrize(("start", "end"), [(0, len(BATCH) + 1), (2, 1), (len(BATCH) + 1, len(BATCH) + 1)])
def test_a_range_outside_the_buffer_is_the_callers_mistake(start: int, end: int) -> None:
    calls: list[Callable[[], object]] = [
        lambda: _kernel.scan_batches(BATCH, start, end),
        lambda: _kernel.check_batch(BATCH, start, end, 1000),
        lambda: _kernel.decode_records(BATCH, start, end, 1000),
        lambda: _kernel.frame_scan(BATCH, start, end),
        lambda: _kernel.kafka_split(BATCH, start, end, 1000, b""),
        lambda: _kernel.parse_produce(BATCH, start, end, 9, 1000),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="outside the buffer") as caught:
            call()
        assert not isinstance(caught.value, _kernel.Malformed)


def test_place_batch_needs_a_buffer_that_may_be_written() -> None:
    with pytest.raises(BufferError):
        _kernel.place_batch(BATCH, 0, 7, 1, -1)  # type: ignore[arg-type]
    inside = bytearray(b"xx" + BATCH)
    _kernel.place_batch(memoryview(inside)[2:], 0, 7, 1, -1)
    assert _kernel.scan_batches(inside, 2, len(inside))[0][0][2] == 7


def test_no_buffer_stays_held_after_a_call() -> None:
    buffer = bytearray(BATCH)
    _kernel.check_batch(buffer, 0, len(buffer), 1000)
    _kernel.place_batch(buffer, 0, 1, 1, -1)
    with pytest.raises(ValueError, match="outside"):
        _kernel.check_batch(buffer, 0, len(buffer) + 1, 1000)
    buffer.extend(b"may grow again")


def test_malformed_is_a_value_error_with_the_name_of_the_stub() -> None:
    assert issubclass(_kernel.Malformed, ValueError)
    assert _kernel.Malformed.__name__ == "Malformed"


def test_the_stub_names_what_the_kernel_has() -> None:
    stub = ast.parse((Path(twinlog.__file__).parent / "_kernel.pyi").read_text())
    declared = {node.name for node in stub.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    constants = [
        node for node in stub.body if isinstance(node, ast.AnnAssign) and "Final" in ast.unparse(node.annotation)
    ]
    declared |= {ast.unparse(node.target) for node in constants}
    present = {name for name in dir(_kernel) if not name.startswith("_")}
    assert declared == present


def test_malloc_thresholds_may_be_set_again() -> None:
    _kernel.set_malloc_thresholds()
    _kernel.set_malloc_thresholds()
